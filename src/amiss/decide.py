"""Where to cut: which rows are flagged."""

from __future__ import annotations

import numpy as np

from amiss.table import Floats


def rounded_share(share: float, count: int) -> int:
    """``share`` of ``count``, halves rounded up, at least one.

    >>> rounded_share(0.01, 50), rounded_share(0.01, 649), rounded_share(0.29, 50)
    (1, 6, 15)
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share must be above 0 and at most 1; got {share!r}")
    # A hair above one half: 0.29 * 50 is 14.499999999999998 in floating point.
    return max(1, int(np.floor(share * count + 0.5 + 1e-9)))


def threshold_for_share(scores: Floats, share: float) -> float:
    """The score that ``share`` of the rows exceed.

    Rows are flagged if they are strictly above it, so where many rows tie at the top fewer are
    flagged, and none where all rows are alike.
    """
    flagged = min(rounded_share(share, len(scores)), len(scores) - 1)
    return float(np.sort(scores)[::-1][flagged])
