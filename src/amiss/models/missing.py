"""Expected values for missing outputs, where they serve as parents of others.

A missing y_j enters the other outputs' models by E[y_j | x], the probability a model of y_j on the
inputs alone gives it. The other outputs must not help: if the value that replaces y_j depended on y_i, and y_j
is a parent of y_i, then y_i would predict itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from amiss.arrays import Floats, Matrix
from amiss.models.conditional import ConditionalModel


def base_rates(Y: Floats) -> Floats:
    """Share of ones among the observed values of each output."""
    observed = ~np.isnan(Y)
    return np.asarray(np.where(observed, Y, 0.0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1))


@dataclass(frozen=True, eq=False)
class Expectations:
    """What stands in for missing outputs: a model on the inputs alone, or else the base rates.

    Where no output was missing in the fit there is no such model, and a missing output of a new
    row enters by its base rate.
    """

    rates: Floats
    given_inputs: ConditionalModel | None = None

    def filled(self, inputs: Matrix, Y: Floats) -> Floats:
        """Y with each missing value replaced by its expected value."""
        gone = np.isnan(Y)
        filled = np.where(gone, self.rates, Y)
        rows = np.flatnonzero(gone.any(axis=1))
        if len(rows) and self.given_inputs is not None:
            expected = expit(self.given_inputs.log_odds(inputs[rows], filled[rows]))
            filled[rows] = np.where(gone[rows], expected, filled[rows])
        return filled
