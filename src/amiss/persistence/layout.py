"""Kinds of outputs, and how outputs of several kinds become columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.output_kinds import BINARY, COUNT, OUTPUT_KINDS, OutputColumn, all_binary
from amiss.models.mixed.layout import OutputLayout
from amiss.persistence.fields import Arrays, Fields, InvalidField, at_least, distinct_texts

LARGEST_AMOUNT = 1e200  # no count or number is as large; sums of larger ones overflow
LEAST_SPREAD = 1e-100  # amounts divided by anything smaller overflow
MOST_ROWS = 2**53


def pack_kinds(kinds: tuple[OutputColumn, ...]) -> list[dict[str, Any]]:
    """The kind of each output; empty where every output is 0 or 1."""
    return [{"kind": column.kind.name, "levels": list(column.levels)} for column in kinds]


def unpack_kinds(fields: Fields, names: tuple[str, ...]) -> tuple[OutputColumn, ...]:
    found = fields.value("kinds", list)
    if not found:
        return ()
    if len(found) != len(names):
        raise InvalidField("kinds")
    columns = tuple(_unpack_column(name, each) for name, each in zip(names, found, strict=True))
    if all_binary(columns):
        raise InvalidField("kinds")
    return columns


def _unpack_column(name: str, found: Any) -> OutputColumn:
    if type(found) is not dict or set(found) != {"kind", "levels"} or type(found["kind"]) is not str:
        raise InvalidField("kinds")
    if found["kind"] not in OUTPUT_KINDS:
        raise InvalidField("kinds")
    kind, levels = OUTPUT_KINDS[found["kind"]], distinct_texts(found["levels"], 0)
    if bool(levels) != kind.has_levels:
        raise InvalidField("levels")
    return OutputColumn(name, kind, levels)


def pack_layout(layout: OutputLayout) -> Arrays:
    """The column of each level; median and usual deviation of each output, which only amounts have.

    How many rows the fit had is kept by the models' description.
    """
    return {
        "layout.level_column": np.concatenate([np.empty(0, dtype=np.int64), *layout.level_column]),
        "layout.amounts": np.stack([layout.centre, layout.scale]),
    }


def unpack_layout(fields: Fields, columns: tuple[OutputColumn, ...], n_rows: int) -> OutputLayout:
    sizes = [len(column.levels) + 1 if column.kind.has_levels else 0 for column in columns]
    places = fields.array("layout.level_column", "I64", sum(sizes))
    centre, scale = fields.floats("layout.amounts", 2, len(columns), largest=LARGEST_AMOUNT)
    level_column = tuple(
        places[end - size : end].astype(np.intp) for size, end in zip(sizes, np.cumsum(sizes), strict=True)
    )
    if not all(_is_level_column(each) for each in level_column if len(each)):
        raise InvalidField("layout")
    return OutputLayout(columns, level_column, centre, at_least(LEAST_SPREAD, scale), n_rows)


def _is_level_column(places: Rows) -> bool:
    """Whether levels have columns one after the other, but for some that share the last one.

    Values that the fit has not seen have the shared column, or none (-1) if there is no such column.
    """
    alone = places[:-1] != places[-1]
    n_alone = int(alone.sum())
    shared = -1 if alone.all() else n_alone
    return bool((places[:-1][alone] == np.arange(n_alone)).all() and places[-1] == shared)


def unpack_values(name: str, fields: Fields, n_rows: int, columns: tuple[OutputColumn, ...]) -> Floats:
    """Outputs of several kinds; NaN is missing."""
    found = fields.floats(name, n_rows, len(columns), missing=True, largest=LARGEST_AMOUNT)
    for values, column in zip(found.T, columns, strict=True):
        seen = values[~np.isnan(values)]
        if column.kind.has_levels or column.kind in (BINARY, COUNT):
            most = len(column.levels) - 1 if column.kind.has_levels else 1 if column.kind is BINARY else np.inf
            if ((seen < 0) | (seen > most) | (seen != np.floor(seen))).any():
                raise InvalidField(name)
    return found
