"""Scores: how unusual a row is. Higher is more unusual, everywhere in this package.

    Score(n) = -Σ_i w_i(n) log rho[n, i]

PROD has w = 1, RW the global weights, LRW the local ones. For a row with missing outputs the sum
over the observed ones is multiplied by (outputs) / (observed outputs), so that rows compare; for a
complete row it is the paper's sum, exactly.
"""

from __future__ import annotations

import numpy as np

from amiss.table import Floats, Mask


def contributions(
    log_rho: Floats,
    weights: Floats,
    observed: Mask,
    included: Mask,
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
    # 0 - x rather than -x: a certain output adds zero, not minus zero.
    return np.where(counted, 0.0 - weights * log_rho, 0.0) * scale


def scores(contributions: Floats) -> Floats:
    """The score of each row, ``(n_rows,)``."""
    return np.asarray(contributions.sum(axis=1))
