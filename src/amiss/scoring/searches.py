"""Searches: how the rows near a row are found. Sparse rows are always searched exactly.

A new search is one class here and one line in :mod:`amiss.scoring.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scipy import sparse

from amiss.arrays import Matrix
from amiss.scoring.clustered_neighbors import ClusteredRows
from amiss.scoring.neighbors import NearestRows

MANY_ROWS = 20_000  # from here on "auto" is approximate; of fewer rows the exact search takes a second or less


class NeighborSearch(Protocol):
    """Makes rows searchable."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def prepared(self, rows: Matrix, k: int, /) -> NearestRows:
        """The rows, ready to be searched for the ``k`` nearest to others."""


@dataclass(frozen=True)
class Automatic:
    """Approximate for many dense rows, else exact."""

    name: str = "auto"
    description: str = "approximate for many rows"

    def prepared(self, rows: Matrix, k: int) -> NearestRows:
        if sparse.issparse(rows) or rows.shape[0] < MANY_ROWS:
            return NearestRows(rows)
        return ClusteredRows(rows, k)


@dataclass(frozen=True)
class Exact:
    """Finds all neighbours."""

    name: str = "exact"
    description: str = "all neighbours are found"

    def prepared(self, rows: Matrix, k: int) -> NearestRows:
        return NearestRows(rows)


@dataclass(frozen=True)
class Approximate:
    """Finds nearly all neighbours."""

    name: str = "approximate"
    description: str = "each row is compared with the clusters of rows around it"

    def prepared(self, rows: Matrix, k: int) -> NearestRows:
        return NearestRows(rows) if sparse.issparse(rows) else ClusteredRows(rows, k)
