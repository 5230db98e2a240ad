"""Scaling "maxabs": the largest magnitude in each column is 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amiss.arrays import Mask, Matrix
from amiss.encoding.column_scales import ColumnScales
from amiss.encoding.column_statistics import largest_or_one
from amiss.encoding.scalings.base import Scaling


class MaxAbs(Scaling):
    """Columns are divided by their largest magnitude, so zeros stay zeros."""

    name = "maxabs"
    description = "each column divided by its largest magnitude"

    def fit(self, columns: Matrix, is_number: Mask, names: Sequence[str]) -> ColumnScales:
        return replace(ColumnScales.identity(len(is_number)), unit=largest_or_one(columns))
