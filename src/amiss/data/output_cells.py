"""Which kind an output is, told from its cells or said by the user, and its cells as values of that kind."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.data.convert import TRUTH
from amiss.data.output_kinds import (
    BINARY,
    CLASS,
    COUNT,
    NUMBER,
    ORDINAL,
    OUTPUT_KINDS,
    OutputColumn,
    OutputKind,
    coded_as,
)
from amiss.errors import DataError, quoted
from amiss.wording import count, joined

Where = Callable[[int], str]
"""Where a message tells the user to look for a row."""

FEWEST_CELLS = 20  # of fewer cells nothing but 0 and 1 is told
LARGEST = 1e150  # its square is a number
STRAY = 0.02  # of the cells: so few that are not 0 or 1 in a column of these are mistakes
MOST_LEVELS, MOST_SHARE = 50, 0.5  # more levels than this, in more than this share of the cells, are no classes
NUMBER_LIKE = re.compile(r"[+\-−]?\d[\d.,]*([eE][+-]?\d+)?")
NOT_BINARY = (
    "an output must be 0 or 1 (or true/false, yes/no), or empty if it is missing; if it is of another kind, "
    "say so (output_kinds, --kinds NAME=class)"
)

Cells = tuple[Floats, OutputColumn]


def told(name: str, cells: Floats, levels: tuple[str, ...] | None, where: Where) -> Cells:
    """The values of an output whose kind its cells tell; codes of ``levels`` if they are texts."""
    if levels is not None:
        if len(levels) > MOST_LEVELS:
            _refuse_numbers_and_texts(name, cells, levels, where)
        meaning = [TRUTH.get(level.strip().lower()) for level in levels]
        if any(each is not None for each in meaning):
            return _binary(name, cells, levels, where)
        return _classes(name, cells, levels, where)
    seen, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    _refuse_infinite(name, cells, where)
    others = ~np.isin(seen, (0.0, 1.0))
    if not others.any():
        return cells, OutputColumn(name)
    few = counts.sum() < FEWEST_CELLS or len(seen) == 1
    n_others, n_ones = counts[others].sum(), counts[seen == 1].sum()
    mostly = n_others < min(STRAY * counts.sum(), n_ones)
    if few or mostly or (len(seen) == 3 and others.sum() == 1):
        _refuse_first(name, cells, ~np.isnan(cells) & ~np.isin(cells, (0.0, 1.0)), where)
    if len(seen) == 2:
        return _as_levels(name, cells, CLASS)
    whole = bool((seen == np.floor(seen)).all() and seen[0] >= 0)
    return cells, OutputColumn(name, COUNT if whole else NUMBER)


def said(
    name: str, cells: Floats, levels: tuple[str, ...] | None, asked: str | tuple[str, ...], where: Where
) -> Cells:
    """The values of an output whose kind the user says: its name, or levels in their order."""
    if not isinstance(asked, str):
        return _ordinal(name, cells, levels, asked, where)
    kind = OUTPUT_KINDS[asked]
    if kind is BINARY:
        return _binary(name, cells, levels, where)
    if kind.has_levels:
        return _as_levels(name, cells, kind) if levels is None else (cells, OutputColumn(name, kind, levels))
    return _numeric(name, cells, levels, kind, where)


def as_known(cells: Floats, levels: tuple[str, ...] | None, column: OutputColumn, where: Where) -> Floats:
    """The values of an output of later rows, coded as in the fit."""
    if column.kind is BINARY:
        return _binary(column.name, cells, levels, where)[0]
    if not column.kind.has_levels:
        return _numeric(column.name, cells, levels, column.kind, where)[0]
    if levels is None:
        cells, own = _as_levels(column.name, cells, column.kind)
        levels = own.levels
    return coded_as(levels, cells, column.levels)


def new_levels(cells: Floats, levels: tuple[str, ...] | None, column: OutputColumn) -> dict[int, str]:
    """Rows whose level the fit had not, and what stands there."""
    if not column.kind.has_levels:
        return {}
    if levels is None:
        cells, own = _as_levels(column.name, cells, column.kind)
        levels = own.levels
    known = set(column.levels)
    new = [code for code, level in enumerate(levels) if level not in known]
    return {row: levels[int(cells[row])] for row in np.flatnonzero(np.isin(cells, new)).tolist()}


def _binary(name: str, cells: Floats, levels: tuple[str, ...] | None, where: Where) -> Cells:
    values = cells
    if levels is not None:
        meaning = np.array([TRUTH.get(level.strip().lower(), -1.0) for level in levels] + [np.nan])
        values = meaning[np.where(np.isnan(cells), len(levels), cells).astype(np.intp)]
    _refuse_first(name, cells, ~np.isnan(values) & (values != 0) & (values != 1), where, levels)
    return values, OutputColumn(name)


def _classes(name: str, cells: Floats, levels: tuple[str, ...], where: Where) -> Cells:
    n_cells = int((~np.isnan(cells)).sum())
    if n_cells < FEWEST_CELLS or len(levels) == 1:
        _refuse_first(name, cells, ~np.isnan(cells), where, levels)
    if len(levels) > MOST_LEVELS and len(levels) > MOST_SHARE * n_cells:
        raise DataError(
            f"{where(0)}, column {quoted(name)}: {len(levels)} different texts in {n_cells} cells are no classes; "
            "drop the column, or say that it is one (output_kinds, --kinds NAME=class)"
        )
    return cells, OutputColumn(name, CLASS, levels)


def _refuse_numbers_and_texts(name: str, cells: Floats, levels: tuple[str, ...], where: Where) -> None:
    """Refuse a column of numbers with a few texts by the first text."""
    is_text = np.array([NUMBER_LIKE.fullmatch(level.strip()) is None for level in levels] + [False])
    texts = is_text[np.where(np.isnan(cells), len(levels), cells).astype(np.intp)]
    n_texts, n_cells = int(texts.sum()), int((~np.isnan(cells)).sum())
    if 0 < 2 * n_texts < n_cells:
        are = f"{n_texts:,} of {n_cells:,} cells {'is' if n_texts == 1 else 'are'} not"
        raise DataError(
            f"{where(int(np.argmax(texts)))}, column {quoted(name)}: this is not a number, but most of the column "
            f"is ({are}); correct the cells, leave them "
            'empty, or name them as missing (missing = ["..."] in columns.toml)'
        )


def _as_levels(name: str, cells: Floats, kind: OutputKind) -> Cells:
    """Numbers as levels, in their order."""
    seen = np.unique(cells[~np.isnan(cells)])
    codes = np.where(np.isnan(cells), np.nan, np.searchsorted(seen, cells).astype(np.float64))
    return codes, OutputColumn(name, kind, tuple(repr(value).removesuffix(".0") for value in seen.tolist()))


def _ordinal(
    name: str, cells: Floats, levels: tuple[str, ...] | None, order: tuple[str, ...], where: Where
) -> Cells:
    column = OutputColumn(name, ORDINAL, order)
    values = as_known(cells, levels, column, where)
    bad = values == len(order)
    if bad.any():
        raise DataError(
            f"{where(int(np.argmax(bad)))}, column {quoted(name)}: the value is none of the {len(order)} levels "
            "that output_kinds (--kinds) names"
        )
    return values, column


def _numeric(name: str, cells: Floats, levels: tuple[str, ...] | None, kind: OutputKind, where: Where) -> Cells:
    if levels is not None:
        raise DataError(
            f"{where(int(np.argmax(~np.isnan(cells))))}, column {quoted(name)}: a {kind.name} is expected, and "
            "the column holds texts; leave the cell empty or enter a number"
        )
    _refuse_infinite(name, cells, where)
    if kind.whole:
        bad = ~np.isnan(cells) & ((cells < 0) | (cells != np.floor(cells)))
        if bad.any():
            raise DataError(
                f"{where(int(np.argmax(bad)))}, column {quoted(name)}: a count is a whole number from 0 on; "
                "correct it, or say that the output is a number (output_kinds, --kinds NAME=number)"
            )
    return cells, OutputColumn(name, kind)


def _refuse_infinite(name: str, cells: Floats, where: Where) -> None:
    infinite, too_large = np.isinf(cells), np.abs(cells) > LARGEST
    if infinite.any() or too_large.any():
        which = infinite if infinite.any() else too_large
        what = "infinite" if infinite.any() else f"beyond {LARGEST:g}"
        raise DataError(
            f"{where(int(np.argmax(which)))}, column {quoted(name)}: the value is {what}; "
            "leave the cell empty or enter a number"
        )


def _refuse_first(
    name: str, cells: Floats, bad: Mask, where: Where, levels: tuple[str, ...] | None = None
) -> None:
    """Refuse a column that should hold nothing but 0 and 1, and say what it holds."""
    if bad.any():
        place = f"{where(int(np.argmax(bad)))}, column {quoted(name)}"
        raise DataError(f"{place}: {NOT_BINARY}. {_contents(cells, bad, levels)}")


def _contents(cells: Floats, bad: Mask, levels: tuple[str, ...] | None) -> str:
    """Which kinds of values there are, in numbers: values themselves stay out of messages.

    >>> _contents(np.array([0.0, 1.0, 7.0, np.nan]), np.array([False, False, True, False]), None)
    'It holds 2 values of 0 or 1, 1 empty cell and 1 other number; it may be a class, a count or a number'
    >>> _contents(np.array([0.0, 1.0, 1.0]), np.array([False, True, True]), ("yes", "perhaps"))
    'It holds 1 value of yes or no and 2 other texts, all the same; it may be a class'
    """
    n_missing = int(np.isnan(cells).sum())
    n_bad, n_different = int(bad.sum()), len(np.unique(cells[bad]))
    n_good = len(cells) - n_missing - n_bad
    other = count(n_bad, "other number" if levels is None else "other text")
    if n_bad > 1:
        other += ", all the same" if n_different == 1 else f", {n_different:,} different ones"
    parts = [
        *([f"{count(n_good, 'value')} of {'0 or 1' if levels is None else 'yes or no'}"] if n_good else []),
        *([count(n_missing, "empty cell")] if n_missing else []),
        other,
    ]
    return f"It holds {joined(parts)}; it may be a class{', a count or a number' if levels is None else ''}"
