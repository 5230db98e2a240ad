"""A row's inputs against those of its neighbours and of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from amiss.table import Floats, Matrix, Rows, Table
from amiss.text import printable

MIDDLE = (0.1, 0.5, 0.9)  # quantiles that say what is usual
RANGE = (0.01, 0.99)  # of all rows: what is drawn


@dataclass(frozen=True)
class Compared:
    """One input of a row; places are between 0 and 1 in the range of all rows, None for texts."""

    column: int
    value: str
    usual: str
    place: float | None = None
    usual_places: tuple[float, float, float] | None = None


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

    def of(self, row: int, column: int, near: Rows | None) -> Compared:
        """Input ``column`` of ``row`` against rows ``near``, or against all rows."""
        cells = self.column(column)
        others = cells if near is None else cells[near]
        own = float(cells[row])
        levels = self.table.levels.get(column)
        if levels is not None:
            return Compared(column, _text(own, levels), _usual_level(others, levels))
        others = others[~np.isnan(others)]
        if not len(others):
            return Compared(column, _text(own, None), "missing")
        low, middle, high = np.quantile(others, MIDDLE)
        usual = f"{middle:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        return Compared(
            column,
            _text(own, None),
            usual,
            None if np.isnan(own) else self._place(column, own),
            (self._place(column, low), self._place(column, middle), self._place(column, high)),
        )

    def most_different(self, row: int, near: Rows | None, at_most: int) -> list[int]:
        """Numeric inputs that differ most from those of the neighbours, where nothing better tells."""
        values = self.table.values
        others = values if near is None else values[near]
        others = others.toarray() if sparse.issparse(others) else others
        own = values[[row]].toarray()[0] if sparse.issparse(values) else values[row]
        spread = np.nanstd(np.where(np.isnan(others).all(axis=0), 0.0, others), axis=0)
        middle = np.nanmean(np.where(np.isnan(others).all(axis=0), 0.0, others), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.nan_to_num(np.abs(own - middle) / spread, posinf=0.0)
        distance[list(self.table.levels)] = 0
        return [int(column) for column in np.argsort(-distance, kind="stable")[:at_most] if distance[column] > 0]

    def _place(self, column: int, value: float) -> float:
        if column not in self._ranges:
            cells = self.column(column)
            low, high = np.nanquantile(cells, RANGE)
            if low == high:
                low, high = np.nanmin(cells), np.nanmax(cells)
            self._ranges[column] = float(low), float(high)
        low, high = self._ranges[column]
        with np.errstate(over="ignore"):
            share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5
        return float(np.clip(share, 0, 1))


def _text(value: float, levels: Any) -> str:
    if np.isnan(value):
        return "missing"
    return f"{value:.6g}" if levels is None else printable(levels[int(value)], 60)


def _usual_level(codes: Floats, levels: Any) -> str:
    present = codes[~np.isnan(codes)].astype(np.intp)
    if not len(present):
        return "missing"
    counts = np.bincount(present)
    return f"{printable(levels[int(counts.argmax())], 60)} ({counts.max()} of {len(codes)})"
