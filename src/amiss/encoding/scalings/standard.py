"""Scaling "standard": each column has mean 0 and standard deviation 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from amiss.arrays import Mask, Matrix
from amiss.encoding.column_scales import ColumnScales, standardised
from amiss.encoding.scalings.base import Scaling


class Standard(Scaling):
    """Columns are centred, unless they are stored sparse, and divided by their standard deviation."""

    name = "standard"
    description = "mean 0 and standard deviation 1 in each column"

    def fit(self, columns: Matrix, is_number: Mask, names: Sequence[str]) -> ColumnScales:
        unit, centre, scale = standardised(columns, np.ones_like(is_number))
        return replace(ColumnScales.identity(len(is_number)), unit=unit, centre=centre, scale=scale)
