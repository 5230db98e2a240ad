"""Rows of embeddings are matched with those of a table, and their columns stand behind the table's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, Rows
from amiss.data.dataset import Dataset
from amiss.data.table import Table, checked_as
from amiss.data.validation import as_inputs
from amiss.errors import DataError, quoted_list
from amiss.readers.part import Part
from amiss.wording import count

BLOCK_ROWS = 4096


def with_embedding(data: Dataset, embedding: Part) -> Dataset:
    """``data`` with further inputs; rows are matched by id if both have ids, otherwise by position."""
    table = as_inputs(embedding.table)
    _refuse_clashing_names(data, table)
    if data.ids is not None and embedding.ids is not None:
        rows = _rows_by_id(data, data.ids, table, embedding.ids)
    else:
        _refuse_other_length(data, table)
        rows = None
    return replace(data, X=_beside(data.X, table, rows))


def _refuse_clashing_names(data: Dataset, embedding: Table) -> None:
    taken = {*data.X.names, *data.Y.names}
    if both := [name for name in embedding.names if name in taken]:
        raise DataError(
            f"{embedding.files}column {quoted_list(both)} is also in the table; "
            "drop it there (--drop), or give other input_names in an npz file"
        )


def _refuse_other_length(data: Dataset, embedding: Table) -> None:
    if len(embedding) != len(data.Y):
        raise DataError(
            f"{embedding.files}there {'is' if len(embedding) == 1 else 'are'} {count(len(embedding), 'row')}, "
            f"but {len(data.Y):,} in {data.Y.files.removesuffix(': ')}; give the same rows in the same order, "
            "or ids (--id, and `ids` in an npz file)"
        )


def _rows_by_id(data: Dataset, ids: Sequence[str], embedding: Table, embedding_ids: Sequence[str]) -> Rows | None:
    """For each row of the table, the row of the embedding that has its id; None if that is the order already."""
    here, there = _row_of_id(ids, data.Y), _row_of_id(embedding_ids, embedding)
    for table, missing, place in (
        (data.Y, [row for row_id, row in here.items() if row_id not in there], embedding.files),
        (embedding, [row for row_id, row in there.items() if row_id not in here], data.Y.files),
    ):
        if missing:
            more = len(missing) - 1
            others = (
                f", nor {'is that' if more == 1 else 'are those'} of {count(more, 'more row')}" if more else ""
            )
            raise DataError(
                f"{table.where(missing[0])}: the row's id is not in {place.removesuffix(': ')}{others}; "
                "each row of the one needs a row of the other"
            )
    rows = np.array([there[row_id] for row_id in here], dtype=np.intp)
    return None if (rows == np.arange(len(rows))).all() else rows


def _row_of_id(ids: Sequence[str], table: Table) -> dict[str, int]:
    """The row of each id, without the blanks around it; in the order of the rows."""
    rows: dict[str, int] = {}
    for row, row_id in enumerate(ids):
        first = rows.setdefault(row_id.strip(), row)
        if first != row:
            raise DataError(
                f"{table.where(row)}: the row has the same id as {table.where(first)}; "
                "rows are matched by id, so each needs its own"
            )
    return rows


def _beside(inputs: Table, embedding: Table, rows: Rows | None) -> Table:
    """The columns of both, first those of the table; copied at most once, and not if the table has none."""
    if inputs.shape[1] == 0:
        return replace(embedding if rows is None else embedding.take(rows), origin=inputs.origin)
    inputs = as_inputs(inputs)
    names = inputs.names + embedding.names
    if sparse.issparse(inputs.values):
        more = sparse.csr_array(embedding.values if rows is None else embedding.values[rows], dtype=np.float64)
        values: Matrix = sparse.csr_array(sparse.hstack([inputs.values, more], format="csr"))
    else:
        single = embedding.values.dtype == np.float32 and _is_single(inputs.values)
        values = np.empty((len(inputs), len(names)), dtype=np.float32 if single else np.float64)
        values[:, : inputs.shape[1]] = inputs.values
        for start in range(0, len(inputs), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            with np.errstate(invalid="ignore"):  # of a signalling NaN
                values[block, inputs.shape[1] :] = embedding.values[block if rows is None else rows[block]]
    return checked_as("inputs", Table(values, names, inputs.levels, inputs.origin))


def _is_single(values: Floats) -> bool:
    """Whether every value stays the same in single precision.

    >>> _is_single(np.array([[0.5, np.nan]])), _is_single(np.array([[0.1]])), _is_single(np.array([[1e300]]))
    (True, False, False)
    """
    with np.errstate(over="ignore"):
        return bool(np.array_equal(values, values.astype(np.float32), equal_nan=True))
