"""What the models of one target see: some columns of the design, and the target on a common scale.

Where the design has more than ``MOST_COLUMNS`` columns, the models see those that correlate most with the target.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, Rows, row_blocks

MOST_COLUMNS = 100
DIGITS = 9  # correlations that differ by less are ties: the last digits depend on the order of a sum


def chosen_columns(Z: Matrix, y: Floats, rows: Rows) -> Rows:
    """The columns of the design that the models of a target see, in ascending order.

    ``y`` are the values of the target in some ``rows`` of the design.
    """
    if Z.shape[1] <= MOST_COLUMNS:
        return np.arange(Z.shape[1])
    likeness = np.round(np.abs(correlations(Z, y, rows)), DIGITS)
    return np.sort(np.argsort(-likeness, kind="stable")[:MOST_COLUMNS])


def correlations(Z: Matrix, y: Floats, rows: Rows) -> Floats:
    """Pearson's correlation of every column with the target, 0 for a constant column."""
    level, unit = level_and_unit(y)
    target = (y - level) / unit
    target = target - target.mean()
    of_kind = _sparse_sums if sparse.issparse(Z) else _dense_sums
    products, squares, largest = of_kind(Z, target, rows)
    varied = squares > len(rows) * (1e-12 * largest) ** 2  # what is left of a constant is rounding
    norms = np.sqrt(np.where(varied, squares, 1.0)) * max(float(np.linalg.norm(target)), 1e-300)
    return np.asarray(np.where(varied, products / norms, 0.0))


def dense_columns(Z: Matrix, columns: Rows, rows: Rows | slice | None = None) -> Floats:
    """Some columns of some rows of the design in double precision."""
    some = slice(None) if rows is None else rows
    if sparse.issparse(Z):
        return np.ascontiguousarray(Z[some][:, columns].toarray(), dtype=np.float64)
    block = Z[some][:, columns] if isinstance(some, slice) else Z[some[:, None], columns]
    return np.ascontiguousarray(block, dtype=np.float64)


def level_and_unit(y: Floats) -> tuple[float, float]:
    """The median of a target and the size of its deviations, as a power of two.

    Few large deviations do not change the unit, and no digit changes when numbers are divided by it.
    """
    level = float(np.median(y))
    deviations = np.abs(y - level)
    size = float(np.median(deviations)) or float(deviations.mean())
    return level, float(2.0 ** np.floor(np.log2(size))) if size else 1.0


Sums = tuple[Floats, Floats, Floats]
"""Of every column: products with the target, squared deviations from the mean, and the largest absolute value."""


def _dense_sums(Z: Matrix, target: Floats, rows: Rows) -> Sums:
    mean, largest = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for block in row_blocks(len(rows)):
        part = np.asarray(Z[rows[block]], dtype=np.float64)
        mean += part.sum(axis=0) / len(rows)
        np.maximum(largest, np.abs(part).max(axis=0), out=largest)
    products, squares = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for block in row_blocks(len(rows)):
        part = np.asarray(Z[rows[block]], dtype=np.float64) - mean
        products += target[block] @ part
        squares += np.square(part).sum(axis=0)
    return products, squares, largest


def _sparse_sums(Z: Matrix, target: Floats, rows: Rows) -> Sums:
    some = Z if len(rows) == Z.shape[0] else Z[rows]
    column, n_columns = some.indices, Z.shape[1]
    mean: Floats = np.bincount(column, some.data, n_columns) / len(rows)
    n_filled = np.bincount(column, minlength=n_columns)
    squares = np.bincount(column, np.square(some.data - mean[column]), n_columns).astype(np.float64)
    squares += (len(rows) - n_filled) * np.square(mean)
    largest = np.zeros(n_columns)
    np.maximum.at(largest, column, np.abs(some.data))
    return some.T @ target, squares, largest
