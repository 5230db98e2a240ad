"""Scaling "block": all inputs together weigh about as much as one output.

Inputs and outputs share one penalty and one distance, so their scales matter. Counts that are mostly
zero become logarithms in rows of unit length. All other columns are standardised and divided by the
square root of their number (constant columns do not count). So the inputs of a row have a length of
about 1, as outputs have that are 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amiss.arrays import Mask, Matrix
from amiss.encoding.column_scales import ColumnScales, standardised
from amiss.encoding.count_columns import find_count_columns, log_unit_rows
from amiss.encoding.ranks import Ranks
from amiss.encoding.scalings.base import Scaling


class Block(Scaling):
    """Standardised columns and logarithms of counts, with comparable weight for the inputs as a whole."""

    name = "block"
    description = "standardised columns that share a total variance of 1, and logarithms of sparse counts"

    def fit(self, columns: Matrix, is_number: Mask, names: Sequence[str]) -> ColumnScales:
        counts = find_count_columns(columns, is_number)
        rest = ~counts
        columns = log_unit_rows(columns, counts)
        ranks = self.ranks(columns, rest)
        unit, centre, scale = standardised(columns, rest, ranks)
        scale[rest] /= np.sqrt(max(1, int(np.count_nonzero(scale[rest]))))
        return ColumnScales(counts, unit, centre, scale, ranks)

    def ranks(self, columns: Matrix, where: Mask) -> Ranks:
        """The ranks that replace the values of the columns ``where``: none."""
        return Ranks.none(len(where))
