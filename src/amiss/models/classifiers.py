"""Any scikit-learn classifier with ``predict_proba`` in place of the logistic models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import logit

from amiss.arrays import Floats, Mask, Matrix
from amiss.encoding.joint import joint
from amiss.errors import DataError, quoted
from amiss.models.conditional import Fit, LinearModel
from amiss.models.folds import Folds
from amiss.progress import Progress, ignored

SUREST = 1e-12  # probabilities are kept at least this far from 0 and 1


class OutputModel(Protocol):
    """The model of one output, on the columns that it may see."""

    def log_odds(self, view: Matrix, /) -> Floats: ...

    def coefficients(self, n_columns: int, /) -> tuple[Floats, float] | None:
        """What each column counts, and the intercept, if it has them."""


@dataclass(frozen=True)
class Constant:
    """The smoothed base rate, where the training rows all show the same value."""

    rate: float

    def log_odds(self, view: Matrix) -> Floats:
        return np.full(view.shape[0], logit(self.rate))

    def coefficients(self, n_columns: int) -> tuple[Floats, float]:
        return np.zeros(n_columns), float(logit(self.rate))


@dataclass(frozen=True)
class Classifier:
    """A fitted classifier of scikit-learn."""

    fitted: Any

    def log_odds(self, view: Matrix) -> Floats:
        probability = self.fitted.predict_proba(view)[:, list(self.fitted.classes_).index(1)]
        if np.isnan(probability).any():
            raise ValueError("predict_proba gives NaN")
        return np.asarray(logit(np.clip(probability, SUREST, 1.0 - SUREST)), dtype=np.float64)

    def coefficients(self, n_columns: int) -> tuple[Floats, float] | None:
        coef = np.ravel(getattr(self.fitted, "coef_", ()))
        intercept = np.ravel(getattr(self.fitted, "intercept_", ()))
        return (coef, intercept[0]) if len(coef) == n_columns and len(intercept) == 1 else None


@dataclass(frozen=True, eq=False)
class ClassifierModel:
    """One fitted classifier per output, and the outputs each may see."""

    classifiers: Sequence[OutputModel]
    visible: Mask
    takes_sparse: bool

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        columns = [
            classifier.log_odds(_view(inputs, outputs, self.visible[:, i], self.takes_sparse))
            for i, classifier in enumerate(self.classifiers)
        ]
        return np.column_stack(columns)

    def as_linear(self, n_inputs: int) -> LinearModel | None:
        """The classifiers' coefficients, if every one has them.

        The caller checks whether they reproduce its log-odds.
        """
        n_outputs = len(self.classifiers)
        coef, intercept = np.zeros((n_inputs + n_outputs, n_outputs)), np.zeros(n_outputs)
        for i, classifier in enumerate(self.classifiers):
            seen = np.concatenate([np.ones(n_inputs, dtype=bool), self.visible[:, i]])
            own = classifier.coefficients(int(seen.sum()))
            if own is None:
                return None
            coef[seen, i], intercept[i] = own
        return LinearModel(coef, intercept)


@dataclass(frozen=True)
class ClassifierLearner:
    """Fits clones of a classifier of scikit-learn."""

    base_estimator: Any
    needs_folds: bool = False
    steps_per_output: int = 1

    def fit(
        self,
        design: Matrix,
        filled: Floats,
        observed: Mask,
        visible: Mask,
        folds: Folds | None,
        *,
        names: Sequence[str],
        n_jobs: int | None,
        progress: Progress,
        alone: Mask | None = None,
    ) -> Fit:
        def fit(visible: Mask, progress: Progress) -> Fit:
            table = design, filled, observed, visible
            how: dict[str, Any] = {"names": names, "n_jobs": n_jobs, "progress": progress}
            return fit_classifiers(self.base_estimator, *table, folds, **how)

        whole = fit(visible, progress)
        return replace(whole, alone=fit(np.zeros_like(visible), ignored)) if alone is not None else whole


def fit_classifiers(
    base_estimator: Any,
    inputs: Matrix,
    outputs: Floats,
    observed: Mask,
    visible: Mask,
    folds: Folds | None,
    *,
    names: Sequence[str],
    n_jobs: int | None = None,
    progress: Progress = ignored,
) -> Fit:
    """Fit a clone of ``base_estimator`` for every output, and for every fold of it."""
    from joblib import Parallel, delayed
    from sklearn.utils import get_tags

    takes_sparse = bool(get_tags(base_estimator).input_tags.sparse)
    n_rows, n_outputs = outputs.shape

    def one(i: int) -> tuple[OutputModel, Floats, Floats]:
        view = _view(inputs, outputs, visible[:, i], takes_sparse)
        target, present = outputs[:, i], observed[:, i]
        try:
            classifier = _fitted(base_estimator, view, target, present)
            held_out = np.zeros(n_rows)
            if folds is not None:
                held_out = _held_out(base_estimator, view, target, present, folds[:, i])
            return classifier, classifier.log_odds(view), held_out
        except ValueError as error:
            ones, zeros = int((target[present] == 1).sum()), int((target[present] == 0).sum())
            raise DataError(
                f"base_estimator fails on output {quoted(names[i])}, which is 1 in {ones} rows and 0 in {zeros}; "
                "choose another estimator, or drop the output"
            ) from error

    results = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(one)(i) for i in range(n_outputs)):
        results.append(result)
        progress(1)
    classifiers, in_sample, held_out = zip(*results, strict=True)
    return Fit(
        model=ClassifierModel(list(classifiers), visible, takes_sparse),
        in_sample=np.column_stack(in_sample),
        out_of_fold=np.column_stack(held_out) if folds is not None else None,
        strength=np.full(n_outputs, np.nan),
        converged=np.ones(n_outputs, dtype=bool),
    )


def _fitted(base_estimator: Any, view: Matrix, target: Floats, present: Mask) -> OutputModel:
    from sklearn.base import clone

    rows = np.flatnonzero(present)
    labels = target[rows].astype(int)
    if len(np.unique(labels)) < 2:
        return Constant((labels.sum() + 0.5) / (len(labels) + 1.0))
    return Classifier(clone(base_estimator).fit(view[rows], labels))


def _held_out(base_estimator: Any, view: Matrix, target: Floats, present: Mask, folds: Folds) -> Floats:
    """Log-odds of each row by a classifier that did not see it."""
    result = np.zeros(len(target))
    for fold in np.unique(folds):
        outside = folds == fold
        classifier = _fitted(base_estimator, view, target, present & ~outside)
        result[outside] = classifier.log_odds(view[np.flatnonzero(outside)])
    return result


def _view(inputs: Matrix, outputs: Floats, seen: Mask, takes_sparse: bool) -> Matrix:
    """The columns one output's classifier may see."""
    view = joint(inputs, outputs[:, seen])
    if takes_sparse or not sparse.issparse(view):
        return view
    return np.asarray(view.toarray())
