"""Inputs and outputs side by side: the space of the models and of the neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix


def joint(inputs: Matrix, outputs: Floats) -> Matrix:
    """Z = [x, y], stored like the inputs."""
    if sparse.issparse(inputs):
        return sparse.hstack([inputs, sparse.csr_array(outputs)], format="csr")
    return np.hstack([inputs, outputs])
