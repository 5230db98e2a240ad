"""What is learned of columns in single precision, or of many rows, without a copy of all of them.

Sums are taken in double precision, a few columns at a time. Counts and extremes are exact in any precision, and
are taken a block of rows at a time. So the same numbers give the same in either precision, and no array on the way
is as large as the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, is_single, row_blocks

WORTH_PARTS = 1 << 23  # cells in double precision
CELLS = 1 << 20  # of a group
FEWEST = 16  # columns: as many cells as a line of the cache holds

Learned = TypeVar("Learned")


def column_groups(columns: Matrix) -> Iterator[slice]:
    """All columns of ``(n_rows, n_columns)``, a group at a time; few rows are one group."""
    n_rows, n_columns = columns.shape
    width = max(FEWEST, CELLS // max(1, n_rows))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def in_parts(columns: Matrix) -> bool:
    """Whether a matrix is looked at a part at a time."""
    return is_single(columns) or (not sparse.issparse(columns) and columns.size >= WORTH_PARTS)


def doubled(columns: Matrix, group: slice) -> Floats:
    """Some columns in double precision; of single precision, each in one piece."""
    return np.asarray(columns[:, group], dtype=np.float64, order="F" if is_single(columns) else "K")


def by_blocks(*combine: np.ufunc) -> Callable[[Callable[[Matrix], Learned]], Callable[[Matrix], Learned]]:
    """``learn`` gives as many arrays ``(n_columns,)``, and those of two blocks of rows are combined by these."""

    def decorated(learn: Callable[[Matrix], Learned]) -> Callable[[Matrix], Learned]:
        @wraps(learn)
        def learned(values: Matrix) -> Learned:
            if not in_parts(values) or not len(values):
                return learn(values)
            parts: list[Any] = [learn(values[rows]) for rows in row_blocks(len(values))]
            if len(combine) == 1:
                return _doubled_floats(combine[0].reduce(parts))
            found = zip(combine, zip(*parts, strict=True), strict=True)
            return tuple(_doubled_floats(both.reduce(each)) for both, each in found)  # type: ignore[return-value]

        return learned

    return decorated


def _doubled_floats(values: Any) -> Any:
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def by_groups(learn: Callable[[Matrix], Learned]) -> Callable[[Matrix], Learned]:
    """``learn`` gives arrays ``(n_columns,)``; of a matrix in parts it sees a group of columns at a time."""

    @wraps(learn)
    def learned(values: Matrix) -> Learned:
        if not in_parts(values) or not values.shape[1]:
            return learn(values)
        parts: list[Any] = [learn(doubled(values, group)) for group in column_groups(values)]
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(each) for each in zip(*parts, strict=True))  # type: ignore[return-value]
        return np.concatenate(parts)  # type: ignore[return-value]

    return learned
