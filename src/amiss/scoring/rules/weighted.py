"""The paper's scores: weighted sums of log-probabilities.

    Score(n) = -Σ_i w_i(n) log rho[n, i]

PROD has w = 1, RW the global weights, LRW the local ones (:mod:`amiss.scoring.weights`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask, Neighbors
from amiss.scoring.weightings import Weighting
from amiss.scoring.weights import global_weights, local_weights


@dataclass(frozen=True)
class WeightedSum:
    """Weights from all rows, or from each row's neighbourhood."""

    name: str
    description: str
    weight_meaning: str
    local: bool
    inputs_alone: bool = False

    def global_weights(self, errors: Floats, observed: Mask, weighting: Weighting) -> Floats:
        return global_weights(errors, observed, weighting)

    def local_weights(
        self,
        errors: Floats,
        observed: Mask,
        means: Floats,
        near: Neighbors,
        weighting: Weighting,
        n_jobs: int | None = None,
    ) -> Floats:
        return local_weights(errors, observed, near, weighting, n_jobs)

    def terms(self, log_rho: Floats, weights: Floats) -> Floats:
        return 0.0 - weights * log_rho  # not -x: a certain output adds zero, not minus zero


@dataclass(frozen=True)
class Product(WeightedSum):
    """Every output has a weight of one: the log-probability of all of them together."""

    def global_weights(self, errors: Floats, observed: Mask, weighting: Weighting) -> Floats:
        return np.ones(errors.shape[1])


LRW = WeightedSum(
    "lrw", "the paper's, weights from each row's neighbourhood", "its mean weight in the score", True
)
RW = WeightedSum("rw", "the paper's, weights from all rows", "its weight in the score", False)
PROD = Product("prod", "the paper's, without weights", "every output counts alike", False)
