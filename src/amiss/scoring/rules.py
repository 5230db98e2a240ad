"""Scores: how unusual a row is. Higher is more unusual, everywhere in this package.

    Score(n) = -Σ_i w_i(n) log rho[n, i]

PROD has w = 1, RW the global weights, LRW the local ones: the paper's. Ours is FLIP,

    Score(n) = Σ_i log(1 + (1 - rho[n, i]) / (d (rho[n, i] + 1 / w_i(n))))

the logarithm of a likelihood ratio (but for a constant): the odds are 1 to d that an output was
flipped, for each of the d outputs (left out of the score or not) by itself. Where it was, the value
that stands there has a chance of 1 - rho. Where it was not, its chance is what the model gives it,
rho, plus the mean error 1/w_i(n) of that output thereabouts, which is there whatever the model
believes. So no output adds more than its reliability warrants, a single sure flip counts fully, and
several unsure ones add up.

For a row with missing outputs the sum over the observed ones is multiplied by (outputs) / (observed
outputs), so that rows compare; for a complete row it is the sum, exactly.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from amiss.arrays import Floats, Mask

Score = Literal["flip", "lrw", "rw", "prod"]
SCORES: tuple[Score, ...] = ("flip", "lrw", "rw", "prod")


def contributions(
    log_rho: Floats,
    weights: Floats,
    observed: Mask,
    included: Mask,
    score: Score = "lrw",
) -> Floats:
    """What each output adds to the score of each row, ``(n_rows, n_outputs)``; rows sum to it.

    ``weights`` is ``(n_outputs,)`` or ``(n_rows, n_outputs)``; outputs not ``included`` add
    nothing. A row in which no output is observed has a score of zero.

    >>> contributions(np.log([[0.5, 0.1]]), np.ones(2), np.array([[True, False]]), np.ones(2, bool))
    array([[1.38629436, 0.        ]])
    """
    counted = observed & included
    present = counted.sum(axis=1, keepdims=True)
    scale = included.sum() / np.maximum(present, 1)
    if score == "flip":
        flipped = 0.0 - np.expm1(log_rho)
        each = np.log1p(flipped / (log_rho.shape[1] * (np.exp(log_rho) + 1.0 / weights)))
    else:
        each = 0.0 - weights * log_rho  # not -x: a certain output adds zero, not minus zero
    return np.where(counted, each, 0.0) * scale


def scores(contributions: Floats) -> Floats:
    """The score of each row, ``(n_rows,)``."""
    return np.asarray(contributions.sum(axis=1))
