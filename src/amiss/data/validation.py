"""The one place that refuses bad values in inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, row_blocks
from amiss.data.convert import TRUTH, are_label_lists, as_column, as_table, from_label_lists
from amiss.data.records import are_records, as_list
from amiss.data.table import Table, checked_as, is_checked
from amiss.errors import DataError, quoted, quoted_list, refuse_duplicates


def as_inputs(X: Any) -> Table:
    """Inputs of any supported kind as a table; infinite values are refused."""
    table = as_table(X, prefix="x")
    refuse_duplicates(table.names)
    if table.shape[0] == 0:
        raise DataError(f"X has 0 sample(s) (shape={table.shape}) while a minimum of 1 is required.")
    if table.shape[1] == 0:
        raise DataError(f"X has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")
    if is_checked("inputs", table):
        return table
    infinite = _first(table.values, np.isinf)
    if infinite is not None:
        row, column = infinite
        raise DataError(
            f"{table.where(row)}, column {quoted(table.names[column])}: the value is infinite; "
            "leave the cell empty or enter a number"
        )
    return checked_as("inputs", table)


def as_outputs(Y: Any, names: Sequence[str] | None = None, label_lists: bool = False) -> Table:
    """Outputs as a dense table of 0, 1 and NaN (missing).

    If Y holds lists of labels, ``names`` are the columns, by default all labels that occur, sorted.
    ``label_lists`` says that Y holds such lists, in case its form alone does not show it.

    >>> as_outputs([["cat", "dog"], [], ["dog"]]).values
    array([[1., 1.],
           [0., 0.],
           [0., 1.]])
    """
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    Y = as_list(Y)
    as_lists = are_label_lists(Y) or (label_lists and isinstance(Y, (list, tuple)) and not are_records(Y))
    table = from_label_lists(Y, names) if as_lists else as_table(as_column(Y), prefix="y")
    refuse_duplicates(table.names)
    if table.shape[1] == 0:
        raise DataError("there is no output column; name at least one")
    if is_checked("outputs", table):
        return table
    stored_sparse = sparse.issparse(table.values)
    values = table.values.toarray() if stored_sparse else np.array(table.values, dtype=np.float64)
    for column, levels in table.levels.items():
        values[:, column] = _truth_values(values[:, column], levels)
    bad = _first(values, lambda cells: ~np.isnan(cells) & (cells != 0) & (cells != 1))
    if bad is not None:
        row, column = bad
        raise DataError(
            f"{table.where(row)}, column {quoted(table.names[column])}: "
            "an output must be 0 or 1 (or true/false, yes/no), or empty if it is missing"
        )
    return checked_as("outputs", replace(table, values=values, levels={}))


def _truth_values(codes: Floats, levels: tuple[str, ...]) -> Floats:
    """0 and 1 for texts with these meanings; any other text becomes -1, which is refused later."""
    meaning = np.array([TRUTH.get(level.strip().lower(), -1.0) for level in levels] + [np.nan])
    return meaning[np.where(np.isnan(codes), len(levels), codes).astype(np.intp)]


def _first(values: Matrix, test: Any) -> tuple[int, int] | None:
    """Row and column of the first value that passes ``test``; None if there is none."""
    if sparse.issparse(values):
        hits = np.flatnonzero(test(values.data))
        if not len(hits):
            return None
        row = int(np.searchsorted(values.indptr, hits[0], side="right")) - 1
        return row, int(values.indices[hits[0]])
    for rows in row_blocks(len(values)):
        found = test(values[rows])
        if found.any():
            row, column = divmod(int(np.argmax(found)), found.shape[1])
            return rows.start + row, column
    return None


def refuse_unobserved(outputs: Table) -> None:
    """Refuse outputs that are missing in every row."""
    empty = np.isnan(np.asarray(outputs.values)).all(axis=0)
    if empty.any():
        names = [name for name, gone in zip(outputs.names, empty, strict=True) if gone]
        raise DataError(
            f"{outputs.files}output {quoted_list(names)} is missing in every row; drop it or fill it in"
        )
