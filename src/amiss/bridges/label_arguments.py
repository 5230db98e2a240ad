"""What cleanlab's functions are given: labels and probabilities as matrices, checked, and arguments of its own.

Rows and classes count from 0, as there. A message names the row, never what stands in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Rows
from amiss.errors import DataError

RANKINGS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
FILTERS = (
    "prune_by_noise_rate",
    "prune_by_class",
    "both",
    "confident_learning",
    "predicted_neq_given",
    "low_normalized_margin",
    "low_self_confidence",
)
AGGREGATION = {"method": "exponential_moving_average", "alpha": 0.8}  # cleanlab's default
ROUNDING = 1e-6  # how far a probability may be out of range
INSTEAD = {
    "filter_by": "amiss flags the rows that are wrong with a chance of over 30 %",
    "rank_by_kwargs": "amiss ranks rows by its own score",
    "min_examples_per_class": "amiss flags rows of rare classes too",
    "num_to_remove_per_class": "with several labels per row, amiss flags rows, not labels of a class",
    "confident_joint": "amiss estimates from the labels and pred_probs how many labels are wrong",
    "low_memory": "amiss keeps all rows in memory",
    "method": "the quality is the chance that the row is right",
    "adjust_pred_probs": "amiss learns from the labels how far to trust the probabilities of each class",
    "aggregator_kwargs": "amiss judges all labels of a row together",
}


def label_matrices(labels: Any, pred_probs: Any, several: bool) -> tuple[Floats, Floats]:
    """Labels as 0 and 1, and the probability of a 1, both ``(n_rows, n_classes)``.

    ``several`` says that a row may have several labels.
    """
    P = _probabilities(pred_probs)
    if len(labels) != len(P):
        raise DataError(f"labels has {len(labels)} rows and pred_probs has {len(P)}; give one label per row")
    rows, classes = _pairs_of_several(labels, P.shape[1]) if several else _pairs_of_one(labels, P.shape[1])
    Y = np.zeros(P.shape)
    Y[rows, classes] = 1
    return Y, P


def have_several(labels: Any) -> bool:
    """Whether there is a list of classes per row, ``[[0, 2], [], [1]]``, and not one class."""
    if isinstance(labels, np.ndarray) and labels.dtype != object:
        return False
    return len(labels) > 0 and all(isinstance(row, (list, tuple, set, frozenset, np.ndarray)) for row in labels)


def _probabilities(pred_probs: Any) -> Floats:
    try:
        P = np.asarray(pred_probs, dtype=float)
    except (TypeError, ValueError):
        raise DataError("pred_probs must be a matrix of numbers, one row per example") from None
    if P.ndim != 2 or 0 in P.shape:
        raise DataError(
            f"pred_probs must have one row per example and one column per class; its shape is {P.shape}"
        )
    bad = ~((P >= -ROUNDING) & (P <= 1 + ROUNDING))
    if bad.any():
        row, column = divmod(int(np.argmax(bad)), P.shape[1])
        raise DataError(f"pred_probs, row {row}, column {column}: a probability must be between 0 and 1")
    return P.clip(0, 1)


def _pairs_of_one(labels: Any, n_classes: int) -> tuple[Rows, Rows]:
    """The row and the class of each label, where every row has one."""
    given = _objects(labels) if isinstance(labels, (list, tuple)) else np.asarray(labels)
    if given.ndim == 2 and given.shape[1] == 1:  # a frame with one column
        given = given[:, 0]
    if given.ndim != 1 or (given.dtype == object and any(map(np.ndim, given))):
        raise DataError("labels must be one class per row, or one list of classes per row")
    rows = np.arange(len(given))
    return rows, _classes(given, rows, n_classes)


def _pairs_of_several(labels: Any, n_classes: int) -> tuple[Rows, Rows]:
    """The row and the class of each label, where rows have lists of them."""
    if not have_several(labels):
        raise DataError("with multi_label=True, labels must be one list of classes per row")
    rows = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    return rows, _classes(_objects([each for row in labels for each in row]), rows, n_classes)


def _objects(cells: Sequence[Any]) -> npt.NDArray[Any]:
    """An array in which each cell stays what it is; NumPy would make texts of numbers beside a text."""
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _classes(given: npt.NDArray[Any], rows: Rows, n_classes: int) -> Rows:
    """Whole numbers below ``n_classes``; booleans are 0 and 1."""
    if given.dtype.kind not in "biuf":
        numbers = [isinstance(each, (int, float, np.number)) for each in given.tolist()]
        if not all(numbers):
            raise DataError(f"labels, row {rows[numbers.index(False)]}: a label must be the number of a class")
        given = given.astype(float)
    wrong = ~((given >= 0) & (given < n_classes) & (given == np.floor(given)))
    if wrong.any():
        raise DataError(
            f"labels, row {rows[np.argmax(wrong)]}: the class must be a whole number from 0 to {n_classes - 1}, "
            f"because pred_probs has {n_classes} column{'s' * (n_classes > 1)}"
        )
    return np.asarray(given, dtype=np.intp)


def checked_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """Refuse a name that cleanlab would not know."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def checked_share(frac_noise: Any) -> float:
    if not (isinstance(frac_noise, (int, float, np.number)) and 0 <= frac_noise <= 1):
        raise ValueError(f"frac_noise must be between 0 and 1; got {frac_noise!r}")
    return float(frac_noise)


def checked_counts(counts: Any, n_classes: int) -> Rows:
    """``num_to_remove_per_class`` as an array."""
    given = np.asarray(counts)
    if given.shape != (n_classes,) or not ((given >= 0) & (given == np.floor(given))).all():
        raise ValueError(f"num_to_remove_per_class must have {n_classes} whole numbers, one per class")
    return given.astype(np.intp)


def warn_without_effect(given: Mapping[str, bool]) -> None:
    """Name the arguments that were given but change nothing here, in the line that calls amiss."""
    for name, is_given in given.items():
        if is_given:
            warnings.warn(f"{name} has no effect: {INSTEAD[name]}", UserWarning, stacklevel=3)
