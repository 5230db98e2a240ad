"""What the report and the plots show, as arrays: from a fit's numbers to bins, curves and counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Rows

N_BINS = 60
CALIBRATION_BINS = 10


@dataclass(frozen=True)
class Histogram:
    """``counts[b]`` scores lie from ``edges[b]`` up to ``edges[b + 1]``."""

    edges: Floats
    counts: npt.NDArray[np.intp]


@dataclass(frozen=True)
class Calibration:
    """Of the rows in a bin of similar probabilities: their mean probability, the share of ones, how many."""

    expected: Floats
    observed: Floats
    count: npt.NDArray[np.intp]


@dataclass(frozen=True)
class Suspicions:
    """How often each output is the main suspect of a flagged row, and in which direction."""

    commissions: npt.NDArray[np.intp]
    omissions: npt.NDArray[np.intp]


def histogram(scores: Floats, n_bins: int = N_BINS) -> Histogram:
    """Scores in bins of equal width.

    >>> histogram(np.array([0.0, 1.0, 4.0]), 2)
    Histogram(edges=array([0., 2., 4.]), counts=array([2, 1]))
    """
    low, high = float(scores.min()), float(scores.max())
    if not high - low > 1e-12 * max(abs(high), 1e-300):  # all alike
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(scores, np.linspace(low, high, n_bins + 1))
    return Histogram(edges, counts)


def probability_of_one(rho: Floats, Y: Floats) -> Floats:
    """P(y = 1) from the probability of the value that was observed; NaN where it is missing."""
    return np.where(Y == 1, rho, 1 - rho)


def calibration(probability: Floats, y: Floats, n_bins: int = CALIBRATION_BINS) -> Calibration:
    """Rows of one output in bins of equally many, by their probability of a 1; missing ones left out.

    >>> calibration(np.array([0.1, 0.2, 0.9, 0.7]), np.array([0.0, 0.0, 1.0, 1.0]), 2)
    Calibration(expected=array([0.15, 0.8 ]), observed=array([0., 1.]), count=array([2, 2]))
    """
    seen = ~np.isnan(y)
    order = np.argsort(probability[seen], kind="stable")
    bins = [part for part in np.array_split(order, n_bins) if len(part)]
    return Calibration(
        expected=np.array([probability[seen][part].mean() for part in bins]),
        observed=np.array([y[seen][part].mean() for part in bins]),
        count=np.array([len(part) for part in bins], dtype=np.intp),
    )


def suspicions(first: Rows, rho: Floats, Y: Floats) -> Suspicions:
    """Counted over rows of which ``first`` is the main suspect, if its value is improbable."""
    rows = np.arange(len(first))
    wrong = rho[rows, first] < 0.5
    values, n_outputs = Y[rows, first], Y.shape[1]
    present, absent = (first[wrong & (values == value)] for value in (1, 0))
    return Suspicions(np.bincount(present, minlength=n_outputs), np.bincount(absent, minlength=n_outputs))


def most_connected(dependence: Floats, at_most: int) -> npt.NDArray[np.intp]:
    """Outputs whose coefficients on one another are largest in sum, in their own order.

    ``dependence[j, i]`` is what output j adds to the log-odds of output i.
    """
    strength = np.abs(dependence).sum(axis=0) + np.abs(dependence).sum(axis=1)
    return np.sort(np.argsort(-strength, kind="stable")[:at_most])
