"""Thresholds: the score above which rows are flagged."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats, Mask


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
    return threshold_for_count(scores, min(rounded_share(share, len(scores)), len(scores) - 1))


def threshold_for_new(held_out: Floats, share: float) -> tuple[float, int]:
    """The score that a new row, if it is like those held out, exceeds with a chance of ``share``;
    and how many of the held-out rows exceed it.

    That is where its p-value reaches ``share``. Few rows cannot tell a small share, so at least the highest of
    them must be exceeded.

    >>> threshold_for_new(np.arange(1.0, 100.0), 0.02), threshold_for_new(np.arange(1.0, 10.0), 0.02)
    ((98.0, 1), (9.0, 0))
    """
    place = max(1, int(np.floor(share * (len(held_out) + 1) + 1e-9)))
    threshold = float(np.sort(held_out)[-place])
    return threshold, int((held_out > threshold).sum())


def threshold_for_count(scores: Floats, count: int) -> float:
    """The score that ``count`` rows exceed, or fewer where rows tie there.

    >>> threshold_for_count(np.array([3.0, 1.0, 2.0]), 1), threshold_for_count(np.array([3.0, 3.0, 2.0]), 1)
    (2.0, 3.0)
    """
    if count >= len(scores):
        return just_below(scores)
    return float(np.sort(scores)[::-1][count])


def just_below(scores: Floats) -> float:
    """A threshold that all ``scores`` exceed."""
    return float(np.nextafter(scores.min(initial=np.inf), -np.inf))


def threshold_below(scores: Floats, flagged: Mask) -> float:
    """The highest score that is not flagged; where all are, one just below them."""
    if flagged.all():
        return just_below(scores)
    return float(scores[~flagged].max())
