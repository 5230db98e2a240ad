"""Columns of texts that identify rows instead of describing them, such as names and record numbers."""

from __future__ import annotations

import numpy as np

from amiss.data.table import Table
from amiss.errors import DataError, quoted

MANY_LEVELS = 20  # an identifier has more different texts than this


def identifier_columns(table: Table) -> dict[int, int]:
    """The columns of texts that are nearly all different, and how many different texts each has.

    >>> names = tuple(f"patient {number}" for number in range(30))
    >>> identifier_columns(Table(np.arange(30.0)[:, None], ("name",), {0: names}))
    {0: 30}
    """
    present = {column: len(np.unique(table.column(column))) for column in table.levels}
    return {column: count for column, count in present.items() if count > MANY_LEVELS and 2 * count > len(table)}


def refuse_identifiers(table: Table) -> None:
    """Raise a ``DataError`` if columns of ``table`` look like identifiers."""
    found = [(quoted(table.names[column]), count) for column, count in identifier_columns(table).items()]
    if len(found) == 1:
        [(name, count)] = found
        raise DataError(
            f"{table.files}input column {name} holds {count} different texts in {len(table)} rows and looks like "
            "an identifier; make it the id (--id) or drop it (--drop)"
        )
    if found:
        names = ", ".join(f"{name} ({count})" for name, count in found)
        raise DataError(
            f"{table.files}input columns look like identifiers, by their different texts in {len(table)} rows: "
            f"{names}; make one of them the id (--id) and drop the others (--drop)"
        )
