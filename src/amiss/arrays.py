"""Types of arrays, and a safe way to build a sparse one from untrusted parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array of float64 or float32, or a sparse.csr_array of float64
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Neighbors = npt.NDArray[np.int32]  # of each row, its nearest rows by number


BLOCK_ROWS = 1024  # of a matrix in single precision that become double at a time


def is_single(matrix: Matrix) -> bool:
    """Whether a matrix is dense and in single precision; copies in double precision would need twice its room."""
    return not sparse.issparse(matrix) and bool(matrix.dtype == np.float32)


def row_blocks(n_rows: int) -> Iterator[slice]:
    """All rows, a block at a time."""
    for start in range(0, n_rows, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, n_rows))


def average_ranks(values: Floats) -> Floats:
    """The rank of each value from 1 on, ties sharing their mean rank; scipy.stats takes half a second to import.

    >>> average_ranks(np.array([0.5, 2.0, 0.5, 1.0])).tolist()
    [1.5, 4.0, 1.5, 3.0]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def product(matrix: Matrix, coef: Floats) -> Floats:
    """``matrix @ coef`` in double precision; of a matrix in single precision only blocks of rows become double."""
    if not is_single(matrix):
        return np.asarray(matrix @ coef)
    result = np.empty((matrix.shape[0], *coef.shape[1:]))
    for rows in row_blocks(len(result)):
        np.matmul(matrix[rows].astype(np.float64), coef, out=result[rows])
    return result


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
