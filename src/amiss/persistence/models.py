"""Fitted models, what stands in for missing outputs, and ties; the rows of the fit are packed beside."""

from __future__ import annotations

from collections.abc import Sequence

from amiss.data.columns import Columns
from amiss.encoding.as_given import metric_of
from amiss.encoding.encoder import Encoder
from amiss.models.fitting import FittedModels
from amiss.models.missing import Expectations
from amiss.persistence.encoder import pack_encoder
from amiss.persistence.estimators import Revival
from amiss.persistence.fields import Arrays, Fields, InvalidField, Packed
from amiss.persistence.layout import LARGEST_AMOUNT
from amiss.persistence.mixed import pack_mixed, unpack_mixed
from amiss.persistence.predictors import has_model, pack_folds, pack_model, unpack_folds, unpack_model
from amiss.persistence.rows import pack_rows, unpack_design, unpack_fingerprints, unpack_rows
from amiss.persistence.ties import pack_ties, unpack_ties


def pack_models(models: FittedModels, *, rows: bool) -> Packed:
    of_kinds = models.layout is not None
    of_all = {"average": models.average, "strength": models.strength, "converged": models.converged}
    packed = pack_encoder(models.encoder) | Packed({}, of_all)
    packed |= pack_mixed(models, rows=rows) if of_kinds else _pack_tags(models, rows=rows)
    return packed | Packed({}, pack_rows(models.training_rows, of_kinds=of_kinds)) if rows else packed


def unpack_models(
    fields: Fields,
    encoder: Encoder,
    columns: Columns,
    seed: int,
    *,
    rows: bool,
    as_given: bool = False,
    trusted: Sequence[str] | None = None,
) -> FittedModels:
    """``as_given`` says that classifiers may be shown the inputs as they came; ``trusted`` are types of theirs."""
    n_rows = len(unpack_fingerprints(fields)) if rows else None
    if columns.kinds:
        return _unpack_kinds(fields, encoder, columns, seed, n_rows, trusted)
    if fields.description.get("mixed") is not None:
        raise InvalidField("mixed")
    n_columns, n_outputs, metric = encoder.n_columns, len(columns.outputs), None
    if n_rows is not None and as_given:
        metric = metric_of(encoder, unpack_design(fields, encoder, n_rows))
    revival = Revival(trusted, encoder, metric, columns.outputs)
    size, inputs_model, known = (n_columns, n_outputs, revival), None, None
    if has_model("inputs", fields):
        inputs_model = unpack_model("inputs", fields, *size)
    if n_rows is not None:
        folds = [unpack_folds(name, fields, n_rows, *size) for name in ("folds", "inputs.folds")]
        known = unpack_rows(fields, encoder, columns, folds[0], folds[1])
    return FittedModels(
        encoder=encoder,
        model=unpack_model("model", fields, *size),
        expectations=_unpack_expectations(fields, *size),
        average=fields.floats("average", n_columns + n_outputs),
        strength=fields.array("strength", "F64", n_outputs, missing=True),
        converged=fields.mask("converged", n_outputs),
        seed=seed,
        rows=known,
        inputs_model=inputs_model,
        ties=unpack_ties(fields, n_outputs),
        metric=metric,
    )


def _unpack_kinds(
    fields: Fields,
    encoder: Encoder,
    columns: Columns,
    seed: int,
    n_rows: int | None,
    trusted: Sequence[str] | None,
) -> FittedModels:
    """The same for outputs of several kinds."""
    revival, n_outputs = Revival(trusted, encoder, None, columns.outputs), len(columns.outputs)
    found = unpack_mixed(fields, encoder.n_columns, columns.kinds, revival, n_rows)
    folds = found.fold_models, found.inputs_fold_models
    n_shown = encoder.n_columns + len(found.layout.output_of)
    return FittedModels(
        encoder=encoder,
        model=found.model,
        expectations=found.expectations,
        average=fields.floats("average", n_shown, largest=LARGEST_AMOUNT),
        strength=fields.array("strength", "F64", n_outputs, missing=True),
        converged=fields.mask("converged", n_outputs),
        seed=seed,
        rows=None if n_rows is None else unpack_rows(fields, encoder, columns, *folds),
        inputs_model=found.inputs_model,
        layout=found.layout,
    )


def _pack_tags(models: FittedModels, *, rows: bool) -> Packed:
    known, expectations = models.training_rows if rows else None, models.expectations
    assert isinstance(expectations, Expectations)
    arrays = {
        **pack_model("model", models.model),
        **_pack_expectations(expectations),
        **({} if models.inputs_model is None else pack_model("inputs", models.inputs_model)),
    }
    if known is not None and known.fold_models is not None:
        arrays |= pack_folds("folds", known.fold_models)
    if known is not None and known.inputs_fold_models is not None:
        arrays |= pack_folds("inputs.folds", known.inputs_fold_models)
    return Packed({"ties": pack_ties(models.ties), "mixed": None}, arrays)


def _pack_expectations(expectations: Expectations) -> Arrays:
    given = expectations.given_inputs
    return {"expected.rates": expectations.rates, **({} if given is None else pack_model("expected", given))}


def _unpack_expectations(fields: Fields, n_columns: int, n_outputs: int, revival: Revival) -> Expectations:
    size = n_columns, n_outputs, revival
    given = unpack_model("expected", fields, *size) if has_model("expected", fields) else None
    return Expectations(fields.floats("expected.rates", n_outputs, largest=1.0), given)
