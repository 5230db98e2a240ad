"""The k smallest of many distances, row by row: the loop that numba makes faster, and its plain twin."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from amiss.arrays import Neighbors, Rows

ONE_IN = 8  # of the distances bound how far the k-th smallest can be
MOST = 4  # times k: more candidates than that are sorted out in full
LAST = np.uint64(2**64 - 1)
PLACE = np.uint64(2**32 - 1)  # the bits of a key that hold the place

Single = npt.NDArray[np.float32]
Keys = npt.NDArray[np.uint64]
Gather = Callable[[Single, Single, Keys], Rows]


def smallest(distances: Single, k: int) -> Neighbors:
    """The places of the k smallest of each row, in their order, ties to the lower place.

    A sample bounds how large the k-th can be. It is hardly ever larger; where it is, the whole row is sorted.
    """
    expected, some = k / ONE_IN, distances[:, ::ONE_IN]
    rank = min(int(expected + 3 * np.sqrt(expected) + 2), some.shape[1] - 1)
    bound = np.partition(some, rank, axis=1)[:, rank]
    keys = np.empty((len(distances), min(MOST * k, distances.shape[1])), dtype=np.uint64)
    count = gather(len(distances) > 1)(distances, np.ascontiguousarray(bound), keys)
    keys = np.partition(keys, k - 1, axis=1)[:, :k]
    for row in np.flatnonzero((count < k) | (count > MOST * k)):
        every = keys_of(distances[row], np.arange(distances.shape[1]))
        keys[row] = np.partition(every, k - 1)[:k]
    return (np.sort(keys, axis=1) & PLACE).astype(np.int32)


@lru_cache(maxsize=2)
def gather(worthwhile: bool) -> Gather:
    """What writes keys of the distances within each row's bound, and says how many there are."""
    if not worthwhile or find_spec("numba") is None:
        return gathered
    from amiss.scoring.selection_kernel import gather_keys

    def compiled(distances: Single, bound: Single, keys: Keys) -> Rows:
        count = np.empty(len(distances), dtype=np.intp)
        gather_keys(distances, distances.view(np.uint32), bound, keys, count)
        return count

    return compiled


def gathered(distances: Single, bound: Single, keys: Keys) -> Rows:
    """The plain twin of :func:`amiss.scoring.selection_kernel.gather_keys`."""
    row, place = np.nonzero(distances <= bound[:, None])
    count = np.bincount(row, minlength=len(distances))
    column = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    fitting = column < keys.shape[1]
    row, place, column = row[fitting], place[fitting], column[fitting]
    keys[...] = LAST
    keys[row, column] = keys_of(distances[row, place], place)
    return count


def keys_of(distances: Single, places: Rows) -> Keys:
    """Whole numbers in the order of the distances, and of the places where these are equal.

    The bits of a positive number grow with it; those of a negative one are turned round.
    """
    bits = (distances + np.float32(0)).view(np.uint32)  # there is a negative zero
    ordered = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return (ordered.astype(np.uint64) << np.uint64(32)) | places.astype(np.uint64)
