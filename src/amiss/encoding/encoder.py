"""From a table to the matrix the models see: missing values, categories, scale, and who sees whom.

Inputs and outputs share one penalty and one distance, so their scales matter. Block scaling gives
both blocks comparable energy: counts that are mostly zero become logarithms in rows of unit
length, everything else is standardised and divided by the square root of the number of such
columns (constant ones apart), outputs stay 0 and 1. Rank scaling (the default) is block scaling in
which, unless the table is mostly zeros, a number stands for its rank among the column's values, so
that neither a skewed column nor its unit matters; a missing one stands in the middle.

What decides is the content, never the container: the same numbers as a dense array or as a
sparse matrix end up in the same storage with the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix
from amiss.data.table import Table
from amiss.encoding.column_statistics import (
    extremes,
    largest_magnitudes,
    lower_medians,
    means,
    missing_counts,
    moments,
    total_nonzeros,
)
from amiss.encoding.count_columns import find_count_columns, log_unit_rows
from amiss.encoding.expansion import (
    count_encoded,
    encoded_names,
    encoded_numbers,
    encoded_sources,
    expand,
    one_hot_columns,
)
from amiss.encoding.identifiers import refuse_identifiers
from amiss.encoding.ranks import Ranks
from amiss.errors import DataError, listed, shown

Scaling = Literal["rank", "block", "none", "standard", "maxabs", "log-unit"]
SCALINGS = ("rank", "block", "none", "standard", "maxabs", "log-unit")

SPARSE_STORAGE = 0.1  # below this share of non-zeros a matrix is stored sparse
FURTHEST = 1e9  # new rows may lie off any scale of the fit; beyond this they all lie there
LARGEST_UNSCALED = 1e15
BEYOND = 1e150


@dataclass(frozen=True)
class Encoding:
    """How one table's inputs become numbers; fitted once, applied to every later row.

    The encoded columns are the numbers (with two-level categories as 0/1), then one column a
    level of each larger category, then one indicator a column that had missing values.
    """

    names: tuple[str, ...]
    levels: dict[int, tuple[str, ...]]
    means: Floats
    low: Floats  # the lowest and highest value of each column of numbers
    high: Floats
    indicated: tuple[int, ...]
    scaling: Scaling
    stored_sparse: bool
    counts: Mask
    unit: Floats
    centre: Floats
    scale: Floats
    ranks: Ranks  # of the columns that are ranked

    @property
    def n_columns(self) -> int:
        """How many encoded columns there are."""
        return len(self.unit)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return encoded_names(self.names, self.levels, self.indicated)

    @property
    def one_hot(self) -> list[int]:
        """The categories of more than two levels, which get a column a level."""
        return one_hot_columns(self.levels)

    @property
    def sources(self) -> npt.NDArray[np.intp]:
        """The column of the table that each encoded column comes from."""
        return encoded_sources(len(self.names), self.levels, self.indicated)

    def transform(self, table: Table) -> Matrix:
        """The design of the rows of ``table``, whose columns must be those of the fit."""
        return self._scaled(self.expanded(table))

    def expanded(self, table: Table) -> Matrix:
        """The encoded columns of the rows of ``table``, nothing scaled yet."""
        return expand(self.matched(table), self.means, self.indicated, stored_sparse=self.stored_sparse)

    def matched(self, table: Table) -> Table:
        """``table`` with its level numbers translated to those of the fit; a new level counts as missing."""
        for column in self.levels:
            if column not in table.levels and not np.isnan(table.column(column)).all():
                name = shown(self.names[column])
                raise DataError(f"{table.files}column {name} held texts in the fit and holds numbers now")
        unexpected = [table.names[column] for column in table.levels if column not in self.levels]
        if unexpected:
            raise DataError(
                f"{table.files}column {listed(unexpected)} held numbers in the fit and holds texts now"
            )
        return table.with_levels(self.levels)

    def _scaled(self, raw: Matrix) -> Matrix:
        if self.scaling == "none":
            return _clipped(raw, LARGEST_UNSCALED)
        raw = log_unit_rows(raw, self.counts)
        if sparse.issparse(raw):
            # No centring: it would fill the zeros, and the intercept takes it up anyway.
            shares = _shares(raw.data, self.unit[raw.indices])
            cells = (shares * self.scale[raw.indices], raw.indices, raw.indptr)
            scaled = sparse.csr_array(cells, shape=raw.shape)
            scaled.eliminate_zeros()
            return _clipped(scaled, FURTHEST)
        scaled = (_shares(self.ranks(raw), self.unit) - self.centre) * self.scale
        return np.ascontiguousarray(_clipped(scaled, FURTHEST))


def fit_encoding(table: Table, scaling: Scaling, *, part: bool = False) -> Encoding:
    """Learn from ``table`` how its inputs become numbers.

    Texts that are nearly all different are refused, but not in a ``part`` of a table that was looked at whole.
    """
    if scaling not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}; got {scaling!r}")
    levels = {column: tuple(names) for column, names in table.levels.items()}
    if not part:
        refuse_identifiers(table)
    missing = missing_counts(table.values)
    indicated = tuple(int(column) for column in np.flatnonzero(missing))
    n_columns = count_encoded(len(table.names), levels, indicated)
    is_number = encoded_numbers(len(table.names), levels, indicated)
    n_cells = len(table) * n_columns
    n_filled = total_nonzeros(table.values) + len(table) * len(one_hot_columns(levels))
    stored_sparse = bool(n_filled < SPARSE_STORAGE * n_cells)
    low, high = extremes(table.values)
    low[list(levels)] = high[list(levels)] = np.nan
    first = Encoding(
        names=table.names,
        levels=levels,
        means=means(table.values) if stored_sparse or scaling != "rank" else lower_medians(table.values),
        low=low,
        high=high,
        indicated=indicated,
        scaling=scaling,
        stored_sparse=stored_sparse,
        counts=np.zeros(n_columns, dtype=bool),
        unit=np.ones(n_columns),
        centre=np.zeros(n_columns),
        scale=np.ones(n_columns),
        ranks=Ranks.none(n_columns),
    )
    return _fit_scale(first.expanded(table), first, is_number)


def _fit_scale(raw: Matrix, encoding: Encoding, is_number: Mask) -> Encoding:
    """Complete an encoding with what its scaling needs to know of the expanded columns."""
    scaling, n_columns = encoding.scaling, raw.shape[1]
    if scaling == "none":
        largest = largest_magnitudes(raw)
        if largest.max(initial=0.0) > LARGEST_UNSCALED:
            name = shown(encoding.columns[int(np.argmax(largest))])
            raise DataError(
                f"input column {name} has values beyond {LARGEST_UNSCALED:.0e}, too large to fit unscaled; "
                "use scaling='block' or drop the column"
            )
        return encoding
    counts = np.zeros(n_columns, dtype=bool)
    if scaling == "log-unit":
        counts[:] = True
    elif scaling in ("rank", "block"):
        counts = find_count_columns(raw, is_number)
    treated = log_unit_rows(raw, counts)
    unit, centre, scale = np.ones(n_columns), np.zeros(n_columns), np.ones(n_columns)
    rest = ~counts
    ranks = encoding.ranks
    if scaling == "rank" and not sparse.issparse(treated):  # among mostly zeros ranks say little
        ranks = Ranks.of(treated, rest)
        treated = ranks(treated)
    largest = largest_magnitudes(treated)
    unit[rest] = np.where(largest > 0, largest, 1.0)[rest]
    if scaling in ("rank", "block", "standard") and rest.any():
        mean, deviation = moments(treated, unit)
        steady = deviation <= 1e-13 * np.maximum(np.abs(mean), 1e-300)
        spread = np.where(steady, 0.0, 1.0 / np.where(steady, 1.0, deviation))
        centre[rest], scale[rest] = mean[rest], spread[rest]
        if scaling != "standard":
            scale[rest] /= np.sqrt(max(1, int(np.count_nonzero(spread[rest]))))
    return replace(encoding, counts=counts, unit=unit, centre=centre, scale=scale, ranks=ranks)


def _shares(values: Floats, unit: Floats) -> Floats:
    """``values / unit``, finite: a new value may be 1e300 where the fit's were 1e-300, and their scale is zero."""
    with np.errstate(over="ignore"):
        return np.clip(values / unit, -BEYOND, BEYOND)


def _clipped(matrix: Matrix, largest: float) -> Matrix:
    if not sparse.issparse(matrix):
        return np.clip(matrix, -largest, largest)
    data = np.clip(matrix.data, -largest, largest)
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
