"""A decision: which rows are flagged, by what threshold, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from amiss.arrays import Floats, Mask, read_only
from amiss.decisions.calibration import Calibration
from amiss.decisions.comparisons import AgainstModels, AgainstRows, Comparison, Drawn
from amiss.decisions.p_values import discoveries, p_values
from amiss.decisions.settings import BatchRequest, DecisionSettings
from amiss.decisions.thresholds import (
    threshold_below,
    threshold_for_count,
    threshold_for_new,
    threshold_for_share,
)
from amiss.scoring.rows import ScoredRows
from amiss.wording import count, percent

DecidedBy = Literal["threshold", "rate", "alerts", "fdr", "chance"]
AUTO_CHANCE = 0.3  # that a row is wrong, of contamination="auto"


@dataclass(frozen=True, eq=False)
class Decision:
    """Which rows are flagged.

    Attributes
    ----------
    threshold : what a row's score must exceed to be flagged (under a false-discovery level: a new row's)
    flagged : (n_rows,) which rows are flagged
    p_values : (n_rows,) how often rows that were not in the fit score as high (or simulated rows, if the
        decision compares with these); None if there are none, NaN for rows of a batch that were in the fit
    by : what the threshold was found by: that of the fit ("threshold"), "rate", "alerts", "fdr", or "chance"
        (the chance that a row is wrong)
    reason : the same in words
    level : the false-discovery level, or None
    why_none : why no row passes a false-discovery level, where none does; else empty
    unjudged : how many rows of a batch were in the fit and therefore not judged by the level
    """

    threshold: float
    flagged: Mask
    p_values: Floats | None
    by: DecidedBy
    reason: str
    level: float | None = None
    why_none: str = ""
    unjudged: int = 0

    def __post_init__(self) -> None:
        read_only(self.flagged, self.p_values)

    def in_words(self) -> str:
        """How many rows are flagged, and by what."""
        n_flagged = int(self.flagged.sum())
        flagged = f"{n_flagged:,} flagged" if n_flagged else "none flagged"
        if self.level is not None:
            return f"{flagged} {self.reason}."
        if self.by == "alerts":
            return f"{flagged}, {self.reason}."
        if n_flagged:
            return f"{flagged}, with a score above {self.threshold:.4g}, {self.reason}."
        return f"{flagged}: no score is above {self.threshold:.4g}, {self.reason}."

    def __repr__(self) -> str:
        flagged = f"{int(self.flagged.sum())} of {count(len(self.flagged), 'row')} flagged"
        return f"<Decision: {flagged}, threshold {self.threshold:.4g} ({self.reason})>"


def training_reason(settings: DecisionSettings) -> tuple[DecidedBy, str]:
    """How rows of the fit are flagged, and the same in words."""
    if settings.by_chance:
        return "chance", f"where the chance that a row is wrong is above {percent(AUTO_CHANCE)}"
    if settings.level is None:
        return "rate", f"{percent(settings.share)} of the rows"
    return "fdr", f"at a false-discovery level of {percent(settings.level)} against rows simulated by the models"


def decide_training(scores: Floats, settings: DecisionSettings, drawn: Drawn) -> Decision:
    """Flag rows of the fit: a share of them, or as many as a false-discovery level lets pass."""
    (by, reason), level, p = training_reason(settings), settings.level, None
    if settings.by_chance:
        threshold = -float(np.log1p(-AUTO_CHANCE))  # a score is -log P(the row is right)
    elif level is None:
        threshold = threshold_for_share(scores, settings.share)
    else:
        p = p_values(scores, drawn(level))
        threshold = threshold_below(scores, discoveries(p, level))
    return Decision(threshold, scores > threshold, p, by, reason, level)


@dataclass(frozen=True, eq=False)
class BatchDecider:
    """Flags rows of a batch by what the fit knows.

    ``level`` is the false-discovery level of the fit, ``training_flags`` which of its rows are flagged (None if
    they were not kept), ``calibration`` how high rows held out of it score.
    """

    threshold: float
    level: float | None
    training_scores: Floats
    training_flags: Mask | None
    calibration: Calibration | None

    def decide(self, rows: ScoredRows, request: BatchRequest, drawn: Drawn) -> Decision:
        """As the request says or, where it says nothing, as the fit does."""
        level = self.level if request.is_empty else request.fdr
        if level is None and request.against is not None:
            raise ValueError("against is for a false-discovery level; give fdr too")
        if level is not None:
            usual = AgainstModels() if self.calibration is None else AgainstRows()
            return self._at_level(rows, level, request.comparison or usual, drawn)
        p = None if self.calibration is None else self.calibration.p_values_of(rows)
        if request.alerts is not None:
            return _by_count(rows.scores, request.alerts, p)
        if request.rate is not None:
            return self._by_rate(rows.scores, request.rate, p)
        flagged = rows.scores > self.threshold
        return Decision(self.threshold, flagged, p, "threshold", "the threshold of the fit")

    def _by_rate(self, scores: Floats, rate: float, p: Floats | None) -> Decision:
        if self.calibration is None:
            threshold = threshold_for_share(self.training_scores, rate)
            reason = f"which {percent(rate)} of the fit's own rows exceed"
        else:
            threshold, above = threshold_for_new(self.calibration.scores, rate)
            reason = f"which {above} of {count(len(self.calibration), 'row')} held out of the fit exceed"
        return Decision(threshold, scores > threshold, p, "rate", reason)

    def _at_level(self, rows: ScoredRows, level: float, comparison: Comparison, drawn: Drawn) -> Decision:
        """Flag as many new rows as the level lets pass; rows of the fit as the same level decided there."""
        new, found = rows.is_new, comparison.compare(rows, level, self.calibration, drawn)
        flagged = found.passed.copy()
        threshold = threshold_below(rows.scores[new], flagged[new]) if new.any() else self.threshold
        decided_there = self.training_flags if level == self.level else None
        if decided_there is not None:
            flagged[~new] = decided_there[rows.training_match[~new]]
        why_none = ""
        if not new.any() and not flagged.any():
            why_none = "All rows were used in the fit, so there is no new row to judge."
        elif not flagged.any():
            why_none = comparison.why_none(found.p_values[new], level, self.calibration)
        unjudged = int((~new).sum()) if decided_there is None else 0
        reason = f"at a false-discovery level of {percent(level)} against {found.whom}"
        return Decision(threshold, flagged, found.p_values, "fdr", reason, level, why_none, unjudged)


def _by_count(scores: Floats, alerts: int, p: Floats | None) -> Decision:
    threshold = threshold_for_count(scores, alerts)
    n_above = int((scores > threshold).sum())
    reason = f"the {count(n_above, 'most unusual row')} of this batch"
    if n_above < min(alerts, len(scores)):
        reason = f"and not {alerts}, because rows tie at the threshold"
    return Decision(threshold, scores > threshold, p, "alerts", reason)
