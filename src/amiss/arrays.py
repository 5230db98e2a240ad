"""Types of arrays, and a safe way to build a sparse one from untrusted parts."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array of float64, or a sparse.csr_array of them
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


def read_only(*arrays: npt.NDArray[Any] | None) -> None:
    """Make arrays that several values share unwritable, so that nobody changes one through another."""
    for array in arrays:
        if array is not None:
            array.setflags(write=False)


def checked_csr_array(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...]) -> sparse.csr_array:
    """A CSR matrix from untrusted arrays, all of which are checked; a ``ValueError`` if they do not form one.

    SciPy's own check does little if the last entry of ``indptr`` is zero, and the result can crash Python.
    """
    valid = (
        data.ndim == indices.ndim == indptr.ndim == 1
        and {indices.dtype.kind, indptr.dtype.kind} <= {"i", "u"}
        and len(shape) == 2
        and shape[1] >= 0
        and len(indptr) == shape[0] + 1
        and len(data) == len(indices)
        and indptr[0] == 0
        and indptr[-1] <= len(data)
        and (indptr[1:] >= indptr[:-1]).all()
        and (indices >= 0).all()
        and (indices < shape[1]).all()
    )
    if not valid:
        raise ValueError("the arrays do not form a CSR matrix")
    used = int(indptr[-1])
    return sparse.csr_array((data[:used], indices[:used], indptr), shape=shape)
