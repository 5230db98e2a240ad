"""Cells that are more than texts, from workbooks, databases and JSON, as the texts that stand for them in CSV.

So a table reads the same from any of these files: a model that was fitted to a workbook scores rows of a database.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from amiss.readers.source import Source

EXACT = 1 << 53  # up to this, a float that is a whole number is written as one


class NotACell(ValueError):
    """A value that no cell of a table can hold; the text says what it is."""


class TypedNumber(str):
    """The text of a cell that the file itself holds as a number: its point stands before decimals."""


def texts_in(source: Source) -> Any:
    """What turns a column of cells into texts, and refuses what it cannot turn into one by row and column."""

    def texts(cells: Sequence[Any], name: str, numbers: Sequence[int]) -> Sequence[str]:
        if {*map(type, cells)} <= {str, TypedNumber} and "".join(cells).isascii():
            return cells
        found = []
        for cell, number in zip(cells, numbers, strict=True):
            try:
                found.append(as_text(cell))
            except NotACell as problem:
                source.refuse(f"{problem}; drop the column (--drop) or change it", line=number, column=name)
        return found

    return texts


def as_text(cell: Any) -> str:
    """
    >>> from datetime import datetime
    >>> [as_text(cell) for cell in (None, True, 3.0, 0.1, 1e300, date(2024, 3, 1), datetime(2024, 3, 1, 12, 30))]
    ['', '1', '3', '0.1', '1e+300', '2024-03-01', '2024-03-01T12:30:00']
    >>> as_text(timedelta(hours=30, minutes=5)), as_text(float("nan"))
    ('30:05:00', '')
    """
    if isinstance(cell, str):
        return _whole(cell)
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return "1" if cell else "0"
    if isinstance(cell, float):
        return TypedNumber(int(cell) if abs(cell) <= EXACT and cell.is_integer() else repr(cell))
    if isinstance(cell, int | Decimal):
        return TypedNumber(_digits(cell))
    if isinstance(cell, date | time):  # and datetime, which is a date
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return _duration(cell)
    if isinstance(cell, UUID):
        return str(cell)
    raise NotACell(f"the cell holds {_kind(cell)}")


def _digits(number: int | Decimal) -> str:
    """A number of any length; beyond what a float holds, it is infinite."""
    try:
        exact = -EXACT <= number <= EXACT
        return str(number) if exact else repr(float(number))
    except OverflowError:
        return "inf"


def _whole(text: str) -> str:
    """The text, unless it holds half a character, which no file can hold."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NotACell("the text holds half a character (a lone surrogate)") from None
    return text


def _duration(duration: timedelta) -> str:
    seconds = int(abs(duration).total_seconds())
    sign = "-" if duration < timedelta() else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _kind(cell: Any) -> str:
    if isinstance(cell, bytes | bytearray | memoryview):
        return "binary data"
    if isinstance(cell, dict):
        return "an object, and tables are flat"
    if isinstance(cell, list | tuple):
        return "a list, and tables are flat"
    return "neither a number, a text nor a date"
