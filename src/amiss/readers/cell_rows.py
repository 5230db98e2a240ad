"""Rows of cells become the selected columns of a table, chunk by chunk, whatever kind of file they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from amiss.data.table import Table
from amiss.readers.cells import CellColumn
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import Source
from amiss.readers.typed_cells import TypedNumber

CHUNK_ROWS = 4096

Texts = Callable[[Sequence[Any], str, Sequence[int]], Sequence[str]]
"""The cells of one column as texts, given its name and the numbers of the rows."""


@dataclass(frozen=True)
class Rows:
    """Rows of one file, all as wide as there are ``names``.

    Parameters
    ----------
    names : the columns, in the order of the cells
    numbered : each row with its number: the line in a text file, the row in a sheet
    line : where the names stand, for messages
    texts : how cells become texts, if they are anything else
    typed : cells are texts of a file that has numbers of its own
    decimal_comma : ``0,5`` is a number
    thousands_points : ``1.345`` may be a whole number
    index : the ids of the rows, where a column without a name gives them; it grows while the rows are read
    """

    names: list[str]
    numbered: Iterator[tuple[int, Sequence[Any]]]
    line: int | None = None
    texts: Texts | None = None
    typed: bool = False
    decimal_comma: bool = False
    thousands_points: bool = False
    index: list[str] | None = None


def read_rows(source: Source, selection: Selection, rows: Rows) -> Part:
    """The selected columns of these rows."""
    header, texts = rows.names, rows.texts or (lambda cells, *_: cells)
    roles = selection.roles(header, source, line=rows.line)
    columns = _columns(source, selection, rows, roles)
    typed: dict[str, set[str]] = {header[position]: set() for position in roles.kept}
    lines: list[int] = []
    ids: list[str] = []
    pictures: list[str] = []
    while chunk := list(islice(rows.numbered, CHUNK_ROWS)):
        numbers = [line for line, _ in chunk]
        cells = list(zip(*(row for _, row in chunk), strict=True))
        for column, position in zip(columns, roles.kept, strict=True):
            found = texts(cells[position], header[position], numbers)
            if column.keeps_texts and (rows.texts is not None or rows.typed):
                typed[header[position]].update(cell for cell in found if type(cell) is TypedNumber)
            column.extend([cell.strip() for cell in found], numbers)
        if roles.id is not None:
            ids.extend(map(str, texts(cells[roles.id], header[roles.id], numbers)))
        if roles.pictures is not None:
            paths = texts(cells[roles.pictures], header[roles.pictures], numbers)
            pictures.extend(source.beside(path.strip()) for path in paths)
        lines.extend(numbers)
    if not lines:
        source.refuse("there are column names but no rows", line=rows.line)
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
    decimals = frozenset(column.decimal for column in columns) - {""}
    part = replace(part, thousands_points=rows.thousands_points, decimals=decimals)
    return _with_index(_with_typed(part, typed), rows.index)


def _columns(source: Source, selection: Selection, rows: Rows, roles: Roles) -> list[CellColumn]:
    return [
        CellColumn(
            source,
            rows.names[position],
            categorical=selection.is_categorical(rows.names[position]),
            output=rows.names[position] in roles.outputs,
            decimal_comma=rows.decimal_comma,
            thousands_points=rows.thousands_points,
        )
        for position in roles.kept
    ]


def _with_typed(part: Part, typed: dict[str, set[str]]) -> Part:
    """The part with the texts that are numbers in the file, of columns of texts."""
    names = [part.table.names[place] for place in part.table.levels]
    return replace(part, typed_numbers={name: frozenset(map(str, typed[name])) for name in names if typed[name]})


def _with_index(part: Part, index: list[str] | None) -> Part:
    """The part with the ids of an unnamed column, if it has no others and they tell the rows apart."""
    if part.ids is not None or index is None or len(set(index)) < len(index):
        return part
    return replace(part, ids=index, ids_found=True)
