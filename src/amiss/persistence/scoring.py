"""Scores of the rows of the fit, or what is left of them where the rows are not kept.

With its rows a file holds what the scores are made of; the scores themselves are made again, by the code that
made them first.
"""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.columns import Columns
from amiss.models.fitting import FittedModels
from amiss.monitoring.membership import BITS_PER_ROW, MembershipFilter
from amiss.persistence.fields import Arrays, Fields, InvalidField, Packed, at_least
from amiss.persistence.two_views import (
    pack_rows_of_kinds,
    pack_two_views,
    unpack_rows_of_kinds,
    unpack_two_views,
)
from amiss.scoring.doubt import MOST_SCALE
from amiss.scoring.error_rates import ErrorRates
from amiss.scoring.hypotheses import Hypotheses
from amiss.scoring.likelihood_ratios import Line, Plane
from amiss.scoring.neighborhood import Neighborhood, find_neighborhood
from amiss.scoring.quality import OutputQuality
from amiss.scoring.rows import ScoredRows
from amiss.scoring.scorer import Scorer, ViewWeights
from amiss.scoring.settings import ScoringSettings
from amiss.scoring.training import (
    NO_WEIGHTS,
    Known,
    ScoredFit,
    TrainingLogOdds,
    TrainingWeights,
    score_training_rows,
)
from amiss.scoring.two_views import TwoViews
from amiss.scoring.views import Views

VIEWS = ("doubted", "by_inputs", "held_out")
LEAST_WEIGHT = 0.5  # the inverse of a mean error is at least 1
QUALITY = ("observed", "prevalence", "strength", "converged", "mean_error", "brier", "log_loss", "base_log_loss")
QUALITY_ARRAYS = (*QUALITY, "skill", "auc", "weight", "excluded")
QUALITY_TYPES = {"observed": "I64", "converged": "BOOL", "excluded": "BOOL"}


def pack_scored_fit(models: FittedModels, scorer: Scorer, training: ScoredRows, quality: OutputQuality) -> Packed:
    order = models.training_rows.order
    arrays: Arrays = {"rows.log_odds": training.log_odds[order]}
    if scorer.local is not None:
        near = scorer.local.neighborhood.neighbors
        arrays |= pack_weights(training, order) if near is None else {"rows.neighbors": near}
    if models.layout is not None:
        arrays |= pack_rows_of_kinds(models, training, quality)
    elif training.views is not None:
        arrays |= {f"rows.views.{name}": getattr(training.views, name)[order] for name in VIEWS}
    return Packed({}, arrays) | _pack_quality(quality) | pack_hypotheses(scorer.hypotheses)


def unpack_scored_fit(
    fields: Fields, models: FittedModels, columns: Columns, settings: ScoringSettings, n_jobs: int | None
) -> ScoredFit:
    inputs_alone, names = settings.chosen_rule.inputs_alone, columns.outputs
    hypotheses = unpack_hypotheses(fields, columns) if inputs_alone else None
    if columns.kinds:
        log_odds = unpack_rows_of_kinds(fields, models, inputs_alone=inputs_alone)
    else:
        log_odds = _unpack_log_odds(fields, (len(models.training_rows.Y), len(names)), inputs_alone)
    near = _unpack_neighborhood(fields, models, settings, n_jobs) if settings.uses_neighbors else None
    known = Known(hypotheses)
    if near is not None and near.neighbors is None:
        known = replace(known, weights=_unpack_weights(fields, log_odds.mixed.shape, inputs_alone))
    if fields.has("quality.skill"):  # older files are without it
        known = replace(known, quality=_unpack_quality(fields, columns))
    return score_training_rows(models, log_odds, names, settings, near, known=known, n_jobs=n_jobs)


def pack_weights(training: ScoredRows, order: Rows) -> Arrays:
    """Weights of the rows of a fit, where it would take long to find their neighbours again."""
    arrays = {"rows.weights": training.weights[order]}
    if training.views is not None:
        arrays["rows.views.weights"] = training.views.weights[order]
    return arrays


def _unpack_weights(fields: Fields, shape: tuple[int, int], inputs_alone: bool) -> TrainingWeights:
    weights = at_least(LEAST_WEIGHT, fields.floats("rows.weights", *shape))
    other = at_least(LEAST_WEIGHT, fields.floats("rows.views.weights", *shape)) if inputs_alone else None
    return weights, other


def _unpack_log_odds(fields: Fields, shape: tuple[int, int], inputs_alone: bool) -> TrainingLogOdds:
    mixed, views = fields.floats("rows.log_odds", *shape), None
    if inputs_alone:
        doubted, by_inputs, held_out = (fields.floats(f"rows.views.{name}", *shape) for name in VIEWS)
        views = Views(doubted, by_inputs, held_out, NO_WEIGHTS)
    return TrainingLogOdds(mixed, mixed, views)


def pack_hypotheses(hypotheses: Hypotheses | TwoViews | None) -> Packed:
    if hypotheses is None:
        return Packed()
    if isinstance(hypotheses, TwoViews):
        return pack_two_views(hypotheses)
    arrays = {
        "hypotheses.base_rates": hypotheses.base_rates,
        "hypotheses.unpredictable": np.stack([hypotheses.unpredictable, hypotheses.unpredictable_by_inputs]),
        "hypotheses.included": hypotheses.included,
        "hypotheses.defined": hypotheses.defined,
        "hypotheses.repeated": hypotheses.repeated,
        "hypotheses.shares": np.array(hypotheses.shares),
        "hypotheses.doubt": np.array([hypotheses.doubt, float(hypotheses.believed)]),
        "hypotheses.contradiction": np.array(astuple(hypotheses.contradiction)),
        "hypotheses.unrelated": np.array(astuple(hypotheses.unrelated)),
        "hypotheses.blank": np.array(astuple(hypotheses.blank)),
    }
    return Packed({}, arrays)


def unpack_hypotheses(fields: Fields, columns: Columns) -> Hypotheses | TwoViews:
    if columns.kinds:
        return unpack_two_views(fields, columns)
    n_outputs = len(columns.outputs)
    base_rates = fields.floats("hypotheses.base_rates", n_outputs, largest=1.0)
    shares = at_least(0.0, fields.floats("hypotheses.shares", 3, largest=1.0))
    unpredictable = at_least(0.0, fields.floats("hypotheses.unpredictable", 2, n_outputs, largest=1.0))
    if not ((base_rates > 0) & (base_rates < 1)).all() or shares.sum() > 1:
        raise InvalidField("hypotheses")
    doubt = at_least(0.0, fields.floats("hypotheses.doubt", 2, largest=MOST_SCALE))
    if doubt[0] < 1 or doubt[1] not in (0, 1):
        raise InvalidField("hypotheses")
    return Hypotheses(
        base_rates=base_rates,
        unpredictable=unpredictable[0],
        unpredictable_by_inputs=unpredictable[1],
        included=fields.mask("hypotheses.included", n_outputs),
        defined=fields.mask("hypotheses.defined", n_outputs),
        repeated=fields.mask("hypotheses.repeated", n_outputs),
        shares=(float(shares[0]), float(shares[1]), float(shares[2])),
        contradiction=Line(*fields.floats("hypotheses.contradiction", 2).tolist()),
        unrelated=Plane(*fields.floats("hypotheses.unrelated", 3).tolist()),
        blank=Line(*fields.floats("hypotheses.blank", 2).tolist()),
        doubt=float(doubt[0]),
        believed=bool(doubt[1]),
    )


def _unpack_neighborhood(
    fields: Fields, models: FittedModels, settings: ScoringSettings, n_jobs: int | None
) -> Neighborhood:
    n_rows, k = len(models.training_rows.Y), settings.n_neighbors
    how = k, settings.neighbor_space, settings.neighbor_search
    if fields.has("rows.weights"):
        return find_neighborhood(models, *how, n_jobs, verbose=False)
    near = fields.array("rows.neighbors", "I32", n_rows, min(k, n_rows - 1))
    if ((near < 0) | (near >= n_rows)).any():
        raise InvalidField("neighbors")
    return find_neighborhood(models, *how, n_jobs, verbose=False, known=near)


def pack_scorer(scorer: Scorer, quality: OutputQuality) -> Packed:
    """Of a model without rows."""
    assert scorer.global_weights is not None
    arrays = {"weights": scorer.global_weights, "included": scorer.included}
    if scorer.by_inputs is not None and scorer.by_inputs.everywhere is not None:
        arrays["weights.by_inputs"] = scorer.by_inputs.everywhere
    return Packed({}, arrays) | _pack_quality(quality) | pack_hypotheses(scorer.hypotheses)


def _pack_quality(quality: OutputQuality) -> Packed:
    return Packed({}, {f"quality.{name}": np.asarray(getattr(quality, name)) for name in QUALITY_ARRAYS})


def _unpack_quality(fields: Fields, columns: Columns) -> OutputQuality:
    names, kinds = columns.outputs, tuple(column.kind.name for column in columns.output_columns)
    arrays = {
        name: fields.array(f"quality.{name}", QUALITY_TYPES.get(name, "F64"), len(names), missing=True)
        for name in QUALITY_ARRAYS
    }
    return OutputQuality(name=names, kind=kinds, **arrays)


def unpack_scorer(
    fields: Fields, columns: Columns, settings: ScoringSettings, n_jobs: int | None
) -> tuple[Scorer, OutputQuality]:
    names = columns.outputs
    by_inputs, hypotheses = None, None
    if settings.chosen_rule.inputs_alone:
        weights = at_least(LEAST_WEIGHT, fields.floats("weights.by_inputs", len(names)))
        by_inputs, hypotheses = ViewWeights(weights, None), unpack_hypotheses(fields, columns)
    scorer = Scorer(
        rule=settings.chosen_rule,
        weighting=settings.weighting,
        included=fields.mask("included", len(names)),
        share=settings.out_of_fold_share,
        doubt_share=settings.doubt_share,
        global_weights=at_least(LEAST_WEIGHT, fields.floats("weights", len(names))),
        local=None,
        neighbor_space=settings.neighbor_space,
        n_jobs=n_jobs,
        verbose=False,
        by_inputs=by_inputs,
        hypotheses=hypotheses,
    )
    return scorer, _unpack_quality(fields, columns)


def pack_traces(scores: Floats, membership: MembershipFilter) -> Packed:
    """What is kept of the rows in a model without them."""
    return Packed({}, {"scores": rounded_up(np.sort(scores)), "membership": membership.bits})


def unpack_traces(fields: Fields) -> tuple[Floats, MembershipFilter]:
    scores = fields.floats("scores", None)
    if not len(scores) or (np.diff(scores) < 0).any():
        raise InvalidField("scores")
    return scores, MembershipFilter(fields.mask("membership", BITS_PER_ROW * len(scores)))


def pack_error_rates(rates: ErrorRates) -> Packed:
    arrays = {"errors.mean": rates.mean, "errors.deviation": rates.deviation, "errors.count": rates.count}
    return Packed({}, arrays)


def unpack_error_rates(fields: Fields, n_outputs: int) -> ErrorRates:
    return ErrorRates(
        mean=fields.floats("errors.mean", n_outputs, missing=True),
        deviation=at_least(0.0, fields.floats("errors.deviation", n_outputs, missing=True)),
        count=at_least(0.0, fields.floats("errors.count", n_outputs)),
    )


def rounded_up(values: Floats) -> Floats:
    """Rounded up, by at most 3 %: an exact score would tell whose it is. Upward, so that no p-value falls.

    >>> rounded_up(np.array([0.0, 1.0, 1.0001, 1234.5678])).tolist()
    [0.0, 1.0, 1.03125, 1248.0]
    """
    share, power = np.frexp(values)
    return np.ldexp(np.ceil(share * 64) / 64, power)
