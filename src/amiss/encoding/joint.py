"""Inputs and outputs side by side: what the models see, and where neighbours are searched."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix


def joint(inputs: Matrix, outputs: Floats) -> Matrix:
    """Z = [x, y], ``(n_rows, n_columns + n_outputs)``, sparse if the inputs are.

    >>> joint(np.array([[0.5, 0.2]]), np.array([[1.0]]))
    array([[0.5, 0.2, 1. ]])
    """
    if sparse.issparse(inputs):
        return sparse.hstack([inputs, sparse.csr_array(outputs)], format="csr")
    return np.hstack([inputs, outputs])
