"""CSV and TSV files whose first line names the columns.

Large files are read by pyarrow where it can (:mod:`amiss.readers.fast_delimited`), all others here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import numpy as np

from amiss.data.table import Table
from amiss.readers.cells import CellColumn
from amiss.readers.fast_delimited import read_fast
from amiss.readers.format import Format
from amiss.readers.header import check_header, likeliest_delimiter
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source
from amiss.wording import count

CHUNK_ROWS = 4096

NumberedRow = tuple[int, list[str]]


def read_delimited(source: Source, selection: Selection, delimiter: str | None = None) -> Part:
    """The selected columns of one file; without a ``delimiter``, the one that is most common in the first line."""
    return read_fast(source, selection, delimiter) or read_with_care(source, selection, delimiter)


def read_with_care(source: Source, selection: Selection, delimiter: str | None = None) -> Part:
    """The same, cell by cell; what is wrong with the file is said with its line."""
    delimiter, rows = _rows(source, delimiter)
    first, names = next(rows)
    header = [name.strip() for name in names]
    check_header(header, source, first)
    roles = selection.roles(header, source, line=first)
    columns = [
        CellColumn(
            source,
            header[position],
            categorical=selection.is_categorical(header[position]),
            output=header[position] in roles.outputs,
            decimal_comma=delimiter == ";",
        )
        for position in roles.kept
    ]
    lines: list[int] = []
    ids: list[str] = []
    pictures: list[str] = []
    while chunk := list(islice(rows, CHUNK_ROWS)):
        _refuse_other_widths(chunk, len(header), source)
        numbers = [line for line, _ in chunk]
        cells = list(zip(*(row for _, row in chunk), strict=True))
        for column, position in zip(columns, roles.kept, strict=True):
            column.extend([cell.strip() for cell in cells[position]], numbers)
        if roles.id is not None:
            ids.extend(cells[roles.id])
        if roles.pictures is not None:
            pictures.extend(source.beside(cell.strip()) for cell in cells[roles.pictures])
        lines.extend(numbers)
    if not lines:
        source.refuse("there are column names but no rows", line=first)
    finished = [column.finish() for column in columns]
    table = Table(
        np.column_stack([values for values, _ in finished]),
        tuple(header[position] for position in roles.kept),
        {place: levels for place, (_, levels) in enumerate(finished) if levels is not None},
    )
    part = Part.of(
        source,
        table,
        roles,
        np.array(lines),
        ids if roles.id is not None else None,
        pictures if roles.pictures is not None else None,
    )
    return replace(part, decimal_comma=delimiter == ";")


CSV = Format("csv", (".csv", ".txt"), "cells separated by commas, semicolons, tabs or bars", read_delimited)
TSV = Format("tsv", (".tsv", ".tab"), "cells separated by tabs", partial(read_delimited, delimiter="\t"))


def _rows(source: Source, delimiter: str | None) -> tuple[str, Iterator[NumberedRow]]:
    """The delimiter, and all rows that are not blank, each with the number of its last line."""
    lines = source.lines()
    blank = 0
    for first in lines:
        if first.strip():
            break
        blank += 1
    else:
        source.refuse("the file is empty")
    delimiter = delimiter or likeliest_delimiter(first)
    return delimiter, _parsed(source, chain([first], lines), delimiter, blank)


def _parsed(source: Source, lines: Iterator[str], delimiter: str, blank: int) -> Iterator[NumberedRow]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num + blank, row
    except csv.Error:
        source.refuse("a quote is not closed or is in the wrong place", line=reader.line_num + blank)


def _refuse_other_widths(rows: list[NumberedRow], width: int, source: Source) -> None:
    for line, row in rows:
        if len(row) != width:
            source.refuse(f"the row has {count(len(row), 'cell')}, but {width} columns are named", line=line)
