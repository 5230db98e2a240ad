"""Scaling "none": inputs stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amiss.arrays import Mask, Matrix
from amiss.encoding.column_scales import ColumnScales, clipped
from amiss.encoding.column_statistics import largest_magnitudes
from amiss.encoding.scalings.base import Scaling
from amiss.errors import DataError, quoted

LARGEST = 1e15  # what the solver can still work with; larger values are refused in the fit, clipped in new rows


class Unscaled(Scaling):
    """Every value stays as it is, and none may be too large for the solver."""

    name = "none"
    description = "inputs as they are"

    def fit(self, columns: Matrix, is_number: Mask, names: Sequence[str]) -> ColumnScales:
        largest = largest_magnitudes(columns)
        if largest.max(initial=0.0) > LARGEST:
            raise DataError(
                f"input column {quoted(names[int(np.argmax(largest))])} has values beyond {LARGEST:.0e}, "
                "too large to fit unscaled; use scaling='block' or drop the column"
            )
        return ColumnScales.identity(columns.shape[1])

    def apply(self, columns: Matrix, scales: ColumnScales, *, overwrite: bool = False) -> Matrix:
        return clipped(columns, LARGEST)
