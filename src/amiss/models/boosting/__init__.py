"""Gradient-boosted trees, one sequence of trees per output, fitted by scikit-learn and kept as plain arrays."""
