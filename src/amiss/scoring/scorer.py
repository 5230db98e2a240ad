"""The scorer of a fit: its rule, weights and neighbours, which score other rows alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.fitting import FittedModels
from amiss.models.projection import log_rho
from amiss.scoring.neighborhood import Neighborhood
from amiss.scoring.neighbors import Neighbors
from amiss.scoring.rules import ScoringRule, contributions
from amiss.scoring.spaces import NeighborSpace
from amiss.scoring.weightings import Weighting
from amiss.threads import in_blocks
from amiss.wording import count


@dataclass(frozen=True, eq=False)
class LocalErrors:
    """What local weights need of the training rows: who is near whom, and their errors."""

    neighborhood: Neighborhood
    errors: Floats
    observed: Mask
    mean_errors: Floats


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores rows by a rule, with ``global_weights`` or with weights from ``local`` errors.

    ``share`` is the share that models which did not see a row have in the log-odds of training rows.
    """

    rule: ScoringRule
    weighting: Weighting
    included: Mask
    share: float
    global_weights: Floats | None
    local: LocalErrors | None
    neighbor_space: NeighborSpace
    n_jobs: int | None
    verbose: bool

    def __repr__(self) -> str:
        weights = "global" if self.local is None else "local"
        outputs = f"{int(self.included.sum())} of {count(len(self.included), 'output')}"
        return f"<Scorer: rule {self.rule.name!r}, {weights} weights, {outputs}>"

    def contributions(self, log_odds: Floats, Y: Floats, weights: Floats) -> Floats:
        """What each output adds to the score, by its log-odds and weights, ``(n_rows, n_outputs)``."""
        result = np.empty_like(log_odds)

        def work(rows: slice) -> None:
            mine = weights if weights.ndim == 1 else weights[rows]
            Y_rows = Y[rows]
            rho = log_rho(log_odds[rows], Y_rows)
            result[rows] = contributions(self.rule, rho, mine, ~np.isnan(Y_rows), self.included)

        in_blocks(len(result), work, self.n_jobs)
        return result

    def log_odds_and_weights(self, models: FittedModels, design: Matrix, Y: Floats) -> tuple[Floats, Floats]:
        """What makes the scores of new rows."""
        filled = models.expectations.filled(design, Y)
        return models.model.log_odds(design, filled), self.weights(self.neighbors(design, filled))

    def neighbors(self, design: Matrix, filled: Floats, own: Rows | None = None) -> Neighbors | None:
        """The training rows near some rows, where weights are local; ``own`` are not to be found again."""
        if self.local is None:
            return None
        points = self.neighbor_space.of(design, filled)
        return self.local.neighborhood.of(points, own, self.n_jobs, self.verbose)

    def weights(self, near: Neighbors | None) -> Floats:
        """Local weights of rows with these neighbours, or the global weights."""
        if self.global_weights is not None:
            return self.global_weights
        local = self.local
        assert local is not None and near is not None
        return self.rule.local_weights(local.errors, local.observed, local.mean_errors, near, self.weighting)
