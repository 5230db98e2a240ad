"""The kinds of arrays that everything here works on."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array of float64, or a sparse.csr_array of them
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


def checked_csr_array(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...]) -> sparse.csr_array:
    """A sparse matrix from arrays of somebody else's making; a ``ValueError`` if they make none.

    scipy's own check skips most of itself if the last of ``indptr`` is zero, and what comes out can crash Python.
    """
    fit = data.ndim == indices.ndim == indptr.ndim == 1 and {indices.dtype.kind, indptr.dtype.kind} <= {"i", "u"}
    fit = fit and len(shape) == 2 and shape[1] >= 0 and len(indptr) == shape[0] + 1 and len(data) == len(indices)
    fit = fit and indptr[0] == 0 and indptr[-1] <= len(data) and bool((indptr[1:] >= indptr[:-1]).all())
    if not fit or (indices < 0).any() or (indices >= shape[1]).any():
        raise ValueError("not a sparse matrix")
    used = int(indptr[-1])
    return sparse.csr_array((data[:used], indices[:used], indptr), shape=shape)
