"""New rows, scored and cut by what a fit has left behind.

The models have seen the rows of the fit and would find them usual. So a row that is the same as one of them
(told by its fingerprint) is not taken for new: it keeps the score that it had in the fit, and a false-discovery
level is kept without it. A model saved without its rows has a coarse filter instead, by which a batch that was in
the fit is noticed, and no row is given away: one in ten rows that never were there pass it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from scipy.stats import betabinom, binom

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.fingerprints import Fingerprints, contents
from amiss.data.table import Table
from amiss.decisions.calibration import Calibration, ErrorLevels
from amiss.decisions.thresholds import (
    discoveries,
    drawn_scores,
    p_values,
    threshold_below,
    threshold_for_count,
    threshold_for_new,
    threshold_for_share,
)
from amiss.encoding.encoder import Encoder
from amiss.errors import DataError
from amiss.explanations.explainer import Trained
from amiss.models.projection import rho
from amiss.monitoring.batch import Batch, CutBy, Drift
from amiss.monitoring.shifts import shifts
from amiss.monitoring.unseen import familiar, novelties
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer
from amiss.wording import count, percent

NO_TWIN = np.uint64(0x9E3779B97F4A7C15)  # turns a fingerprint into one that no row of the fit has
TOO_OFTEN = 0.001  # so rarely do as many rows of a batch pass the filter that were not in the fit
TOO_NEAR = 0.01  # so rarely are as many rows near ones of the fit by nature
MOST_COMPARED = 2000  # rows of a batch, for how near they are to rows of the fit


@dataclass(frozen=True)
class Scored:
    """New rows and what makes their scores; ``twins`` are the rows of the fit that are the same, or -1."""

    inputs: Table
    design: Matrix
    Y: Floats
    content: Fingerprints
    log_odds: Floats
    weights: Floats
    contributions: Floats
    probability: Floats
    twins: Rows

    @cached_property
    def scores(self) -> Floats:
        return scores(self.contributions)


@dataclass(frozen=True)
class Cut:
    """Where to cut, who is flagged, how that was found, and the p-values of the rows if they have any."""

    threshold: float
    flagged: Mask
    by: CutBy
    said: str
    p_values: Floats | None
    level: float | None = None
    none_passes: str = ""
    left_out: int = 0  # rows of the fit that were not judged


@dataclass(frozen=True)
class Judge:
    """Scores and cuts new rows, given as tables with the columns of the fit.

    ``content`` are the fingerprints of the rows of the fit, rising, and ``trained`` those rows; where they were
    not kept, there is a filter of their ``traces``. ``level`` is a false-discovery level to be kept, unless
    another cut is asked for.
    """

    scorer: Scorer
    encoding: Encoder
    seed: int
    content: Fingerprints | None
    traces: Mask | None
    trained: Trained | None
    labels: Mask | None  # who is flagged of the rows of the fit
    training_scores: Floats
    threshold: float
    level: float | None
    calibration: Calibration | None
    error_levels: ErrorLevels
    output_names: tuple[str, ...]

    def contents(self, inputs: Table, outputs: Table) -> Fingerprints:
        """Fingerprints of rows, by the category numbers of the fit."""
        known = self.encoding.matched(inputs)
        found = contents(known.values, outputs.values, self.seed)
        unknown = np.zeros(len(found), dtype=bool)
        for column in known.levels:  # a category never seen is no missing one
            unknown |= np.isnan(known.column(column)) & ~np.isnan(inputs.column(column))
        return np.where(unknown, found ^ NO_TWIN, found)

    def twins(self, content: Fingerprints) -> Rows:
        """The row of the fit that each row of this content is the same as; -1 if it is none, or not known."""
        if self.content is None or self.trained is None:
            return np.full(len(content), -1)
        places = np.minimum(np.searchsorted(self.content, content), len(self.content) - 1)
        return np.where(self.content[places] == content, self.trained.rows.order[places], -1)

    def passing(self, content: Fingerprints) -> int:
        """How many rows seem to have been in the fit, beyond those that pass the filter by chance."""
        if self.traces is None:
            return 0
        chance, n_rows = float(self.traces.mean()), len(content)
        passed = int(self.traces[content % np.uint64(len(self.traces))].sum())
        if binom.sf(passed - 1, n_rows, chance) > TOO_OFTEN:
            return 0
        return round((passed - chance * n_rows) / (1 - chance))

    def lookalikes(self, rows: Scored) -> int:
        """How many new rows differ from one of the fit by rounding, if that is more than lie so near by nature."""
        if self.trained is None:
            return 0
        new = np.flatnonzero((rows.twins < 0) & familiar(self.encoding, rows.inputs))
        if not len(new):
            return 0
        some = new[np.unique(np.linspace(0, len(new) - 1, min(MOST_COMPARED, len(new))).astype(np.intp))]
        known = self.trained.rows.lookalikes
        alike = int(known.among(rows.design[some], rows.Y[some]).sum())
        if not alike:
            return 0
        by_nature, compared = known.by_nature
        # How many would be by nature; their share is known as far as rows of the fit tell.
        if betabinom.sf(alike - 1, len(some), by_nature + 0.5, compared - by_nature + 0.5) > TOO_NEAR:
            return 0
        return round(alike * len(new) / len(some))

    def scored(self, inputs: Table, outputs: Table) -> Scored:
        """New rows and what makes their scores."""
        Y, content = np.asarray(outputs.values), self.contents(inputs, outputs)
        design = self.encoding.transform(inputs)
        log_odds, weights = self.scorer.grounds(design, Y)
        parts = self.scorer.parts(log_odds, Y, weights)
        probability = np.where(np.isnan(Y), np.nan, rho(log_odds, Y))
        twins = self.twins(content)
        seen = twins >= 0
        if self.trained is not None and seen.any():
            parts[seen] = self.trained.contributions[twins[seen]]
            probability[seen] = self.trained.probability[twins[seen]]
            log_odds[seen] = self.trained.rows.log_odds[self.trained.rows.place[twins[seen]]]
            if weights.ndim == 2:
                weights[seen] = self.trained.weights[twins[seen]]
        return Scored(inputs, design, Y, content, log_odds, weights, parts, probability, twins)

    def cut(
        self,
        rows: Scored,
        fdr: float | None = None,
        rate: float | None = None,
        alerts: int | None = None,
        against: str | None = None,
    ) -> Cut:
        """Where to cut a batch: as asked for, or as the fit says."""
        _check_cut(fdr, rate, alerts, against)
        found, calibration = rows.scores, self.calibration
        p = None if calibration is None else calibration.p_values(found)
        if p is not None:
            p[rows.twins >= 0] = np.nan  # rows of the fit are not new rows
        by: CutBy
        level = self.level if fdr is None and rate is None and alerts is None else fdr
        if level is not None:
            return self._kept_level(rows, level, p, against)
        if alerts is not None:
            threshold = threshold_for_count(found, alerts)
            by, n_above = "alerts", int((found > threshold).sum())
            said = f"the {count(n_above, 'most unusual row')} of this batch"
            if n_above < min(alerts, len(found)):
                said = f"and not {alerts}, because rows tie at the cut"
        elif rate is not None and calibration is not None:
            threshold, above = threshold_for_new(calibration.scores, rate)
            by, said = "rate", f"which {above} of {count(len(calibration), 'row')} held out of the fit exceed"
        elif rate is not None:
            threshold = threshold_for_share(self.training_scores, rate)
            by, said = "rate", f"which {percent(rate)} of the fit's own rows exceed"
        else:
            threshold, by, said = self.threshold, "threshold", "the threshold of the fit"
        return Cut(threshold, found > threshold, by, said, p)

    def _kept_level(self, rows: Scored, level: float, p: Floats | None, against: str | None) -> Cut:
        """As many new rows as keep a false-discovery level; rows of the fit as they were judged there by it."""
        new = rows.twins < 0
        flagged = np.zeros(len(new), dtype=bool)
        by_models = against == "models" or (against is None and p is None)
        if by_models:
            # Rows of the fit are drawn and compared too: the batch is as large as it is.
            whom, p = "outputs drawn from the models", p_values(rows.scores, self._drawn(rows, level))
            flagged = discoveries(p, level)
            p[~new] = np.nan
        elif p is not None:
            whom = f"{count(len(self.calibration or ()), 'row')} held out of the fit"
            flagged[new] = discoveries(p[new], level)
        else:
            raise DataError("no rows were held out of the fit to compare with; call calibrate(X, Y) after fit")
        flagged[~new] = False
        threshold = threshold_below(rows.scores[new], flagged[new]) if new.any() else self.threshold
        judged_there = self.labels is not None and level == self.level
        if judged_there:
            flagged[~new] = self.labels[rows.twins[~new]]  # type: ignore[index]  # they are not None
        said = f"at a false-discovery level of {percent(level)} against {whom}"
        none = "" if flagged.any() else self._why_none(p[new], level, by_models)
        return Cut(threshold, flagged, "fdr", said, p, level, none, 0 if judged_there else int((~new).sum()))

    def _why_none(self, p: Floats, level: float, by_models: bool) -> str:
        """Why no new row keeps a level."""
        if not len(p):
            return "No row is new."
        if by_models:
            return "Too few rows are more unusual than outputs drawn from the models to tell them from chance."
        if self.calibration is not None and p.min() * (len(self.calibration) + 1) < 1.5:
            needed = int(np.ceil(len(p) / level / max(1, int((p == p.min()).sum()))))
            return (
                f"Some rows are more unusual than all {len(self.calibration)} held out of the fit, but that is "
                f"too few to tell at this level: it takes about {needed}."
            )
        if p.min() > level:
            return "No row is more unusual than rows like the fit's are by chance."
        return (
            "Too few rows are more unusual than those held out of the fit. If as large a share of those is wrong, "
            "fit to rows you trust, or compare with the models instead."
        )

    def _drawn(self, rows: Scored, level: float) -> Floats:
        """Scores of the rows with drawn outputs, in the order of their content: no other order matters."""
        order = np.argsort(rows.content, kind="stable")
        weights = rows.weights if rows.weights.ndim == 1 else rows.weights[order]
        return drawn_scores(self.scorer, rows.log_odds[order], rows.Y[order], weights, self.seed, level)

    def batch(self, rows: Scored, cut: Cut) -> Batch:
        """All there is to say of a batch."""
        observed = ~np.isnan(rows.Y)
        unseen = observed & (rows.twins < 0)[:, None]
        levels = ErrorLevels.of(np.where(unseen, 1.0 - rows.probability, 0.0), unseen)
        return Batch(
            output_names=self.output_names,
            contributions=rows.contributions,
            probability=rows.probability,
            counted=observed & self.scorer.included,
            scores=rows.scores,
            threshold=cut.threshold,
            flagged=cut.flagged,
            by=cut.by,
            decided=cut.said,
            level=cut.level,
            none_passes=cut.none_passes,
            left_out=cut.left_out,
            p_values=cut.p_values,
            in_fit=rows.twins,
            knows_fit=self.content is not None,
            scored_as_seen=self.passing(rows.content),
            lookalikes=self.lookalikes(rows),
            novelties=novelties(self.encoding, rows.inputs),
            shifts=shifts(self.encoding, rows.inputs, len(self.training_scores)),
            drift=Drift.between(self.output_names, self.error_levels, levels),
            calibration=self.calibration,
        )


def _check_cut(fdr: float | None, rate: float | None, alerts: int | None, against: str | None) -> None:
    """Refuse what cannot be asked for."""
    if sum(each is not None for each in (fdr, rate, alerts)) > 1:
        raise ValueError("ask for one of fdr, rate and alerts")
    if fdr is not None and not 0 < fdr < 1:
        raise ValueError(f"fdr must be a level between 0 and 1; got {fdr!r}")
    if rate is not None and not 0 < rate <= 0.5:
        raise ValueError(f"rate must be above 0 and at most 0.5; got {rate!r}")
    if alerts is not None and not (isinstance(alerts, Integral) and alerts >= 1):
        raise ValueError(f"alerts must be a whole number, at least 1; got {alerts!r}")
    if against not in (None, "rows", "models"):
        raise ValueError(f"against must be 'rows' or 'models'; got {against!r}")
