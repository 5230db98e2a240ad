"""Gradient boosting, one classifier per output, its number of trees chosen by cross-validated log-loss.

Without each fold ``MOST_TREES`` trees are fitted. Its rows show after how many of them the log-loss is lowest; as
many are kept of every fold, and fitted to all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import log_expit, logit

from amiss.arrays import Floats, Mask, Matrix
from amiss.models.boosting.from_sklearn import trees_of
from amiss.models.boosting.trees import BoostedTrees, constant, joined
from amiss.models.conditional import Fit
from amiss.models.fold_models import KeptFolds
from amiss.models.folds import Folds
from amiss.progress import Progress, ignored
from amiss.threads import one_openmp_thread

MOST_TREES = 80
LEAST_ROWS = 20  # in a leaf
SOME_COLUMNS = 100  # of more columns each split looks at some, drawn anew
SETTINGS: dict[str, Any] = {
    "learning_rate": 0.15,
    "max_leaf_nodes": 8,
    "min_samples_leaf": LEAST_ROWS,
    "l2_regularization": 1.0,
    "max_bins": 63,
    "early_stopping": False,
    "random_state": 0,
}


Asked = tuple[int, Mask]
"""An output, and the outputs that its trees may see."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class BoostedOutput:
    """The trees of one output: those of all rows, those without each fold, and log-odds out of fold."""

    whole: BoostedTrees
    without: tuple[BoostedTrees, ...]
    held_out: Floats


@dataclass(frozen=True)
class HeldOut:
    """Trees fitted without a fold, and log-odds and log-loss of its rows after each tree."""

    trees: BoostedTrees
    stages: Floats
    losses: Floats


@dataclass(frozen=True)
class BoostingLearner:
    """Fits gradient-boosted trees."""

    needs_folds: bool = True
    steps_per_output: int = 2  # one for each view

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
        assert folds is not None  # needs_folds asks for them
        boosting = Boosting(design, filled, observed, folds)
        every = list(range(filled.shape[1]))
        views = [visible] if alone is None else [visible, np.zeros_like(visible)]
        found = boosting.outputs([(i, view[:, i]) for view in views for i in every], n_jobs, progress)
        if alone is None:
            progress(len(every))
        fits = [boosting.fit_of(found[first : first + len(every)]) for first in range(0, len(found), len(every))]
        return fits[0] if alone is None else replace(fits[0], alone=fits[1])


@dataclass(frozen=True, eq=False)
class Boosting:
    """A table whose outputs are to be boosted."""

    design: Matrix
    filled: Floats
    observed: Mask
    folds: Folds

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def outputs(
        self, wanted: Sequence[Asked], n_jobs: int | None, progress: Progress = ignored
    ) -> list[BoostedOutput]:
        """Trees of outputs, each with the outputs that they may see, on all cores."""
        return _on_all_cores(self.output, wanted, n_jobs, progress)

    def trials(self, wanted: Sequence[Asked], n_jobs: int | None) -> list[float]:
        """The lowest log-loss on the first fold that trees of the others reach, of each output."""
        return _on_all_cores(self.trial, wanted, n_jobs, ignored)

    def trial(self, i: int, seen: Mask) -> float:
        """The lowest log-loss on the first fold that trees of the others reach."""
        held = self._held_out(i, self.view(seen), 0)
        return float(held.losses.min())

    def output(self, i: int, seen: Mask) -> BoostedOutput:
        """The trees of output i given the inputs and the outputs that are ``seen``."""
        view, target, present, folds = self.view(seen), self.filled[:, i], self.observed[:, i], self.folds[:, i]
        held = [self._held_out(i, view, fold) for fold in range(self.n_folds)]
        n_trees = int(np.argmin(sum(_padded(each.losses) for each in held)))
        held_out = np.zeros(len(target))
        for fold, each in enumerate(held):
            held_out[folds == fold] = _padded(each.stages)[n_trees]
        whole = boosted(view, target, present, n_trees)
        return BoostedOutput(whole, tuple(each.trees.first(n_trees) for each in held), held_out)

    def _held_out(self, i: int, view: View, fold: int) -> HeldOut:
        """Trees fitted to the rows outside a fold."""
        present, inside = self.observed[:, i], self.folds[:, i] == fold
        rows, target = np.flatnonzero(inside), self.filled[:, i]
        trees = boosted(view, target, present & ~inside, MOST_TREES)
        stages = trees.stages(self.design[rows], self.filled[rows])
        told = present[rows]
        return HeldOut(trees, stages, held_out_losses(stages[:, told], target[rows][told]))

    def view(self, seen: Mask) -> View:
        """The columns of Z that the trees of an output may split."""
        columns = np.concatenate([np.arange(self.design.shape[1]), self.design.shape[1] + np.flatnonzero(seen)])
        if not sparse.issparse(self.design):
            return View(np.hstack([self.design, self.filled[:, seen]]), columns)
        # A column that is filled in fewer rows than a leaf needs cannot be split.
        filled = np.bincount(self.design.indices, minlength=self.design.shape[1]) >= LEAST_ROWS
        inputs = self.design[:, np.flatnonzero(filled)].toarray()
        kept = np.concatenate([filled, np.ones(int(seen.sum()), dtype=bool)])
        return View(np.hstack([inputs, self.filled[:, seen]]), columns[kept])

    def fit_of(self, found: Sequence[BoostedOutput]) -> Fit:
        """What was found of all outputs, as one fit."""
        n_folds = len(found[0].without)
        model = joined([each.whole for each in found])
        held_out = np.column_stack([each.held_out for each in found])
        models = tuple(joined([each.without[fold] for each in found]) for fold in range(n_folds))
        return Fit(
            model=model,
            in_sample=model.log_odds(self.design, self.filled),
            out_of_fold=held_out,
            strength=np.full(len(found), np.nan),
            converged=np.ones(len(found), dtype=bool),
            fold_models=KeptFolds(models, self.folds, by_heart=True),
            shown=held_out,
        )

    def nothing(self, trees: BoostedTrees) -> BoostedOutput:
        """An output without trees of its own."""
        return BoostedOutput(trees, (trees,) * self.n_folds, np.zeros(len(self.filled)))


def _on_all_cores(
    work: Callable[[int, Mask], Result], wanted: Sequence[Asked], n_jobs: int | None, progress: Progress
) -> list[Result]:
    """The result for each output, from as many processes as there may be, each on one thread.

    Threads would not do: scikit-learn changes the filters of warnings on the way, which all threads share.
    """
    from joblib import Parallel, delayed

    results = []
    tasks = (delayed(_on_one_thread)(work, *asked) for asked in wanted)
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        results.append(result)
        progress(1)
    return results


def _on_one_thread(work: Callable[[int, Mask], Result], i: int, seen: Mask) -> Result:
    import sklearn.ensemble  # noqa: F401 (it brings OpenMP, which is to keep to one thread)

    with one_openmp_thread():
        return work(i, seen)


@dataclass(frozen=True, eq=False)
class View:
    """Dense columns, and which columns of Z they are."""

    values: Floats
    columns: npt.NDArray[np.intp]


def boosted(view: View, target: Floats, some: Mask, n_trees: int) -> BoostedTrees:
    """Trees fitted to some rows; none where these all show the same value."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = np.flatnonzero(some)
    labels = target[rows].astype(int)
    if not n_trees or len(np.unique(labels)) < 2:
        return constant(float(logit((labels.sum() + 0.5) / (len(labels) + 1.0))))
    of_columns = min(1.0, SOME_COLUMNS / view.values.shape[1])
    classifier = HistGradientBoostingClassifier(max_iter=n_trees, max_features=of_columns, **SETTINGS)
    fitted = classifier.fit(view.values[rows], labels)
    trees = trees_of(fitted, view.columns)
    _refuse_other_trees(trees, fitted, view, rows[:10])
    return trees


def seconds_of_fit(n_rows: int, n_columns: int) -> float:
    """About how long a fit with the most trees takes on one core (benchmarks.speed.boosting)."""
    return MOST_TREES * (8e-4 + 1.2e-5 * n_columns + 2e-9 * n_rows * n_columns + 1.2e-7 * n_rows)


def held_out_losses(log_odds: Floats, target: Floats) -> Floats:
    """The sum over rows of the log-loss at each stage, ``(n_stages,)``."""
    return -log_expit(np.where(target == 1, log_odds, -log_odds)).sum(axis=1)


def _padded(stages: Floats) -> Floats:
    """Stages up to the most trees; a tree that is not there adds nothing."""
    return stages[np.minimum(np.arange(MOST_TREES + 1), len(stages) - 1)]


def _refuse_other_trees(trees: BoostedTrees, fitted: Any, view: View, some: npt.NDArray[np.intp]) -> None:
    """scikit-learn may come to store its trees in another way."""
    Z = np.zeros((len(some), int(view.columns.max()) + 1))
    Z[:, view.columns] = view.values[some]
    ours, theirs = trees.stages(Z, Z[:, :0])[-1], fitted.decision_function(view.values[some])
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-9):
        raise RuntimeError("this version of scikit-learn stores its trees in another way; install an earlier one")
