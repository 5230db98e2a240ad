"""Scaling "rank", the default: block scaling of ranks.

A number stands for its rank among the values of its column, so that neither a skewed column nor its
unit matters. A missing number stands in the middle. Tables that are mostly zeros are not ranked.
"""

from __future__ import annotations

from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix
from amiss.encoding.column_statistics import lower_medians
from amiss.encoding.ranks import Ranks
from amiss.encoding.scalings.block import Block


class Rank(Block):
    """Numbers become ranks, which are then scaled as in block scaling."""

    name = "rank"
    description = "ranks within each column, scaled as by block"
    ranked = True

    def fill_values(self, values: Matrix, *, stored_sparse: bool) -> Floats:
        """What replaces a missing value: a median, or a mean where nothing is ranked."""
        if stored_sparse:
            return super().fill_values(values, stored_sparse=stored_sparse)
        return lower_medians(values)

    def ranks(self, columns: Matrix, where: Mask) -> Ranks:
        """The ranks of the columns ``where``, or none if most values are zeros and ranks would say little."""
        if sparse.issparse(columns):
            return super().ranks(columns, where)
        return Ranks.of(columns, where)
