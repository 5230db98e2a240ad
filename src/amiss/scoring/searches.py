"""Searches: how the rows near a row are found. Sparse rows are always searched exactly.

A new search is one class here and one line in :mod:`amiss.scoring.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from scipy import sparse

from amiss.arrays import Matrix
from amiss.errors import MissingDependencyError
from amiss.scoring.approximate_neighbors import ApproximateRows
from amiss.scoring.neighbors import NearestRows

MANY_ROWS = 200_000  # from here on "auto" is approximate, where it can be


class NeighborSearch(Protocol):
    """Makes rows searchable."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def prepared(self, rows: Matrix, k: int, n_jobs: int | None, /) -> NearestRows:
        """The rows, ready to be searched for the ``k`` nearest to others."""


@dataclass(frozen=True)
class Automatic:
    """Approximate for very many dense rows if faiss is installed, else exact."""

    name: str = "auto"
    description: str = "approximate for very many rows, if it can be"

    def prepared(self, rows: Matrix, k: int, n_jobs: int | None) -> NearestRows:
        if sparse.issparse(rows) or rows.shape[0] < MANY_ROWS or find_spec("faiss") is None:
            return NearestRows(rows)
        return ApproximateRows(rows, k, n_jobs)


@dataclass(frozen=True)
class Exact:
    """Finds all neighbours."""

    name: str = "exact"
    description: str = "all neighbours are found"

    def prepared(self, rows: Matrix, k: int, n_jobs: int | None) -> NearestRows:
        return NearestRows(rows)


@dataclass(frozen=True)
class Approximate:
    """Finds nearly all neighbours, by faiss."""

    name: str = "approximate"
    description: str = "nearly all neighbours are found, by faiss"

    def prepared(self, rows: Matrix, k: int, n_jobs: int | None) -> NearestRows:
        if sparse.issparse(rows):
            return NearestRows(rows)
        if find_spec("faiss") is None:
            raise MissingDependencyError("approximate neighbours need faiss: pip install 'amiss[ann]'")
        return ApproximateRows(rows, k, n_jobs)
