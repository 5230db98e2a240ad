"""The encoder: how the inputs of one table become a matrix, learned once and applied to every later row.

Encoding has two steps. ``expansion`` makes columns of numbers: missing values are imputed, categories
and missing values get columns of their own. The scaling then gives these columns comparable scales.

Only the values decide how a matrix is stored, never the container they came in: a dense array and a
sparse matrix of the same numbers give the same matrix, stored the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix
from amiss.data.table import Table
from amiss.encoding.column_scales import ColumnScales
from amiss.encoding.column_statistics import extremes, missing_counts, total_nonzeros
from amiss.encoding.expansion import (
    count_encoded,
    encoded_names,
    encoded_numbers,
    encoded_sources,
    expand,
    one_hot_columns,
    plain_columns,
)
from amiss.encoding.identifiers import refuse_identifiers
from amiss.encoding.ranks import Ranks
from amiss.encoding.scalings.base import Scaling
from amiss.errors import DataError, quoted, quoted_list
from amiss.wording import count

SPARSE_STORAGE = 0.1  # a matrix with a smaller share of non-zeros than this is stored sparse


@dataclass(frozen=True, eq=False)
class Encoder:
    """How the inputs of one table become numbers: a table to a matrix, ``(n_rows, n_columns)``.

    The table of the fit had ``n_inputs`` columns, and the matrix has ``n_columns``:
    :mod:`amiss.encoding.expansion` says which. The five fields before the last are what the scaling has learned
    (:class:`amiss.encoding.column_scales.ColumnScales`), each array ``(n_columns,)``.
    """

    names: tuple[str, ...]
    levels: dict[int, tuple[str, ...]]  # the names of the levels of each column that holds categories
    means: Floats  # (n_inputs,), what replaces missing values: means, or medians if the scaling says so
    low: Floats  # (n_inputs,), the lowest and highest value of each column of numbers, NaN if there is none
    high: Floats
    indicated: tuple[int, ...]  # the columns of the table that get an indicator of missing values
    scaling: Scaling
    stored_sparse: bool
    counts: Mask
    unit: Floats
    centre: Floats
    scale: Floats
    ranks: Ranks
    distribution: Ranks  # knots of every dense column, whatever the scaling: what a batch is compared with

    def __repr__(self) -> str:
        inputs, columns = count(len(self.names), "input"), count(self.n_columns, "column")
        return f"<Encoder: {inputs} to {columns}, scaling {self.scaling.name!r}>"

    @property
    def n_columns(self) -> int:
        """How many encoded columns there are."""
        return len(self.unit)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return encoded_names(self.names, self.levels, self.indicated)

    @property
    def sources(self) -> npt.NDArray[np.intp]:
        """The column of the table that each encoded column comes from, ``(n_columns,)``."""
        return encoded_sources(len(self.names), self.levels, self.indicated)

    def column_of(self, number: int) -> int:
        """The encoded column that holds an input which is a number."""
        return plain_columns(len(self.names), self.levels).index(number)

    def transform(self, table: Table, *, overwrite: bool = False) -> Matrix:
        """The rows of ``table``, whose columns must be those of the fit, as a matrix, ``(n_rows, n_columns)``.

        With ``overwrite`` the values of the table are no longer needed, and may be where the result is put.
        """
        return self.scaled(self.expanded(table), overwrite=overwrite)

    def expanded(self, table: Table) -> Matrix:
        """The encoded columns of the rows of ``table``, ``(n_rows, n_columns)``, not yet scaled."""
        return expand(self.matched(table), self.means, self.indicated, stored_sparse=self.stored_sparse)

    def scaled(self, expanded: Matrix, *, overwrite: bool = False) -> Matrix:
        """Expanded rows as the models see them, ``(n_rows, n_columns)``."""
        scales = ColumnScales(self.counts, self.unit, self.centre, self.scale, self.ranks)
        return self.scaling.apply(expanded, scales, overwrite=overwrite)

    def matched(self, table: Table) -> Table:
        """``table`` with its levels numbered as in the fit; a level that the fit did not have becomes missing."""
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


def fit_encoder(table: Table, scaling: Scaling, *, part: bool = False) -> Encoder:
    """Learn from ``table`` how its inputs become numbers.

    A column of texts that are nearly all different is refused. In a ``part`` of a table that was checked
    as a whole it is not: few rows may well have different texts.

    >>> from amiss.encoding.scalings import SCALINGS
    >>> table = Table(np.array([[1.0, 0], [np.nan, 2], [3.0, 1]]), ("age", "ward"), {1: ("a", "b", "c")})
    >>> encoder = fit_encoder(table, SCALINGS["none"])
    >>> encoder.columns
    ('age', 'ward=a', 'ward=b', 'ward=c', 'age is missing')
    >>> encoder.transform(table)
    array([[1., 1., 0., 0., 0.],
           [2., 0., 0., 1., 1.],
           [3., 0., 1., 0., 0.]])
    """
    if not part:
        refuse_identifiers(table)
    levels = {column: tuple(names) for column, names in table.levels.items()}
    indicated = tuple(int(column) for column in np.flatnonzero(missing_counts(table.values)))
    stored_sparse = _is_sparse(table, count_encoded(len(table.names), levels, indicated))
    fill_values = scaling.fill_values(table.values, stored_sparse=stored_sparse)
    low, high = extremes(table.values)
    low[list(levels)] = high[list(levels)] = np.nan
    expanded = expand(table, fill_values, indicated, stored_sparse=stored_sparse)
    scales = scaling.fit(
        expanded,
        encoded_numbers(len(table.names), levels, indicated),
        encoded_names(table.names, levels, indicated),
    )
    return Encoder(
        names=table.names,
        levels=levels,
        means=fill_values,
        low=low,
        high=high,
        indicated=indicated,
        scaling=scaling,
        stored_sparse=stored_sparse,
        counts=scales.counts,
        unit=scales.unit,
        centre=scales.centre,
        scale=scales.scale,
        ranks=scales.ranks,
        distribution=_distribution(expanded, scales),
    )


def _distribution(expanded: Matrix, scales: ColumnScales) -> Ranks:
    """Knots of the columns that are not mostly zeros."""
    if scales.ranks.counts.any() or sparse.issparse(expanded):
        return scales.ranks
    return Ranks.of(expanded, ~scales.counts)


def _is_sparse(table: Table, n_columns: int) -> bool:
    """Whether few enough of the ``n_columns`` encoded columns of ``table`` will be filled."""
    n_filled = total_nonzeros(table.values) + len(table) * len(one_hot_columns(table.levels))
    return bool(n_filled < SPARSE_STORAGE * (len(table) * n_columns))
