"""How much a table is to be doubted: the scale of the odds that a person erred in a hard case.

A row is doubtful if both views find another value of one of its outputs more likely although they were shown
the row: the odds against the observed value are above ``DOUBTFUL``. If few rows are doubtful, the models know
the table well, and about as many rows are wrong. Then the scale makes the chances of all rows add up to their
number (or to that of the expected blind errors, if it is larger). If many rows are doubtful, the models do not
know the table well enough to tell an error from a hard case. Then the scale is 1, and a doubt counts for
little. In a single choice among classes people take one for another more often than they get a tag wrong, so
there more doubtful rows are believed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amiss.arrays import Floats
from amiss.scoring.hypotheses import Hypotheses, RowDoubts, Statistics

DOUBTFUL, DOUBTFUL_UNLEARNED = 1.5, 8.0
FEW, FEW_OF_ONE_CLASS = 0.12, 0.5  # of the rows
MOST_SCALE, HALVINGS = 50.0, 40


def with_doubt(
    hypotheses: Hypotheses, seen: Statistics, doubts: RowDoubts, *, one_class: bool, unlearned: bool = False
) -> Hypotheses:
    """The same with the scale for a table; ``one_class`` says whether its outputs are classes of one choice.

    ``doubts`` are those by a scale of 1. ``unlearned`` says that no model has learned the rows it was shown: then
    classes are taken for doubtful only if the odds against them are high.
    """
    odds = DOUBTFUL_UNLEARNED if one_class and unlearned else DOUBTFUL
    doubtful, n_rows = count_doubtful(doubts, odds), int(doubts.counted.sum())
    if doubtful > (FEW_OF_ONE_CLASS if one_class else FEW) * n_rows:
        return replace(hypotheses, doubt=1.0, believed=False)
    wanted = max(float(doubtful), hypotheses.expected_blind(seen))
    scale = _scale_for(wanted, hypotheses.blind_odds(seen).sum(axis=0), doubts.odds)
    return replace(hypotheses, doubt=scale, believed=True)


def count_doubtful(doubts: RowDoubts, odds: float = DOUBTFUL) -> int:
    """How many rows are doubtful by both views."""
    return int((doubts.by_both > odds).sum())


def _scale_for(wanted: float, blind: Floats, doubt: Floats) -> float:
    """The scale from 1 to ``MOST_SCALE`` by which the chances of all rows add up to ``wanted``, or nearly so.

    >>> round(_scale_for(1.0, np.zeros(2), np.array([0.1, 0.1])), 3)
    10.0
    """

    def expected(scale: float) -> float:
        return float((1 - 1 / (1 + blind + scale * doubt)).sum())

    low, high = 0.0, float(np.log(MOST_SCALE))
    if expected(1.0) >= wanted:
        return 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(float(np.exp(middle))) < wanted else (low, middle)
    return float(np.exp(low))
