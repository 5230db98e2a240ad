"""Measure detectors: flip outputs on purpose, and see who finds them."""

from amiss.evaluate.choose import Choice, measure
from amiss.evaluate.inject import inject
from amiss.evaluate.metrics import atpar, tpar, tpar_curve

__all__ = ["Choice", "atpar", "inject", "measure", "tpar", "tpar_curve"]
