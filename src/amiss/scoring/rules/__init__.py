"""Scoring rules: how the probabilities of a row's outputs become its score.

A new rule is one class in one file of this folder (see :class:`~amiss.scoring.rules.base.ScoringRule`) and one
entry in ``RULES``; the command line, ``rule="auto"``, model files and reports find it there.
"""

from amiss.registry import Registry
from amiss.scoring.rules.base import ScoringRule, contributions, scores
from amiss.scoring.rules.flip import Flip
from amiss.scoring.rules.weighted import LRW, PROD, RW

__all__ = ["AUTO", "RULES", "ScoringRule", "contributions", "scores"]

RULES: Registry[ScoringRule] = Registry("rule", Flip(), LRW, RW, PROD)
AUTO = "auto"  # the rule that finds most flips in the table itself
