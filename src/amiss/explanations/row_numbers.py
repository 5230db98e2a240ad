"""Which row is to be explained."""

from __future__ import annotations

import operator

from amiss.errors import DataError


def checked_row(row: int, n_rows: int, whose: str) -> int:
    """A row's number, if there is such a row."""
    try:
        number = operator.index(row)
    except TypeError:
        raise DataError(f"a row is given by its number, a whole number; got {row!r}") from None
    if not 0 <= number < n_rows:
        raise DataError(f"there is no row {row}: {whose} {n_rows} rows, counted from 0")
    return number
