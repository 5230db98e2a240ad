"""How much a table is to be doubted: the scale of the odds that a person erred in a hard case.

A row is doubtful if both views, although they were shown it, rather believe another value of one of its outputs:
the odds against it are above ``DOUBTFUL``. Where few rows are, the models know the table well, and about as many
rows are wrong; so the scale makes the chances of all rows add up to that number. Where many are, the models do not
know the table well enough to tell an error from a hard case, and the scale is 1, which counts a doubt for little.
In a single choice among classes people take one for another more often than they get a tag wrong, so there more
doubtful rows are believed.
"""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats
from amiss.scoring.hypotheses import Doubts, Hypotheses, Statistics

DOUBTFUL = 1.5
FEW, FEW_OF_ONE_CLASS = 0.12, 0.5  # of the rows
MOST_SCALE, HALVINGS = 50.0, 40


def doubt_scale(hypotheses: Hypotheses, seen: Statistics, doubts: Doubts, *, one_class: bool) -> float:
    """The scale for a table; ``one_class`` says whether all of its outputs are classes of one choice."""
    doubtful = count_doubtful(doubts)
    if doubtful > (FEW_OF_ONE_CLASS if one_class else FEW) * len(doubts.rows):
        return 1.0
    wanted = max(float(doubtful), hypotheses.expected_blind(seen))
    return _scale_for(wanted, hypotheses.blind_odds(seen).sum(axis=0), doubts.rows.sum(axis=1))


def count_doubtful(doubts: Doubts) -> int:
    """How many rows are doubtful by both views."""
    least = np.minimum(doubts.against, doubts.by_inputs_against)
    return int((least.max(axis=1, initial=0.0) > DOUBTFUL).sum())


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
