"""Single inputs as ranks in a sample of rows, by which they are compared with outputs and with each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Rows, average_ranks
from amiss.data.table import Table

CELLS = 3_000_000  # of the sample: what takes about a second
FEWEST_ROWS, MOST_ROWS = 500, 4000
OF_EACH_VALUE = 30  # rows of a sample that show a rare value of an output
MOST_CODES = 12  # different numbers that may be codes of categories
MOST_LEVELS = 30  # of a category that are looked at
VARIES = 10  # rows that differ from the commonest value; fewer show nothing
BLOCK_COLUMNS = 64


@dataclass(frozen=True)
class Probe:
    """One way to see an input: by rank, by one of its levels, or by whether it is missing."""

    column: int
    ranks: Floats
    by_rank: bool


def sampled_rows(n_rows: int, n_columns: int, rare: Iterator[Mask]) -> Rows:
    """Rows by chance, and some that show each ``rare`` value of an output; the same every time."""
    rng = np.random.default_rng(0)
    most = int(np.clip(CELLS // max(1, n_columns), FEWEST_ROWS, MOST_ROWS))
    if n_rows <= most:
        return np.arange(n_rows)
    shuffled = rng.permutation(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[shuffled[:most]] = True
    for shows in rare:
        if int(chosen.sum()) < 2 * most:
            chosen[shuffled[shows[shuffled]][:OF_EACH_VALUE]] = True
    return np.flatnonzero(chosen)


def probes(inputs: Table, rows: Rows, columns: Rows) -> Iterator[Probe]:
    """All ways to see these columns in some rows; columns that hardly vary are left out."""
    values = inputs.values
    sample = values[rows] if sparse.issparse(values) else None
    for start in range(0, len(columns), BLOCK_COLUMNS):
        some = columns[start : start + BLOCK_COLUMNS]
        block = values[np.ix_(rows, some)] if sample is None else sample[:, some].toarray()
        dense = np.asarray(block, dtype=np.float64)
        for place, column in enumerate(some.tolist()):
            yield from probes_of(column, dense[:, place], column in inputs.levels)


def probes_of(column: int, cells: Floats, is_category: bool) -> Iterator[Probe]:
    """All ways to see one column."""
    missing = np.isnan(cells)
    if min(int(missing.sum()), int((~missing).sum())) >= VARIES:
        yield Probe(column, average_ranks(missing.astype(np.float64)), False)
    seen, counts = np.unique(cells[~missing], return_counts=True)
    if is_category or 2 < len(seen) <= MOST_CODES:
        common = seen[np.argsort(-counts, kind="stable")][:MOST_LEVELS]
        levels = (cells == level for level in common)
        yield from (
            Probe(column, average_ranks(level.astype(np.float64)), False) for level in levels if _varies(level)
        )
    if not is_category and len(cells) - max(int(counts.max(initial=0)), int(missing.sum())) >= VARIES:
        yield Probe(column, average_ranks(np.where(missing, -np.inf, cells)), True)


def _varies(mask: Mask) -> bool:
    return min(int(mask.sum()), int((~mask).sum())) >= VARIES
