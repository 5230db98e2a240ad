"""Dense inputs along their principal axes.

A rotation of the inputs does not change a ridge penalty: b and V b̃ with orthonormal V cost the same,
and a direction in which the inputs do not vary carries no coefficient. Along the principal axes
the curvature matrix is nearly diagonal, so conjugate gradients need few steps, and inputs
with fewer independent directions than columns (more columns than rows, one-hot levels, copies)
become a smaller matrix. It is exact, not an approximation.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from amiss.arrays import Floats, Matrix

MOST_AXES = 1500  # finding n axes takes n³ operations
NOISE = 1e-12  # of the largest variance: what rounding leaves of a direction without any
MOST_UNEVEN = 1e4  # between the columns' standard deviations: beyond, a small column would look like noise


def principal_axes(X: Matrix) -> Floats | None:
    """Orthonormal V ``(n_columns, n_axes)``, or None where finding it would cost more than it saves."""
    if sparse.issparse(X) or not 0 < min(X.shape) <= MOST_AXES:
        return None
    centred = X - X.mean(axis=0)
    spread = centred.std(axis=0)
    if spread.max() > MOST_UNEVEN * spread.min(where=spread > 0, initial=np.inf):
        return None
    if X.shape[0] < X.shape[1]:
        variance, directions = linalg.eigh(centred @ centred.T)
        varied = variance > NOISE * variance[-1]
        return np.asarray(np.linalg.qr(centred.T @ (directions[:, varied] / np.sqrt(variance[varied])))[0])
    variance, directions = linalg.eigh(centred.T @ centred)
    return np.asarray(directions[:, variance > NOISE * variance[-1]])
