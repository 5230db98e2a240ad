"""Measure detectors: flip outputs on purpose, and see who finds them."""

from amiss.evaluation.choice import Choice, measure
from amiss.evaluation.inject import inject
from amiss.evaluation.metrics import atpar, tpar, tpar_curve

__all__ = ["Choice", "atpar", "inject", "measure", "tpar", "tpar_curve"]
