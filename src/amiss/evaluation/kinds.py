"""Kinds of error that are made on purpose in outputs of 0 and 1, beside the paper's flips.

A new kind is one class here and one line in :mod:`amiss.evaluation.registry`. Each takes outputs of 0, 1 and NaN
and changes some rows of a copy; missing outputs stay missing. A swap takes outputs of any kind; other errors in
these are in :mod:`amiss.evaluation.several_kinds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from amiss.arrays import Rows
from amiss.data.output_kinds import BINARY, OUTPUT_KINDS, OutputColumn, OutputKind

Outputs = npt.NDArray[Any]
FEWEST_CONFUSED = 8  # rows with the one output and without the other
MOST_CONFUSED = 4  # one in so many of them is confused


class ErrorKind(Protocol):
    """Makes errors of one kind."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def made_in(self) -> tuple[OutputKind, ...]:
        """The kinds of outputs that it can be made in."""

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        """A copy of Y with errors in ``n_rows`` rows, or in as many as can have them.

        ``n_outputs`` is how many outputs of a row are changed, by kinds that can choose. ``columns`` say what the
        columns of Y hold; all of them are of kinds in ``made_in``.
        """


@dataclass(frozen=True)
class Flip:
    """Outputs flipped one by one: the paper's."""

    name: str = "flip"
    description: str = "outputs flipped, whatever they are"
    made_in: tuple[OutputKind, ...] = (BINARY,)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        observed = Y == Y  # NaN is not itself
        made = np.array(Y)
        for row in _some(np.flatnonzero(observed.any(axis=1)), n_rows, rng):
            flipped = _some(np.flatnonzero(observed[row]), n_outputs, rng)
            made[row, flipped] = 1 - made[row, flipped]
        return made


@dataclass(frozen=True)
class Changed:
    """Outputs of one value changed to the other."""

    name: str
    description: str
    value: int
    made_in: tuple[OutputKind, ...] = (BINARY,)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        made = np.array(Y)
        for row in _some(np.flatnonzero(np.equal(Y, self.value).any(axis=1)), n_rows, rng):
            made[row, _some(np.flatnonzero(Y[row] == self.value), n_outputs, rng)] = 1 - self.value
        return made


@dataclass(frozen=True)
class Replacement:
    """One output that was 1 becomes 0, and another one 1 in its place."""

    name: str = "replacement"
    description: str = "one label in place of another"
    made_in: tuple[OutputKind, ...] = (BINARY,)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        made = np.array(Y)
        both = (Y == 1).any(axis=1) & (Y == 0).any(axis=1)
        for row in _some(np.flatnonzero(both), n_rows, rng):
            made[row, rng.choice(np.flatnonzero(Y[row] == 1))] = 0
            made[row, rng.choice(np.flatnonzero(Y[row] == 0))] = 1
        return made


@dataclass(frozen=True)
class Confusion:
    """A fixed output is marked instead of another one, in a quarter of the rows that allow it."""

    name: str = "confusion"
    description: str = "one label taken for another one, always the same two"
    made_in: tuple[OutputKind, ...] = (BINARY,)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        made, left, done = np.array(Y), n_rows, np.zeros(len(Y), dtype=bool)
        pairs = [(a, b) for a in range(Y.shape[1]) for b in range(Y.shape[1]) if a != b]
        for place in rng.permutation(len(pairs)):
            taken, marked = pairs[place]
            rows = np.flatnonzero((Y[:, taken] == 1) & (Y[:, marked] == 0) & ~done)
            if len(rows) >= FEWEST_CONFUSED:
                chosen = _some(rows, min(left, len(rows) // MOST_CONFUSED), rng)
                made[chosen, taken], made[chosen, marked], done[chosen] = 0, 1, True
                left -= len(chosen)
            if left <= 0:
                break
        return made


@dataclass(frozen=True)
class Swap:
    """All outputs of a row are those of another row, as in a file that was joined wrongly."""

    name: str = "swap"
    description: str = "all outputs of a row taken from another row"
    made_in: tuple[OutputKind, ...] = tuple(OUTPUT_KINDS.values())

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        made = np.array(Y)
        rows = _some(np.arange(len(Y)), max(2, n_rows), rng)
        made[rows] = Y[np.roll(rows, 1)]
        return made


@dataclass(frozen=True)
class Blank:
    """Nothing is marked in a row."""

    name: str = "blank"
    description: str = "nothing annotated at all"
    made_in: tuple[OutputKind, ...] = (BINARY,)

    def make(
        self, Y: Outputs, n_rows: int, n_outputs: int, rng: np.random.Generator, columns: Sequence[OutputColumn]
    ) -> Outputs:
        made = np.array(Y)
        rows = _some(np.flatnonzero((Y == 1).any(axis=1)), n_rows, rng)
        made[rows] = np.where(Y[rows] == 1, 0, Y[rows])
        return made


OMISSION = Changed("omission", "outputs that are 1 set to 0", 1)
COMMISSION = Changed("commission", "outputs that are 0 set to 1", 0)


def _some(of: Rows, n: int, rng: np.random.Generator) -> Rows:
    return np.asarray(rng.choice(of, size=min(n, len(of)), replace=False))
