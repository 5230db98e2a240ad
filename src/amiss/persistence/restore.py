"""From a model file to a fitted detector.

The file holds what the scores of the fit are made of; the scores themselves are made again, by the code that
made them first. Each shape must fit the others, and what is an index must lie inside.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Matrix, sparse_matrix
from amiss.decisions.calibration import Calibration, ErrorLevels
from amiss.encoding.encoder import Encoder
from amiss.encoding.expansion import count_encoded
from amiss.encoding.ranks import Ranks
from amiss.encoding.scalings import scaling_named
from amiss.errors import DataError
from amiss.evaluation.choice import Choice
from amiss.models.conditional import FoldModels, LinearModel
from amiss.models.fitting import nearest_rows
from amiss.models.missing import Expectations
from amiss.persistence import container as store
from amiss.persistence.fields import Shelf, Unfit, at_least
from amiss.scoring.quality import OutputQuality
from amiss.scoring.rules import SCORES
from amiss.scoring.scorer import TrainingRows
from amiss.settings import check_parameters, judged_by_draws

if TYPE_CHECKING:
    from amiss.detector import MCODE

MISSING_OUTPUT = 2  # beside 0 and 1
LARGEST_INT32 = 2**31 - 1
OF_THE_MACHINE = ("n_jobs", "verbose", "base_estimator")  # parameters that are not kept
OTHERS = 10  # places of the filter a row; nearly one in so many rows that were not in the fit pass it
KEYS = {
    *("format", "sha256", "amiss", "parameters", "inputs", "outputs", "named", "label_lists", "levels"),
    *("indicated", "sparse", "score", "threshold", "rows", "frame", "choice", "reading"),
}
SMALLEST = float(np.nextafter(0.0, 1.0))
MOST_STRENGTHS = 1000
LEAST_WEIGHT = 0.5  # the inverse of a mean error is at least 1
QUALITY = ("observed", "prevalence", "strength", "converged", "mean_error", "brier", "log_loss", "base_log_loss")
QUALITY_ARRAYS = (*QUALITY, "skill", "auc", "weight", "excluded")


def load(detector: MCODE, path: Path) -> MCODE:
    """Make an unfitted detector what the one in the file was."""
    with store.opened(path) as (description, file):
        try:
            with np.errstate(all="ignore"):  # odd numbers are refused, not warned of
                _restore(detector, Shelf(description, file))
        except (Unfit, DataError, ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError):
            store.refuse(path)
    return detector


def _restore(detector: MCODE, shelf: Shelf) -> None:
    if not set(shelf.description) <= KEYS:
        raise Unfit("keys")
    _restore_parameters(detector, shelf)
    detector.input_names_ = shelf.texts(shelf.description.get("inputs"))
    detector.output_names_ = shelf.texts(shelf.description.get("outputs"))
    named = shelf.value("named", list)
    if len(named) != 2 or not all(type(each) is bool for each in named):
        raise Unfit("named")
    detector._named = named[0], named[1]
    detector._label_lists = shelf.value("label_lists", bool)
    detector.reading_ = _reading(shelf.value("reading", dict))
    detector.n_features_in_ = len(detector.input_names_)
    if shelf.value("frame", bool):
        detector.feature_names_in_ = np.array(detector.input_names_, dtype=object)
    detector.choice_ = _restored_choice(shelf.description.get("choice"))
    detector.score_ = shelf.value("score", str)
    if detector.score_ not in SCORES or detector.score not in (detector.score_, "auto"):
        raise Unfit("score")
    n_outputs = len(detector.output_names_)
    encoding = detector._encoding = _restored_encoding(detector, shelf)
    n_columns = encoding.n_columns
    detector._model = _restored_model("model", shelf, n_columns, n_outputs)
    given = _restored_model("expected", shelf, n_columns, n_outputs) if "expected.coef" in shelf.names else None
    detector._expectations = Expectations(shelf.floats("expected.rates", n_outputs, largest=1.0), given)
    detector._average = shelf.floats("average", n_columns + n_outputs)
    detector._error_levels = ErrorLevels(
        mean=shelf.floats("errors.mean", n_outputs, missing=True),
        deviation=at_least(0.0, shelf.floats("errors.deviation", n_outputs, missing=True)),
        count=at_least(0.0, shelf.floats("errors.count", n_outputs)),
    )
    detector.calibration_ = _restored_calibration(detector, shelf)
    threshold = shelf.value("threshold", float)
    if not np.isfinite(threshold):
        raise Unfit("threshold")
    if shelf.value("rows", bool):
        _restore_rows(detector, shelf, n_columns)
        detector.labels_ = _restored_labels(detector.decision_scores_, threshold, shelf)
    else:
        _restore_rowless(detector, shelf)
    detector.threshold_ = threshold


def _restored_labels(scores: Floats, threshold: float, shelf: Shelf) -> npt.NDArray[np.intp]:
    """Who was flagged; another processor's logarithms may put a row at the threshold on its other side."""
    flagged = scores > threshold
    if "rows.flagged" in shelf.names:  # the first files did not say
        said = shelf.mask("rows.flagged", len(scores))
        apart = np.abs(scores - threshold) > 1e-9 * max(abs(threshold), SMALLEST)
        if (said != flagged)[apart].any():
            raise Unfit("flagged")
        flagged = said
    return flagged.astype(np.intp)


def _restore_parameters(detector: MCODE, shelf: Shelf) -> None:
    """Parameters this version knows; one that an older version did not have keeps its default."""
    parameters = shelf.value("parameters", dict)
    known = set(detector.get_params(deep=False)) - set(OF_THE_MACHINE)
    if not set(parameters) <= known:
        raise Unfit("parameters")
    if len(parameters.get("strengths", ())) > MOST_STRENGTHS or type(parameters.get("exclude")) is dict:
        raise Unfit("parameters")
    detector.set_params(**parameters)
    check_parameters(detector)
    detector._fitted_by = detector.get_params(deep=False)
    detector._seed = parameters.get("random_state")
    if type(detector._seed) is not int or not 0 <= detector._seed < 2**63:
        raise Unfit("random_state")


def _restored_choice(found: Any) -> Choice | None:
    """What score="auto" measured."""
    if found is None:
        return None
    atpar, precision = (np.array(found[name], dtype=np.float64) for name in ("atpar", "precision"))
    shape = len(found["scores"]), len(found["flips"]), precision.shape[2], len(found["rates"])
    if precision.shape != shape or atpar.shape != shape[:3] or shape[0] < len(SCORES) or 0 in shape:
        raise Unfit("choice")
    whole = [*found["flips"], found["n_flipped"], found["n_rows"]]
    shares = [*found["rates"], *precision.ravel(), *atpar.ravel()]
    if not all(type(each) is int and each >= 1 for each in whole) or not all(0 <= each <= 1 for each in shares):
        raise Unfit("choice")
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
    """How the table was read: the id column, and the columns that were dropped."""
    dropped = found.get("drop", [])
    known = set(found) <= {"id", "drop", "categorical"}  # the last was once written, and never needed
    if not known or not all(type(text) is str for text in [found.get("id") or "", *dropped]):
        raise Unfit("reading")
    return {"id": found.get("id"), "drop": tuple(dropped)}


def _restored_encoding(detector: MCODE, shelf: Shelf) -> Encoder:
    names = detector.input_names_
    levels = {int(column): shelf.texts(found, 0) for column, found in shelf.value("levels", dict).items()}
    indicated = tuple(shelf.value("indicated", list))
    for column in (*levels, *indicated):
        if type(column) is not int or not 0 <= column < len(names):
            raise Unfit("columns")
    if len(set(indicated)) < len(indicated):
        raise Unfit("columns")
    n_columns = count_encoded(len(names), levels, indicated)
    stored_sparse, ranks = shelf.value("sparse", bool), _restored_ranks(shelf, n_columns)
    if stored_sparse and ranks.counts.any():  # among mostly zeros nothing is ranked
        raise Unfit("ranks")
    return Encoder(
        names=names,
        levels=levels,
        means=shelf.cells("encoding.means", len(names)),
        low=shelf.cells("encoding.low", len(names), missing=True),
        high=shelf.cells("encoding.high", len(names), missing=True),
        indicated=indicated,
        scaling=scaling_named(detector.scaling),
        stored_sparse=stored_sparse,
        counts=shelf.mask("encoding.counts", n_columns),
        unit=at_least(SMALLEST, shelf.cells("encoding.unit", n_columns)),
        centre=shelf.floats("encoding.centre", n_columns),
        scale=shelf.floats("encoding.scale", n_columns),
        ranks=ranks,
    )


def _restored_ranks(shelf: Shelf, n_columns: int) -> Ranks:
    counts = shelf.array("encoding.knot_counts", "I64", n_columns)
    at, rank = shelf.cells("encoding.knots", None), shelf.floats("encoding.ranks", None)
    if (counts < 0).any() or (counts > len(at)).any() or counts.sum() != len(at) or len(at) != len(rank):
        raise Unfit("knots")
    starts = np.cumsum(counts)[:-1]
    rising = np.diff(at) > 0
    rising[starts[(starts > 0) & (starts < len(at))] - 1] = True  # the next column begins
    if not rising.all():
        raise Unfit("knots")
    return Ranks(at, rank, counts)


def _restored_model(name: str, shelf: Shelf, n_columns: int, n_outputs: int) -> LinearModel:
    coef = shelf.floats(f"{name}.coef", n_columns + n_outputs, n_outputs)
    return LinearModel(coef, shelf.floats(f"{name}.intercept", n_outputs))


def _restored_calibration(detector: MCODE, shelf: Shelf) -> Calibration | None:
    if "calibration.scores" not in shelf.names:
        return None
    found = shelf.floats("calibration.scores", None)
    parts = shelf.floats("calibration.parts", len(found), len(detector.output_names_), missing=True)
    gone = np.isnan(parts)
    falls = (np.diff(found) < 0).any() or (np.diff(parts, axis=0) < 0).any()
    if not len(found) or falls or (gone[:-1] & ~gone[1:]).any():  # what is missing stands last
        raise Unfit("calibration")
    return Calibration(found, parts, detector._error_levels)


def _restore_rows(detector: MCODE, shelf: Shelf, n_columns: int) -> None:
    """Score the rows of the fit again."""
    content = shelf.array("content", "U64", None)
    if not len(content) or (content[1:] < content[:-1]).any():
        raise Unfit("content")
    n_outputs, n_rows = len(detector.output_names_), len(content)
    marks = shelf.array("rows.Y", "U8", n_rows, n_outputs)
    place = shelf.array("rows.place", "I64", n_rows)
    if (marks > MISSING_OUTPUT).any() or not np.array_equal(np.sort(place), np.arange(n_rows)):
        raise Unfit("rows")
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
            raise Unfit("neighbors")
        filled = detector._expectations.filled(rows.design, rows.Y)
        found = nearest_rows(detector, rows.design, filled), near.astype(np.intp)
    detector._settle(rows, found)
    if judged_by_draws(detector):
        detector.p_values_ = shelf.floats("rows.p_values", n_rows)


def _restored_design(detector: MCODE, shelf: Shelf, n_rows: int, n_columns: int) -> Matrix:
    if not detector._encoding.stored_sparse:
        return shelf.floats("rows.design", n_rows, n_columns)
    data = shelf.floats("rows.design.data", None)
    wide = "I32" if len(data) <= LARGEST_INT32 else "I64"
    indices = shelf.array("rows.design.indices", wide, len(data))
    indptr = shelf.array("rows.design.indptr", wide, n_rows + 1)
    return sparse_matrix(data, indices, indptr, (n_rows, n_columns))


def _restored_folds(shelf: Shelf, n_rows: int, n_columns: int, n_outputs: int) -> FoldModels | None:
    if "folds" not in shelf.names:
        return None
    intercept = shelf.floats("folds.intercept", None, n_outputs)
    coef = shelf.array("folds.coef", "F32", n_columns, len(intercept), n_outputs, largest=1e30)
    folds = shelf.array("folds", "I8", n_rows, n_outputs)
    if ((folds < 0) | (folds >= len(intercept))).any():
        raise Unfit("folds")
    return FoldModels(coef, intercept, folds)


def _restore_rowless(detector: MCODE, shelf: Shelf) -> None:
    names = detector.output_names_
    kinds = {"observed": "I64", "converged": "BOOL", "excluded": "BOOL"}
    quality = {
        name: shelf.array(f"quality.{name}", kinds.get(name, "F64"), len(names), missing=True)
        for name in QUALITY_ARRAYS
    }
    detector.output_quality_ = OutputQuality(name=names, **quality)
    weights = at_least(LEAST_WEIGHT, shelf.floats("weights", len(names)))
    detector._scorer = detector._new_scorer(shelf.mask("included", len(names)), weights, None)
    detector._training_scores = shelf.floats("scores", None)
    detector._traces = shelf.mask("traces", OTHERS * len(detector._training_scores))
    if not len(detector._training_scores) or (np.diff(detector._training_scores) < 0).any():
        raise Unfit("scores")
