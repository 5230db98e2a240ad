"""Scaling "log-unit": logarithms, in rows of unit length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from amiss.arrays import Mask, Matrix
from amiss.encoding.column_scales import ColumnScales
from amiss.encoding.scalings.base import Scaling


class LogUnit(Scaling):
    """All columns are treated as counts (:mod:`amiss.encoding.count_columns`), whatever they hold."""

    name = "log-unit"
    description = "logarithms of values, each row divided by its length"

    def fit(self, columns: Matrix, is_number: Mask, names: Sequence[str]) -> ColumnScales:
        return replace(ColumnScales.identity(len(is_number)), counts=np.ones_like(is_number))
