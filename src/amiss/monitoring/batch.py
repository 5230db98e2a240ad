"""A batch of new rows, judged by a fit: scores, what is flagged, and what about the batch is unlike the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from amiss.arrays import Floats, Mask, Rows
from amiss.decisions.calibration import Calibration, ErrorLevels
from amiss.monitoring import shifts as shift
from amiss.monitoring import unseen as novelty
from amiss.monitoring.shifts import Shift
from amiss.monitoring.unseen import Novelty
from amiss.wording import count, first_few, percent, printable, six_digits

CHANCE = 0.01  # of calling an output drifted, among all of them, in a batch like the fit
WHOLE_ERRORS = 3.0  # more or fewer than usual: below that a mean of a few rows tells nothing

CutBy = Literal["threshold", "rate", "alerts", "fdr"]


@dataclass(frozen=True)
class Drift:
    """Each output's mean error (1 - rho) in a batch, against rows like those of the fit that it has not seen.

    ``z`` is their difference in standard errors; ``drifted`` says where it is more than chance, and at
    least three whole errors.
    """

    name: tuple[str, ...]
    usual: Floats
    found: Floats
    rows: Floats
    z: Floats
    drifted: Mask

    @classmethod
    def between(cls, names: tuple[str, ...], usual: ErrorLevels, found: ErrorLevels) -> Drift:
        both = (usual.count > 0) & (found.count > 0)
        difference = np.where(both, found.mean - usual.mean, 0.0)
        share = 1.0 / np.maximum(usual.count, 1) + 1.0 / np.maximum(found.count, 1)
        error = np.sqrt(usual.deviation**2 * share)
        sure = np.where(difference == 0, 0.0, np.copysign(np.inf, difference))
        z = np.divide(difference, error, out=sure, where=error > 0)
        limit = norm.isf(CHANCE / 2 / max(1, len(names)))
        drifted = (np.abs(z) > limit) & (np.abs(difference) * found.count >= WHOLE_ERRORS)
        return cls(names, usual.mean, np.where(found.count > 0, found.mean, np.nan), found.count, z, drifted)

    def to_dict(self) -> list[dict[str, Any]]:
        """One entry an output."""
        columns = zip(self.name, self.usual, self.found, self.rows, self.z, self.drifted, strict=True)
        return [
            {
                "output": name,
                "usual_error": six_digits(usual),
                "error": six_digits(found),
                "rows": int(rows),
                "z": six_digits(z),
                "drifted": bool(drifted),
            }
            for name, usual, found, rows, z, drifted in columns
        ]

    def remarks(self) -> list[str]:
        """A sentence on what has drifted."""
        which = np.flatnonzero(self.drifted)
        which = which[np.argsort(-np.abs(self.z[which]), kind="stable")]
        if not len(which):
            return []
        said = [
            f"{printable(self.name[i])} {percent(self.found[i])} (usually {percent(self.usual[i])})" for i in which
        ]
        return [
            "Outputs that go with the rest of a row worse or better than usual, by their mean error: "
            f"{first_few(said)}."
        ]


@dataclass(frozen=True, repr=False)
class Batch:
    """New rows and what a detector says of them.

    Attributes
    ----------
    scores : (n_rows,) higher is more unusual
    flagged : (n_rows,) which rows are flagged: those above the threshold. Under a false-discovery level a row
        of the fit is flagged if it was by the same level there
    threshold : what a new row's score must exceed
    by : what the cut was found by: the fit's "threshold", "rate", "alerts" or "fdr"
    decided : the same in words
    level : the false-discovery level kept, or None
    none_passes : why no row keeps a false-discovery level, where none does; else empty
    left_out : how many rows of the fit a false-discovery level, which is not that of the fit, leaves out
    counted : (n_rows, n_outputs) which outputs count in the score: those observed and not left out
    p_values : (n_rows,) how often rows the fit has not seen score as high (or outputs drawn from the models,
        if they were asked for); None if the detector was not calibrated, NaN for rows that were in the fit
    output_p_values : (n_rows, n_outputs) how often an output adds as much to the score of rows held out of the fit
    contributions, probability : (n_rows, n_outputs) what each output adds, and the probability of its value
    in_fit : (n_rows,) the row of the fit that is the same, or -1. Such a row has the score it had in the fit,
        because the models have seen it and would find it usual
    knows_fit : whether rows of the fit can be told; not if the model was saved without them
    scored_as_seen : how many rows seem to have been in the fit of a model that was saved without its rows: their
        scores may be too low
    lookalikes : how many new rows differ from one of the fit by no more than rounding: their scores may be too low
    novelties : categories, scales and missing values the fit has not seen
    shifts : inputs that are distributed otherwise than in the fit
    drift : each output's mean error against the fit
    """

    output_names: tuple[str, ...]
    contributions: Floats
    probability: Floats
    counted: Mask
    scores: Floats
    threshold: float
    flagged: Mask
    by: CutBy
    decided: str
    level: float | None
    none_passes: str
    left_out: int
    p_values: Floats | None
    in_fit: Rows
    knows_fit: bool
    scored_as_seen: int
    lookalikes: int
    novelties: Sequence[Novelty]
    shifts: Sequence[Shift]
    drift: Drift
    calibration: Calibration | None

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        flagged = f"{int(self.flagged.sum())} flagged"
        return f"<Batch: {count(len(self), 'row')}, {flagged}, threshold {self.threshold:.4g}>"

    @cached_property
    def output_p_values(self) -> Floats | None:
        if self.calibration is None:
            return None
        return self.calibration.output_p_values(self.contributions, self.counted & (self.in_fit < 0)[:, None])

    @property
    def expected_by_chance(self) -> float | None:
        """How many of the new rows would score above the threshold if all were like those held out of the fit."""
        if self.calibration is None:
            return None
        above = int((self.calibration.scores > self.threshold).sum())
        return (1 + above) / (1 + len(self.calibration)) * int((self.in_fit < 0).sum())

    def remarks(self) -> list[str]:
        """What a person should know before trusting the scores."""
        said = [self.none_passes] if self.none_passes else []
        said += novelty.remarks(list(self.novelties)) + shift.remarks(list(self.shifts)) + self.drift.remarks()
        of_all, n_seen = f"of {count(len(self), 'row')}", int((self.in_fit >= 0).sum())
        silent = int((~self.counted.any(axis=1)).sum())
        if silent:
            said.append(f"Without any output, so with a score of zero: {silent} {of_all}.")
        if self.scored_as_seen:
            said.append(
                f"Probably in the fit: about {self.scored_as_seen} {of_all}. The models have seen them and the "
                "fit's rows were not kept, so their scores may be too low."
            )
        if self.lookalikes:
            said.append(
                f"The same as rows of the fit but for rounding: {self.lookalikes} {of_all}. The models have seen "
                "those, so these scores may be too low."
            )
        if n_seen:
            unjudged = " A level is kept among new rows, so these are not flagged." if self.left_out else ""
            said.append(f"The same as rows of the fit, and with their score: {n_seen} {of_all}.{unjudged}")
        return said
