"""Where to cut: which rows are flagged.

Three ways. A share of the rows. A false-discovery level for rows *of the fit*, judged by what the models
would make: outputs of all rows are drawn anew from the out-of-fold probabilities, each given the observed
others, and scored like the rows; a row's p-value is how often a drawn one, of any row, scores as high. That
holds as far as the models' probabilities do. (Ranking the rows of a table among themselves could never flag one:
the k-th of N has a p-value of k/N, which no level below 1 lets pass.) A false-discovery level for *new*
rows: conformal p-values, how often rows held out of the fit score as high (:mod:`amiss.decisions.calibration`).
That holds if clean new rows are like those (nearly so, where folds of the fit were held out: their
models saw fewer rows); wrong rows among those held out only make it more careful.

Either way the p-values go through Benjamini and Hochberg's procedure. A p-value falls as the score rises,
so what is flagged always is every row above some score, the threshold.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from scipy.stats import false_discovery_control

from amiss.arrays import Floats, Mask
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer

AUTO_LEVEL = 0.2  # of contamination="auto"
DRAWS, ENOUGH_DRAWN = 5, 20_000  # tables of drawn outputs: at least so many, and so many rows in all
MOST_DRAWN, MOST_ROWS = 200_000_000, 5_000_000  # outputs and rows in all
ENOUGH_AT_ONCE = 100_000  # outputs
DRAWS_AT_LEVEL = 2  # divided by the level: a single row among N passes if its p-value is below level/N


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
    """The score that a new row, if it is like those held out, exceeds with a chance of ``share``; and who does.

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


def p_values(found: Floats, usual: Floats) -> Floats:
    """How often ``usual`` scores, sorted rising, are as high as each one found; itself counts among them.

    >>> p_values(np.array([0.5, 3.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    array([1.  , 0.5 , 0.25])
    """
    as_high = len(usual) - np.searchsorted(usual, found, side="left")
    return np.asarray((1.0 + as_high) / (1.0 + len(usual)))


def discoveries(p: Floats, level: float) -> Mask:
    """Which p-values Benjamini and Hochberg's procedure lets pass at a false-discovery ``level``.

    >>> discoveries(np.array([0.01, 0.04, 0.03, 0.5]), 0.1)
    array([ True,  True,  True, False])
    """
    if not len(p):
        return np.zeros(0, dtype=bool)
    return np.asarray(false_discovery_control(p) <= level * (1 + 1e-12))  # 17/125 * 25/17 is above 0.2


def threshold_below(scores: Floats, flagged: Mask) -> float:
    """The highest score that is not flagged; where all are, one just below them."""
    if flagged.all():
        return just_below(scores)
    return float(scores[~flagged].max())


def drawn_scores(scorer: Scorer, log_odds: Floats, Y: Floats, weights: Floats, seed: int, level: float) -> Floats:
    """Scores of the same rows with outputs drawn from their log-odds, sorted rising; what is missing stays so.

    They are drawn so often that a single row can pass the ``level``, as far as time allows.
    """
    rng = np.random.default_rng(seed)
    chance, missing = expit(log_odds), np.isnan(Y)
    wanted = max(-(-ENOUGH_DRAWN // len(Y)), int(np.ceil(DRAWS_AT_LEVEL / level)))
    draws = max(DRAWS, min(wanted, MOST_DRAWN // Y.size, MOST_ROWS // len(Y)))
    found = np.empty((draws, len(Y)))
    at_once = max(1, ENOUGH_AT_ONCE // Y.size)  # a small table is drawn several times in a step
    for first in range(0, draws, at_once):
        times = min(at_once, draws - first)
        drawn = (rng.random((times, *Y.shape)) < chance).astype(np.float64)
        drawn[:, missing] = np.nan
        many = np.tile(log_odds, (times, 1)), drawn.reshape(-1, Y.shape[1])
        parts = scorer.parts(*many, weights if weights.ndim == 1 else np.tile(weights, (times, 1)))
        found[first : first + times] = scores(parts).reshape(times, len(Y))
    in_order = found.ravel()
    in_order.sort()
    return in_order
