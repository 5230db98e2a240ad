"""Columns of counts, such as how often each word occurs in a text.

One occurrence instead of none matters more than 101 instead of 100, so counts become logarithms. Each
row is then divided by its length over these columns, so that a long text weighs no more than a short one.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Mask, Matrix, row_blocks
from amiss.encoding.column_groups import in_parts
from amiss.encoding.column_statistics import lowest_or_zero, nonzero_counts

MOSTLY_ZERO = 0.5  # a column of counts has a smaller share of non-zeros than this, and no negative value
SPARSE_COUNTS = 0.25  # all columns of counts together have a smaller share of non-zeros than this


def find_count_columns(columns: Matrix, is_number: Mask) -> Mask:
    """Mask of the columns of counts, ``(n_columns,)``: numbers, mostly zero and never negative.

    There are none unless at least half of the columns of numbers are like that, and sparse enough
    together: a few rare 0/1 columns beside an age and a weight leave those two alone.
    """
    nonzero, lowest = nonzero_counts(columns), lowest_or_zero(columns)
    found = is_number & (lowest >= 0) & (nonzero < MOSTLY_ZERO * columns.shape[0])
    share = nonzero[found].sum() / max(1, columns.shape[0] * np.count_nonzero(found))
    if share >= SPARSE_COUNTS or 2 * np.count_nonzero(found) < np.count_nonzero(is_number):
        return np.zeros_like(is_number)
    return found


def log_unit_rows(columns: Matrix, where: Mask) -> Matrix:
    """Logarithms in rows of unit length for the columns ``where``; the other columns stay as they are.

    >>> log_unit_rows(np.array([[0.0, 5.0, 8.0], [1.0, 1.0, 9.0]]), np.array([True, True, False])).round(3)
    array([[0.   , 1.   , 8.   ],
           [0.707, 0.707, 9.   ]])
    """
    if not where.any():
        return columns
    if not in_parts(columns):
        return _unit_rows(_logarithms(columns, where), where)
    result = np.empty_like(columns)
    for rows in row_blocks(len(columns)):
        result[rows] = _unit_rows(_logarithms(columns[rows].astype(np.float64), where), where)
    return result


def _logarithms(columns: Matrix, where: Mask) -> Matrix:
    """sign(x) log(1 + abs(x)) of the columns ``where``."""
    if sparse.issparse(columns):
        data = columns.data
        data = np.where(where[columns.indices], np.sign(data) * np.log1p(np.abs(data)), data)
        return sparse.csr_array((data, columns.indices, columns.indptr), shape=columns.shape)
    return np.where(where, np.sign(columns) * np.log1p(np.abs(columns)), columns)


def _unit_rows(columns: Matrix, where: Mask) -> Matrix:
    """Rows divided by their Euclidean length over the columns ``where``; a row of zeros stays as it is."""
    if sparse.issparse(columns):
        row_of = np.repeat(np.arange(columns.shape[0]), np.diff(columns.indptr))
        inside = where[columns.indices]
        cells = np.where(inside, columns.data, 0.0)
        squares = np.bincount(row_of, weights=cells**2, minlength=columns.shape[0])
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        data = np.where(inside, columns.data / length[row_of], columns.data)
        return sparse.csr_array((data, columns.indices, columns.indptr), shape=columns.shape)
    squares = np.einsum("ij,ij->i", columns * where, columns * where)
    length = np.sqrt(np.where(squares > 0, squares, 1.0))
    return np.where(where, columns / length[:, None], columns)
