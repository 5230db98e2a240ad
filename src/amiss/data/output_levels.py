"""Levels of a class that are rare are judged as one, because nothing can be learned of each."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats, Rows

FEWEST = 3  # rows with a level


def level_columns(codes: Floats, n_levels: int) -> Rows:
    """The column of each level; rare levels share the last one, and a value that was not seen has that or none.

    >>> level_columns(np.array([0.0] * 5 + [1.0, 2.0] + [3.0] * 4), 4)
    array([0, 2, 2, 1, 2])
    """
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=n_levels)[:n_levels]
    common = counts >= FEWEST
    if common.sum() + 1 >= n_levels:  # one rare level stays by itself
        common[:] = True
    result = np.full(n_levels + 1, -1, dtype=np.intp)
    result[:-1][common] = np.arange(common.sum())
    if not common.all():
        result[:-1][~common] = result[-1] = common.sum()
    return result
