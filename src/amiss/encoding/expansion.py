"""From the columns of a table to columns of numbers, none of them missing and none scaled yet.

An encoded matrix has three blocks of columns, side by side:

1. numbers and categories of at most two levels (0 or 1), in the order of the table; a missing value
   is imputed;
2. one-hot columns, one per level of each larger category; a missing value is a row of zeros;
3. indicators, one per column that had missing values in the fit: 1 where the value is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, row_blocks
from amiss.data.table import Table
from amiss.encoding.column_groups import in_parts

Levels = Mapping[int, tuple[str, ...]]  # the names of the levels of each column that holds categories


def one_hot_columns(levels: Levels) -> list[int]:
    """The columns of a table that get one encoded column per level: those of more than two levels."""
    return [column for column in sorted(levels) if len(levels[column]) > 2]


def plain_columns(n_inputs: int, levels: Levels) -> list[int]:
    """The columns of a table that stay one column: numbers, and categories of at most two levels."""
    one_hot = set(one_hot_columns(levels))
    return [column for column in range(n_inputs) if column not in one_hot]


def count_encoded(n_inputs: int, levels: Levels, indicated: Sequence[int]) -> int:
    """How many encoded columns ``n_inputs`` columns of a table become.

    >>> count_encoded(2, {1: ("a", "b", "c")}, indicated=[0])
    5
    """
    one_hot = one_hot_columns(levels)
    return n_inputs - len(one_hot) + sum(len(levels[column]) for column in one_hot) + len(indicated)


def encoded_names(names: Sequence[str], levels: Levels, indicated: Sequence[int]) -> tuple[str, ...]:
    """Name of each encoded column.

    >>> encoded_names(("age", "ward"), {1: ("a", "b", "c")}, indicated=[0])
    ('age', 'ward=a', 'ward=b', 'ward=c', 'age is missing')
    """
    result = [names[column] for column in plain_columns(len(names), levels)]
    result += [f"{names[column]}={level}" for column in one_hot_columns(levels) for level in levels[column]]
    result += [f"{names[column]} is missing" for column in indicated]
    return tuple(result)


def encoded_sources(n_inputs: int, levels: Levels, indicated: Sequence[int]) -> npt.NDArray[np.intp]:
    """The column of the table that each encoded column comes from, ``(n_columns,)``."""
    of_levels = [column for column in one_hot_columns(levels) for _ in levels[column]]
    return np.array([*plain_columns(n_inputs, levels), *of_levels, *indicated], dtype=np.intp)


def encoded_numbers(n_inputs: int, levels: Levels, indicated: Sequence[int]) -> Mask:
    """Mask of the encoded columns that hold numbers, not categories or indicators, ``(n_columns,)``."""
    is_number = np.zeros(count_encoded(n_inputs, levels, indicated), dtype=bool)
    plain = plain_columns(n_inputs, levels)
    is_number[: len(plain)] = [column not in levels for column in plain]
    return is_number


def expand(table: Table, fill_values: Floats, indicated: Sequence[int], *, stored_sparse: bool) -> Matrix:
    """The encoded columns of the rows of ``table``, ``(n_rows, n_columns)``, nothing scaled yet.

    ``table`` must have the levels of the fit. ``fill_values``, ``(n_inputs,)``, replace missing values.
    """
    values = table.values
    if stored_sparse:
        matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
        matrix.eliminate_zeros()
    else:
        matrix = values.toarray() if sparse.issparse(values) else values
    one_hot = one_hot_columns(table.levels)
    plain = np.array(plain_columns(len(table.names), table.levels), dtype=np.intp)
    blocks = [impute(matrix[:, plain] if one_hot else matrix, fill_values[plain])]
    for column in one_hot:
        blocks.append(_one_hot(table.column(column), len(table.levels[column])))
    for column in indicated:
        blocks.append(np.isnan(table.column(column)).astype(float)[:, None])
    if stored_sparse:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))
    dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
    return dense[0] if len(dense) == 1 else np.hstack(dense, dtype=matrix.dtype)


def impute(columns: Matrix, fill_values: Floats) -> Matrix:
    """``columns`` with each missing value replaced by its column's fill value.

    >>> impute(np.array([[1.0, np.nan], [np.nan, 4.0]]), np.array([7.0, 9.0]))
    array([[1., 9.],
           [7., 4.]])
    """
    if sparse.issparse(columns):
        missing = np.isnan(columns.data)
        data = np.where(missing, fill_values[columns.indices], columns.data)
        return sparse.csr_array((data, columns.indices, columns.indptr), shape=columns.shape)
    if in_parts(columns):
        return _imputed_blocks(columns, fill_values.astype(columns.dtype))
    return np.where(np.isnan(columns), fill_values, columns)


def _imputed_blocks(columns: Matrix, fill_values: npt.NDArray[Any]) -> Matrix:
    """The same block by block: the very ``columns`` if nothing is missing."""
    result = columns
    for rows in row_blocks(len(columns)):
        missing = np.isnan(columns[rows])
        if missing.any():
            result = columns.copy() if result is columns else result
            result[rows] = np.where(missing, fill_values, columns[rows])
    return result


def _one_hot(codes: Floats, n_levels: int) -> sparse.csr_array:
    """One column per level, ``(n_rows, n_levels)``; a missing level is a row of zeros."""
    known = np.flatnonzero(codes >= 0)
    cells = (np.ones(len(known)), (known, codes[known].astype(np.intp)))
    return sparse.csr_array(cells, shape=(len(codes), n_levels))
