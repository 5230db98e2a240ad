"""Fingerprints: 64-bit hashes of the content of rows, which also define an order of the rows.

Rows must be assigned to folds, and ties between equally distant neighbours must be broken. Doing that
by row number would make scores depend on how a file happens to be sorted. Instead, the fit first
sorts the rows by their fingerprints. The same rows then give the same scores in any order, and
equal rows get equal scores.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Matrix

Fingerprints = npt.NDArray[np.uint64]

BLOCK_CELLS = 1 << 16


def fingerprints(values: Matrix, seed: int) -> Fingerprints:
    """One 64-bit hash per row, from its non-zero values, their columns and ``seed``.

    Each non-zero value is mixed with a random number of its column, and the results are added
    modulo 2^64. The order of this sum does not matter, so dense and sparse storage agree. A value in single
    precision counts as the same value in double precision.
    """
    n_rows, n_columns = values.shape
    salt = np.random.default_rng(seed).integers(0, 2**63, size=n_columns, dtype=np.uint64)
    if sparse.issparse(values):
        mixed = _mix(values.data, salt[values.indices])
        ends = np.concatenate([[np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)])
        return ends[values.indptr[1:]] - ends[values.indptr[:-1]]
    result = np.empty(n_rows, dtype=np.uint64)
    step = max(1, BLOCK_CELLS // max(1, n_columns))
    for start in range(0, n_rows, step):
        block = values[start : start + step].astype(np.float64, copy=False)
        result[start : start + step] = _mix(block, salt).sum(axis=1, dtype=np.uint64)
    return result


def row_fingerprints(inputs: Matrix, outputs: Matrix, seed: int) -> Fingerprints:
    """Fingerprints of whole rows: inputs and outputs together."""
    return fingerprints(inputs, seed) + fingerprints(outputs, seed + 1) * np.uint64(0x9E3779B97F4A7C15)


def duplicated(content: Fingerprints) -> npt.NDArray[np.bool_]:
    """Which rows have a duplicate, given the fingerprints of all rows in increasing order.

    >>> duplicated(np.array([3, 5, 5, 9], dtype=np.uint64))
    array([False,  True,  True, False])
    """
    same = np.concatenate([[False], content[1:] == content[:-1], [False]])
    return np.asarray(same[1:] | same[:-1])


def are_duplicated(content: Fingerprints) -> npt.NDArray[np.bool_]:
    """The same of fingerprints in any order."""
    order = np.argsort(content, kind="stable")
    result = np.empty(len(content), dtype=bool)
    result[order] = duplicated(content[order])
    return result


def _mix(values: npt.NDArray[np.float64], salt: Fingerprints) -> Fingerprints:
    """The splitmix64 finaliser of value and salt; 0 for a zero, and the same bits for every NaN."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = np.ascontiguousarray(plain).view(np.uint64) ^ salt
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.where(values == 0, np.uint64(0), bits)
