"""Inputs that copy another input, and rows that copy another row."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Rows, average_ranks
from amiss.data.table import Table
from amiss.remarks.probes import Probe

MOST_CONFIRMED = 20  # pairs of inputs that all rows are asked about
SAMPLE = 2000  # rows that show how common a value is
MARGIN = 3.0  # bits beyond which equal rows are no chance
MOST_JUDGED = 500  # rows


class CopySearch:
    """Finds inputs that put the rows in the same order as an earlier one: copies, also in another unit."""

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}
        self._pairs: list[tuple[int, int]] = []

    def look(self, some: list[Probe]) -> None:
        for probe in some:
            if probe.by_rank:
                first = self._first.setdefault(blake2b(probe.ranks.tobytes()).digest(), probe.column)
                if first != probe.column and len(self._pairs) < MOST_CONFIRMED:
                    self._pairs.append((first, probe.column))

    def found(self, inputs: Table) -> list[tuple[int, int]]:
        """Pairs of an input and its copy, by all rows."""
        return [pair for pair in self._pairs if _same_order(inputs, *pair)]


def _same_order(inputs: Table, one: int, other: int) -> bool:
    a, b = (np.where(np.isnan(cells), -np.inf, cells) for cells in (inputs.column(one), inputs.column(other)))
    return bool(np.array_equal(a, b) or np.array_equal(average_ranks(a), average_ranks(b)))


def are_no_chance(inputs: Table, copies: Mask) -> bool:
    """Whether most of the rows that are equal to another are too particular to be equal by chance.

    In a table of few categories many rows are equal, and that means nothing.
    """
    some = np.flatnonzero(copies)
    if not len(some):
        return False
    judged = some[np.unique(np.linspace(0, len(some) - 1, min(MOST_JUDGED, len(some))).astype(np.intp))]
    needed = 2 * np.log2(len(inputs)) + MARGIN
    return bool((_bits(inputs, judged) >= needed).mean() > 0.5)


def _bits(inputs: Table, rows: Rows) -> Floats:
    """How particular each of these rows is: the sum over inputs of -log2 of how common its value is."""
    usual = np.unique(np.linspace(0, len(inputs) - 1, min(SAMPLE, len(inputs))).astype(np.intp))
    found = np.zeros(len(rows))
    for cells, mine in zip(_columns(inputs, usual), _columns(inputs, rows), strict=True):
        values, counts = np.unique(cells, return_counts=True)
        place = np.minimum(np.searchsorted(values, mine), len(values) - 1)
        alike = np.where(values[place] == mine, counts[place], 1)
        found -= np.log2(alike / len(usual))
    return found


def _columns(inputs: Table, rows: Rows) -> Iterator[Floats]:
    """The columns of some rows; a missing cell is a value like others."""
    some = inputs.values[rows]
    some = some.tocsc() if sparse.issparse(some) else some
    for column in range(inputs.shape[1]):
        cells = some[:, [column]].toarray()[:, 0] if sparse.issparse(some) else some[:, column]
        yield np.where(np.isnan(cells), -np.inf, cells)
