"""What a fit leaves behind to score rows with: models, weights, neighbours, and the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.fingerprints import Fingerprints
from amiss.encoding.joint import joint
from amiss.models.conditional import ConditionalModel, FoldModels, LinearModel, RowModel
from amiss.models.missing import Expectations
from amiss.models.projection import log_rho
from amiss.monitoring.near_copies import Lookalikes
from amiss.scoring.neighbors import NearestRows, Neighbors, without
from amiss.scoring.rules import Score, contributions
from amiss.scoring.weights import Weighting, local_weights, steadied_local_weights
from amiss.threads import in_blocks


@dataclass(frozen=True)
class Reference:
    """What local weights need of the training rows: where they lie, who is near whom, and their errors."""

    nearest: NearestRows
    neighbors: Neighbors
    errors: Floats
    observed: Mask
    mean_errors: Floats


@dataclass(frozen=True)
class Scorer:
    """Scores rows by the models, weights and neighbours of a fit.

    There are ``global_weights`` or, where weights are local, a ``reference``.
    """

    model: ConditionalModel
    expectations: Expectations
    score: Score
    weighting: Weighting
    included: Mask
    global_weights: Floats | None
    reference: Reference | None
    n_neighbors: int
    neighbor_space: str
    n_jobs: int | None
    verbose: bool | int

    def grounds(self, design: Matrix, Y: Floats) -> tuple[Floats, Floats]:
        """Log-odds and weights of new rows, which make their scores."""
        filled = self.expectations.filled(design, Y)
        return self.model.log_odds(design, filled), self.weights(self.neighbors(design, filled))

    def parts(self, log_odds: Floats, Y: Floats, weights: Floats) -> Floats:
        """What each output adds to the score, by its log-odds and weights."""
        result = np.empty_like(log_odds)

        def work(rows: slice) -> None:
            mine = weights if weights.ndim == 1 else weights[rows]
            Y_rows = Y[rows]
            result[rows] = contributions(
                log_rho(log_odds[rows], Y_rows), mine, ~np.isnan(Y_rows), self.included, self.score
            )

        in_blocks(len(result), work, self.n_jobs)
        return result

    def neighbors(self, design: Matrix, filled: Floats, own: Rows | None = None) -> Neighbors | None:
        """The training rows near some rows, where weights are local; ``own`` are rows not to be found again."""
        if self.reference is None:
            return None
        nearest = self.reference.nearest
        queries = space(design, filled, self.neighbor_space)
        if own is None:
            return found(nearest, self.n_neighbors, queries, self.n_jobs, self.verbose)
        k = min(self.n_neighbors, nearest.rows.shape[0] - 1)
        return without(nearest.find(k + 1, queries, n_jobs=self.n_jobs), own)

    def weights(self, near: Neighbors | None) -> Floats:
        """Weights of rows with these neighbours, or everybody's."""
        if self.global_weights is not None:
            return self.global_weights
        reference = self.reference
        assert reference is not None and near is not None
        if self.score == "flip":
            return steadied_local_weights(reference.errors, reference.observed, near, reference.mean_errors)
        return local_weights(reference.errors, reference.observed, near, self.weighting)


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit in the order of their content; the user's row n stands at ``place[n]``.

    ``share`` is the share that models which did not see a row have in its ``log_odds``. ``content`` rises.
    """

    design: Matrix
    Y: Floats
    place: Rows
    content: Fingerprints
    log_odds: Floats
    fold_models: FoldModels | None
    share: float

    @cached_property
    def order(self) -> Rows:
        """The user's number of each row here."""
        return np.argsort(self.place)

    @cached_property
    def lookalikes(self) -> Lookalikes:
        """By which rows are known that differ by rounding."""
        return Lookalikes.of(self.design, self.Y)

    def model_of(self, position: int, model: ConditionalModel) -> ConditionalModel | None:
        """The model by which a row was scored; None where it was not kept."""
        if self.share == 0:
            return model
        if self.fold_models is None or not isinstance(model, LinearModel):
            return None
        first, last = (np.searchsorted(self.content, self.content[position], side) for side in ("left", "right"))
        return RowModel.of(model, self.fold_models, np.arange(first, last), self.share)


def space(design: Matrix, filled: Floats, neighbor_space: str) -> Matrix:
    """Where rows are near one another."""
    return joint(design, filled) if neighbor_space == "joint" else design


def found(
    nearest: NearestRows, k: int, queries: Matrix | None, n_jobs: int | None, verbose: bool | int
) -> Neighbors:
    """The nearest rows, with progress."""
    n_queries = (nearest.rows if queries is None else queries).shape[0]
    with progress.stages(verbose)("finding neighbours", n_queries) as advance:
        return nearest.find(k, queries, n_jobs=n_jobs, progress=advance)
