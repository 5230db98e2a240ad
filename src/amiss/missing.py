"""Expected values for missing outputs, where they serve as parents of others.

A missing y_j enters the other outputs' models by its expectation under the model itself:
starting from the base rate, y_j is replaced by P(y_j = 1 | x, the other outputs) a few times over.
The number of rounds is fixed, so that a row's values depend on that row alone.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from amiss.dataset import Floats, Matrix
from amiss.model import ConditionalModel

ROUNDS = 5


def base_rates(Y: Floats) -> Floats:
    """Share of ones among the observed values of each output."""
    observed = ~np.isnan(Y)
    return np.asarray(np.where(observed, Y, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1))


def filled_with(rates: Floats, Y: Floats) -> Floats:
    return np.where(np.isnan(Y), rates, Y)


def expected_outputs(model: ConditionalModel, inputs: Matrix, Y: Floats, rates: Floats) -> Floats:
    """Y with each missing value replaced by its expected value."""
    filled = filled_with(rates, Y)
    rows = np.flatnonzero(np.isnan(Y).any(axis=1))
    if not len(rows):
        return filled
    inside, partial = inputs[rows], filled[rows]
    gone = np.isnan(Y[rows])
    for _ in range(ROUNDS):
        np.copyto(partial, expit(model.log_odds(inside, partial)), where=gone)
    filled[rows] = partial
    return filled
