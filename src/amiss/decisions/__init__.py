"""Which rows are flagged: thresholds, p-values, calibration, false-discovery levels."""
