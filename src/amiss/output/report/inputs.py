"""A row's inputs against those of its neighbours and of all rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.output_kinds import MISSING
from amiss.data.table import Table
from amiss.output.report.short import LONGEST_COPIED, LONGEST_VALUE
from amiss.wording import percent, printable

MIDDLE = (0.1, 0.9)  # quantiles between which lies what is usual
RANGE = (0.01, 0.99)  # of all rows: what is drawn


@dataclass(frozen=True)
class Usual:
    """What is usual in some rows: a text, and for numbers where their middle lies in the range of all rows."""

    text: str
    places: tuple[float, float] | None = None


class InputComparison:
    """Compares inputs of rows of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._ranges: dict[int, tuple[float, float]] = {}

    @cached_property
    def _by_column(self) -> Matrix:
        """Stored so that a column is quickly had."""
        values = self.table.values
        return sparse.csc_array(values) if sparse.issparse(values) else values

    def column(self, column: int) -> Floats:
        if sparse.issparse(self._by_column):
            return np.asarray(self._by_column[:, [column]].toarray()[:, 0])
        return np.asarray(self._by_column[:, column])

    def own(self, row: int, column: int) -> tuple[str, float | None]:
        """What stands in a row, and where it lies in the range of all rows, from 0 to 1."""
        value = float(self.column(column)[row])
        text = printable(self.table.text(column, value), LONGEST_COPIED)
        is_number = not np.isnan(value) and column not in self.table.levels
        return text, self._place(column, value) if is_number else None

    def usual(self, column: int, rows: Rows | Mask) -> Usual:
        """What is usual for an input in some rows."""
        cells = self.column(column)[rows]
        levels = self.table.levels.get(column)
        if levels is not None:
            return Usual(_usual_level(cells, levels))
        cells = cells[~np.isnan(cells)]
        if not len(cells):
            return Usual(MISSING)
        low, high = np.quantile(cells, MIDDLE)
        text = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        return Usual(text, (self._place(column, low), self._place(column, high)))

    def most_different(self, row: int, near: Rows | None, at_most: int) -> list[int]:
        """Numeric inputs that differ most from those of the neighbours, where nothing better tells."""
        values = self.table.values
        own = values[[row]].toarray()[0] if sparse.issparse(values) else values[row]
        with np.errstate(all="ignore"):
            middle, spread = self._moments if near is None else _moments(values[near])
            distance = np.abs(own - middle) / spread
        distance = np.where(own == middle, 0.0, np.nan_to_num(distance, nan=0.0, posinf=1e300))
        distance[list(self.table.levels)] = 0
        return [int(column) for column in np.argsort(-distance, kind="stable")[:at_most] if distance[column] > 0]

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        return _moments(self.table.values)

    def _place(self, column: int, value: float) -> float:
        if column not in self._ranges:
            cells = self.column(column)
            low, high = np.nanquantile(cells, RANGE)
            if low == high:
                low, high = np.nanmin(cells), np.nanmax(cells)
            self._ranges[column] = float(low), float(high)
        low, high = self._ranges[column]
        width = high / 2 - low / 2  # halves, because a whole may be too large for a number
        return float(np.clip((value / 2 - low / 2) / width, 0, 1)) if width > 0 else 0.5


def _moments(values: Matrix) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column, missing cells left out; NaN where there are none."""
    if not sparse.issparse(values):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a column without cells
            return np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    dense = sparse.csr_array((np.nan_to_num(values.data), values.indices, values.indptr), shape=values.shape)
    mean = np.ravel(dense.mean(axis=0))
    return mean, np.sqrt(np.maximum(np.ravel(dense.multiply(dense).mean(axis=0)) - mean**2, 0))


def _usual_level(codes: Floats, levels: Any) -> str:
    present = codes[~np.isnan(codes)].astype(np.intp)
    if not len(present):
        return MISSING
    counts = np.bincount(present)
    return f"{printable(levels[int(counts.argmax())], LONGEST_VALUE)} ({percent(counts.max() / len(codes))})"
