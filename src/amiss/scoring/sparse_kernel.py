"""The loop of :mod:`amiss.scoring.sparse_products` that numba compiles; nothing else imports it."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(nogil=True, cache=True)
def add_products(
    indptr: Any, indices: Any, data: Any, turned_indptr: Any, turned_indices: Any, turned_data: Any, out: Any
) -> None:
    """Add the product of two CSR matrices to a dense one, row by row."""
    for row in range(len(indptr) - 1):
        sums = out[row]
        for t in range(indptr[row], indptr[row + 1]):
            column, value = indices[t], data[t]
            for u in range(turned_indptr[column], turned_indptr[column + 1]):
                sums[turned_indices[u]] += value * turned_data[u]
