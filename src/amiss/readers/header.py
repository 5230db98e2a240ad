"""The first line of a text file names the columns."""

from __future__ import annotations

from amiss.readers.source import Source

DELIMITERS = ",;\t|"


def likeliest_delimiter(line: str) -> str:
    """The one that is most common in the first line.

    >>> likeliest_delimiter("name;size, in cm;tag")
    ';'
    """
    return max(DELIMITERS, key=line.count)


def check_header(header: list[str], source: Source, line: int) -> None:
    """Refuse a first line that leaves columns without names, or holds a row."""
    unnamed = [position + 1 for position, name in enumerate(header) if not name]
    if unnamed:
        source.refuse(f"column {unnamed[0]} has no name; the first line must name the columns", line=line)
    numbers = [_as_number(name) for name in header]
    if any(number is not None and not number.is_integer() for number in numbers):
        source.refuse("the first line must name the columns, but it holds numbers", line=line)
    counting = numbers in ([float(n) for n in range(len(header))], [n + 1.0 for n in range(len(header))])
    if all(number is not None for number in numbers) and not counting:
        source.refuse("the first line must name the columns, but it holds only numbers", line=line)


def _as_number(name: str) -> float | None:
    try:
        number = float(name)
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None
