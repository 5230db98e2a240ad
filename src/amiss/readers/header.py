"""The first line of a text file names the columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from statistics import median_low

from amiss.readers.source import Source

DELIMITERS = ",;\t|"
REGULAR = 0.75  # of the lines have the same number of delimiters
TOLD = re.compile(r'"?sep=([^\w\s"]|\t| )"?\s*', re.IGNORECASE)  # a first line for Excel


def told_delimiter(line: str) -> str | None:
    """The delimiter that a first line says, as Excel understands it.

    >>> told_delimiter("sep=;\\n"), told_delimiter("name;age\\n")
    (';', None)
    """
    told = TOLD.fullmatch(line)
    return told.group(1) if told else None


def likeliest_delimiter(line: str, below: Sequence[str] = ()) -> str:
    """The one that is most common in the first line, unless the lines below it show that this is a title.

    >>> likeliest_delimiter("name;size, in cm;tag")
    ';'
    >>> likeliest_delimiter("Sizes, in cm", ["name;length;width", "a;1;2"])
    ';'
    """
    likeliest = max(DELIMITERS, key=line.count)
    counts = {delimiter: [each.count(delimiter) for each in below] or [0] for delimiter in DELIMITERS}
    usual = {delimiter: median_low(found) for delimiter, found in counts.items()}
    common = max(DELIMITERS, key=lambda delimiter: usual[delimiter])
    fits = usual[likeliest] >= line.count(likeliest) > 0
    better = usual[common] > (line.count(likeliest) if usual[likeliest] else 0)
    regular = counts[common].count(usual[common]) >= REGULAR * len(counts[common])  # and not the commas of a text
    return common if better and regular and not fits else likeliest


def check_header(header: list[str], source: Source, line: int, unnamed: Collection[int | None] = ()) -> None:
    """Refuse a first line that leaves columns without names, or holds a row; ``unnamed`` ones need no name."""
    without = [position for position, name in enumerate(header) if not name and position not in unnamed]
    if without:
        source.refuse(f"column {without[0] + 1} has no name; the first line must name the columns", line=line)
    numbers = [_as_number(name) for name in header if name]
    if any(number is not None and not number.is_integer() for number in numbers):
        source.refuse("the first line must name the columns, but it holds numbers", line=line)
    counting = numbers in ([float(n) for n in range(len(numbers))], [n + 1.0 for n in range(len(numbers))])
    if all(number is not None for number in numbers) and not counting:
        source.refuse("the first line must name the columns, but it holds only numbers", line=line)


def _as_number(name: str) -> float | None:
    try:
        number = float(name)
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None
