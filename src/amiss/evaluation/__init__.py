"""Measure detectors: flip outputs on purpose, and see which rule finds them."""

from amiss.evaluation.choice import RuleChoice, measure
from amiss.evaluation.inject import inject
from amiss.evaluation.metrics import atpar, tpar, tpar_curve

__all__ = ["RuleChoice", "atpar", "inject", "measure", "tpar", "tpar_curve"]
