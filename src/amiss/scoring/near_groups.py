"""Near copies within a table: rows with the same outputs and nearly the same inputs.

Several pictures of one patient, or augmented pictures, vouch for each other: an error that was made in one is in
all of them, and models that did not see one row have seen the others. Rows are near copies if they are far nearer
to each other than rows of this table usually are to their twentieth neighbour. Along few columns chance brings
rows near, so there they have to be nearer. Rows with the very same inputs are no near copies: in tables of
categories these are common.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, Neighbors, Rows, row_blocks

NEAR = 0.15  # times the usual distance
USUAL = 20  # the neighbour whose distance is the usual one
SAMPLE = 2000  # rows
LOOKED_AT = 10  # neighbours of each row
BY_CHANCE = 0.005  # rows that chance may bring so near to a row


def sampled_rows(n_rows: int) -> Rows:
    """Rows at even steps, enough to see whether a table has near copies."""
    return np.linspace(0, n_rows - 1, min(SAMPLE, n_rows)).astype(np.intp)


def share_of_near_copies(points: Matrix, Y: Floats, some: Rows, neighbors: Neighbors) -> float:
    """The share of some rows that have a near copy among their neighbours, ``(len(some), k)``."""
    pairs = _near_pairs(points, Y, neighbors, some)
    return len(np.unique(pairs[0])) / len(some) if len(some) else 0.0


def near_groups(points: Matrix, Y: Floats, neighbors: Neighbors) -> Rows | None:
    """Which rows are near copies of each other, as the number of a group for each row; None if there are none.

    ``points`` are where the inputs of the rows lie, ``neighbors`` the nearest other rows of each, nearest first.
    """
    n_rows = len(neighbors)
    rows, others = _near_pairs(points, Y, neighbors, np.arange(n_rows))
    if not len(rows):
        return None
    edges = sparse.csr_array((np.ones(len(rows)), (rows, others)), shape=(n_rows, n_rows))
    return np.asarray(sparse.csgraph.connected_components(edges, directed=False)[1], dtype=np.intp)


def _near_pairs(points: Matrix, Y: Floats, neighbors: Neighbors, some: Rows) -> tuple[Rows, Rows]:
    """Some of the rows and near copies of them, side by side; ``neighbors`` are those of some rows."""
    k = neighbors.shape[1]
    if k < 2:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    usual = float(np.median(_apart(points, some, neighbors[:, min(USUAL, k) - 1])))
    # Within a share s of the usual distance lie s^d times as many rows, where these spread along d columns.
    nearest = usual * min(NEAR, (BY_CHANCE / USUAL) ** (1 / points.shape[1]))
    here, there = [], []
    for place in range(min(LOOKED_AT, k)):
        other = neighbors[:, place]
        apart = _apart(points, some, other)
        near = np.flatnonzero((apart > 0) & (apart <= nearest))
        mine, theirs = Y[some[near]], Y[other[near]]
        near = near[((theirs == mine) | (np.isnan(mine) & np.isnan(theirs))).all(axis=1)]
        here.append(some[near])
        there.append(other[near])
    return np.concatenate(here), np.concatenate(there)


def _apart(points: Matrix, some: Rows, others: Neighbors) -> Floats:
    """How far some rows are from other ones."""
    result = np.empty(len(others))
    for rows in row_blocks(len(others)):
        gap = points[some[rows]] - points[others[rows]]
        squares = gap.multiply(gap).sum(axis=1) if sparse.issparse(gap) else np.einsum("ij,ij->i", gap, gap)
        result[rows] = np.sqrt(np.ravel(squares))
    return result
