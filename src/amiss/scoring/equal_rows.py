"""Rows that are equal are searched once: the first of each set, and its neighbours for all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from amiss.arrays import Matrix, Neighbors, Rows, row_blocks
from amiss.threads import in_blocks

MOSTLY_DISTINCT = 0.5  # share of different rows, up to which equal ones are searched once

Visit = Callable[[Rows, Rows, Neighbors], None]
"""Is told some rows, others in ascending order, and the places among these of the rows nearest to each."""


def without(found: Neighbors, own: Rows) -> Neighbors:
    """Each query's own row taken out; or the last one found, if its own is not there (many copies of it)."""
    keep = found != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(found), -1)


def distinct_rows(rows: Matrix) -> tuple[Rows, Rows]:
    """The first of each set of equal dense rows, and for each row its place among these.

    Where most rows differ, or rows are sparse, all of them count as different: looking further would not pay.

    >>> distinct_rows(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]]))
    (array([0, 1]), array([0, 1, 0, 0]))
    """
    n_rows = rows.shape[0]
    every = np.arange(n_rows)
    if sparse.issparse(rows) or n_rows < 2:
        return every, every
    turn = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(
        2
    ) + np.uint64(1)
    bits, keys = np.dtype(f"u{rows.dtype.itemsize}"), np.empty(n_rows, dtype=np.uint64)
    for some in row_blocks(n_rows):
        block = np.ascontiguousarray(rows[some] + 0.0)  # there is a negative zero
        keys[some] = (block.view(bits).astype(np.uint64) * turn).sum(axis=1, dtype=np.uint64)
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) > MOSTLY_DISTINCT * n_rows:
        return every, every
    order = np.argsort(first)  # as they stand
    first, of = first[order], np.argsort(order)[of]
    same = all(np.array_equal(rows[some], rows[first[of[some]]]) for some in row_blocks(n_rows))
    return (first, of) if same else (every, every)  # two sums in 2^64 are rarely the same by chance


def for_each(near: Neighbors, of: Rows, own: bool) -> Neighbors:
    """The neighbours of each row, if those of distinct rows are known, among them perhaps the row itself."""
    result = np.empty((len(of), near.shape[1] - own), dtype=np.int32)
    for some in row_blocks(len(of)):
        found = near[of[some]]
        result[some] = without(found, np.arange(some.start, some.stop)) if own else found
    return result


def visit_equal(near: Neighbors, of: Rows, visit: Visit, n_jobs: int | None) -> None:
    """The same without all of them at once: equal rows are visited together."""
    order = np.argsort(of, kind="stable")

    def work(some: slice) -> None:
        mine = order[some]
        first, last = of[mine[0]], of[mine[-1]]
        among, places = np.unique(near[first : last + 1].astype(np.intp), return_inverse=True)
        places = places.reshape(-1, near.shape[1]).astype(np.int32)[of[mine] - first]
        visit(mine, among, without(places, own_places(mine, among)))

    in_blocks(len(order), work, n_jobs)


def own_places(rows: Rows, among: Rows) -> Rows:
    """The place of each row among others in ascending order, -1 where it is not there."""
    places = np.minimum(np.searchsorted(among, rows), len(among) - 1)
    return np.where(among[places] == rows, places, -1)
