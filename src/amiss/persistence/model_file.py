"""A fitted detector as a model file, and back: settings, columns, and what the other files of this folder pack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from amiss.data.columns import Columns
from amiss.data.output_kinds import OutputColumn
from amiss.data.predictions import given_columns
from amiss.data.remark import Remark
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError
from amiss.fitted import FittedDetector
from amiss.monitoring.membership import MembershipFilter
from amiss.persistence import container
from amiss.persistence.decisions import (
    pack_calibration,
    pack_choice,
    pack_decision,
    plain,
    unpack_calibration,
    unpack_choice,
    unpack_decision,
)
from amiss.persistence.encoder import unpack_encoder
from amiss.persistence.estimators import NotTrusted, pack_object, unpack_object, untrusted_types
from amiss.persistence.fields import Fields, InvalidField, Packed
from amiss.persistence.layout import pack_kinds, unpack_kinds
from amiss.persistence.migrations import migrated
from amiss.persistence.models import pack_models, unpack_models
from amiss.persistence.scoring import (
    pack_error_rates,
    pack_scored_fit,
    pack_scorer,
    pack_traces,
    unpack_error_rates,
    unpack_scored_fit,
    unpack_scorer,
    unpack_traces,
)
from amiss.readers.columns.spec import ColumnSpec
from amiss.scoring.registry import AUTO, RULES
from amiss.settings import OF_THE_MACHINE, Settings
from amiss.version import __version__

BY_SKOPS = "a classifier kept by skops"
NOT_KEPT = OF_THE_MACHINE
MOST_STRENGTHS = 1000
MOST_NOTES, LONGEST_NOTE = 100, 10_000


def save_fitted(fitted: FittedDetector, path: Path, *, rows: bool = True, estimators: bool = False) -> None:
    """Write a fitted detector, with the rows of the fit or without; it takes its name once it loads again.

    A classifier of the user's is kept only with ``estimators``, by skops.
    """
    if fitted.settings.models.is_estimator and not estimators:
        raise DataError(
            "a classifier of yours is kept only if you ask for it: save(path, estimators=True) keeps it by skops "
            "(never by pickle, which can do anything when it is opened)"
        )
    if rows and fitted.training is None:
        raise DataError("this model was loaded without the rows of the fit; save it with rows=False")
    if not rows and fitted.scorer.local is not None:
        raise DataError(
            "the weights come from each row's neighbours, which are rows of the fit; save with them "
            "(rows=True), or fit with n_neighbors=0 or rule='rw' or 'prod'"
        )
    packed = _pack(fitted, rows=rows)
    trusted = untrusted_types(packed.arrays) if fitted.settings.models.is_estimator else None
    container.write(path, packed.description, packed.arrays, check=partial(load_fitted, trusted=trusted))


def load_fitted(path: Path, trusted: Sequence[str] | None = None) -> FittedDetector:
    """The detector that a file holds; what does not fit is refused, and classifiers of types not ``trusted``."""
    with container.opened(path) as (description, file):
        try:
            with np.errstate(all="ignore"):  # odd numbers are refused, not warned of
                return _unpack(migrated(description, file), trusted)
        except NotTrusted as error:
            raise DataError(f"{path}: {error}") from None
        except (InvalidField, DataError, ValueError, TypeError, LookupError, OverflowError, AttributeError):
            container.refuse(path)


def _pack(fitted: FittedDetector, *, rows: bool) -> Packed:
    packed = (
        _pack_settings(fitted.settings)
        | _pack_columns(fitted.columns)
        | _pack_reading(fitted.reading)
        | Packed({"amiss": __version__, "rows": rows, "notes": [remark.written for remark in fitted.remarks]})
        | pack_models(fitted.models, rows=rows)
        | pack_error_rates(fitted.error_rates)
        | pack_calibration(fitted.calibration, rows=rows)
        | pack_choice(fitted.choice)
        | pack_decision(fitted.decision, rows=rows)
    )
    if rows:
        return packed | pack_scored_fit(fitted.models, fitted.scorer, fitted.training_rows, fitted.quality)
    membership = fitted.membership or MembershipFilter.of(fitted.models.training_rows.fingerprints)
    return packed | pack_scorer(fitted.scorer, fitted.quality) | pack_traces(fitted.training_scores, membership)


def _unpack(fields: Fields, trusted: Sequence[str] | None) -> FittedDetector:
    settings, columns = _unpack_settings(fields, trusted), _unpack_columns(fields)
    rows, n_outputs, n_jobs = fields.value("rows", bool), len(columns.outputs), settings.n_jobs
    scaling = settings.models.scaling
    assert scaling is not None
    encoder = unpack_encoder(fields, columns.inputs, scaling)
    as_given = settings.models.shows_as_given
    models = unpack_models(fields, encoder, columns, settings.seed, rows=rows, as_given=as_given, trusted=trusted)
    training, membership = None, None
    if rows:
        scored = unpack_scored_fit(fields, models, columns, settings.scoring, n_jobs)
        scorer, quality, training = scored.scorer, scored.quality, scored.rows
        scores = training.scores
    else:
        scorer, quality = unpack_scorer(fields, columns, settings.scoring, n_jobs)
        scores, membership = unpack_traces(fields)
    error_rates = unpack_error_rates(fields, n_outputs)
    return FittedDetector(
        settings=settings,
        columns=columns,
        models=models,
        scorer=scorer,
        training=training,
        training_scores=scores,
        quality=quality,
        decision=unpack_decision(fields, settings.decision, None if training is None else scores),
        error_rates=error_rates,
        calibration=unpack_calibration(fields, n_outputs, error_rates),
        choice=unpack_choice(fields),
        membership=membership,
        reading=_unpack_reading(fields),
        remarks=_unpack_remarks(fields),
    )


def _pack_settings(settings: Settings) -> Packed:
    kept = {name: value for name, value in settings.parameters.items() if name not in NOT_KEPT}
    parameters, arrays = kept | {"random_state": settings.seed}, {}
    asked = None if parameters["output_kinds"] is None else dict(settings.output_kinds)
    if settings.models.is_estimator:
        arrays, parameters["model"] = pack_object("settings", settings.parameters["model"]), BY_SKOPS
    scaling = settings.models.scaling
    assert scaling is not None  # the fit has chosen one
    chosen = {"rule": settings.scoring.chosen_rule.name, "scaling": scaling.name}
    said = {name: plain(value) for name, value in parameters.items() if name != "output_kinds"}
    said["output_kinds"] = None if asked is None else {name: plain(kind) for name, kind in asked.items()}
    return Packed({"parameters": said, **chosen}, arrays)


def _unpack_settings(fields: Fields, trusted: Sequence[str] | None) -> Settings:
    parameters, rule = fields.value("parameters", dict), fields.value("rule", str)
    seed, asked = parameters.get("random_state"), parameters.get("rule")
    if set(parameters) & set(NOT_KEPT) or type(parameters.get("exclude")) is dict:
        raise InvalidField("parameters")
    if type(parameters.get("model", "linear")) is not str:
        raise InvalidField("model")
    if parameters.get("model") == BY_SKOPS:
        parameters = parameters | {"model": unpack_object("settings", fields, trusted)}
    if type(parameters.get("output_kinds", {})) not in (dict, type(None)):
        raise InvalidField("output_kinds")
    if len(parameters.get("strengths", ())) > MOST_STRENGTHS:
        raise InvalidField("strengths")
    if type(seed) is not int or not 0 <= seed < 2**63:
        raise InvalidField("random_state")
    if rule not in RULES or asked not in (rule, AUTO):
        raise InvalidField("rule")
    scaling = fields.value("scaling", str)
    if scaling not in SCALINGS or parameters.get("scaling") not in (scaling, AUTO):
        raise InvalidField("scaling")
    return Settings.of(**parameters).with_rule(RULES[rule]).with_scaling(SCALINGS[scaling])


def _pack_columns(columns: Columns) -> Packed:
    return Packed(
        {
            "inputs": list(columns.inputs),
            "outputs": list(columns.outputs),
            "named": [columns.inputs_named, columns.outputs_named],
            "label_lists": columns.label_lists,
            "frame": columns.from_frame,
            "given": columns.has_given,
            "kinds": pack_kinds(columns.kinds),
        }
    )


def _unpack_columns(fields: Fields) -> Columns:
    named = fields.value("named", list)
    if len(named) != 2 or not all(type(each) is bool for each in named):
        raise InvalidField("named")
    given, kinds = fields.value("given", bool), unpack_kinds(fields, fields.names("outputs"))
    if given and not _holds_predictions(fields.names("inputs"), fields.names("outputs"), kinds):
        raise InvalidField("given")
    return Columns(
        inputs=fields.names("inputs"),
        outputs=fields.names("outputs"),
        inputs_named=named[0],
        outputs_named=named[1],
        label_lists=fields.value("label_lists", bool),
        from_frame=fields.value("frame", bool),
        has_given=given,
        kinds=kinds,
    )


def _holds_predictions(inputs: tuple[str, ...], outputs: tuple[str, ...], kinds: tuple[OutputColumn, ...]) -> bool:
    """Whether there are inputs to hold the user's predictions of each output."""
    if not kinds:
        return len(inputs) >= len(outputs)
    try:
        given_columns(inputs, kinds)
    except KeyError:
        return False
    return True


def _pack_reading(reading: dict[str, Any]) -> Packed:
    lists = {name: list(reading.get(name, ())) for name in ("drop", "probabilities")}
    said = {"columns": dict(reading["columns"])} if reading.get("columns") else {}
    return Packed({"reading": {"id": reading.get("id"), **lists, **said}})


def _unpack_reading(fields: Fields) -> dict[str, Any]:
    found = fields.value("reading", dict)
    row_id, dropped, given = (found.get(name) for name in ("id", "drop", "probabilities"))
    told = {"columns": _unpack_read_columns(found["columns"])} if "columns" in found else {}
    if set(found) - {"columns"} != {"id", "drop", "probabilities"}:
        raise InvalidField("reading")
    if type(dropped) is not list or type(given) is not list:
        raise InvalidField("reading")
    if not all(type(text) is str for text in [row_id or "", *dropped, *given]):
        raise InvalidField("reading")
    return {"id": row_id, "drop": tuple(dropped), "probabilities": tuple(given), **told}


def _unpack_read_columns(found: Any) -> dict[str, dict[str, Any]]:
    """How columns were read that are not plain numbers or categories."""
    if type(found) is not dict or not all(type(said) is dict for said in found.values()):
        raise InvalidField("reading")
    return {name: ColumnSpec.of(name, said).to_dict() for name, said in found.items()}


def _unpack_remarks(fields: Fields) -> tuple[Remark, ...]:
    found = fields.value("notes", list)
    if len(found) > MOST_NOTES or not all(type(text) is str and len(text) <= LONGEST_NOTE for text in found):
        raise InvalidField("notes")
    return tuple(map(Remark.read, found))
