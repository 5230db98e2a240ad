"""What a scaling learns about each encoded column, and how it is applied to rows.

Two steps keep every result finite, whatever the values: a column is divided by its ``unit`` (its
largest magnitude) before its mean and its deviation are computed, and values of new rows that lie
far outside the fit are clipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, is_single
from amiss.encoding.column_groups import column_groups, doubled, in_parts
from amiss.encoding.column_statistics import largest_or_one, moments
from amiss.encoding.count_columns import log_unit_rows
from amiss.encoding.ranks import Ranks

FURTHEST = 1e9  # no scaled value is larger: a new row further away than this is clipped to it
LARGEST_SHARE = (
    1e150  # of a column's unit; larger ones are clipped, so that their product with the scale is finite
)
CONSTANT = 1e-13  # a deviation of at most this share of the mean is rounding


@dataclass(frozen=True, eq=False)
class ColumnScales:
    """What a scaling has learned; each array is ``(n_columns,)``.

    Columns of ``counts`` become logarithms in rows of unit length, columns with ``ranks`` become
    ranks, and then every column x becomes (x / unit - centre) * scale. A sparse matrix is not centred,
    which would fill its zeros; the models' intercepts make up for it.
    """

    counts: Mask
    unit: Floats
    centre: Floats
    scale: Floats
    ranks: Ranks

    @classmethod
    def identity(cls, n_columns: int) -> ColumnScales:
        """Every column stays as it is."""
        return cls(
            counts=np.zeros(n_columns, dtype=bool),
            unit=np.ones(n_columns),
            centre=np.zeros(n_columns),
            scale=np.ones(n_columns),
            ranks=Ranks.none(n_columns),
        )

    def apply(self, columns: Matrix, *, overwrite: bool = False) -> Matrix:
        """The scaled columns, ``(n_rows, n_columns)``, stored as ``columns`` are.

        With ``overwrite`` they may take the place of ``columns``.
        """
        columns = log_unit_rows(columns, self.counts)
        if in_parts(columns):
            result = columns if overwrite else np.empty_like(columns)
            for group in column_groups(columns):
                result[:, group] = self._of_columns(group, is_single(columns))._scaled(doubled(columns, group))
            return result
        if sparse.issparse(columns):
            shares = _divided(columns.data, self.unit[columns.indices])
            # Copies, because zeros are eliminated in place.
            cells = (shares * self.scale[columns.indices], columns.indices.copy(), columns.indptr.copy())
            scaled = sparse.csr_array(cells, shape=columns.shape)
            scaled.eliminate_zeros()
            return clipped(scaled, FURTHEST)
        return np.ascontiguousarray(self._scaled(columns))

    def _scaled(self, columns: Floats) -> Floats:
        """Dense columns in double precision, of which those of counts are logarithms already."""
        scaled = (_divided(self.ranks(columns), self.unit) - self.centre) * self.scale
        return np.asarray(clipped(scaled, FURTHEST))

    def _of_columns(self, some: slice, single: bool) -> ColumnScales:
        """The same for neighbouring columns."""
        centre, scale, ranks = self.centre[some], self.scale[some], self.ranks.of_columns(some, single)
        return ColumnScales(self.counts[some], self.unit[some], centre, scale, ranks)


def standardised(columns: Matrix, where: Mask, ranks: Ranks | None = None) -> tuple[Floats, Floats, Floats]:
    """Unit, centre and scale, each ``(n_columns,)``, that standardise the columns ``where`` and leave the others.

    A standardised column has mean 0 and standard deviation 1; a constant one becomes 0. With ``ranks`` they are
    those of the columns' ranks.

    >>> unit, centre, scale = standardised(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([True, True]))
    >>> unit, scale
    (array([3., 5.]), array([3., 0.]))
    """
    ranks = ranks or Ranks.none(len(where))
    if in_parts(columns):
        parts = [
            _standardised(ranks.of_columns(group, is_single(columns))(doubled(columns, group)), where[group])
            for group in column_groups(columns)
        ]
        unit, centre, scale = (np.concatenate(each) for each in zip(*parts, strict=True))
        return unit, centre, scale
    return _standardised(ranks(columns), where)


def _standardised(columns: Matrix, where: Mask) -> tuple[Floats, Floats, Floats]:
    unit = np.where(where, largest_or_one(columns), 1.0)
    centre, scale = np.zeros(len(where)), np.ones(len(where))
    if where.any():
        mean, deviation = moments(columns, unit)
        constant = deviation <= CONSTANT * np.maximum(np.abs(mean), 1e-300)
        inverse = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
        centre[where], scale[where] = mean[where], inverse[where]
    return unit, centre, scale


def clipped(matrix: Matrix, largest: float) -> Matrix:
    """``matrix`` with every value moved into the range from ``-largest`` to ``largest``."""
    if not sparse.issparse(matrix):
        return np.clip(matrix, -largest, largest)
    data = np.clip(matrix.data, -largest, largest)
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _divided(values: Floats, unit: Floats) -> Floats:
    """``values / unit``, kept finite: a new value may be 1e300 in a column whose unit is 1e-300."""
    with np.errstate(over="ignore"):
        return np.clip(values / unit, -LARGEST_SHARE, LARGEST_SHARE)
