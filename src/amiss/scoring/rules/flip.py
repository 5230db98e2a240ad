"""FLIP: the evidence that outputs were flipped.

    Score(n) = Σ_i log(1 + (1 - rho[n, i]) / (d (rho[n, i] + 1 / w_i(n))))

This is the logarithm of a likelihood ratio, up to a constant. Each of the d outputs (left out of the score or
not) was flipped with odds of 1 to d, independently of the others. If it was flipped, the observed value has a
probability of 1 - rho. If not, it has the model's probability, rho, plus the mean error 1/w_i(n) of that output
near the row, which remains however sure the model is. So no output adds more than its reliability justifies, a
single sure flip counts fully, and several unsure ones add up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask, Neighbors
from amiss.scoring.weightings import Weighting
from amiss.scoring.weights import mean_errors, smoothed_local_weights


@dataclass(frozen=True)
class Flip:
    """Weights are the inverse of the smoothed mean error, in the neighbourhood or everywhere."""

    name: str = "flip"
    description: str = "the evidence that outputs were flipped"
    weight_meaning: str = "how much the output can count: the inverse of its error near the row"
    local: bool = True
    inputs_alone: bool = False

    def global_weights(self, errors: Floats, observed: Mask, weighting: Weighting) -> Floats:
        nobody = np.empty((1, 0), dtype=np.int32)
        weights: Floats = smoothed_local_weights(errors, observed, nobody, mean_errors(errors, observed))[0]
        return weights

    def local_weights(
        self,
        errors: Floats,
        observed: Mask,
        means: Floats,
        near: Neighbors,
        weighting: Weighting,
        n_jobs: int | None = None,
    ) -> Floats:
        return smoothed_local_weights(errors, observed, near, means, n_jobs)

    def terms(self, log_rho: Floats, weights: Floats) -> Floats:
        flipped = 0.0 - np.expm1(log_rho)
        return np.log1p(flipped / (log_rho.shape[1] * (np.exp(log_rho) + 1.0 / weights)))
