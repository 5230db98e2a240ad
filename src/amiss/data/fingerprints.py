"""A fingerprint of each row's content, and the order it gives.

Folds and ties between equally distant neighbours have to be settled somehow. Settling them by
row number would make a score depend on how a file happens to be sorted. Here they are settled
by what stands in the row: the fit puts rows in the order of their fingerprints first, so the
same rows in any order give the same numbers, and equal rows are treated alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Matrix

Fingerprints = npt.NDArray[np.uint64]

BLOCK_CELLS = 1 << 20


def fingerprints(values: Matrix, seed: int) -> Fingerprints:
    """64 bits a row that depend on its non-zero values and their columns, and on ``seed``.

    Each non-zero value is mixed with a random number of its column, and the results are added
    modulo 2^64: no order of summation can change the sum, so dense and sparse storage agree.
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
        block = values[start : start + step]
        result[start : start + step] = _mix(block, salt).sum(axis=1, dtype=np.uint64)
    return result


def row_fingerprints(inputs: Matrix, outputs: Matrix, seed: int) -> Fingerprints:
    """Fingerprints of rows of inputs and outputs together."""
    return fingerprints(inputs, seed) + fingerprints(outputs, seed + 1) * np.uint64(0x9E3779B97F4A7C15)


def duplicated(content: Fingerprints) -> npt.NDArray[np.bool_]:
    """Which rows have another of the same content; ``content`` rises.

    >>> duplicated(np.array([3, 5, 5, 9], dtype=np.uint64))
    array([False,  True,  True, False])
    """
    same = np.concatenate([[False], content[1:] == content[:-1], [False]])
    return np.asarray(same[1:] | same[:-1])


def _mix(values: npt.NDArray[np.float64], salt: Fingerprints) -> Fingerprints:
    """The splitmix64 finaliser on value and salt; zero for a zero, one pattern for every NaN."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = np.ascontiguousarray(plain).view(np.uint64) ^ salt
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.where(values == 0, np.uint64(0), bits)
