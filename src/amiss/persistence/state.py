"""From a fitted detector to a model file: plain arrays, and a description in JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from amiss import __version__
from amiss.arrays import Floats, Mask
from amiss.data.fingerprints import Fingerprints
from amiss.encoding.encoder import Encoder
from amiss.errors import DataError
from amiss.evaluation.choice import Choice
from amiss.models.conditional import LinearModel
from amiss.persistence import container as store
from amiss.persistence.restore import LARGEST_INT32, MISSING_OUTPUT, OF_THE_MACHINE, OTHERS, QUALITY_ARRAYS, load
from amiss.scoring.quality import OutputQuality
from amiss.scoring.scorer import TrainingRows

if TYPE_CHECKING:
    from amiss.detector import MCODE


def save(detector: MCODE, path: Path, rows: bool, reading: dict[str, Any] | None = None) -> None:
    """Write a detector to a file, with the rows of the fit or without; ``reading`` says how its table was read."""
    if not isinstance(detector._model, LinearModel):
        raise DataError(
            "a base_estimator's models cannot be saved: only a pickle could hold them, and a pickle can do "
            "anything when it is opened"
        )
    if rows and not detector._has_rows:
        raise DataError("this model was loaded without the rows of the fit; save it with rows=False")
    if not rows and detector._scorer.reference is not None:
        raise DataError(
            "the weights come from each row's neighbours, which are rows of the fit; save with them "
            "(rows=True), or fit with n_neighbors=0 or score='rw' or 'prod'"
        )
    arrays = {
        **_encoding_arrays(detector._encoding),
        **_model_arrays("model", detector._model),
        "expected.rates": detector._expectations.rates,
        "average": detector._average,
        "errors.mean": detector._error_levels.mean,
        "errors.deviation": detector._error_levels.deviation,
        "errors.count": detector._error_levels.count,
    }
    if isinstance(detector._expectations.given_inputs, LinearModel):
        arrays |= _model_arrays("expected", detector._expectations.given_inputs)
    if detector.calibration_ is not None:
        as_kept = np.asarray if rows else _coarse
        arrays["calibration.scores"] = as_kept(detector.calibration_.scores)
        arrays["calibration.parts"] = as_kept(detector.calibration_.parts)
    arrays |= _row_arrays(detector) if rows else _rowless_arrays(detector)
    empty: MCODE = type(detector)()

    def loads(written: Path) -> None:
        load(empty, written)

    store.write(path, _description(detector, rows, reading), arrays, loads)


def _description(detector: MCODE, rows: bool, reading: dict[str, Any] | None) -> dict[str, Any]:
    encoding: Encoder = detector._encoding
    read = reading or getattr(detector, "reading_", {})
    kept = {name: value for name, value in detector._fitted_by.items() if name not in OF_THE_MACHINE}
    parameters = kept | {"random_state": detector._seed}
    return {
        "amiss": __version__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "inputs": list(detector.input_names_),
        "outputs": list(detector.output_names_),
        "named": list(detector._named),
        "label_lists": detector._label_lists,
        "levels": {str(column): list(levels) for column, levels in encoding.levels.items()},
        "indicated": list(encoding.indicated),
        "sparse": encoding.stored_sparse,
        "score": detector.score_,
        "threshold": float(detector.threshold_ if rows else _coarse(np.array(detector.threshold_))),
        "rows": rows,
        "frame": hasattr(detector, "feature_names_in_"),
        "choice": None if detector.choice_ is None else _plain_choice(detector.choice_),
        "reading": {"id": read.get("id"), "drop": list(read.get("drop", ()))},
    }


def _plain_choice(choice: Choice) -> dict[str, Any]:
    return {field.name: _plain(getattr(choice, field.name)) for field in fields(choice)}


def _plain(value: Any) -> Any:
    """Numbers and texts as JSON knows them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _encoding_arrays(encoding: Encoder) -> store.Arrays:
    return {
        **{f"encoding.{name}": getattr(encoding, name) for name in ("means", "low", "high")},
        **{f"encoding.{name}": getattr(encoding, name) for name in ("counts", "unit", "centre", "scale")},
        "encoding.knots": encoding.ranks.at,
        "encoding.ranks": encoding.ranks.rank,
        "encoding.knot_counts": encoding.ranks.counts,
    }


def _model_arrays(name: str, model: LinearModel) -> store.Arrays:
    return {f"{name}.coef": model.coef, f"{name}.intercept": model.intercept}


def _row_arrays(detector: MCODE) -> store.Arrays:
    rows: TrainingRows = detector._rows
    arrays: store.Arrays = {
        "content": rows.content,
        "rows.Y": np.where(np.isnan(rows.Y), MISSING_OUTPUT, rows.Y).astype(np.uint8),
        "rows.place": rows.place.astype(np.int64),
        "rows.log_odds": rows.log_odds,
        "rows.share": np.array([rows.share]),
        "rows.flagged": detector.labels_ == 1,
        "strength": detector._strength,
        "converged": detector._converged,
    }
    if sparse.issparse(rows.design):
        number = np.int32 if rows.design.nnz <= LARGEST_INT32 else np.int64
        arrays["rows.design.data"] = rows.design.data
        arrays["rows.design.indices"] = rows.design.indices.astype(number)
        arrays["rows.design.indptr"] = rows.design.indptr.astype(number)
    else:
        arrays["rows.design"] = rows.design
    if rows.fold_models is not None:
        arrays["folds.coef"], arrays["folds.intercept"] = rows.fold_models.coef, rows.fold_models.intercept
        arrays["folds"] = rows.fold_models.folds
    if detector._scorer.reference is not None:
        arrays["rows.neighbors"] = detector._scorer.reference.neighbors.astype(np.int32)
    if hasattr(detector, "p_values_"):
        arrays["rows.p_values"] = detector.p_values_
    return arrays


def _rowless_arrays(detector: MCODE) -> store.Arrays:
    quality: OutputQuality = detector.output_quality_
    weights = detector._scorer.global_weights
    assert weights is not None
    return {
        **{f"quality.{name}": np.asarray(getattr(quality, name)) for name in QUALITY_ARRAYS},
        "weights": weights,
        "included": detector._scorer.included,
        "scores": _coarse(np.sort(detector._training_scores)),
        "traces": _traces(detector._rows.content) if detector._has_rows else detector._traces,
    }


def _coarse(values: Floats) -> Floats:
    """Rounded up, by at most 3 %: an exact score would tell whose it is. Upward, so that no p-value falls.

    >>> _coarse(np.array([0.0, 1.0, 1.0001, 1234.5678])).tolist()
    [0.0, 1.0, 1.03125, 1248.0]
    """
    share, power = np.frexp(values)
    return np.ldexp(np.ceil(share * 64) / 64, power)


def _traces(content: Fingerprints) -> Mask:
    """A filter that every row of the fit passes, and one in ten others: too coarse to tell who was in it."""
    marks = np.zeros(OTHERS * len(content), dtype=bool)
    marks[content % np.uint64(len(marks))] = True
    return marks
