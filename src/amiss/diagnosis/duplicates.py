"""Columns that hold the same as another one."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from scipy import sparse

from amiss.data.table import Table


def duplicates(table: Table) -> dict[str, str]:
    """Each column that repeats an earlier one, and which.

    >>> duplicates(Table(np.array([[1.0, 2, 1], [3, 4, 3]]), ("a", "b", "c")))
    {'c': 'a'}
    """
    if sparse.issparse(table.values):
        return {}
    first: dict[bytes, str] = {}
    found = {}
    for place, name in enumerate(table.names):
        earlier = first.setdefault(_content(table, place), name)
        if earlier != name:
            found[name] = earlier
    return found


def _content(table: Table, place: int) -> bytes:
    cells = table.column(place).astype(np.float64)
    cells[np.isnan(cells)] = np.nan  # one NaN for all
    digest = blake2b((cells + 0.0).tobytes(), digest_size=16)
    digest.update("\0".join(table.levels.get(place, ())).encode("utf-8", "replace"))
    return digest.digest()
