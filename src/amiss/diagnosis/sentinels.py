"""Numbers that stand for a missing value: -9, 999 and the like."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats

NEGATIVE = (-1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -777.0, -888.0, -999.0, -9999.0, -99999.0)
POSITIVE = (77.0, 88.0, 99.0, 777.0, 888.0, 999.0, 9999.0, 99999.0, 999999.0)
FEWEST_ROWS = 2


def sentinels(cells: Floats) -> list[float]:
    """Values at an end of the column that people use for what is missing, and that lie far from all others.

    >>> sentinels(np.array([1.0, 2, 3, 5, 4, -9, -9])), sentinels(np.array([-9.0, -9, -8, 3]))
    ([-9.0], [])
    """
    known, found = cells[~np.isnan(cells)], []
    while len(known):
        low, high = float(known.min()), float(known.max())
        is_low = low in NEGATIVE and _stands_apart(known, low)
        is_high = not is_low and high in POSITIVE and _stands_apart(known, high)
        if not (is_low or is_high):
            break
        found.append(low if is_low else high)
        known = known[known != found[-1]]
    return found


def _stands_apart(known: Floats, value: float) -> bool:
    rest = known[known != value]
    if len(known) - len(rest) < FEWEST_ROWS or len(np.unique(rest[:1000])) < 2:
        return False
    gap, spread = float(np.abs(rest - value).min()), float(rest.max() - rest.min())
    return gap > spread or (value < -1 and float(rest.min()) >= 0 and gap > 1)
