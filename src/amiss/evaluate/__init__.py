"""Measure detectors: flip outputs on purpose, and see who finds them."""

from amiss.evaluate.inject import inject
from amiss.evaluate.metrics import atpar, tpar, tpar_curve

__all__ = ["atpar", "inject", "tpar", "tpar_curve"]
