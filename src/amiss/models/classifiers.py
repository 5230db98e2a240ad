"""Any scikit-learn classifier with ``predict_proba`` in place of the logistic models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import logit

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.encoding.as_given import Encoded, InputsView
from amiss.errors import DataError, quoted
from amiss.models.conditional import Attribution, Fit, LinearModel, linear_twin
from amiss.models.fold_models import KeptFolds
from amiss.models.folds import Folds
from amiss.models.learner import Learner
from amiss.models.projection import log_rho
from amiss.progress import Progress, ignored

SUREST = 1e-12  # probabilities are kept at least this far from 0 and 1
TRIED = 100  # rows with each value, to see whether an estimator takes a view
NOT_AS_GIVEN = (
    "The estimator cannot be fitted to the inputs as they came, so it sees them scaled, with missing numbers "
    "imputed and a column per category."
)
BY_HEART = 0.5  # times the log-loss of rows outside the folds


class OutputModel(Protocol):
    """The model of one output, on the columns that it may see."""

    def log_odds(self, view: Any, /) -> Floats: ...

    def coefficients(self, n_columns: int, /) -> tuple[Floats, float] | None:
        """What each column counts, and the intercept, if it has them."""


@dataclass(frozen=True)
class Constant:
    """The smoothed base rate, where the training rows all show the same value."""

    rate: float

    def log_odds(self, view: Any) -> Floats:
        return np.full(view.shape[0], logit(self.rate))

    def coefficients(self, n_columns: int) -> tuple[Floats, float]:
        return np.zeros(n_columns), float(logit(self.rate))


@dataclass(frozen=True)
class Classifier:
    """A fitted classifier of scikit-learn."""

    fitted: Any

    def log_odds(self, view: Any) -> Floats:
        probability = self.fitted.predict_proba(view)[:, list(self.fitted.classes_).index(1)]
        if np.isnan(probability).any():
            raise ValueError("predict_proba gives NaN")
        return np.asarray(logit(np.clip(probability, SUREST, 1.0 - SUREST)), dtype=np.float64)

    def coefficients(self, n_columns: int) -> tuple[Floats, float] | None:
        coef = np.ravel(getattr(self.fitted, "coef_", ()))
        intercept = np.ravel(getattr(self.fitted, "intercept_", ()))
        return (coef, intercept[0]) if len(coef) == n_columns and len(intercept) == 1 else None


@dataclass(frozen=True, eq=False)
class Shown:
    """What the classifier of each output is shown: the inputs in a view, and the outputs that it may see."""

    view: InputsView
    visible: Mask
    names: Sequence[str]
    takes_sparse: bool

    def to_output(self, i: int, inputs: Matrix, outputs: Floats) -> Any:
        seen = np.flatnonzero(self.visible[:, i]).tolist()
        found = self.view.of(inputs, outputs[:, seen], [self.names[j] for j in seen])
        return found if self.takes_sparse or not sparse.issparse(found) else np.asarray(found.toarray())


@dataclass(frozen=True, eq=False)
class ClassifierModel:
    """One fitted classifier per output, and the outputs each may see."""

    classifiers: Sequence[OutputModel]
    shown: Shown

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        columns = [
            classifier.log_odds(self.shown.to_output(i, inputs, outputs))
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
            seen = np.concatenate([np.ones(n_inputs, dtype=bool), self.shown.visible[:, i]])
            own = classifier.coefficients(int(seen.sum()))
            if own is None:
                return None
            coef[seen, i], intercept[i] = own
        return LinearModel(coef, intercept)

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats) -> Attribution | None:
        twin = linear_twin(self, inputs, outputs)
        return None if twin is None else twin.attribution(inputs, outputs, output, average)


@dataclass(frozen=True)
class ClassifierLearner:
    """Fits clones of a classifier of scikit-learn, and says if ``linear`` models predict better.

    It is shown the first of the ``views`` that it can be fitted to, or else the last.
    """

    estimator: Any
    linear: Learner | None = None
    views: tuple[InputsView, ...] = (Encoded(),)
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
        from sklearn.utils import get_tags

        takes_sparse = bool(get_tags(self.estimator).input_tags.sparse)
        choices = [Shown(view, visible, names, takes_sparse) for view in self.views]
        shown = next((each for each in choices[:-1] if self._takes(each, design, filled, observed)), choices[-1])
        table = design, filled, observed
        whole = fit_classifiers(self.estimator, *table, shown, folds, n_jobs=n_jobs, progress=progress)
        notes = [] if shown is choices[0] else [NOT_AS_GIVEN]
        if self.linear is not None and folds is not None:
            scaled = self.views[-1].of(design, filled[:, :0], ())
            how: dict[str, Any] = {"names": names, "n_jobs": n_jobs, "progress": ignored}
            twin = self.linear.fit(scaled, filled, observed, visible, folds, **how)
            notes += _compared(whole, twin, filled, observed)
        whole = replace(whole, notes=tuple(notes))
        if alone is None:
            return whole
        nobody = replace(shown, visible=np.zeros_like(visible))
        return replace(whole, alone=fit_classifiers(self.estimator, *table, nobody, folds, n_jobs=n_jobs))

    def _takes(self, shown: Shown, design: Matrix, filled: Floats, observed: Mask) -> bool:
        """Whether the estimator can be fitted to some rows in this view."""
        spread = np.minimum(((filled == 0) & observed).sum(axis=0), ((filled == 1) & observed).sum(axis=0))
        i = int(np.argmax(spread))
        some = [np.flatnonzero((filled[:, i] == value) & observed[:, i])[:TRIED] for value in (0, 1)]
        rows = np.sort(np.concatenate(some))
        try:
            view = shown.to_output(i, design[rows], filled[rows])
            _fitted(self.estimator, view, filled[rows, i], observed[rows, i]).log_odds(view)
        except (ValueError, TypeError):
            return False
        return True


def _compared(ours: Fit, linear: Fit, outputs: Floats, observed: Mask) -> tuple[str, ...]:
    """A note if the linear models predict rows outside the folds better than the estimator."""
    both = [fit.out_of_fold for fit in (ours, linear) if fit.out_of_fold is not None]
    losses = [float(-log_rho(held_out, outputs)[observed].mean()) for held_out in both]
    if losses[0] <= losses[1]:
        return ()
    return (
        f"The estimator predicts rows that it did not see worse than linear models do (log-loss {losses[0]:.3f} "
        f"against {losses[1]:.3f}); model='linear' is faster, and probably finds more.",
    )


def fit_classifiers(
    estimator: Any,
    inputs: Matrix,
    outputs: Floats,
    observed: Mask,
    shown: Shown,
    folds: Folds | None,
    *,
    n_jobs: int | None = None,
    progress: Progress = ignored,
) -> Fit:
    """Fit a clone of ``estimator`` for every output, and for every fold of it."""
    from joblib import Parallel, delayed

    n_rows, n_outputs = outputs.shape
    n_folds = 0 if folds is None else int(folds.max()) + 1

    def one(i: int) -> _Fitted:
        view = shown.to_output(i, inputs, outputs)
        target, present = outputs[:, i], observed[:, i]
        try:
            classifier = _fitted(estimator, view, target, present)
            without, held_out = [], np.zeros(n_rows)
            for fold in range(n_folds):
                outside = folds[:, i] == fold if folds is not None else np.zeros(n_rows, dtype=bool)
                without.append(_fitted(estimator, view, target, present & ~outside))
                if outside.any():
                    held_out[outside] = without[-1].log_odds(_rows_of(view, np.flatnonzero(outside)))
            return _Fitted(classifier, without, classifier.log_odds(view), held_out)
        except ValueError as error:
            ones, zeros = int((target[present] == 1).sum()), int((target[present] == 0).sum())
            raise DataError(
                f"the estimator fails on output {quoted(shown.names[i])}, which is 1 in {ones} rows and 0 in "
                f"{zeros}; choose another estimator, or drop the output"
            ) from error

    results: list[_Fitted] = []
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(one)(i) for i in range(n_outputs)):
        results.append(result)
        progress(1)
    return _fit_of(results, outputs, observed, folds, lambda each: ClassifierModel(each, shown))


def _fit_of(
    results: Sequence[_Fitted],
    outputs: Floats,
    observed: Mask,
    folds: Folds | None,
    model: Callable[[Sequence[OutputModel]], ClassifierModel],
) -> Fit:
    """What was fitted for each output, as one fit."""
    fit = Fit(
        model=model([each.classifier for each in results]),
        in_sample=np.column_stack([each.in_sample for each in results]),
        out_of_fold=None,
        strength=np.full(len(results), np.nan),
        converged=np.ones(len(results), dtype=bool),
    )
    if folds is None:
        return fit
    held_out = np.column_stack([each.held_out for each in results])
    by_heart = learns_by_heart(fit.in_sample, held_out, outputs, observed)
    n_folds = len(results[0].without)
    models = tuple(model([each.without[fold] for each in results]) for fold in range(n_folds))
    kept = KeptFolds(models, folds, by_heart)
    return replace(fit, out_of_fold=held_out, fold_models=kept, shown=held_out if by_heart else None)


def learns_by_heart(in_sample: Floats, held_out: Floats, outputs: Floats, observed: Mask) -> bool:
    """Whether a classifier knows the rows that it was fitted to far better than others, as forests do."""
    seen, unseen = (-log_rho(log_odds, outputs)[observed].sum() for log_odds in (in_sample, held_out))
    return bool(seen < BY_HEART * unseen)


@dataclass(frozen=True)
class _Fitted:
    """The classifier of one output, those without each fold, and the log-odds that they give."""

    classifier: OutputModel
    without: list[OutputModel]
    in_sample: Floats
    held_out: Floats


def _fitted(estimator: Any, view: Any, target: Floats, present: Mask) -> OutputModel:
    from sklearn.base import clone

    rows = np.flatnonzero(present)
    labels = target[rows].astype(int)
    if len(np.unique(labels)) < 2:
        return Constant((labels.sum() + 0.5) / (len(labels) + 1.0))
    return Classifier(clone(estimator).fit(_rows_of(view, rows), labels))


def _rows_of(view: Any, rows: Rows) -> Any:
    """Some rows of an array or of a frame."""
    return view.iloc[rows] if hasattr(view, "iloc") else view[rows]
