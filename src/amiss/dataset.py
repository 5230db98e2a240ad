"""Datasets, and the one place where bad data is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from amiss.convert import TRUTH, are_label_lists, as_column, as_table, binarized
from amiss.errors import DataError, listed, refuse_duplicates, shown
from amiss.table import Floats, Matrix, Table


@dataclass(frozen=True)
class Dataset:
    """What a reader gives: inputs, outputs and, where the file has them, row ids and pictures.

    A picture is a file or a small array.
    """

    X: Table
    Y: Table
    ids: tuple[str, ...] | None = None
    pictures: tuple[Any, ...] | None = None

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.X.names

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.Y.names

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Dataset({len(self)} rows, {self.X.shape[1]} inputs, {self.Y.shape[1]} outputs)"


def as_inputs(X: Any) -> Table:
    """Any supported kind of input as a table; infinite values are refused by name."""
    table = as_table(X, prefix="x")
    refuse_duplicates(table.names)
    if table.shape[0] == 0:
        raise DataError(f"X has 0 sample(s) (shape={table.shape}) while a minimum of 1 is required.")
    if table.shape[1] == 0:
        raise DataError(f"X has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")
    infinite = _first(table.values, np.isinf)
    if infinite is not None:
        row, column = infinite
        raise DataError(
            f"{table.where(row)}, column {shown(table.names[column])}: the value is infinite; "
            "leave the cell empty or put a number there"
        )
    return table


def as_outputs(Y: Any, names: Sequence[str] | None = None, label_lists: bool = False) -> Table:
    """Outputs as a dense table of 0, 1 and NaN (missing).

    ``names`` fixes the columns of lists of labels, which otherwise are all labels met, sorted.
    ``label_lists`` says that Y is such lists, where its form alone would leave it open.

    >>> as_outputs([["cat", "dog"], [], ["dog"]]).values
    array([[1., 1.],
           [0., 0.],
           [0., 1.]])
    """
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    as_lists = (label_lists and isinstance(Y, (list, tuple))) or are_label_lists(Y)
    table = binarized(Y, names) if as_lists else as_table(as_column(Y), prefix="y")
    refuse_duplicates(table.names)
    if table.shape[1] == 0:
        raise DataError("there is no output column; name at least one")
    values = table.values.toarray() if sparse.issparse(table.values) else np.array(table.values)
    for column, levels in table.levels.items():
        values[:, column] = _truth_values(values[:, column], levels)
    bad = _first(values, lambda cells: ~np.isnan(cells) & (cells != 0) & (cells != 1))
    if bad is not None:
        row, column = bad
        raise DataError(
            f"{table.where(row)}, column {shown(table.names[column])}: "
            "an output must be 0 or 1 (or true/false, yes/no), or empty if it is missing"
        )
    return replace(table, values=values, levels={})


def _truth_values(codes: Floats, levels: tuple[str, ...]) -> Floats:
    """0 and 1 for the texts that mean them; anything else becomes a value that is refused."""
    meaning = np.array([TRUTH.get(level.strip().lower(), -1.0) for level in levels] + [np.nan])
    return meaning[np.where(np.isnan(codes), len(levels), codes).astype(np.intp)]


def _first(values: Matrix, test: Any) -> tuple[int, int] | None:
    """Row and column of the first value that passes ``test``, if any."""
    if sparse.issparse(values):
        hits = np.flatnonzero(test(values.data))
        if not len(hits):
            return None
        row = int(np.searchsorted(values.indptr, hits[0], side="right")) - 1
        return row, int(values.indices[hits[0]])
    found = test(values)
    if not found.any():
        return None
    return divmod(int(np.argmax(found)), found.shape[1])


def refuse_unequal_lengths(inputs: Table, outputs: Table) -> None:
    if len(inputs) != len(outputs):
        raise DataError(f"X has {len(inputs)} rows and Y has {len(outputs)}; inconsistent numbers of samples")


def refuse_other_order(X: Any, Y: Any) -> None:
    """Two pandas objects with one index in two orders: rows would be put together that do not belong so."""
    if not all(hasattr(each, "iloc") and hasattr(each, "index") for each in (X, Y)):
        return
    if len(X) != len(Y) or X.index.equals(Y.index) or not (X.index.is_unique and Y.index.is_unique):
        return
    if set(X.index) == set(Y.index):
        raise DataError(
            "X and Y have the same index in different orders; say Y.loc[X.index], or reset the index of both "
            "if their rows belong together as they are"
        )


def differences(names: Sequence[str], expected: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which expected names are missing, and which names were not expected."""
    have, want = set(names), set(expected)
    return [name for name in expected if name not in have], [name for name in names if name not in want]


def matched(table: Table, names: tuple[str, ...], prefix: str, named: bool = True) -> Table:
    """``table`` with its columns in the order of ``names``.

    Columns are matched by name; where ``table`` or the fit had none, by position. (The columns of a fit without
    names are called x0, x1 and so on; a table with these names means them.)
    """
    if table.names == names:
        return table
    kind = {"x": "input", "y": "output"}[prefix]
    its_own_names = table.named and set(table.names) == set(names)
    if not (table.named and named) and not its_own_names:
        if table.named and table.origin is not None:
            raise DataError(
                f"{table.files}the model was fitted to {kind}s without names; give them as an array, or name the "
                f"columns {names[0]}, {names[1] if len(names) > 1 else '…'} and so on"
            )
        if len(table.names) != len(names):
            raise DataError(
                f"X has {len(table.names)} features, but MCODE is expecting {len(names)} features as input"
                if prefix == "x"
                else f"Y has {len(table.names)} outputs, but the fit had {len(names)}"
            )
        return replace(table, names=names)
    missing, extra = differences(table.names, names)
    if missing or extra:
        found = [f"missing {listed(missing)}"] * bool(missing) + [f"unknown {listed(extra)}"] * bool(extra)
        raise DataError(
            f"{table.files}the {kind} columns are not those of the fit: {'; '.join(found)}"
            + (" (--drop leaves a column out)" if extra and table.origin is not None else "")
        )
    position = {name: column for column, name in enumerate(table.names)}
    return table.select([position[name] for name in names])
