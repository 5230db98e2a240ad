"""The neighbours of each training row, and the training rows nearest to a new row."""

from __future__ import annotations

from dataclasses import dataclass

from amiss import progress
from amiss.arrays import Matrix, Rows
from amiss.models.fitting import FittedModels
from amiss.scoring.neighbors import NearestRows, Neighbors, without
from amiss.scoring.searches import NeighborSearch
from amiss.scoring.spaces import NeighborSpace


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The rows of a fit to be searched, in the order of their fingerprints, and the neighbours of each."""

    nearest: NearestRows
    neighbors: Neighbors
    k: int

    def of(self, queries: Matrix, own: Rows | None, n_jobs: int | None, verbose: bool) -> Neighbors:
        """The rows of the fit near some points; ``own`` are rows that are not to be found again."""
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
    nearest = search.prepared(space.of(rows.design, filled), k, n_jobs)
    found = _found(nearest, k, None, n_jobs, verbose) if known is None else known
    return Neighborhood(nearest, found, k)


def _found(nearest: NearestRows, k: int, queries: Matrix | None, n_jobs: int | None, verbose: bool) -> Neighbors:
    """The nearest rows, with progress."""
    n_queries = (nearest.rows if queries is None else queries).shape[0]
    with progress.stages(verbose)("finding neighbours", n_queries) as advance:
        return nearest.find(k, queries, n_jobs=n_jobs, progress=advance)
