"""Which row is to be explained."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from amiss.data.table import Table
from amiss.errors import DataError, quoted


def checked_row(row: int, n_rows: int, whose: str) -> int:
    """A row's number, if there is such a row."""
    try:
        number = operator.index(row)
    except TypeError:
        raise DataError(f"a row is given by its number, a whole number; got {row!r}") from None
    if not 0 <= number < n_rows:
        raise DataError(f"there is no row {row}: {whose} {n_rows} rows, counted from 0")
    return number


def row_of_fit(X: Any, row: int | None, label: Any, labels: Sequence[Any] | None) -> int:
    """The number of a row of the fit, which is given by its number or by its label."""
    if label is not None and X is None and row is None:
        return row_of_label(label, labels)
    number = row if X is None else X
    if not isinstance(number, Integral) or isinstance(number, bool) or None not in (X, row) or label is not None:
        raise TypeError(
            "explain takes the number of a row of the fit, or its label (label=…), or X and Y of new rows"
        )
    return int(number)


def row_of_batch(row: int | None, label: Any, inputs: Table) -> int:
    """The same of new rows; of a single one nothing need be said."""
    if label is not None:
        return row_of_label(label, inputs.index)
    if row is None and len(inputs) > 1:
        raise ValueError(f"there are {len(inputs)} rows; say which one: explain(X, Y, row=0)")
    return checked_row(row or 0, len(inputs), "X has")


def row_of_label(label: Any, labels: Sequence[Any] | None) -> int:
    """The only row with this label."""
    if labels is None:
        raise DataError("the rows have no labels but their numbers; pass a pandas frame with an index of its own")
    found = [number for number, each in enumerate(labels) if each == label]
    if len(found) != 1:
        many = f"{len(found)} rows have" if found else "no row has"
        raise DataError(f"{many} the label {quoted(label)}; give the row's number instead, counted from 0")
    return found[0]
