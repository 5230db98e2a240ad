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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix
from amiss.data.table import Table
from amiss.encoding.ranks import Ranks
from amiss.errors import DataError, quoted, quoted_list

Scaling = Literal["rank", "block", "none", "standard", "maxabs", "log-unit"]
SCALINGS = ("rank", "block", "none", "standard", "maxabs", "log-unit")

SPARSE_STORAGE = 0.1  # below this share of non-zeros a matrix is stored sparse
MOSTLY_ZERO = 0.5  # a column of counts has fewer non-zeros than this, and no negative
SPARSE_COUNTS = 0.25  # columns of counts have fewer than this together, and are in the majority
FURTHEST = 1e9  # new rows may lie off any scale of the fit; beyond this they all lie there
LARGEST_UNSCALED = 1e15
BEYOND = 1e150
MANY_LEVELS = 20


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
        columns = [self.names[column] for column in _others(self.one_hot, len(self.names))]
        columns += [f"{self.names[column]}={level}" for column in self.one_hot for level in self.levels[column]]
        columns += [f"{self.names[column]} is missing" for column in self.indicated]
        return tuple(columns)

    @property
    def one_hot(self) -> list[int]:
        """The categories of more than two levels, which get a column a level."""
        return _large(self.levels)

    @property
    def sources(self) -> npt.NDArray[np.intp]:
        """The column of the table that each encoded column comes from."""
        large = self.one_hot
        plain = _others(large, len(self.names))
        of_levels = [column for column in large for _ in self.levels[column]]
        return np.array([*plain, *of_levels, *self.indicated], dtype=np.intp)

    def transform(self, table: Table) -> Matrix:
        """The design of the rows of ``table``, whose columns must be those of the fit."""
        return self._scaled(self.expanded(table))

    def expanded(self, table: Table) -> Matrix:
        """The encoded columns of the rows of ``table``, nothing scaled yet."""
        return _expanded(self.matched(table), self)

    def matched(self, table: Table) -> Table:
        """``table`` with its level numbers translated to those of the fit; a new level counts as missing."""
        for column in self.levels:
            if column not in table.levels and not np.isnan(table.column(column)).all():
                name = quoted(self.names[column])
                raise DataError(f"{table.files}column {name} held texts in the fit and holds numbers now")
        unexpected = [table.names[column] for column in table.levels if column not in self.levels]
        if unexpected:
            raise DataError(
                f"{table.files}column {quoted_list(unexpected)} held numbers in the fit and holds texts now"
            )
        return table.with_levels(self.levels)

    def _scaled(self, raw: Matrix) -> Matrix:
        if self.scaling == "none":
            return _clipped(raw, LARGEST_UNSCALED)
        if self.counts.any():
            raw = _unit_rows(_logarithms(raw, self.counts), self.counts)
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
        _refuse_identifiers(table)
    large = _large(levels)
    missing = _count_nans(table.values)
    indicated = tuple(int(column) for column in np.flatnonzero(missing))
    n_columns = count_encoded(len(table.names), levels, indicated)
    is_number = np.zeros(n_columns, dtype=bool)
    plain = _others(large, len(table.names))
    is_number[: len(plain)] = [column not in levels for column in plain]
    n_cells = len(table) * n_columns
    n_filled = _count_nonzeros(table.values) + len(table) * len(large)
    stored_sparse = bool(n_filled < SPARSE_STORAGE * n_cells)
    low, high = _extremes(table)
    first = Encoding(
        names=table.names,
        levels=levels,
        means=_means(table.values) if stored_sparse or scaling != "rank" else _medians(table.values),
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
    return _fit_scale(_expanded(table, first), first, is_number)


def _large(levels: Mapping[int, tuple[str, ...]]) -> list[int]:
    """Columns of more than two levels."""
    return [column for column in sorted(levels) if len(levels[column]) > 2]


def _others(columns: Sequence[int], n_columns: int) -> list[int]:
    """The columns that are not among ``columns``."""
    among = set(columns)
    return [column for column in range(n_columns) if column not in among]


def count_encoded(n_inputs: int, levels: Mapping[int, tuple[str, ...]], indicated: tuple[int, ...]) -> int:
    """How many columns the inputs are encoded in."""
    large = _large(levels)
    return n_inputs - len(large) + sum(len(levels[column]) for column in large) + len(indicated)


def _fit_scale(raw: Matrix, encoding: Encoding, is_number: Mask) -> Encoding:
    """Complete an encoding with what its scaling needs to know of the expanded columns."""
    scaling, n_columns = encoding.scaling, raw.shape[1]
    if scaling == "none":
        largest = _largest(raw)
        if largest.max(initial=0.0) > LARGEST_UNSCALED:
            name = quoted(encoding.columns[int(np.argmax(largest))])
            raise DataError(
                f"input column {name} has values beyond {LARGEST_UNSCALED:.0e}, too large to fit unscaled; "
                "use scaling='block' or drop the column"
            )
        return encoding
    counts = np.zeros(n_columns, dtype=bool)
    if scaling == "log-unit":
        counts[:] = True
    elif scaling in ("rank", "block"):
        counts = _sparse_counts(raw, is_number)
    treated = _unit_rows(_logarithms(raw, counts), counts) if counts.any() else raw
    unit, centre, scale = np.ones(n_columns), np.zeros(n_columns), np.ones(n_columns)
    rest = ~counts
    ranks = encoding.ranks
    if scaling == "rank" and not sparse.issparse(treated):  # among mostly zeros ranks say little
        ranks = Ranks.of(treated, rest)
        treated = ranks(treated)
    largest = _largest(treated)
    unit[rest] = np.where(largest > 0, largest, 1.0)[rest]
    if scaling in ("rank", "block", "standard") and rest.any():
        mean, deviation = _moments(treated, unit)
        steady = deviation <= 1e-13 * np.maximum(np.abs(mean), 1e-300)
        spread = np.where(steady, 0.0, 1.0 / np.where(steady, 1.0, deviation))
        centre[rest], scale[rest] = mean[rest], spread[rest]
        if scaling != "standard":
            scale[rest] /= np.sqrt(max(1, int(np.count_nonzero(spread[rest]))))
    return replace(encoding, counts=counts, unit=unit, centre=centre, scale=scale, ranks=ranks)


def identifiers(table: Table) -> dict[int, int]:
    """Columns of texts that are nearly all different, and how many texts each holds."""
    present = {column: len(np.unique(table.column(column))) for column in table.levels}
    return {column: count for column, count in present.items() if count > MANY_LEVELS and 2 * count > len(table)}


def _refuse_identifiers(table: Table) -> None:
    for column, count in identifiers(table).items():
        raise DataError(
            f"{table.files}input column {quoted(table.names[column])} holds {count} different texts in "
            f"{len(table)} rows and looks like an identifier; make it the id (--id) or drop it (--drop)"
        )


def _expanded(table: Table, encoding: Encoding) -> Matrix:
    """Numbers, level columns and indicators side by side, nothing scaled yet."""
    values = table.values
    if encoding.stored_sparse:
        matrix = sparse.csr_array(values, copy=True)
        matrix.eliminate_zeros()
    else:
        matrix = values.toarray() if sparse.issparse(values) else values
    large = encoding.one_hot
    plain = np.array(_others(large, len(encoding.names)), dtype=np.intp)
    numbers = matrix if not large else matrix[:, plain]
    blocks = [_imputed(numbers, encoding.means[plain])]
    for column in large:
        blocks.append(_one_hot(table.column(column), len(encoding.levels[column])))
    for column in encoding.indicated:
        blocks.append(np.isnan(table.column(column)).astype(float)[:, None])
    if encoding.stored_sparse:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))
    dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
    return dense[0] if len(dense) == 1 else np.hstack(dense)


def _shares(values: Floats, unit: Floats) -> Floats:
    """``values / unit``, finite: a new value may be 1e300 where the fit's were 1e-300, and their scale is zero."""
    with np.errstate(over="ignore"):
        return np.clip(values / unit, -BEYOND, BEYOND)


def _clipped(matrix: Matrix, largest: float) -> Matrix:
    if not sparse.issparse(matrix):
        return np.clip(matrix, -largest, largest)
    data = np.clip(matrix.data, -largest, largest)
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _one_hot(codes: Floats, n_levels: int) -> sparse.csr_array:
    """One column a level; a missing level is a row of zeros."""
    known = np.flatnonzero(codes >= 0)
    cells = (np.ones(len(known)), (known, codes[known].astype(np.intp)))
    return sparse.csr_array(cells, shape=(len(codes), n_levels))


def _imputed(numbers: Matrix, means: Floats) -> Matrix:
    """Missing numbers, and missing two-level categories, replaced by the column's mean."""
    if sparse.issparse(numbers):
        gone = np.isnan(numbers.data)
        data = np.where(gone, means[numbers.indices], numbers.data)
        return sparse.csr_array((data, numbers.indices, numbers.indptr), shape=numbers.shape)
    return np.where(np.isnan(numbers), means, numbers)


def _count_nans(values: Matrix) -> npt.NDArray[np.intp]:
    if sparse.issparse(values):
        return np.bincount(values.indices[np.isnan(values.data)], minlength=values.shape[1])
    return np.isnan(values).sum(axis=0)


def _count_nonzeros(values: Matrix) -> int:
    return int(np.count_nonzero(values.data if sparse.issparse(values) else values))


def _means(values: Matrix) -> Floats:
    """Mean of each column's present values, 0 where there are none; safe at any magnitude."""
    present = np.maximum(values.shape[0] - _count_nans(values), 1)
    largest = _largest(values)
    unit = np.where(largest > 0, largest, 1.0)
    if sparse.issparse(values):
        shares = np.nan_to_num(values.data / unit[values.indices], nan=0.0)
        total = np.bincount(values.indices, weights=shares, minlength=values.shape[1])
    else:
        total = np.nansum(values / unit, axis=0)
    return total / present * unit


def _medians(values: Matrix) -> Floats:
    """A middle value of each column's present ones, 0 where there are none."""
    dense = values.toarray() if sparse.issparse(values) else values
    empty = np.isnan(dense).all(axis=0)
    return np.where(empty, 0.0, np.nanquantile(np.where(empty, 0.0, dense), 0.5, axis=0, method="lower"))


def _extremes(table: Table) -> tuple[Floats, Floats]:
    """Lowest and highest value of each column of numbers; NaN where there is none, or it holds categories."""
    values = table.values
    if sparse.issparse(values):
        low, high = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
        np.fmin.at(low, values.indices, values.data)
        np.fmax.at(high, values.indices, values.data)
        thin = np.bincount(values.indices, minlength=values.shape[1]) < values.shape[0]
        low, high = np.where(thin, np.fmin(low, 0.0), low), np.where(thin, np.fmax(high, 0.0), high)
    else:
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    categories = list(table.levels)
    low[categories] = high[categories] = np.nan
    return low, high


def _largest(values: Matrix) -> Floats:
    """Largest magnitude in each column, missing values apart."""
    if sparse.issparse(values):
        largest = np.zeros(values.shape[1])
        np.fmax.at(largest, values.indices, np.abs(values.data))
        return largest
    return np.fmax.reduce(np.abs(values), axis=0, initial=0.0)


def _moments(values: Matrix, unit: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column of ``values / unit``."""
    n_rows = values.shape[0]
    if not sparse.issparse(values):
        shares = values / unit
        return shares.mean(axis=0), shares.std(axis=0)
    shares = values.data / unit[values.indices]
    mean = np.bincount(values.indices, weights=shares, minlength=values.shape[1]) / n_rows
    filled = np.bincount(values.indices, minlength=values.shape[1])
    around = np.bincount(values.indices, weights=(shares - mean[values.indices]) ** 2, minlength=values.shape[1])
    return mean, np.sqrt((around + (n_rows - filled) * mean**2) / n_rows)


def _sparse_counts(raw: Matrix, is_number: Mask) -> Mask:
    """The columns of numbers that are mostly zero and never negative, if they set the tone.

    Word counts are such columns; a few rare 0/1 columns beside an age and a weight leave these alone.
    """
    nonzero, lowest = _column_signs(raw)
    found = is_number & (lowest >= 0) & (nonzero < MOSTLY_ZERO * raw.shape[0])
    share = nonzero[found].sum() / max(1, raw.shape[0] * np.count_nonzero(found))
    if share >= SPARSE_COUNTS or 2 * np.count_nonzero(found) < np.count_nonzero(is_number):
        return np.zeros_like(is_number)
    return found


def _column_signs(raw: Matrix) -> tuple[npt.NDArray[np.intp], Floats]:
    """Number of non-zeros of each column, and its lowest value (zero included)."""
    if sparse.issparse(raw):
        lowest = np.zeros(raw.shape[1])
        np.minimum.at(lowest, raw.indices, raw.data)
        return np.bincount(raw.indices[raw.data != 0], minlength=raw.shape[1]), lowest
    return np.count_nonzero(raw, axis=0), raw.min(axis=0, initial=0.0)


def _logarithms(raw: Matrix, where: Mask) -> Matrix:
    if sparse.issparse(raw):
        data = np.where(where[raw.indices], np.sign(raw.data) * np.log1p(np.abs(raw.data)), raw.data)
        return sparse.csr_array((data, raw.indices, raw.indptr), shape=raw.shape)
    return np.where(where, np.sign(raw) * np.log1p(np.abs(raw)), raw)


def _unit_rows(raw: Matrix, where: Mask) -> Matrix:
    """Rows divided by their length over the columns ``where``; an empty row stays empty."""
    if sparse.issparse(raw):
        row_of = np.repeat(np.arange(raw.shape[0]), np.diff(raw.indptr))
        inside = where[raw.indices]
        squares = np.bincount(row_of, weights=np.where(inside, raw.data, 0.0) ** 2, minlength=raw.shape[0])
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        data = np.where(inside, raw.data / length[row_of], raw.data)
        return sparse.csr_array((data, raw.indices, raw.indptr), shape=raw.shape)
    squares = np.einsum("ij,ij->i", raw * where, raw * where)
    length = np.sqrt(np.where(squares > 0, squares, 1.0))
    return np.where(where, raw / length[:, None], raw)
