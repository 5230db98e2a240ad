"""Fitted models, what stands in for missing outputs, ties, and the rows of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Matrix, Rows, checked_csr_array
from amiss.data.fingerprints import Fingerprints
from amiss.encoding.as_given import metric_of
from amiss.encoding.encoder import Encoder
from amiss.models.fitting import FittedModels, TrainingRows
from amiss.models.missing import Expectations
from amiss.models.ties import Ties
from amiss.persistence.encoder import pack_encoder
from amiss.persistence.estimators import Revival
from amiss.persistence.fields import Arrays, Fields, InvalidField, Packed
from amiss.persistence.predictors import has_model, pack_folds, pack_model, unpack_folds, unpack_model

MISSING_OUTPUT = 2  # beside 0 and 1
LARGEST_INT32 = 2**31 - 1


def pack_models(models: FittedModels, *, rows: bool) -> Packed:
    arrays = {
        **pack_model("model", models.model),
        **_pack_expectations(models.expectations),
        **({} if models.inputs_model is None else pack_model("inputs", models.inputs_model)),
        "average": models.average,
        "strength": models.strength,
        "converged": models.converged,
    }
    packed = pack_encoder(models.encoder) | Packed({"ties": _pack_ties(models.ties)}, arrays)
    return packed | Packed({}, _pack_rows(models.training_rows)) if rows else packed


def unpack_models(
    fields: Fields,
    encoder: Encoder,
    output_names: tuple[str, ...],
    seed: int,
    *,
    rows: bool,
    as_given: bool = False,
    trusted: Sequence[str] | None = None,
) -> FittedModels:
    """``as_given`` says that classifiers may be shown the inputs as they came; ``trusted`` are types of theirs."""
    n_columns, n_outputs, metric = encoder.n_columns, len(output_names), None
    if rows and as_given:
        metric = metric_of(encoder, _unpack_design(fields, encoder, len(_unpack_fingerprints(fields))))
    revival = Revival(trusted, encoder, metric, output_names)
    inputs_model = None
    if has_model("inputs", fields):
        inputs_model = unpack_model("inputs", fields, n_columns, n_outputs, revival)
    return FittedModels(
        encoder=encoder,
        model=unpack_model("model", fields, n_columns, n_outputs, revival),
        expectations=_unpack_expectations(fields, n_columns, n_outputs, revival),
        average=fields.floats("average", n_columns + n_outputs),
        strength=fields.array("strength", "F64", n_outputs, missing=True),
        converged=fields.mask("converged", n_outputs),
        seed=seed,
        rows=_unpack_rows(fields, encoder, n_outputs, revival) if rows else None,
        inputs_model=inputs_model,
        ties=_unpack_ties(fields, n_outputs),
        metric=metric,
    )


def _pack_ties(ties: Ties) -> dict[str, list[Any]]:
    return {
        "classes": [list(group) for group in ties.classes],
        "copies": [list(pair) for pair in ties.copies],
        "opposites": list(ties.opposites),
        "implications": [list(pair) for pair in ties.implications],
    }


def _unpack_ties(fields: Fields, n_outputs: int) -> Ties:
    found = fields.value("ties", dict)
    names = {"classes", "copies", "opposites", "implications"}
    if set(found) != names or not all(type(each) is list for each in found.values()):
        raise InvalidField("ties")
    classes = tuple(_positions(group, n_outputs) for group in found["classes"])
    in_classes = [output for group in classes for output in group]
    if len(set(in_classes)) < len(in_classes):
        raise InvalidField("ties")
    return Ties(
        classes=classes,
        copies=_pairs(found["copies"], n_outputs),
        opposites=_positions(found["opposites"], n_outputs),
        implications=_pairs(found["implications"], n_outputs),
    )


def _pairs(found: Any, n_outputs: int) -> tuple[tuple[int, int], ...]:
    """Pairs of different outputs."""
    pairs = [_positions(pair, n_outputs) for pair in found]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidField("ties")
    return tuple((pair[0], pair[1]) for pair in pairs)


def _positions(found: Any, n_outputs: int) -> tuple[int, ...]:
    """Positions of different outputs."""
    if type(found) is not list or not all(type(each) is int and 0 <= each < n_outputs for each in found):
        raise InvalidField("ties")
    if len(set(found)) < len(found):
        raise InvalidField("ties")
    return tuple(found)


def _pack_expectations(expectations: Expectations) -> Arrays:
    given = expectations.given_inputs
    return {"expected.rates": expectations.rates, **({} if given is None else pack_model("expected", given))}


def _unpack_expectations(fields: Fields, n_columns: int, n_outputs: int, revival: Revival) -> Expectations:
    size = n_columns, n_outputs, revival
    given = unpack_model("expected", fields, *size) if has_model("expected", fields) else None
    return Expectations(fields.floats("expected.rates", n_outputs, largest=1.0), given)


def _pack_rows(rows: TrainingRows) -> Arrays:
    return {
        "rows.fingerprints": rows.fingerprints,
        "rows.Y": np.where(np.isnan(rows.Y), MISSING_OUTPUT, rows.Y).astype(np.uint8),
        "rows.place": rows.place.astype(np.int64),
        **_pack_design(rows.design),
        **({} if rows.groups is None else {"rows.groups": rows.groups.astype(np.int64)}),
        **({} if rows.fold_models is None else pack_folds("folds", rows.fold_models)),
        **({} if rows.inputs_fold_models is None else pack_folds("inputs.folds", rows.inputs_fold_models)),
    }


def _unpack_fingerprints(fields: Fields) -> Fingerprints:
    fingerprints = fields.array("rows.fingerprints", "U64", None)
    if not len(fingerprints) or (fingerprints[1:] < fingerprints[:-1]).any():
        raise InvalidField("fingerprints")
    return fingerprints


def _unpack_rows(fields: Fields, encoder: Encoder, n_outputs: int, revival: Revival) -> TrainingRows:
    fingerprints = _unpack_fingerprints(fields)
    n_rows = len(fingerprints)
    marks = fields.array("rows.Y", "U8", n_rows, n_outputs)
    place = fields.array("rows.place", "I64", n_rows)
    if (marks > MISSING_OUTPUT).any() or not np.array_equal(np.sort(place), np.arange(n_rows)):
        raise InvalidField("rows")
    return TrainingRows(
        design=_unpack_design(fields, encoder, n_rows),
        Y=np.where(marks == MISSING_OUTPUT, np.nan, marks),
        place=place.astype(np.intp),
        fingerprints=fingerprints,
        fold_models=unpack_folds("folds", fields, n_rows, encoder.n_columns, n_outputs, revival),
        inputs_fold_models=unpack_folds("inputs.folds", fields, n_rows, encoder.n_columns, n_outputs, revival),
        groups=_unpack_groups(fields, n_rows),
    )


def _unpack_groups(fields: Fields, n_rows: int) -> Rows | None:
    if not fields.has("rows.groups"):
        return None
    groups = fields.array("rows.groups", "I64", n_rows)
    if ((groups < 0) | (groups >= n_rows)).any():
        raise InvalidField("groups")
    return groups.astype(np.intp)


def _pack_design(design: Matrix) -> Arrays:
    if not sparse.issparse(design):
        return {"rows.design": design}
    number = np.int32 if design.nnz <= LARGEST_INT32 else np.int64
    return {
        "rows.design.data": design.data,
        "rows.design.indices": design.indices.astype(number),
        "rows.design.indptr": design.indptr.astype(number),
    }


def _unpack_design(fields: Fields, encoder: Encoder, n_rows: int) -> Matrix:
    if not encoder.stored_sparse:
        precision = "F32" if fields.is_single("rows.design") else "F64"
        return fields.array("rows.design", precision, n_rows, encoder.n_columns)
    data = fields.floats("rows.design.data", None)
    wide = "I32" if len(data) <= LARGEST_INT32 else "I64"
    indices = fields.array("rows.design.indices", wide, len(data))
    indptr = fields.array("rows.design.indptr", wide, n_rows + 1)
    return checked_csr_array(data, indices, indptr, (n_rows, encoder.n_columns))
