"""Files are read one by one, and again where it turns out that the texts of a column are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from amiss.readers.cells import NeedsTexts
from amiss.readers.columns.settling import (
    Request,
    Settled,
    applied,
    refuse_trouble,
    settled,
    texts_of,
    without_missing,
)
from amiss.readers.columns.telling import tell
from amiss.readers.columns.texts import Told
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source

MOST_TRIES = 3  # after which all columns are read as texts
EVERY_COLUMN = "*"


def read_parts(files: Sequence[tuple[Source, Format, Selection]]) -> list[Part]:
    """The selected columns of each file.

    A column that holds plain numbers in one file, and numbers that are written otherwise in another, is read as
    texts in all of them.
    """
    parts = [_read(*file) for file in files]
    names = _numbers_and_texts(parts)
    for place, (source, format, selection) in enumerate(files):
        lacking = [name for name in names if _is_plain(parts[place], name)]
        if lacking and source.path != "-":
            parts[place] = _read(source, format, replace(selection, texts=(*selection.texts, *lacking)))
    return parts


def _read(source: Source, format: Format, selection: Selection) -> Part:
    for _ in range(MOST_TRIES):
        try:
            return format.read(source, selection)
        except NeedsTexts as found:
            if source.path == "-":  # it cannot be read twice
                raise
            selection = replace(selection, texts=(*selection.texts, found.column))
    return format.read(source, replace(selection, texts=(EVERY_COLUMN,)))


def _is_plain(part: Part, name: str) -> bool:
    """Whether a column holds numbers, and no texts."""
    if name not in part.table.names:
        return False
    place = part.table.names.index(name)
    return place not in part.table.levels and not np.isnan(part.table.column(place)).all()


def _numbers_and_texts(parts: Sequence[Part]) -> list[str]:
    """Columns that are plain numbers in some files, and in others texts that can be read as numbers or dates."""
    found = []
    for part in parts if len(parts) > 1 else ():
        for place in part.table.levels:
            name = part.table.names[place]
            if any(_is_plain(other, name) for other in parts):
                told = tell(texts_of(part.table, place), output=False, typed=part.texts != "cells")
                found += [name] * isinstance(told, Told)
    return list(dict.fromkeys(found))


def with_settled_columns(part: Part, request: Request) -> tuple[Part, Settled]:
    """The rows of all files with columns of numbers, dates and the like; what needs a decision is refused."""
    request = request_of(part, request)
    table = without_missing(part.table, request)
    found = settled(table, request)
    refuse_trouble(found, table, part.source.name)
    return replace(part, table=applied(table, found)), found


def request_of(part: Part, request: Request) -> Request:
    """The request with what is known of the file."""
    return replace(
        request,
        outputs=part.outputs,
        typed=part.texts != "cells",
        declared=part.texts == "levels",
        decimal_comma=part.decimal_comma,
        thousands_points=part.thousands_points,
        decimals=part.decimals,
        typed_numbers=part.typed_numbers,
    )
