"""Rare levels of a class that look like another level: most likely slips of the pen."""

from __future__ import annotations

import re
from difflib import get_close_matches

import numpy as np

from amiss.arrays import Floats
from amiss.data.output_kinds import CLASS, OutputColumn
from amiss.data.table import Table, output_columns
from amiss.errors import quoted
from amiss.wording import first_few, printable

RARE = 2  # rows in which a level may stand and still be a slip
LONG = 5  # letters of a level in which swapped letters are a slip
ALIKE = 0.85  # ratio of difflib
MOST_LEVELS = 1000  # of more levels, comparing all takes long
DIGITS = re.compile(r"\d+")


def alike_levels(column: OutputColumn, cells: Floats) -> str:
    """Which levels of a class are rare and look like another; empty if none does.

    >>> alike_levels(OutputColumn("y", CLASS, ("cold", "colds", "flu")), np.array([0.0, 0, 1, 2, 2]))
    "level seen once that resembles another: 'colds' ('cold')"
    """
    if column.kind is not CLASS or len(column.levels) > MOST_LEVELS:
        return ""
    counts = np.bincount(cells[~np.isnan(cells)].astype(np.intp), minlength=len(column.levels)).tolist()
    found: dict[int, list[str]] = {}
    for level, n_rows in zip(column.levels, counts, strict=False):
        if 0 < n_rows <= RARE:
            more = [other for other, n in zip(column.levels, counts, strict=False) if n > n_rows]
            other = _resembled(level, more)
            found.setdefault(n_rows, []).extend([f"{quoted(level)} ({quoted(other)})"] if other else [])
    return "; ".join(
        f"level{'s' if len(pairs) > 1 else ''} seen {'once' if n == 1 else 'twice'} that "
        f"resemble{'' if len(pairs) > 1 else 's'} another: {first_few(pairs)}"
        for n, pairs in sorted(found.items())
        if pairs
    )


def alike_notes(outputs: Table) -> list[str]:
    """One line on each output that has such levels."""
    said = [
        (column.name, alike_levels(column, outputs.column(place)))
        for place, column in enumerate(output_columns(outputs))
    ]
    return [f'Output "{printable(name)}": {what}.' for name, what in said if what]


def _resembled(level: str, others: list[str]) -> str:
    """The other level that this looks like, if one does; other digits make another level."""
    folded = _letters(level)
    same = [other for other in others if _letters(other) == folded]
    same += [other for other in others if len(folded) >= LONG and sorted(_letters(other)) == sorted(folded)]
    same = [other for other in same if DIGITS.findall(other) == DIGITS.findall(level)]
    alike = [other for other in others if DIGITS.findall(other) == DIGITS.findall(level)]
    return next(iter([*same, *get_close_matches(level, alike, n=1, cutoff=ALIKE)]), "")


def _letters(level: str) -> str:
    return "".join(level.casefold().split())
