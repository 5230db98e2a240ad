"""How many rows were left blank: nothing was annotated, whatever the inputs.

P(row is empty | x) = share + (1 - share) q, where q = expit(a - b U) is the chance that the right outputs are
empty. Share, a and b by maximum likelihood need no rows made wrong on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from amiss.arrays import Floats, Mask
from amiss.scoring.likelihood_ratios import NO_LINE, Line

MOST_LOOKED_AT = 2000
LEAST_FALL, MOST_FALL = 0.5, 2.0  # outputs that do not depend on each other have b = 1
LEAST_GAIN = 4.0
RARELY_EMPTY = 0.1
LEAST_CHANCE = 1e-12
STARTS = tuple(np.array([intercept, slope]) for intercept in (0.0, 3.0) for slope in (-1.0, 1.0))


@dataclass(frozen=True)
class Solution:
    """What was found by one of the ways to explain the empty rows."""

    loss: float
    line: Line
    share: float
    at: Floats


def learn_blank_rows(is_empty: Mask, blank: Floats) -> tuple[Line, float]:
    """The log-odds that the right outputs are empty, as a falling line in U, and the share of rows left blank.

    The line has to fall, with b between ``LEAST_FALL`` and ``MOST_FALL``, so that emptiness which has nothing to
    do with the inputs counts as an error, and no row is sure to be one. The share is 0 where it explains no more
    than chance does; but where empty rows are rare, all of them count as errors unless the inputs explain them
    better.
    """
    some = np.unique(np.linspace(0, len(is_empty) - 1, MOST_LOOKED_AT).astype(np.intp))
    empty, evidence = is_empty[some], blank[some]
    if empty.sum() in (0, len(empty)):
        return NO_LINE, 0.0
    none = _best(empty, evidence, STARTS, share=0.0)
    with_share = [np.array([*none.at, share]) for share in (-5.0, -2.5)]
    best = _best(empty, evidence, [*with_share, *(np.array([*start, -3.0]) for start in STARTS[::3])])
    if empty.mean() <= RARELY_EMPTY:
        blamed = _best(empty, evidence, STARTS, share=float(empty.mean()))
        if blamed.loss - best.loss < LEAST_GAIN:
            return blamed.line, blamed.share
    chosen = none if none.loss - best.loss < LEAST_GAIN else best
    return chosen.line, chosen.share


def _best(
    empty: Mask, evidence: Floats, starts: tuple[Floats, ...] | list[Floats], share: float | None = None
) -> Solution:
    """Maximum likelihood from the best of some starts, for a given share or with its log-odds last in ``at``."""

    def line(at: Floats) -> Line:
        return Line(float(at[0]), -(LEAST_FALL + (MOST_FALL - LEAST_FALL) * float(expit(at[1]))))

    def loss_and_gradient(at: Floats) -> tuple[float, Floats]:
        blank = float(expit(at[2])) if share is None else share
        right = expit(line(at)(evidence))
        chance = np.clip(blank + (1 - blank) * right, LEAST_CHANCE, 1 - LEAST_CHANCE)
        loss = -float(np.where(empty, np.log(chance), np.log1p(-chance)).sum())
        by_chance = np.where(empty, -1 / chance, 1 / (1 - chance))
        by_line = by_chance * (1 - blank) * right * (1 - right)
        bent = float(expit(at[1]))
        gradient = [by_line.sum(), -(MOST_FALL - LEAST_FALL) * bent * (1 - bent) * (by_line @ evidence)]
        if share is None:
            gradient.append((by_chance @ (1 - right)) * blank * (1 - blank))
        return loss, np.array(gradient)

    from scipy.optimize import minimize  # takes a tenth of a second to import

    found = min((minimize(loss_and_gradient, start, jac=True) for start in starts), key=lambda one: float(one.fun))
    blank = float(expit(found.x[2])) if share is None else share
    return Solution(float(found.fun), line(found.x), blank, found.x)
