"""Scoring rules: how the probabilities of a row's outputs become its score.

A new rule is one class in one file of this folder (see :class:`~amiss.scoring.rules.base.ScoringRule`) and one
line in :mod:`amiss.scoring.registry`; the command line, ``rule="auto"``, model files and reports find it there.
"""

from amiss.scoring.rules.base import ScoringRule, contributions, scores

__all__ = ["ScoringRule", "contributions", "scores"]
