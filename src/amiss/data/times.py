"""Dates, times and durations of frames as numbers, as columns of files have them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from amiss.arrays import Floats

DAY = timedelta(days=1)
EPOCH = date(1970, 1, 1)
TEMPORAL = (date, time, timedelta, np.datetime64, np.timedelta64)


def is_temporal(cell: Any) -> bool:
    """Whether a cell is a date, a time, a duration, or a period of pandas."""
    return isinstance(cell, TEMPORAL) or hasattr(cell, "to_timestamp")


def temporal_numbers(cells: Sequence[Any]) -> Floats:
    """Dates as days since 1970, times of day and durations as seconds; what is missing is NaN.

    A time with a zone is taken to UTC.

    >>> temporal_numbers([date(1970, 1, 3), datetime(1970, 1, 1, 18), None, timedelta(minutes=2)])
    array([  2.  ,   0.75,    nan, 120.  ])
    """
    return np.array([_number(cell) for cell in cells], dtype=float)


def _number(cell: Any) -> float:
    if isinstance(cell, np.datetime64 | np.timedelta64):
        cell = _of_numpy(cell)
    if cell is None or type(cell).__name__ in ("NaTType", "NAType"):
        return float("nan")
    if hasattr(cell, "to_timestamp"):  # pandas' Period: the moment it begins
        cell = cell.to_timestamp()
    if isinstance(cell, datetime):
        offset = cell.utcoffset() or timedelta(0)
        return (cell.replace(tzinfo=None) - offset - datetime(1970, 1, 1)) / DAY
    if isinstance(cell, date):
        return float((cell - EPOCH).days)
    if isinstance(cell, time):
        return cell.hour * 3600 + cell.minute * 60 + cell.second + cell.microsecond / 1e6
    return float(cell.total_seconds())


def _of_numpy(cell: np.datetime64 | np.timedelta64) -> Any:
    if np.isnat(cell):
        return None
    unit = "datetime64[us]" if isinstance(cell, np.datetime64) else "timedelta64[us]"
    return cell.astype(unit).item()
