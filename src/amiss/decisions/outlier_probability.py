"""PyOD's two readings of a score: as a probability of being an outlier, and how sure the flag is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erf

from amiss.arrays import Floats, Mask


def outlier_probabilities(scores: Floats, training: Floats, method: str = "linear") -> Floats:
    """The chance that each row is usual, and that it is an outlier, ``(n_rows, 2)``.

    "linear" puts the scores between the lowest and the highest of the training rows; "unify" is Kriegel's
    error function of the standardised score. Neither is calibrated: they are scores on a scale from 0 to 1.

    >>> outlier_probabilities(np.array([0.0, 3.0, 9.0]), np.array([0.0, 4.0]))
    array([[1.  , 0.  ],
           [0.25, 0.75],
           [0.  , 1.  ]])
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be {' or '.join(map(repr, METHODS))}; got {method!r}")
    outlying = np.clip(METHODS[method](scores, training), 0.0, 1.0)
    return np.column_stack([1 - outlying, outlying])


def _linear(scores: Floats, training: Floats) -> Floats:
    low, width = training.min(), np.ptp(training)
    return np.asarray((scores - low) / (width if width > 0 else 1.0))


def _unify(scores: Floats, training: Floats) -> Floats:
    spread = training.std()
    return np.asarray(erf((scores - training.mean()) / (spread if spread > 0 else 1.0) / np.sqrt(2)))


METHODS: dict[str, Callable[[Floats, Floats], Floats]] = {"linear": _linear, "unify": _unify}


def flag_confidence(scores: Floats, flagged: Mask, training: Floats, n_flagged: int) -> Floats:
    """How likely each row would have the same flag if the training rows were drawn again, ``(n_rows,)``.

    Perini, Vercruyssen and Davis, *Quantifying the confidence of anomaly detectors in their example-wise
    predictions* (2020): with n training rows of which t score at most as high as a row, the chance that a
    training row does is about (1 + t) / (2 + n), and the row is flagged if at least n - n_flagged + 1 do.
    """
    n = len(training)
    below = np.searchsorted(np.sort(training), scores, side="right")
    from scipy.stats import binom  # takes half a second to import

    confidence = binom.sf(n - n_flagged, n, (1 + below) / (2 + n))
    return np.asarray(np.where(flagged, confidence, 1 - confidence))
