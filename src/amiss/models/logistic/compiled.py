"""The two inner loops that numba makes faster, where it is installed.

Both have a plain twin. It is used without numba, in double precision, and where there is too little work to be
worth loading numba (which takes a third of a second).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from amiss.arrays import Floats
from amiss.models.logistic import loss

WORTH_LOADING = 100_000  # stored entries of a sparse matrix
WORTH_LOADING_DENSE = 4_000_000  # entries of a dense one

Multiply = Callable[[Any, Floats, Floats], None]
Slopes = Callable[[Floats, Floats, Floats], Floats]


def worthwhile(n_entries: int, is_sparse: bool) -> bool:
    """Whether numba is there, and a matrix of that many entries large enough for it."""
    enough = WORTH_LOADING if is_sparse else WORTH_LOADING_DENSE
    return n_entries >= enough and find_spec("numba") is not None


def multiplier(compiled: bool) -> Multiply:
    """``multiply(matrix, right, out)``: a CSR matrix times a dense one."""
    if not compiled:
        return _multiply
    from amiss.models.logistic.kernels import multiply_rows

    def multiply(matrix: Any, right: Floats, out: Floats) -> None:
        multiply_rows(matrix.indptr, matrix.indices, matrix.data, right, out)

    return multiply


def slopes(compiled: bool, dtype: Any) -> Slopes:
    """:func:`amiss.models.logistic.loss.losses_and_residuals`, or the same compiled."""
    if not compiled or dtype != np.float32:
        return loss.losses_and_residuals
    from amiss.models.logistic.kernels import losses_and_residuals

    def compute(f: Floats, signs: Floats, curvature: Floats) -> Floats:
        total = np.zeros(f.shape[1])
        losses_and_residuals(f, signs, curvature, total)
        return total

    return compute


def _multiply(matrix: Any, right: Floats, out: Floats) -> None:
    out[...] = matrix @ right
