"""New rows, scored and cut by what a fit has left behind.

The models have seen the rows of the fit and would find them usual. So a new row that is the same as one of
them (told by its fingerprint) keeps the contributions it had in the fit, by models that did not see it; where a
model was saved without its rows, it is at least known and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from amiss.batch import Batch, Drift
from amiss.calibration import Calibration, ErrorLevels
from amiss.canonical import Fingerprints, contents
from amiss.decide import (
    discoveries,
    drawn_scores,
    p_values,
    threshold_below,
    threshold_for_count,
    threshold_for_share,
)
from amiss.design import Encoding
from amiss.errors import DataError
from amiss.explain import Trained
from amiss.model import rho
from amiss.novelty import novelties
from amiss.scorer import Scorer
from amiss.scores import scores
from amiss.table import Floats, Rows, Table
from amiss.text import count, percent


@dataclass(frozen=True)
class Scored:
    """New rows and what makes their scores; ``twins`` are the rows of the fit that are the same, or -1."""

    inputs: Table
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
    """Where to cut, how that was found, and the p-values of the rows if they have any."""

    threshold: float
    said: str
    p_values: Floats | None


@dataclass(frozen=True)
class Judge:
    """Scores and cuts new rows, given as tables with the columns of the fit.

    ``content`` are the fingerprints of the rows of the fit, rising; ``trained`` are those rows, if they were
    kept. ``level`` is a false-discovery level to be kept, unless another cut is asked for.
    """

    scorer: Scorer
    encoding: Encoding
    seed: int
    content: Fingerprints
    trained: Trained | None
    training_scores: Floats
    threshold: float
    level: float | None
    calibration: Calibration | None
    error_levels: ErrorLevels
    output_names: tuple[str, ...]

    def contents(self, inputs: Table, outputs: Table) -> Fingerprints:
        """Fingerprints of rows, by the category numbers of the fit."""
        return contents(self.encoding.matched(inputs).values, outputs.values, self.seed)

    def twins(self, content: Fingerprints) -> Rows:
        """The row of the fit that each row of this content is the same as; -1 if it is none."""
        places = np.minimum(np.searchsorted(self.content, content), len(self.content) - 1)
        numbers = places if self.trained is None else self.trained.rows.order[places]
        return np.where(self.content[places] == content, numbers, -1)

    def scored(self, inputs: Table, outputs: Table) -> Scored:
        """New rows and what makes their scores."""
        Y, content = np.asarray(outputs.values), self.contents(inputs, outputs)
        log_odds, weights = self.scorer.grounds(self.encoding.transform(inputs), Y)
        parts = self.scorer.parts(log_odds, Y, weights)
        probability = np.where(np.isnan(Y), np.nan, rho(log_odds, Y))
        twins = self.twins(content)
        seen = twins >= 0
        if self.trained is not None and seen.any():
            parts[seen] = self.trained.contributions[twins[seen]]
            probability[seen] = self.trained.probability[twins[seen]]
        return Scored(inputs, Y, content, log_odds, weights, parts, probability, twins)

    def cut(
        self,
        rows: Scored,
        fdr: float | None = None,
        rate: float | None = None,
        alerts: int | None = None,
        against: str | None = None,
    ) -> Cut:
        """Where to cut a batch: as asked for, or as the fit says."""
        if sum(each is not None for each in (fdr, rate, alerts)) > 1:
            raise ValueError("ask for one of fdr, rate and alerts")
        found, calibration = rows.scores, self.calibration
        p = None if calibration is None else calibration.p_values(found)
        if alerts is not None:
            said = f"the {count(alerts, 'most unusual row')} of this batch"
            return Cut(threshold_for_count(found, alerts), said, p)
        if rate is not None:
            usual = self.training_scores if calibration is None else calibration.scores
            return Cut(threshold_for_share(usual, rate), f"what {percent(rate)} of rows like the fit's exceed", p)
        level = self.level if fdr is None else fdr
        if level is None:
            return Cut(self.threshold, "the threshold of the fit", p)
        if against == "models" or (against is None and p is None):
            p, whom = p_values(found, self._drawn(rows)), "outputs drawn from the models"
        elif calibration is not None:
            whom = f"{len(calibration)} rows held out of the fit"
        else:
            raise DataError("no rows were held out of the fit to compare with; call calibrate(X, Y) after fit")
        assert p is not None
        threshold = threshold_below(found, discoveries(p, level))
        return Cut(threshold, f"by a false-discovery level of {percent(level)} against {whom}", p)

    def _drawn(self, rows: Scored) -> Floats:
        """Scores of the rows with drawn outputs; by the order of their content, so that no other order matters."""
        order = np.argsort(rows.content, kind="stable")
        weights = rows.weights if rows.weights.ndim == 1 else rows.weights[order]
        return drawn_scores(self.scorer, rows.log_odds[order], rows.Y[order], weights, self.seed)

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
            decided=cut.said,
            p_values=cut.p_values,
            in_fit=rows.twins,
            scored_as_seen=self.trained is None,
            novelties=novelties(self.encoding, rows.inputs),
            drift=Drift.between(self.output_names, self.error_levels, levels),
            calibration=self.calibration,
        )
