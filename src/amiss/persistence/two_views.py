"""Scores of outputs of several kinds: how evidence falls off, and what models expect of the rows of the fit."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np

from amiss.arrays import Rows
from amiss.data.columns import Columns
from amiss.models.fitting import FittedModels
from amiss.models.mixed.model import MixedModel, Predicted, tails_of
from amiss.persistence.fields import Arrays, Fields, InvalidField, Packed, at_least
from amiss.persistence.layout import LARGEST_AMOUNT, LEAST_SPREAD
from amiss.scoring.forecast import Forecast
from amiss.scoring.quality import OutputQuality
from amiss.scoring.rows import ScoredRows
from amiss.scoring.training import NO_WEIGHTS, OfKinds, TrainingLogOdds
from amiss.scoring.two_views import Tail, TwoViews
from amiss.scoring.views import Views

LEAST_RATE = 1e-6
PREDICTED = ("choices", "centre", "spread")


def pack_two_views(found: TwoViews) -> Packed:
    """Which outputs are no amounts is told by their kinds."""
    arrays = {
        "two_views.unpredictable": np.stack([found.unpredictable, found.unpredictable_by_inputs]),
        "two_views.included": found.included,
        "two_views.tails": np.array([astuple(found.contradiction), astuple(found.inputs)]),
    }
    return Packed({}, arrays)


def unpack_two_views(fields: Fields, columns: Columns) -> TwoViews:
    n_outputs = len(columns.outputs)
    unpredictable = at_least(0.0, fields.floats("two_views.unpredictable", 2, n_outputs, largest=1.0))
    tails = fields.floats("two_views.tails", 2, 4)
    _, rate, share, mean = tails.T
    if (rate < LEAST_RATE).any() or (mean <= 1).any() or (share <= 0).any() or share.sum() >= 1:
        raise InvalidField("two_views")
    return TwoViews(
        unpredictable=unpredictable[0],
        unpredictable_by_inputs=unpredictable[1],
        included=fields.mask("two_views.included", n_outputs),
        choices=np.array([not column.kind.is_numeric for column in columns.kinds]),
        contradiction=Tail(*tails[0].tolist()),
        inputs=Tail(*tails[1].tolist()),
    )


def pack_rows_of_kinds(models: FittedModels, training: ScoredRows, quality: OutputQuality) -> Arrays:
    """Forecasts of the rows of the fit, their views, and the skill of each output."""
    order, forecast = models.training_rows.order, training.forecast
    assert forecast is not None
    arrays = {"rows.skill": quality.skill, **_pack_predicted("rows.by_all", forecast.by_all, order)}
    if _has_both(models):
        arrays |= _pack_predicted("rows.by_inputs", forecast.by_inputs, order)
    if training.views is not None:  # the others are the log-odds themselves
        arrays["rows.views.by_inputs"] = training.views.by_inputs[order]
        assert training.views.usual is not None
        arrays["rows.views.usual"] = training.views.usual[order]
    return arrays


def unpack_rows_of_kinds(fields: Fields, models: FittedModels, *, inputs_alone: bool) -> TrainingLogOdds:
    """``inputs_alone`` says that the rule weighs what models of the inputs alone say."""
    model, alone, views = models.model, models.inputs_model, None
    assert isinstance(model, MixedModel)
    shape = len(models.training_rows.Y), len(model.layout.columns)
    mixed = fields.floats("rows.log_odds", *shape)
    if inputs_alone:
        by_inputs, usual = (fields.floats(f"rows.views.{name}", *shape) for name in ("by_inputs", "usual"))
        views = Views(mixed, by_inputs, by_inputs, NO_WEIGHTS, usual)
    by_all = _unpack_predicted("rows.by_all", fields, shape[0], model)
    other = by_all
    if _has_both(models):
        assert isinstance(alone, MixedModel)
        other = _unpack_predicted("rows.by_inputs", fields, shape[0], alone)
    skill = fields.floats("rows.skill", shape[1])
    # The skill by the inputs alone taught the hypotheses, which are kept.
    of_kinds = OfKinds(Forecast(model.layout, by_all, other, model.residuals), skill, skill)
    return TrainingLogOdds(mixed, mixed, views, of_kinds)


def _has_both(models: FittedModels) -> bool:
    """Whether there are models of the inputs alone beside others."""
    return models.inputs_model is not None and models.inputs_model is not models.model


def _pack_predicted(name: str, found: Predicted, order: Rows) -> Arrays:
    return {f"{name}.{field}": getattr(found, field)[order] for field in PREDICTED}


def _unpack_predicted(name: str, fields: Fields, n_rows: int, model: MixedModel) -> Predicted:
    n_amounts, n_choices = len(model.layout.amounts), int((~model.layout.is_amount).sum())
    spread = fields.floats(f"{name}.spread", n_rows, n_amounts, largest=LARGEST_AMOUNT)
    return Predicted(
        choices=fields.floats(f"{name}.choices", n_rows, n_choices),
        centre=fields.floats(f"{name}.centre", n_rows, n_amounts, largest=LARGEST_AMOUNT),
        spread=at_least(LEAST_SPREAD, spread),
        tails=tails_of(model.residuals),
    )
