"""Errors made on purpose in outputs of several kinds: typing errors, shifts, values of other rows.

Most of them change single cells (:class:`CellError`). A new one is a function that changes a value, an object here
and one line in :mod:`amiss.evaluation.registry`. Changed values are legal: a known level, a count that is a whole
number from 0 on, a number that is not too large. Missing outputs stay missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.output_cells import LARGEST
from amiss.data.output_kinds import BINARY, CLASS, COUNT, NUMBER, ORDINAL, OUTPUT_KINDS, OutputColumn, OutputKind
from amiss.evaluation.kinds import Outputs

LEAST, MOST = 0.1, 0.5  # of an output's range: how far it is shifted
MOST_LEVELS = 2  # how far a grade is shifted
FIRST_DIGITS = 6  # neighbours further down hardly change a number


@dataclass(frozen=True, eq=False)
class Observed:
    """A column before errors are made: the values that are not missing, and the width of their range."""

    column: OutputColumn
    values: Floats
    width: float

    @classmethod
    def of(cls, column: OutputColumn, cells: Outputs) -> Observed:
        values = np.asarray(cells[cells == cells], dtype=np.float64)
        return cls(column, values, float(np.ptp(values)) if len(values) else 0.0)

    def moved(self, value: float, share: float) -> float:
        """An amount shifted by a share of the range; a count by at least 1, if it varies at all."""
        step = self.width * share
        if self.column.kind.whole and self.width:
            step = np.sign(share) * max(1.0, float(np.round(abs(step))))
        return value + step

    def allows(self, value: float) -> bool:
        """Whether a value may stand in the column; of levels, all do that are made."""
        return abs(value) <= LARGEST and not (self.column.kind.whole and value < 0)


Change = Callable[[float, Observed, np.random.Generator], float | None]
"""Another value in place of one; None if there is none."""


def _with_rows(
    Y: Outputs,
    n_rows: int,
    rng: np.random.Generator,
    columns: Sequence[OutputColumn],
    change: Callable[[Outputs, Sequence[Observed]], bool],
) -> Outputs:
    """The outputs with some rows changed; ``change`` does it in place, and says whether it could."""
    made, seen = np.array(Y), [Observed.of(column, Y[:, i]) for i, column in enumerate(columns)]
    n_made = 0
    for row in rng.permutation(len(Y)):
        if n_made == n_rows:
            break
        n_made += change(made[row], seen)
    return made


@dataclass(frozen=True)
class CellError:
    """Some outputs of a row are changed, each by itself; where one cannot be, another one is."""

    name: str
    description: str
    made_in: tuple[OutputKind, ...]
    change: Change = field(repr=False)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        return _with_rows(Y, n_rows, rng, columns, lambda cells, seen: self._changed(cells, n_outputs, rng, seen))

    def _changed(self, cells: Outputs, n_outputs: int, rng: np.random.Generator, seen: Sequence[Observed]) -> bool:
        """Whether up to ``n_outputs`` cells of a row could be changed, in place."""
        left = n_outputs
        for i in rng.permutation(np.flatnonzero(cells == cells)):
            found = self.change(float(cells[i]), seen[i], rng)
            if found is not None and found != cells[i] and seen[i].allows(found):
                cells[i], left = found, left - 1
            if not left:
                break
        return left < n_outputs


@dataclass(frozen=True)
class ShiftAll:
    """All amounts of a row are shifted in one direction, by the same share of their ranges."""

    name: str = "shift-all"
    description: str = "all numbers and counts of a row moved together by a tenth to a half of their ranges"
    made_in: tuple[OutputKind, ...] = (COUNT, NUMBER)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        return _with_rows(Y, n_rows, rng, columns, lambda cells, seen: self._moved(cells, rng, seen))

    def _moved(self, cells: Outputs, rng: np.random.Generator, seen: Sequence[Observed]) -> bool:
        """Whether the amounts of a row could be moved, in place."""
        which, share = np.flatnonzero(cells == cells).tolist(), _share(rng)
        for each in (share, abs(share)):  # down only if no count falls below 0
            moved = [seen[i].moved(float(cells[i]), each) for i in which]
            if all(seen[i].allows(value) for i, value in zip(which, moved, strict=True)):
                before = cells[which]
                cells[which] = moved
                return bool((cells[which] != before).any())
        return False


def _another_rows(value: float, seen: Observed, rng: np.random.Generator) -> float | None:
    others = seen.values[seen.values != value]
    return float(rng.choice(others)) if len(others) else None


def _another_level(value: float, seen: Observed, rng: np.random.Generator) -> float | None:
    """Another class or level, or the other value of a tag."""
    n_levels = 2 if seen.column.kind is BINARY else len(seen.column.levels)
    return _one_of(np.flatnonzero(np.arange(n_levels) != value), rng)


def _shifted(value: float, seen: Observed, rng: np.random.Generator) -> float | None:
    kind = seen.column.kind
    if not kind.is_numeric and not kind.ordered:
        return _another_level(value, seen, rng)
    if kind.ordered:
        levels = np.arange(len(seen.column.levels))
        return _one_of(levels[(levels != value) & (np.abs(levels - value) <= MOST_LEVELS)], rng)
    share = _share(rng)
    moved = seen.moved(value, share)
    return moved if seen.allows(moved) else seen.moved(value, -share)


def _tenfold(value: float, seen: Observed, rng: np.random.Generator) -> float | None:
    """Ten times as much or a tenth; a tenth of a count is rounded."""
    tenth = float(np.round(value / 10)) if seen.column.kind.whole else value / 10
    return _one_of(np.array([each for each in (value * 10, tenth) if each != value and seen.allows(each)]), rng)


def _digits_swapped(value: float, seen: Observed, rng: np.random.Generator) -> float | None:
    """Two neighbouring digits in each other's place, as when typing."""
    text = np.format_float_positional(abs(value), trim="-")
    places = [place for place, letter in enumerate(text) if letter != "."]
    found = []
    for a, b in [pair for pair in pairwise(places) if text[pair[0]] != text[pair[1]]][:FIRST_DIGITS]:
        letters = list(text)
        letters[a], letters[b] = letters[b], letters[a]
        swapped = float(np.copysign(float("".join(letters)), value))
        if swapped != value and seen.allows(swapped):
            found.append(swapped)
    return _one_of(np.array(found), rng)


def _share(rng: np.random.Generator) -> float:
    """Of a range, up or down."""
    return float(rng.uniform(LEAST, MOST) * rng.choice([-1, 1]))


def _one_of(values: Floats | Rows, rng: np.random.Generator) -> float | None:
    return float(rng.choice(values)) if len(values) else None


ANOTHER_ROW = CellError(
    "another-row", "an output taken from another row", tuple(OUTPUT_KINDS.values()), _another_rows
)
SHIFT = CellError(
    "shift",
    "a number or count moved by a tenth to a half of its range, a grade by one or two levels, another class, or a "
    "flipped tag",
    tuple(OUTPUT_KINDS.values()),
    _shifted,
)
TENFOLD = CellError("tenfold", "a number or count times or divided by ten", (COUNT, NUMBER), _tenfold)
DIGITS = CellError(
    "digits", "two neighbouring digits of a number or count swapped", (COUNT, NUMBER), _digits_swapped
)
OTHER = CellError("other", "another class or level, or a flipped tag", (BINARY, CLASS, ORDINAL), _another_level)
