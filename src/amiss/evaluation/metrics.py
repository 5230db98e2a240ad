"""True positive alert rate: the precision among the rows that would be looked at."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.decisions.thresholds import rounded_share


def _precisions(scores: Floats, is_outlier: Mask) -> Floats:
    """Precision among the top 1, 2, … rows; ties are broken by row order."""
    values, wrong = np.asarray(scores, dtype=float), np.asarray(is_outlier, dtype=bool)
    if values.ndim != 1 or values.shape != wrong.shape:
        raise ValueError(f"scores and is_outlier must be of one length; got {values.shape} and {wrong.shape}")
    hits = np.cumsum(wrong[np.argsort(-values, kind="stable")])
    return hits / np.arange(1, len(hits) + 1)


def tpar(scores: Floats, is_outlier: Mask, alert_rate: float) -> float:
    """Precision among the top ``alert_rate`` of the rows.

    >>> tpar(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False]), 0.5)
    0.5
    """
    return float(_precisions(scores, is_outlier)[rounded_share(alert_rate, len(scores)) - 1])


def tpar_curve(scores: Floats, is_outlier: Mask, max_rate: float = 0.04) -> tuple[Floats, Floats]:
    """Alert rates 1/N, 2/N, … up to ``max_rate``, and the precision at each."""
    count = rounded_share(max_rate, len(scores))
    return np.arange(1, count + 1) / len(scores), _precisions(scores, is_outlier)[:count]


def atpar(scores: Floats, is_outlier: Mask, max_rate: float = 0.01) -> float:
    """Mean precision among the top 1, 2, … rows up to ``max_rate`` of them: the paper's ATPAR."""
    return float(tpar_curve(scores, is_outlier, max_rate)[1].mean())


def average_precision(scores: Floats, is_outlier: Mask) -> float:
    """Mean of the precisions at the places of the outliers; 0 if there is none. Ties are broken by row order.

    >>> average_precision(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])).__round__(3)
    0.833
    """
    ranked = np.asarray(is_outlier, dtype=bool)[np.argsort(-np.asarray(scores, dtype=float), kind="stable")]
    precisions = _precisions(scores, is_outlier)[ranked]
    return float(precisions.mean()) if len(precisions) else 0.0
