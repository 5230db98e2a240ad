"""A batch of new rows: scores, what is flagged, and what about the batch is unlike the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from amiss.arrays import Floats, Mask, Rows
from amiss.data.remark import Code, Remark, coded
from amiss.decisions.calibration import Calibration
from amiss.decisions.decision import Decision
from amiss.encoding.encoded_rows import EncodedRows
from amiss.monitoring.drift import Drift
from amiss.monitoring.shifts import Shift
from amiss.monitoring.shifts import remarks as remarks_on_shifts
from amiss.monitoring.unseen import Unseen, remarks_on_levels, remarks_on_outputs
from amiss.monitoring.unseen import remarks as remarks_on_unseen
from amiss.scoring.rows import ScoredRows
from amiss.wording import count, joined, percent


@dataclass(frozen=True, eq=False)
class Findings:
    """What about a batch is unlike the fit.

    Attributes
    ----------
    unseen : categories, scales and missing values that the fit has not seen
    shifts : inputs whose distribution changed
    drift : each output's error rate against the fit
    near_copies : how many new rows differ from a row of the fit only by rounding: their scores may be too low
    first_values : outputs that had one value in every row of the fit, and how many rows here have the other
    estimated_members : how many rows seem to have been in the fit of a model that was saved without its rows:
        their scores may be too low
    order : sentences on outputs by which the rows are sorted, or that have one value in all rows
    """

    unseen: Sequence[Unseen]
    shifts: Sequence[Shift]
    drift: Drift
    near_copies: int
    estimated_members: int
    first_values: Mapping[str, int] = field(default_factory=dict)
    order: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """New rows and what a detector says of them.

    Attributes
    ----------
    rows : what makes the scores (:class:`~amiss.ScoredRows`)
    decision : which rows are flagged, and why (:class:`~amiss.Decision`)
    findings : what about the batch is unlike the fit
    calibration : how high rows held out of the fit score; None if the detector was not calibrated
    knows_fit : whether rows of the fit are recognised; not if the model was saved without them
    encoded : the rows as the models see them
    scores, contributions, probabilities : those of ``rows``
    flagged, threshold, p_values : those of the ``decision``
    drift : that of the ``findings``
    output_p_values : (n_rows, n_outputs) how often an output adds as much to the score of rows held out of the fit
    in_fit : (n_rows,) the row of the fit that is the same, or -1. Such a row has the score it had in the fit,
        because the models have seen it and would find it usual
    """

    rows: ScoredRows
    decision: Decision
    findings: Findings
    calibration: Calibration | None
    knows_fit: bool
    encoded: EncodedRows

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        flagged = f"{int(self.flagged.sum())} flagged"
        return f"<ScoredBatch: {count(len(self), 'row')}, {flagged}, threshold {self.threshold:.4g}>"

    @property
    def scores(self) -> Floats:
        return self.rows.scores

    @property
    def flagged(self) -> Mask:
        return self.decision.flagged

    @property
    def threshold(self) -> float:
        return self.decision.threshold

    @property
    def p_values(self) -> Floats | None:
        return self.decision.p_values

    @property
    def contributions(self) -> Floats:
        return self.rows.contributions

    @property
    def probabilities(self) -> Floats:
        return self.rows.probabilities

    @property
    def drift(self) -> Drift:
        return self.findings.drift

    @property
    def in_fit(self) -> Rows:
        return self.rows.training_match

    @cached_property
    def output_p_values(self) -> Floats | None:
        if self.calibration is None:
            return None
        counted = self.rows.counted & self.rows.is_new[:, None]
        return self.calibration.output_p_values(self.rows.contributions, counted)

    @property
    def expected_by_chance(self) -> float | None:
        """How many of the new rows would score above the threshold if all were like those held out of the fit."""
        if self.calibration is None:
            return None
        above = int((self.calibration.scores > self.threshold).sum())
        return (1 + above) / (1 + len(self.calibration)) * int(self.rows.is_new.sum())

    def remarks(self) -> list[str]:
        """What a person should know before trusting the scores."""
        return [remark.text for remark in self.coded_remarks()]

    def coded_remarks(self) -> list[Remark]:
        """The same with their codes."""
        found, level = self.findings, self.decision.level
        remarks = [self.decision.why_none] if self.decision.why_none and not _nothing_to_judge(self) else []
        remarks += remarks_on_unseen(list(found.unseen)) + remarks_on_shifts(list(found.shifts))
        remarks += remarks_on_levels(self.rows.new_levels, self.rows.output_names)
        remarks += [*remarks_on_outputs(found.first_values), *found.drift.remarks()]
        drifted = [] if level is None else _drifted_level(level, found)
        return [
            *coded(Code.BATCH, remarks),
            *coded(Code.DRIFTED_LEVEL, drifted),
            *coded(Code.SORTED, found.order),
            *coded(Code.BATCH, self._remarks_on_rows()),
        ]

    def _remarks_on_rows(self) -> list[str]:
        """Rows without outputs, and rows that the models have seen."""
        n_rows, n_seen = len(self), int((~self.rows.is_new).sum())
        silent, found, remarks = int((~self.rows.counted.any(axis=1)).sum()), self.findings, []
        if silent:
            remarks.append(f"{_some(silent, n_rows, 'has', 'have')} no output and therefore a score of zero.")
        if found.estimated_members:
            members = _some(found.estimated_members, n_rows, "was", "were")
            remarks.append(
                f"About {members} probably used in the fit. The model was saved without its rows, so this is an "
                "estimate; their scores may be too low."
            )
        if found.near_copies:
            remarks.append(
                f"{_some(found.near_copies, n_rows, 'differs', 'differ')} from rows of the fit only by rounding. "
                "The models have seen those, so these scores may be too low."
            )
        if _nothing_to_judge(self):
            remarks.append("All rows were used in the fit; --fdr applies to new rows only.")
        elif n_seen:
            unjudged = " A false-discovery level judges new rows only." if self.decision.unjudged else ""
            used = f"{_some(n_seen, n_rows, 'was', 'were')} used in the fit"
            without = "it has no p-value" if n_seen == 1 else "they have no p-values"
            remarks.append(f"{used}, so {without}.{unjudged}")
        return remarks


def _nothing_to_judge(batch: ScoredBatch) -> bool:
    """Whether a false-discovery level has no new row to judge, and has flagged none."""
    decision = batch.decision
    return not batch.rows.is_new.any() and bool(decision.why_none or decision.unjudged)


def _drifted_level(level: float, found: Findings) -> list[str]:
    """That a level is promised on rows that are unlike those of the fit."""
    drifted, shifted = int(found.drift.drifted.sum()), len(found.shifts)
    changed = [count(drifted, "output")] * bool(drifted) + [count(shifted, "input")] * bool(shifted)
    if not changed:
        return []
    return [
        f"The level of {percent(level)} holds only if clean rows of this batch are like those of the fit, and "
        f"{joined(changed)} changed. Fit again with rows like these, or ask for a number of rows (--alerts)."
    ]


def _some(some: int, n_rows: int, one: str, many: str) -> str:
    """
    >>> _some(3, 10, "was", "were"), _some(1, 10, "was", "were"), _some(1200, 1200, "was", "were")
    ('3 of 10 rows were', '1 of 10 rows was', 'All 1,200 rows were')
    """
    if some == n_rows > 1:
        return f"All {n_rows:,} rows {many}"
    return f"{some:,} of {n_rows:,} row{'s' * (n_rows > 1)} {one if some == 1 else many}"
