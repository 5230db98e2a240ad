"""The loop of :mod:`amiss.scoring.selection` that numba compiles; nothing else imports it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

SIGN = np.uint32(1 << 31)
NOTHING = np.uint32(0)
HALF = np.uint64(32)
LAST = np.uint64(2**64 - 1)


@njit(nogil=True, cache=True)
def gather_keys(distances: Any, bits: Any, bound: Any, keys: Any, count: Any) -> None:
    """``selection.keys_of`` of the distances within each row's bound, as many as fit, and how many there are."""
    n_columns, width = distances.shape[1], keys.shape[1]
    for i in range(len(distances)):
        found = 0
        for j in range(n_columns):
            if distances[i, j] <= bound[i]:
                if found < width:
                    b = bits[i, j]
                    if b == SIGN:  # a negative zero
                        b = NOTHING
                    ordered = ~b if b & SIGN else b | SIGN
                    keys[i, found] = (np.uint64(ordered) << HALF) | np.uint64(j)
                found += 1
        count[i] = found
        for rest in range(found, width):
            keys[i, rest] = LAST
