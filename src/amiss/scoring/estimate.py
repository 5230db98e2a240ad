"""How many rows and outputs of a table are wrong, by what the hypotheses say of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats
from amiss.scoring.doubt import count_doubtful
from amiss.scoring.hypotheses import Hypotheses
from amiss.scoring.rows import ScoredRows
from amiss.scoring.two_views import TwoViews
from amiss.threads import in_large_blocks
from amiss.wording import count

# Chosen by eye on tables with errors made on purpose.
# docs/measurements/errors.md says how often such an interval holds the truth.
FEWER, MORE = 0.5, 2.0


@dataclass(frozen=True)
class Interval:
    """An estimate of a number, between ``low`` and ``high``."""

    estimate: int
    low: int
    high: int

    def sentence(self, what: str) -> str:
        """The estimate in words.

        >>> Interval(24, 11, 60).sentence("row")
        'about 24 rows (11 to 60)'
        """
        return f"about {count(self.estimate, what)} ({self.low:,} to {self.high:,})"


@dataclass(frozen=True)
class ErrorEstimate:
    """How many rows and cells (outputs of a row) of a table are wrong."""

    rows: Interval
    cells: Interval


def estimate_errors(
    hypotheses: Hypotheses | TwoViews | None, scored: ScoredRows, n_jobs: int | None = None
) -> ErrorEstimate | None:
    """How many rows and cells are wrong; None where no hypotheses are weighed.

    The estimate is the expected number of blind errors, as the shares have it, or the number of doubtful rows
    where these are believed (:mod:`amiss.scoring.doubt`), whichever is larger. The lower end of the interval is
    half of the smaller of two numbers: the expected blind errors, and the rows that are more likely wrong than
    right. The upper end is twice the largest of three: the estimate, the chances added up, and the doubtful rows.
    Cells follow in proportion.
    """
    if hypotheses is None or scored.views is None or scored.wrong is None:
        return None
    if isinstance(hypotheses, TwoViews):
        return _of_kinds(scored, scored.wrong)
    Y, weights, views = scored.Y, scored.weights, scored.views

    def work(rows: slice) -> tuple[float, float]:
        mine, seen = weights if weights.ndim == 1 else weights[rows], views.take(rows)
        evidence = hypotheses.statistics(scored.log_odds[rows], Y[rows], mine, seen.held_out)
        doubts = hypotheses.row_doubts(Y[rows], mine, seen)
        return hypotheses.expected_blind(evidence), float(count_doubtful(doubts))

    blind, doubtful = (sum(each) for each in zip(*in_large_blocks(len(Y), work, n_jobs), strict=True))
    chances = -np.expm1(-scored.scores)
    wrong, sure = float(chances.sum()), float((chances > 0.5).sum())
    estimate = max(blind, sure, doubtful if hypotheses.believed else 0.0)
    low, high = min(sure, blind), max(estimate, wrong, doubtful)
    each = max(1.0, float(scored.wrong.sum()) / max(wrong, 1e-12))  # wrong cells of a wrong row
    rows = _interval(estimate, low, high, len(scored))
    return ErrorEstimate(rows, _interval(each * estimate, each * low, each * high, int(scored.counted.sum())))


def _of_kinds(scored: ScoredRows, wrong: Floats) -> ErrorEstimate:
    """Of outputs of several kinds: the chances added up, and the rows that are more likely wrong than right."""
    chances = -np.expm1(-scored.scores)
    expected, sure = float(chances.sum()), float((chances > 0.5).sum())
    each = max(1.0, float(wrong.sum()) / max(expected, 1e-12))
    low, high = min(expected, sure), max(expected, sure)
    rows = _interval(expected, low, high, len(scored))
    return ErrorEstimate(rows, _interval(each * expected, each * low, each * high, int(scored.counted.sum())))


def _interval(estimate: float, low: float, high: float, most: int) -> Interval:
    lower, upper = int(FEWER * low), min(most, int(np.ceil(MORE * high)))
    return Interval(int(np.clip(round(estimate), lower, max(upper, lower))), lower, upper)
