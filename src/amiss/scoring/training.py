"""Scores of the rows of a fit, and the scorer that scores other rows alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.data.output_kinds import OutputColumn
from amiss.models.fitting import FitResult, FittedModels
from amiss.models.mixed.fit import MixedLogOdds
from amiss.models.mixed.model import MixedModel
from amiss.models.projection import errors
from amiss.scoring.forecast import Forecast
from amiss.scoring.hypotheses import Hypotheses
from amiss.scoring.neighborhood import Neighborhood, find_neighborhood
from amiss.scoring.quality import OutputQuality, of_kinds, output_quality
from amiss.scoring.rows import ScoredRows
from amiss.scoring.scorer import LocalErrors, Scorer, ViewWeights, training_weights
from amiss.scoring.settings import ScoringSettings
from amiss.scoring.shares import Found, learn_hypotheses
from amiss.scoring.two_views import TwoViews, learn_two_views
from amiss.scoring.views import Views
from amiss.threads import taken

NO_WEIGHTS = np.empty(0)

TrainingWeights = tuple[Floats, Floats | None]
"""Weights by models of inputs and other outputs and, where a rule asks for them, by models of the inputs alone."""


@dataclass(frozen=True, eq=False)
class Known:
    """What may be known of the rows of a fit before they are scored."""

    hypotheses: Hypotheses | TwoViews | None = None
    weights: TrainingWeights | None = None
    quality: OutputQuality | None = None


@dataclass(frozen=True, eq=False)
class ScoredFit:
    """The rows of a fit with their scores, what scores other rows alike, and how good each output's model is."""

    scorer: Scorer
    rows: ScoredRows
    quality: OutputQuality


def neighborhood_of(
    models: FittedModels, settings: ScoringSettings, n_jobs: int | None, verbose: bool
) -> Neighborhood | None:
    """The neighbourhood that these settings need, if they need one."""
    if not settings.uses_neighbors:
        return None
    how = settings.n_neighbors, settings.neighbor_space, settings.neighbor_search
    return find_neighborhood(models, *how, n_jobs, verbose)


def score_training_rows(
    models: FittedModels,
    log_odds: TrainingLogOdds,
    output_names: tuple[str, ...],
    settings: ScoringSettings,
    neighborhood: Neighborhood | None,
    *,
    known: Known | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ScoredFit:
    """Score the rows of a fit by their ``log_odds``, which are in the order of their fingerprints.

    What is ``known`` is not learned again.
    """
    rows = models.training_rows
    Y, observed, mixed = models.coded(rows.Y), ~np.isnan(rows.Y), log_odds.mixed
    included = settings.included(output_names, mixed, Y, observed, log_odds.skill)
    scorer = _scorer(settings, included, log_odds, Y, neighborhood, n_jobs, verbose)
    known = known or Known()
    hypotheses, (weights, by_inputs) = known.hypotheses, known.weights or training_weights(scorer)
    views = None
    if scorer.by_inputs is not None:
        assert log_odds.views is not None and by_inputs is not None
        views = replace(log_odds.views, weights=by_inputs)
        if hypotheses is None and log_odds.of_kinds is not None:
            hypotheses = learn_two_views(mixed, Y, weights, views, included, *log_odds.of_kinds.learned_by)
        elif hypotheses is None:
            found = Found(models, mixed, log_odds.held_out, weights, views, included)
            hypotheses = learn_hypotheses(found, models.seed)
            del found
        scorer = replace(scorer, hypotheses=hypotheses)
    seen = mixed, Y, observed, weights, included, n_jobs
    quality = known.quality or output_quality(output_names, models.strength, models.converged, *seen)
    of_outputs, forecast = log_odds.of_kinds, None
    if of_outputs is not None:
        quality = known.quality or of_kinds(quality, of_outputs.columns, of_outputs.skill)
        forecast = of_outputs.forecast.take(rows.place)
    judged = scorer.judged(mixed, Y, weights, views)
    by_row = {**vars(judged), "log_odds": mixed, "weights": weights}
    by_view = {} if views is None else {**vars(views)}
    del log_odds, mixed, weights, by_inputs, seen, judged, views  # see _in_given_order
    scored = _scored_rows(models, output_names, included, by_row, by_view, forecast, n_jobs)
    return ScoredFit(scorer, scored, quality)


def _scored_rows(
    models: FittedModels,
    output_names: tuple[str, ...],
    included: Mask,
    by_row: dict[str, Any],
    by_view: dict[str, Any],
    forecast: Forecast | None,
    n_jobs: int | None,
) -> ScoredRows:
    """The rows in the user's order."""
    rows = models.training_rows
    Y = taken(rows.Y, rows.place, n_jobs)
    _in_given_order(by_row, rows.place, n_jobs)
    _in_given_order(by_view, rows.place, n_jobs)
    return ScoredRows(
        output_names=output_names,
        Y=Y,
        included=included,
        training_match=np.arange(len(Y)),
        views=Views(**by_view) if by_view else None,
        forecast=forecast,
        **by_row,
    )


def _in_given_order(arrays: dict[str, Any], place: Rows, n_jobs: int | None) -> None:
    """Put arrays of one row per row of the fit into the user's order.

    Each takes the place of the one before, which nobody else should hold any more: there are many of them.
    """
    for name in arrays:
        if arrays[name] is not None and arrays[name].ndim == 2:
            arrays[name] = taken(arrays[name], place, n_jobs)


@dataclass(frozen=True, eq=False)
class TrainingLogOdds:
    """Log-odds of the rows of a fit, ``(n_rows, n_outputs)``, by each view.

    ``held_out`` are by models that did not see a row, ``mixed`` an average of both kinds. ``views``, without their
    weights yet, are None for rules that weigh no hypotheses.
    """

    mixed: Floats
    held_out: Floats
    views: Views | None = None
    of_kinds: OfKinds | None = None

    @property
    def skill(self) -> Floats | None:
        """How well each output is predicted, where that is not told by log-odds alone."""
        return None if self.of_kinds is None else self.of_kinds.skill

    @classmethod
    def of(cls, result: FitResult, settings: ScoringSettings) -> TrainingLogOdds:
        share, alone = settings.out_of_fold_share, result.by_inputs
        if isinstance(result.by_all, MixedLogOdds):
            assert alone is None or isinstance(alone, MixedLogOdds)
            return cls._of_kinds(result, result.by_all, alone, settings)
        if not settings.chosen_rule.inputs_alone:
            return cls(result.log_odds(share), result.log_odds(share))
        if alone is None:
            raise ValueError(f"rule={settings.chosen_rule.name!r} needs models of the inputs alone")
        doubt, held_out = settings.doubt_share, 1.0 if share else 0.0  # without folds all models saw the row
        views = Views(result.log_odds(doubt), alone.mixed(doubt), alone.mixed(held_out), NO_WEIGHTS)
        return cls(result.log_odds(share), result.log_odds(held_out), views)

    @classmethod
    def _of_kinds(
        cls, result: FitResult, whole: MixedLogOdds, alone: MixedLogOdds | None, settings: ScoringSettings
    ) -> TrainingLogOdds:
        """The same for outputs of several kinds."""
        share, views, model = settings.out_of_fold_share, None, result.models.model
        held_out = 1.0 if share else 0.0
        mixed, other = whole.mixed(share), whole if alone is None else alone
        if settings.chosen_rule.inputs_alone:
            by_inputs = other.mixed(share)
            views = Views(mixed, by_inputs, by_inputs, NO_WEIGHTS, result.models.usual_log_odds(whole.U))
        assert isinstance(model, MixedModel)
        forecast = Forecast(whole.layout, whole.predicted(share), other.predicted(share), model.residuals)
        of_kinds = OfKinds(forecast, whole.skills(held_out), other.skills(held_out))
        return cls(mixed, whole.mixed(held_out), views, of_kinds)


@dataclass(frozen=True, eq=False)
class OfKinds:
    """What is known of the rows of a fit whose outputs are of several kinds: forecasts, and skill by each view."""

    forecast: Forecast
    skill: Floats
    skill_by_inputs: Floats

    @property
    def columns(self) -> tuple[OutputColumn, ...]:
        return self.forecast.layout.columns

    @property
    def learned_by(self) -> tuple[Mask, Floats, Floats]:
        """Which outputs are no amounts, and the skill by each view."""
        choices = np.array([not column.kind.is_numeric for column in self.columns])
        return choices, self.skill, self.skill_by_inputs


def _scorer(
    settings: ScoringSettings,
    included: Mask,
    log_odds: TrainingLogOdds,
    Y: Floats,
    neighborhood: Neighborhood | None,
    n_jobs: int | None,
    verbose: bool,
) -> Scorer:
    rule, observed = settings.chosen_rule, ~np.isnan(Y)

    def weights(by: Floats) -> ViewWeights:
        row_errors = errors(by, Y)
        if neighborhood is None:
            return ViewWeights(rule.global_weights(row_errors, observed, settings.weighting), None)
        return ViewWeights(None, LocalErrors.of(neighborhood, row_errors, observed))

    by_all = weights(log_odds.mixed)
    return Scorer(
        rule=rule,
        weighting=settings.weighting,
        included=included,
        share=settings.out_of_fold_share,
        doubt_share=settings.doubt_share,
        global_weights=by_all.everywhere,
        local=by_all.local,
        neighbor_space=settings.neighbor_space,
        n_jobs=n_jobs,
        verbose=verbose,
        by_inputs=None if log_odds.views is None else weights(log_odds.views.by_inputs),
    )
