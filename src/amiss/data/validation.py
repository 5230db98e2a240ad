"""The one place that refuses bad values in inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, row_blocks
from amiss.data.convert import are_label_lists, as_column, as_table, from_label_lists
from amiss.data.output_cells import as_known, new_levels, said, told
from amiss.data.output_kinds import BINARY, Asked, OutputColumn, all_binary, refuse_unknown_outputs
from amiss.data.records import are_records, as_list
from amiss.data.table import Table, checked_as, is_checked, output_columns
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


def as_outputs(
    Y: Any,
    names: Sequence[str] | None = None,
    label_lists: bool = False,
    kinds: Asked | None = None,
    known: Sequence[OutputColumn] = (),
) -> Table:
    """Outputs as a dense table of values; NaN is missing.

    If Y holds lists of labels, ``names`` are the columns, by default all labels that occur, sorted.
    ``label_lists`` says that Y holds such lists, in case its form alone does not show it. ``kinds`` are said by
    the user, ``known`` are those of a fit; the kind of any other output is told from its cells.

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
    if kinds:
        refuse_unknown_outputs(kinds, table.names)
    if known and not table.named and len(known) == len(table.names):
        table = replace(table, names=tuple(column.name for column in known))
    of_fit = {column.name: column for column in known}
    if is_checked("outputs", table) and not kinds and _are_known(table, of_fit):
        return table
    return _as_kinds(table, kinds or {}, of_fit)


def _are_known(table: Table, of_fit: Mapping[str, OutputColumn]) -> bool:
    """Whether the columns are of the kinds of a fit, or of their own."""
    return not of_fit or output_columns(table) == tuple(of_fit.get(name) for name in table.names)


def _as_kinds(table: Table, kinds: Asked, of_fit: Mapping[str, OutputColumn]) -> Table:
    """The table with the values of each column as of its kind."""
    stored_sparse = sparse.issparse(table.values)
    values = table.values.toarray() if stored_sparse else np.array(table.values, dtype=np.float64)
    columns, plain = [], _only_0_and_1(values)
    new: dict[int, dict[int, str]] = {}
    for place, name in enumerate(table.names):
        if plain[place] and place not in table.levels and not table.kinds and _is_binary(name, kinds, of_fit):
            columns.append(OutputColumn(name))
            continue
        own = table.kinds[place].levels if table.kinds and table.kinds[place].kind.has_levels else None
        cells = values[:, place], table.levels.get(place, own)
        if name in kinds:
            values[:, place], column = said(name, *cells, kinds[name], table.where)
        elif name in of_fit:
            column = of_fit[name]
            new |= {place: found} if (found := new_levels(*cells, column)) else {}
            values[:, place] = as_known(*cells, column, table.where)
        elif table.kinds:
            column = table.kinds[place]
        else:
            values[:, place], column = told(name, *cells, table.where)
        columns.append(column)
    kinds_found = () if all_binary(columns) else tuple(columns)
    return checked_as("outputs", replace(table, values=values, levels={}, kinds=kinds_found, new_levels=new))


def _only_0_and_1(values: Floats) -> Mask:
    """Which columns hold nothing but 0, 1 and missing values."""
    plain = np.ones(values.shape[1], dtype=bool)
    for rows in row_blocks(len(values)):
        cells = values[rows]
        plain &= ((cells == 0) | (cells == 1) | np.isnan(cells)).all(axis=0)
    return plain


def _is_binary(name: str, kinds: Asked, of_fit: Mapping[str, OutputColumn]) -> bool:
    """Whether nobody says that a column of 0 and 1 is of another kind."""
    return name not in kinds and of_fit.get(name, OutputColumn(name)).kind is BINARY


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
