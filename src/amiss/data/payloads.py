"""New rows in the forms that a service has: dictionaries, one table with inputs and outputs, no rows at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from amiss.data.convert import as_table
from amiss.data.output_kinds import OutputColumn
from amiss.data.records import are_records
from amiss.data.table import Table

NO_OUTPUTS = (
    "Y is missing: a score says how well outputs go with inputs, so pass both, or one table that holds both by "
    "their names. In a pipeline write predict(X, Y=Y). cross_val_score passes Y, cross_val_predict cannot: "
    "decision_scores_ of a fit with crossfit=True are by models that did not see the row."
)


def rows_as_fitted(X: Any, Y: Any, inputs: Sequence[str], outputs: Sequence[str]) -> tuple[Any, Any]:
    """X and Y with the columns of a fit, from rows as dictionaries, and from one table that holds both.

    A key that a row lacks is missing, also if every row lacks it: a payload may hold one row. Keys that the fit
    does not know stay, and are refused later.
    """
    X, Y = _as_rows(X), _as_rows(Y)
    together = X if are_records(X) and (Y is None or Y is X) else None
    if together is not None:
        known = set(outputs)
        X = [{key: cell for key, cell in row.items() if key not in known} for row in together]
        Y = [{key: row[key] for key in row if key in known} for row in together]
        if not any(Y):
            raise ValueError(NO_OUTPUTS)
    elif Y is None and X is not None:
        X, Y = _split(X, outputs)
    return _filled(X, inputs), _filled(Y, outputs)


def _as_rows(values: Any) -> Any:
    """One row that is a dictionary of cells, as a list of rows."""
    if not isinstance(values, Mapping) or sparse.issparse(values):  # some sparse matrices are dictionaries
        return values
    return [values] if all(cell is None or isinstance(cell, CELLS) for cell in values.values()) else values


CELLS = (str, int, float, bool, np.number, np.bool_)


def _filled(values: Any, names: Sequence[str]) -> Any:
    """Dictionaries with all keys; anything else as it is."""
    if not are_records(values) or not all(isinstance(row, Mapping) for row in values):
        return values
    return [{**dict.fromkeys(names), **row} for row in values]


def _split(X: Any, outputs: Sequence[str]) -> tuple[Any, Any]:
    """Inputs and outputs of one table."""
    if not (hasattr(X, "columns") or hasattr(X, "column_names") or isinstance(X, Table)):
        raise ValueError(NO_OUTPUTS)
    table = as_table(X)
    if not set(outputs) <= set(table.names):
        raise ValueError(NO_OUTPUTS)
    others = [name for name in table.names if name not in set(outputs)]
    return table.select_named(others), table.select_named(list(outputs))


def have_no_rows(X: Any, Y: Any) -> bool:
    """Whether this is a batch without rows."""
    return Y is not None and n_rows_of(Y) == 0 and (X is None or n_rows_of(X) == 0)


def n_rows_of(values: Any) -> int | None:
    """How many rows there are, as far as that can be said without looking at them."""
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0]) if isinstance(shape[0], (int, np.integer)) else None
    return len(values) if isinstance(values, (list, tuple)) or hasattr(values, "__len__") else None


def empty_tables(inputs: tuple[str, ...], columns: tuple[OutputColumn, ...]) -> tuple[Table, Table]:
    """Tables without rows."""
    names = tuple(column.name for column in columns)
    return Table(np.empty((0, len(inputs))), inputs), Table(np.empty((0, len(names))), names, kinds=columns)
