"""A fitted detector as plain arrays and names, and back.

What is kept is what the scores of the fit are made of; the scores themselves are made again when a model
is loaded, by the code that made them first. A file from a stranger may hold anything, so each array is
taken by its kind and shape, each shape must fit the others, and what is an index must lie inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss import __version__, store
from amiss.calibration import Calibration, ErrorLevels
from amiss.canonical import Fingerprints
from amiss.design import NOT_RANKED, Encoding, Knots, encoded_columns
from amiss.errors import DataError
from amiss.evaluate.choose import Choice
from amiss.evidence import nearest_rows
from amiss.missing import Expectations
from amiss.model import FoldModels, LinearModel
from amiss.parameters import check_parameters, judged_by_draws
from amiss.quality import OutputQuality
from amiss.scorer import TrainingRows
from amiss.scores import SCORES
from amiss.table import Floats, Mask, Matrix

if TYPE_CHECKING:
    from amiss.detector import MCODE

OF_THE_MACHINE = ("n_jobs", "verbose", "base_estimator")  # parameters that are not kept
MISSING_OUTPUT = 2  # beside 0 and 1
LARGEST_INT32 = 2**31 - 1
OTHERS = 10  # places of the filter a row; nearly one in so many rows that were not in the fit pass it
KEYS = {
    *("format", "sha256", "amiss", "parameters", "inputs", "outputs", "named", "label_lists", "levels"),
    *("indicated", "sparse", "score", "threshold", "rows", "frame", "choice", "reading"),
}
LEAST_WEIGHT = 0.5  # the inverse of a mean error is at least 1
LARGEST = 1e100  # no number of a model is as large; products of larger ones overflow
QUALITY = ("observed", "prevalence", "strength", "converged", "mean_error", "brier", "log_loss", "base_log_loss")
QUALITY_ARRAYS = (*QUALITY, "skill", "auc", "weight", "excluded")


# From a detector to arrays.


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
        arrays["calibration.scores"] = detector.calibration_.scores
        arrays["calibration.parts"] = detector.calibration_.parts
    arrays |= _row_arrays(detector) if rows else _rowless_arrays(detector)
    empty: MCODE = type(detector)()

    def loads(written: Path) -> None:
        load(empty, written)

    store.write(path, _description(detector, rows, reading), arrays, loads)


def _description(detector: MCODE, rows: bool, reading: dict[str, Any] | None) -> dict[str, Any]:
    encoding: Encoding = detector._encoding
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
        "threshold": float(detector.threshold_),
        "rows": rows,
        "frame": hasattr(detector, "feature_names_in_"),
        "choice": None if detector.choice_ is None else _plain_choice(detector.choice_),
        "reading": {
            "id": read.get("id"),
            "drop": list(read.get("drop", ())),
            "categorical": list(read.get("categorical", ())),
        },
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


def _encoding_arrays(encoding: Encoding) -> store.Arrays:
    lengths = [len(at) for at, _ in encoding.knots]
    return {
        **{f"encoding.{name}": getattr(encoding, name) for name in ("means", "low", "high")},
        **{f"encoding.{name}": getattr(encoding, name) for name in ("counts", "unit", "centre", "scale")},
        "encoding.knots": np.concatenate([np.empty(0), *(at for at, _ in encoding.knots)]),
        "encoding.ranks": np.concatenate([np.empty(0), *(ranks for _, ranks in encoding.knots)]),
        "encoding.knot_counts": np.array(lengths, dtype=np.int64),
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
        "scores": np.sort(detector._training_scores),
        "traces": _traces(detector._rows.content) if detector._has_rows else detector._traces,
    }


def _traces(content: Fingerprints) -> Mask:
    """A filter that every row of the fit passes, and one in ten others: too coarse to tell who was in it."""
    marks = np.zeros(OTHERS * len(content), dtype=bool)
    marks[content % np.uint64(len(marks))] = True
    return marks


# And back.


class _Unfit(Exception):
    """Something in the file does not fit the rest."""


@dataclass
class _Shelf:
    """Takes arrays and names out of a file, and refuses those that are not what they should be."""

    description: dict[str, Any]
    file: Any

    def __post_init__(self) -> None:
        self.names = set(self.file.keys())

    def array(
        self, name: str, dtype: str, *shape: int | None, missing: bool = False, largest: float = LARGEST
    ) -> npt.NDArray[Any]:
        """An array of this kind and shape (None: of any length), of no larger numbers; NaN only if ``missing``."""
        if name not in self.names:
            raise _Unfit(name)
        described = self.file.get_slice(name)
        found = tuple(described.get_shape())
        if described.get_dtype() != dtype or len(found) != len(shape):
            raise _Unfit(name)
        if any(wanted is not None and wanted != length for wanted, length in zip(shape, found, strict=True)):
            raise _Unfit(name)
        values = self.file.get_tensor(name)
        if values.dtype.kind == "f" and not ((np.abs(values) <= largest) | (np.isnan(values) & missing)).all():
            raise _Unfit(name)
        return np.asarray(values)

    def floats(self, name: str, *shape: int | None, missing: bool = False, largest: float = LARGEST) -> Floats:
        return self.array(name, "F64", *shape, missing=missing, largest=largest)

    def cells(self, name: str, *shape: int | None, missing: bool = False) -> Floats:
        """Values of the table itself, which may be as large as numbers are."""
        return self.floats(name, *shape, missing=missing, largest=float(np.finfo(np.float64).max))

    def mask(self, name: str, *shape: int | None) -> Mask:
        return self.array(name, "BOOL", *shape)

    def value(self, name: str, kind: type) -> Any:
        found = self.description.get(name)
        if type(found) is not kind:
            raise _Unfit(name)
        return found

    def texts(self, found: Any, fewest: int = 1) -> tuple[str, ...]:
        """Distinct texts."""
        if type(found) is not list or len(found) < fewest or not all(type(text) is str for text in found):
            raise _Unfit("texts")
        if len(set(found)) < len(found):
            raise _Unfit("texts")
        return tuple(found)


def _positive(values: Floats) -> Floats:
    if (values <= 0).any():
        raise _Unfit("positive")
    return values


def load(detector: MCODE, path: Path) -> MCODE:
    """Make an unfitted detector what the one in the file was."""
    with store.opened(path) as (description, file):
        try:
            with np.errstate(all="ignore"):  # odd numbers are refused, not warned of
                _restore(detector, _Shelf(description, file))
        except (_Unfit, DataError, ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError):
            store.refuse(path)
    return detector


def _restore(detector: MCODE, shelf: _Shelf) -> None:
    if not set(shelf.description) <= KEYS:
        raise _Unfit("keys")
    _restore_parameters(detector, shelf)
    detector.input_names_ = shelf.texts(shelf.description.get("inputs"))
    detector.output_names_ = shelf.texts(shelf.description.get("outputs"))
    named = shelf.value("named", list)
    if len(named) != 2 or not all(type(each) is bool for each in named):
        raise _Unfit("named")
    detector._named = named[0], named[1]
    detector._label_lists = shelf.value("label_lists", bool)
    detector.reading_ = _reading(shelf.value("reading", dict))
    detector.n_features_in_ = len(detector.input_names_)
    if shelf.value("frame", bool):
        detector.feature_names_in_ = np.array(detector.input_names_, dtype=object)
    detector.choice_ = _restored_choice(shelf.description.get("choice"))
    detector.score_ = shelf.value("score", str)
    if detector.score_ not in SCORES or detector.score not in (detector.score_, "auto"):
        raise _Unfit("score")
    n_outputs = len(detector.output_names_)
    encoding = detector._encoding = _restored_encoding(detector, shelf)
    n_columns = len(encoding.columns)
    detector._model = _restored_model("model", shelf, n_columns, n_outputs)
    given = _restored_model("expected", shelf, n_columns, n_outputs) if "expected.coef" in shelf.names else None
    detector._expectations = Expectations(shelf.floats("expected.rates", n_outputs, largest=1.0), given)
    detector._average = shelf.floats("average", n_columns + n_outputs)
    detector._error_levels = ErrorLevels(
        mean=shelf.floats("errors.mean", n_outputs, missing=True),
        deviation=shelf.floats("errors.deviation", n_outputs, missing=True),
        count=shelf.floats("errors.count", n_outputs),
    )
    detector.calibration_ = _restored_calibration(detector, shelf)
    threshold = shelf.value("threshold", float)
    if not np.isfinite(threshold):
        raise _Unfit("threshold")
    if shelf.value("rows", bool):
        _restore_rows(detector, shelf, n_columns)
        detector.labels_ = (detector.decision_scores_ > threshold).astype(int)
    else:
        _restore_rowless(detector, shelf)
    detector.threshold_ = threshold


def _restore_parameters(detector: MCODE, shelf: _Shelf) -> None:
    """Parameters this version knows; one that an older version did not have keeps its default."""
    parameters = shelf.value("parameters", dict)
    known = set(detector.get_params(deep=False)) - set(OF_THE_MACHINE)
    if not set(parameters) <= known:
        raise _Unfit("parameters")
    detector.set_params(**parameters)
    check_parameters(detector)
    detector._fitted_by = detector.get_params(deep=False)
    detector._seed = parameters.get("random_state")
    if type(detector._seed) is not int or not 0 <= detector._seed < 2**63:
        raise _Unfit("random_state")


def _restored_choice(found: Any) -> Choice | None:
    """What score="auto" measured."""
    if found is None:
        return None
    atpar, precision = (np.array(found[name], dtype=np.float64) for name in ("atpar", "precision"))
    shape = len(found["scores"]), len(found["flips"]), precision.shape[2], len(found["rates"])
    if precision.shape != shape or atpar.shape != shape[:3] or shape[0] < len(SCORES) or 0 in shape:
        raise _Unfit("choice")
    whole = [*found["flips"], found["n_flipped"], found["n_rows"]]
    shares = [*found["rates"], *precision.ravel(), *atpar.ravel()]
    if not all(type(each) is int and each >= 1 for each in whole) or not all(0 <= each <= 1 for each in shares):
        raise _Unfit("choice")
    return Choice(
        scores=tuple(map(str, found["scores"])),
        flips=tuple(found["flips"]),
        atpar=atpar,
        rates=tuple(found["rates"]),
        precision=precision,
        n_flipped=found["n_flipped"],
        n_rows=found["n_rows"],
    )


def _reading(found: dict[str, Any]) -> dict[str, Any]:
    """How the table was read: the id column, and the columns that were dropped or taken for categories."""
    lists = [found.get("drop", []), found.get("categorical", [])]
    texts = [found.get("id") or "", *(text for each in lists for text in each)]
    if not set(found) <= {"id", "drop", "categorical"} or not all(type(text) is str for text in texts):
        raise _Unfit("reading")
    return {"id": found.get("id"), "drop": tuple(lists[0]), "categorical": tuple(lists[1])}


def _restored_encoding(detector: MCODE, shelf: _Shelf) -> Encoding:
    names = detector.input_names_
    levels = {int(column): shelf.texts(found, 0) for column, found in shelf.value("levels", dict).items()}
    indicated = tuple(shelf.value("indicated", list))
    for column in (*levels, *indicated):
        if type(column) is not int or not 0 <= column < len(names):
            raise _Unfit("columns")
    columns = encoded_columns(names, levels, indicated)
    n_columns = len(columns)
    return Encoding(
        names=names,
        levels=levels,
        means=shelf.cells("encoding.means", len(names)),
        low=shelf.cells("encoding.low", len(names), missing=True),
        high=shelf.cells("encoding.high", len(names), missing=True),
        indicated=indicated,
        columns=columns,
        scaling=detector.scaling,
        stored_sparse=shelf.value("sparse", bool),
        counts=shelf.mask("encoding.counts", n_columns),
        unit=_positive(shelf.cells("encoding.unit", n_columns)),
        centre=shelf.floats("encoding.centre", n_columns),
        scale=shelf.floats("encoding.scale", n_columns),
        knots=_restored_knots(shelf, n_columns),
    )


def _restored_knots(shelf: _Shelf, n_columns: int) -> tuple[Knots, ...]:
    counts = shelf.array("encoding.knot_counts", "I64", n_columns)
    at, ranks = shelf.cells("encoding.knots", None), shelf.floats("encoding.ranks", None)
    if (counts < 0).any() or (counts > len(at)).any() or counts.sum() != len(at) or len(at) != len(ranks):
        raise _Unfit("knots")
    ends = np.cumsum(counts)
    knots = tuple(
        (at[end - count : end], ranks[end - count : end]) if count else NOT_RANKED
        for end, count in zip(ends, counts, strict=True)
    )
    if any((np.diff(values) <= 0).any() for values, _ in knots):
        raise _Unfit("knots")
    return knots


def _restored_model(name: str, shelf: _Shelf, n_columns: int, n_outputs: int) -> LinearModel:
    coef = shelf.floats(f"{name}.coef", n_columns + n_outputs, n_outputs)
    return LinearModel(coef, shelf.floats(f"{name}.intercept", n_outputs))


def _restored_calibration(detector: MCODE, shelf: _Shelf) -> Calibration | None:
    if "calibration.scores" not in shelf.names:
        return None
    found = shelf.floats("calibration.scores", None)
    parts = shelf.floats("calibration.parts", len(found), len(detector.output_names_), missing=True)
    gone = np.isnan(parts)
    falls = (np.diff(found) < 0).any() or (np.diff(parts, axis=0) < 0).any()
    if not len(found) or falls or (gone[:-1] & ~gone[1:]).any():  # what is missing stands last
        raise _Unfit("calibration")
    return Calibration(found, parts, detector._error_levels)


def _restore_rows(detector: MCODE, shelf: _Shelf, n_columns: int) -> None:
    """Score the rows of the fit again."""
    content = shelf.array("content", "U64", None)
    if not len(content) or (content[1:] < content[:-1]).any():
        raise _Unfit("content")
    n_outputs, n_rows = len(detector.output_names_), len(content)
    marks = shelf.array("rows.Y", "U8", n_rows, n_outputs)
    place = shelf.array("rows.place", "I64", n_rows)
    if (marks > MISSING_OUTPUT).any() or not np.array_equal(np.sort(place), np.arange(n_rows)):
        raise _Unfit("rows")
    share = float(shelf.floats("rows.share", 1)[0])
    rows = TrainingRows(
        design=_restored_design(detector, shelf, n_rows, n_columns),
        Y=np.where(marks == MISSING_OUTPUT, np.nan, marks),
        place=place.astype(np.intp),
        content=content,
        log_odds=shelf.floats("rows.log_odds", n_rows, n_outputs),
        fold_models=_restored_folds(shelf, n_rows, n_columns + n_outputs, n_outputs),
        share=share,
    )
    detector._strength = shelf.floats("strength", n_outputs)
    detector._converged = shelf.mask("converged", n_outputs)
    found = None
    if detector._has_neighbors:
        near = shelf.array("rows.neighbors", "I32", n_rows, min(detector.n_neighbors, n_rows - 1))
        if ((near < 0) | (near >= n_rows)).any():
            raise _Unfit("neighbors")
        filled = detector._expectations.filled(rows.design, rows.Y)
        found = nearest_rows(detector, rows.design, filled), near.astype(np.intp)
    detector._settle(rows, found)
    if judged_by_draws(detector):
        detector.p_values_ = shelf.floats("rows.p_values", n_rows)


def _restored_design(detector: MCODE, shelf: _Shelf, n_rows: int, n_columns: int) -> Matrix:
    if not detector._encoding.stored_sparse:
        return shelf.floats("rows.design", n_rows, n_columns)
    data = shelf.floats("rows.design.data", None)
    wide = "I32" if len(data) <= LARGEST_INT32 else "I64"
    indices = shelf.array("rows.design.indices", wide, len(data))
    indptr = shelf.array("rows.design.indptr", wide, n_rows + 1)
    design = sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
    design.check_format(full_check=True)
    return design


def _restored_folds(shelf: _Shelf, n_rows: int, n_columns: int, n_outputs: int) -> FoldModels | None:
    if "folds" not in shelf.names:
        return None
    intercept = shelf.floats("folds.intercept", None, n_outputs)
    coef = shelf.array("folds.coef", "F32", n_columns, len(intercept), n_outputs, largest=1e30)
    folds = shelf.array("folds", "I8", n_rows, n_outputs)
    if ((folds < 0) | (folds >= len(intercept))).any():
        raise _Unfit("folds")
    return FoldModels(coef, intercept, folds)


def _restore_rowless(detector: MCODE, shelf: _Shelf) -> None:
    names = detector.output_names_
    kinds = {"observed": "I64", "converged": "BOOL", "excluded": "BOOL"}
    quality = {
        name: shelf.array(f"quality.{name}", kinds.get(name, "F64"), len(names), missing=True)
        for name in QUALITY_ARRAYS
    }
    detector.output_quality_ = OutputQuality(name=names, **quality)
    weights = shelf.floats("weights", len(names))
    if (weights < LEAST_WEIGHT).any():
        raise _Unfit("weights")
    detector._scorer = detector._new_scorer(shelf.mask("included", len(names)), weights, None)
    detector._training_scores = shelf.floats("scores", None)
    detector._traces = shelf.mask("traces", OTHERS * len(detector._training_scores))
    if not len(detector._training_scores) or (np.diff(detector._training_scores) < 0).any():
        raise _Unfit("scores")
