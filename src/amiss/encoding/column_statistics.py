"""Statistics of each column, for dense and sparse matrices alike.

A matrix is ``(n_rows, n_columns)``, and NaN is a missing value. Cells that a sparse matrix does not
store count as zeros. Columns are divided by their largest magnitude before anything is summed, so
that values of 1e300 do not overflow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Matrix
from amiss.encoding.column_groups import by_blocks, by_groups

Counts = npt.NDArray[np.intp]


@by_blocks(np.add)
def missing_counts(values: Matrix) -> Counts:
    """Number of missing values in each column, ``(n_columns,)``."""
    if sparse.issparse(values):
        return np.bincount(values.indices[np.isnan(values.data)], minlength=values.shape[1])
    return np.isnan(values).sum(axis=0)


@by_blocks(np.add)
def nonzero_counts(values: Matrix) -> Counts:
    """Number of non-zeros in each column, ``(n_columns,)``."""
    if sparse.issparse(values):
        return np.bincount(values.indices[values.data != 0], minlength=values.shape[1])
    return np.count_nonzero(values, axis=0)


def total_nonzeros(values: Matrix) -> int:
    """Number of non-zeros in the whole matrix; a missing value counts as one."""
    return int(np.count_nonzero(values.data if sparse.issparse(values) else values))


@by_groups
def means(values: Matrix) -> Floats:
    """Mean of the present values of each column, ``(n_columns,)``; 0 if all are missing.

    >>> means(np.array([[1.0, np.nan, 1e308], [2.0, np.nan, 1e308]]))
    array([1.5e+000, 0.0e+000, 1.0e+308])
    """
    present = np.maximum(values.shape[0] - missing_counts(values), 1)
    unit = largest_or_one(values)
    if sparse.issparse(values):
        shares = np.nan_to_num(values.data / unit[values.indices], nan=0.0)
        total = np.bincount(values.indices, weights=shares, minlength=values.shape[1])
    else:
        total = np.nansum(values / unit, axis=0)
    return total / present * unit


@by_groups
def lower_medians(values: Matrix) -> Floats:
    """Median of the present values of each column, ``(n_columns,)``; 0 if all are missing.

    Of an even number of values it is the lower of the middle two, so it is always a value of the column.

    >>> lower_medians(np.array([[1.0, np.nan], [2.0, np.nan], [5.0, 7.0], [9.0, np.nan]]))
    array([2., 7.])
    """
    dense = values.toarray() if sparse.issparse(values) else values
    missing = np.isnan(dense)
    if not missing.any() and len(dense):
        middle = (len(dense) - 1) // 2
        return np.asarray(np.partition(dense, middle, axis=0)[middle])
    empty = missing.all(axis=0)
    return np.where(empty, 0.0, np.nanquantile(np.where(empty, 0.0, dense), 0.5, axis=0, method="lower"))


@by_blocks(np.fmin, np.fmax)
def extremes(values: Matrix) -> tuple[Floats, Floats]:
    """Lowest and highest present value of each column, each ``(n_columns,)``; NaN if all are missing."""
    if not sparse.issparse(values):
        return np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    low, high = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    np.fmin.at(low, values.indices, values.data)
    np.fmax.at(high, values.indices, values.data)
    has_zeros = np.bincount(values.indices, minlength=values.shape[1]) < values.shape[0]
    return np.where(has_zeros, np.fmin(low, 0.0), low), np.where(has_zeros, np.fmax(high, 0.0), high)


@by_blocks(np.minimum)
def lowest_or_zero(values: Matrix) -> Floats:
    """Lowest value of each column if it is negative, otherwise 0, ``(n_columns,)``; nothing may be missing."""
    if sparse.issparse(values):
        lowest = np.zeros(values.shape[1])
        np.minimum.at(lowest, values.indices, values.data)
        return lowest
    return values.min(axis=0, initial=0.0)


@by_blocks(np.fmax)
def largest_magnitudes(values: Matrix) -> Floats:
    """Largest absolute value that is present in each column, ``(n_columns,)``."""
    if sparse.issparse(values):
        largest = np.zeros(values.shape[1])
        np.fmax.at(largest, values.indices, np.abs(values.data))
        return largest
    return np.fmax.reduce(np.abs(values), axis=0, initial=0.0)


def largest_or_one(values: Matrix) -> Floats:
    """Largest absolute value of each column, ``(n_columns,)``, or 1 for a column of zeros: safe to divide by."""
    largest = largest_magnitudes(values)
    return np.where(largest > 0, largest, 1.0)


def moments(values: Matrix, unit: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column of ``values / unit``, each ``(n_columns,)``.

    >>> moments(np.array([[0.0, 10.0], [4.0, 10.0]]), np.array([4.0, 10.0]))
    (array([0.5, 1. ]), array([0.5, 0. ]))
    """
    n_rows = values.shape[0]
    if not sparse.issparse(values):
        shares = values / unit
        return shares.mean(axis=0), shares.std(axis=0)
    shares = values.data / unit[values.indices]
    mean = np.bincount(values.indices, weights=shares, minlength=values.shape[1]) / n_rows
    filled = np.bincount(values.indices, minlength=values.shape[1])
    around = np.bincount(values.indices, weights=(shares - mean[values.indices]) ** 2, minlength=values.shape[1])
    return mean, np.sqrt((around + (n_rows - filled) * mean**2) / n_rows)
