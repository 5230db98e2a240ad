"""Who is near whom among the rows of a fit, and who of them is near a new row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from amiss import progress
from amiss.arrays import Floats, Matrix, Rows
from amiss.encoding.joint import joint
from amiss.models.fitting import FittedModels
from amiss.scoring.approximate_neighbors import row_search
from amiss.scoring.neighbors import NearestRows, Neighbors, without

NeighborSpace = Literal["joint", "inputs"]
NeighborSearch = Literal["auto", "exact", "approximate"]


@dataclass(frozen=True)
class Neighborhood:
    """The rows of a fit to be searched, in the order of their fingerprints, and the neighbours of each."""

    nearest: NearestRows
    neighbors: Neighbors
    space: NeighborSpace
    k: int

    def of(self, design: Matrix, filled: Floats, own: Rows | None, n_jobs: int | None, verbose: bool) -> Neighbors:
        """The rows of the fit near some rows; ``own`` are rows that are not to be found again."""
        queries = _space(design, filled, self.space)
        if own is None:
            return _found(self.nearest, self.k, queries, n_jobs, verbose)
        k = min(self.k, self.nearest.rows.shape[0] - 1)
        return without(self.nearest.find(k + 1, queries, n_jobs=n_jobs), own)


def find_neighborhood(
    models: FittedModels,
    k: int,
    space: NeighborSpace,
    search: NeighborSearch,
    n_jobs: int | None,
    verbose: bool,
    known: Neighbors | None = None,
) -> Neighborhood:
    """The neighbourhood of a fit; ``known`` are neighbours that were found before."""
    rows = models.training_rows
    filled = models.expectations.filled(rows.design, rows.Y)
    nearest = row_search(_space(rows.design, filled, space), search, k, n_jobs)
    found = _found(nearest, k, None, n_jobs, verbose) if known is None else known
    return Neighborhood(nearest, found, space, k)


def _space(design: Matrix, filled: Floats, space: NeighborSpace) -> Matrix:
    """Where rows are near one another."""
    return joint(design, filled) if space == "joint" else design


def _found(nearest: NearestRows, k: int, queries: Matrix | None, n_jobs: int | None, verbose: bool) -> Neighbors:
    """The nearest rows, with progress."""
    n_queries = (nearest.rows if queries is None else queries).shape[0]
    with progress.stages(verbose)("finding neighbours", n_queries) as advance:
        return nearest.find(k, queries, n_jobs=n_jobs, progress=advance)
