"""CSV and TSV files with a line of column names."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from amiss.dataset import Table
from amiss.readers.cells import CellColumn
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source

CHUNK_ROWS = 4096

NumberedRow = tuple[int, list[str]]


def read_delimited(source: Source, selection: Selection, delimiter: str | None = None) -> Part:
    """Rows of cells separated by ``delimiter``; None is a comma, semicolon or tab, as the names show."""
    rows = _rows(source, delimiter)
    header = [name.strip() for name in next(rows)[1]]
    _check_header(header, source)
    roles = selection.roles(header, source)
    columns = [
        CellColumn(
            source,
            header[position],
            categorical=selection.is_categorical(header[position]),
            output=header[position] in roles.outputs,
        )
        for position in roles.kept
    ]
    lines: list[int] = []
    ids: list[str] = []
    while chunk := list(islice(rows, CHUNK_ROWS)):
        for line, row in chunk:
            if len(row) != len(header):
                source.refuse(f"{len(row)} cells where {len(header)} columns are named", line=line)
        numbers = [line for line, _ in chunk]
        cells = list(zip(*(row for _, row in chunk), strict=True))
        for column, position in zip(columns, roles.kept, strict=True):
            column.extend([cell.strip() for cell in cells[position]], numbers)
        if roles.id is not None:
            ids.extend(cells[roles.id])
        lines.extend(numbers)
    if not lines:
        source.refuse("there are column names but no rows", line=1)
    finished = [column.finish() for column in columns]
    table = Table(
        np.column_stack([values for values, _ in finished]),
        tuple(header[position] for position in roles.kept),
        {place: levels for place, (_, levels) in enumerate(finished) if levels is not None},
    )
    return Part.of(source, table, roles, np.array(lines), ids if roles.id is not None else None)


def _rows(source: Source, delimiter: str | None) -> Iterator[NumberedRow]:
    """Rows that are not blank, each with the number of its last line."""
    lines = source.lines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        source.refuse("the file is empty")
    if delimiter is None:
        delimiter = max(",;\t", key=first.count)
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error:
        source.refuse("a quote is not closed, or a cell is too long", line=reader.line_num)


def _check_header(header: list[str], source: Source) -> None:
    unnamed = [position + 1 for position, name in enumerate(header) if not name]
    if unnamed:
        source.refuse(f"column {unnamed[0]} has no name", line=1)
    if any(_is_fraction(name) for name in header):
        source.refuse("the first line must name the columns, and it holds numbers", line=1)


def _is_fraction(name: str) -> bool:
    """A number with a decimal point is data, not a name (whole numbers may be names)."""
    try:
        return not float(name).is_integer()
    except (ValueError, OverflowError):
        return False
