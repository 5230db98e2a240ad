"""Models of outputs of several kinds: choices, amounts, and what stands in for missing outputs.

There are one or two models. ``model`` sees what it is asked to see; one that sees the inputs alone is ``inputs``,
or ``model`` itself if that sees no output either. By the model of the inputs alone rows are scored (``by_inputs``)
and missing outputs filled in (``expects``), where these are asked for.

Of the rows of the fit a model without them keeps ``residuals``, 201 quantiles of how far the values of each amount
lie from what was expected, and the values in the leaves of forests (:mod:`amiss.persistence.numbers`). Where a
table has few rows, these are values and errors of single rows, but in no order that says whose.
"""

from __future__ import annotations

from dataclasses import dataclass

from amiss.data.output_kinds import OutputColumn
from amiss.models.conditional import FoldModels
from amiss.models.fitting import FittedModels
from amiss.models.mixed.expected import MixedExpectations
from amiss.models.mixed.layout import OutputLayout
from amiss.models.mixed.model import N_QUANTILES, MixedFolds, MixedModel
from amiss.models.ties import Ties
from amiss.persistence.estimators import Revival
from amiss.persistence.fields import Arrays, Fields, InvalidField, Packed, at_least
from amiss.persistence.layout import LARGEST_AMOUNT, MOST_ROWS, pack_layout, unpack_layout
from amiss.persistence.numbers import pack_number, unpack_number
from amiss.persistence.predictors import pack_folds, pack_model, unpack_folds, unpack_model
from amiss.persistence.ties import pack_ties, unpack_ties


@dataclass(frozen=True)
class MixedParts:
    """The models of a file, and what else of :class:`~amiss.models.fitting.FittedModels` depends on kinds."""

    layout: OutputLayout
    model: MixedModel
    inputs_model: MixedModel | None
    expectations: MixedExpectations
    fold_models: MixedFolds | None
    inputs_fold_models: MixedFolds | None


def pack_mixed(models: FittedModels, *, rows: bool) -> Packed:
    model, inputs_model, expectations = models.model, models.inputs_model, models.expectations
    assert isinstance(model, MixedModel) and isinstance(expectations, MixedExpectations)
    alone = expectations.given_inputs if inputs_model is None else inputs_model
    assert alone is None or isinstance(alone, MixedModel)
    description = {
        "sees": model.sees,
        "by_inputs": inputs_model is not None,
        "expects": expectations.given_inputs is not None,
        "n_rows": model.layout.n_rows,
    }
    arrays = {
        **pack_layout(model.layout),
        **_pack_one("model", model, rows=rows),
        **(_pack_one("inputs", alone, rows=rows) if model.sees and alone is not None else {}),
        "expected.rates": expectations.rates,
        "expected.usual": expectations.usual,
        **(_pack_folds(models) if rows else {}),
    }
    return Packed({"mixed": description, "ties": pack_ties(model.ties)}, arrays)


def unpack_mixed(
    fields: Fields, n_inputs: int, columns: tuple[OutputColumn, ...], revival: Revival, n_rows: int | None
) -> MixedParts:
    """Models on ``n_inputs`` encoded inputs; ``n_rows`` is None in a file without rows."""
    sees, by_inputs, expects, of_fit = _description(fields)
    if n_rows not in (None, of_fit):
        raise InvalidField("n_rows")
    layout = unpack_layout(fields, columns, of_fit)
    source = _Source(fields, layout, n_inputs, _named(revival, layout), n_rows or 0)
    model = source.model("model", sees)
    alone = None
    if by_inputs or expects:
        alone = source.model("inputs", sees=False) if sees else model
    folds = source.folds("folds", sees)
    alone_folds = source.folds("inputs.folds", sees=False) if sees else folds
    return MixedParts(
        layout=layout,
        model=model,
        inputs_model=alone if by_inputs else None,
        expectations=_unpack_expectations(fields, layout, alone if expects else None),
        fold_models=folds,
        inputs_fold_models=alone_folds if by_inputs else None,
    )


def _description(fields: Fields) -> tuple[bool, bool, bool, int]:
    found = fields.value("mixed", dict)
    names = ("sees", "by_inputs", "expects")
    if set(found) != {*names, "n_rows"} or not all(type(found[name]) is bool for name in names):
        raise InvalidField("mixed")
    if type(found["n_rows"]) is not int or not 1 <= found["n_rows"] <= MOST_ROWS:
        raise InvalidField("n_rows")
    return found["sees"], found["by_inputs"], found["expects"], found["n_rows"]


def _named(revival: Revival, layout: OutputLayout) -> Revival:
    """What brings classifiers of the choices back."""
    return Revival(revival.trusted, revival.encoder, None, tuple(layout.choice_names))


def _pack_one(name: str, model: MixedModel, *, rows: bool) -> Arrays:
    arrays: Arrays = {f"{name}.residuals": model.residuals, **pack_model(f"{name}.choices", model.choices)}
    for place, amount in enumerate(model.amounts):
        arrays |= pack_number(f"{name}.amounts.{place}", amount if rows else amount.without_rows())
    return arrays


def _pack_folds(models: FittedModels) -> Arrays:
    """Those of models that see no output are those of the inputs alone too."""
    rows, model = models.training_rows, models.model
    assert isinstance(model, MixedModel)
    return {
        **_pack_fold_models("folds", rows.fold_models),
        **(_pack_fold_models("inputs.folds", rows.inputs_fold_models) if model.sees else {}),
    }


def _pack_fold_models(name: str, models: FoldModels | None) -> Arrays:
    if models is None:
        return {}
    assert isinstance(models, MixedFolds)
    return {} if models.choices is None else pack_folds(name, models.choices)


@dataclass(frozen=True)
class _Source:
    """Where models are taken from, and how large they are."""

    fields: Fields
    layout: OutputLayout
    n_inputs: int
    revival: Revival
    n_rows: int

    def model(self, name: str, sees: bool) -> MixedModel:
        layout, fields = self.layout, self.fields
        n_seen = self.n_inputs + len(layout.output_of) * sees
        amounts = tuple(
            unpack_number(f"{name}.amounts.{place}", fields, n_seen, self.n_rows, layout.columns[i].kind.whole)
            for place, i in enumerate(layout.amounts)
        )
        choices = unpack_model(f"{name}.choices", fields, *self._size(sees), self.revival)
        residuals = fields.floats(f"{name}.residuals", len(amounts), N_QUANTILES)
        return MixedModel(layout, choices, amounts, self._ties(), sees, residuals)

    def folds(self, name: str, sees: bool) -> MixedFolds | None:
        """Without choices there is nothing to keep: models of amounts know which rows they saw."""
        if not self.n_rows:
            return None
        found = unpack_folds(name, self.fields, self.n_rows, *self._size(sees), self.revival)
        return None if found is None and self._n_choices else MixedFolds(found, self.layout)

    @property
    def _n_choices(self) -> int:
        return int((~self.layout.is_amount).sum())

    def _size(self, sees: bool) -> tuple[int, int]:
        """How many inputs the models of choices have, the amounts among them, and how many choices there are."""
        return self.n_inputs + len(self.layout.amounts) * sees, self._n_choices

    def _ties(self) -> Ties:
        return unpack_ties(self.fields, self._n_choices)


def _unpack_expectations(fields: Fields, layout: OutputLayout, given: MixedModel | None) -> MixedExpectations:
    usual = fields.floats("expected.usual", len(layout.output_of), largest=LARGEST_AMOUNT)
    share = usual[~layout.is_amount]
    if ((share < 0) | (share > 1)).any():
        raise InvalidField("usual")
    rates = at_least(0.0, fields.floats("expected.rates", len(layout.columns), largest=1.0))
    return MixedExpectations(layout, usual, rates, given)
