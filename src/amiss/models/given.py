"""Given log-odds: the user's own out-of-fold predictions are the models of the outputs given the inputs.

They are columns of the inputs. Each output's given log-odds z become a + b z by a logistic regression on that one
column, because networks are overconfident and forests are not confident enough. The models that see other outputs
are fitted as always, with the given log-odds among their inputs. Where there are further inputs, and models of all
inputs predict an output clearly better than what was given, these take its place.

Of a class (:mod:`amiss.models.ties`), whose given columns are log-probabilities that are one choice together, one
slope is fitted for all: P(class i) is proportional to exp(a_i + b log p_i), which is temperature scaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.conditional import Fit, LinearModel
from amiss.models.fold_models import LinearFolds, average_fit, held_out
from amiss.models.folds import Folds
from amiss.models.learner import Learner
from amiss.models.logistic.fit import fit_logistic
from amiss.models.projection import log_rho
from amiss.progress import Progress

CLEARLY = 0.95  # times the log-loss of the given predictions
STRENGTH = 1.0  # of the two coefficients' penalty, which matters only where an output is nearly always the same


@dataclass(frozen=True)
class GivenLearner:
    """Calibrates given log-odds, and leaves the models that see other outputs to another learner.

    ``columns`` are the encoded columns that hold the log-odds of each output. Those of a class among ``classes``
    hold log-probabilities, of which one unit is ``unit`` in the encoded column.
    """

    learner: Learner
    columns: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...] = ()
    unit: tuple[float, ...] = ()

    @property
    def needs_folds(self) -> bool:
        return self.learner.needs_folds

    @property
    def steps_per_output(self) -> int:
        return self.learner.steps_per_output

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
        table = design, filled, observed
        given = calibrated(*table, self.columns, folds)
        for group in self.classes:
            given = self._with_class(given, *table, group)
        further = design.shape[1] > len(self.columns)
        if not visible.any() and not further:  # then nothing else is known
            progress(filled.shape[1] * self.steps_per_output)
            return given
        how: dict[str, Any] = {"names": names, "n_jobs": n_jobs, "progress": progress}
        whole = self.learner.fit(*table, visible, folds, alone=alone if further else None, **how)
        if alone is None:
            return whole
        if whole.alone is not None and folds is not None:
            given = average_fit(given, whole.alone, better_alone(given, whole.alone, filled, observed))
        return replace(whole, alone=given)

    def _with_class(
        self, given: Fit, design: Matrix, filled: Floats, observed: Mask, group: tuple[int, ...]
    ) -> Fit:
        """The same with the outputs of a class calibrated as one choice."""
        members = list(group)
        values = np.column_stack([_column(design, self.columns[i]) / self.unit[i] for i in members])
        chosen = filled[:, members]
        rows = observed[:, members].all(axis=1) & (chosen.sum(axis=1) == 1)
        slope, offsets = temperature(values[rows], chosen[rows].argmax(axis=1))
        assert isinstance(given.model, LinearModel)
        coef, intercept, log_odds = given.model.coef.copy(), given.model.intercept.copy(), given.in_sample.copy()
        for place, i in enumerate(members):
            coef[self.columns[i], i], intercept[i] = slope / self.unit[i], offsets[place]
            log_odds[:, i] = slope * values[:, place] + offsets[place]
        given = replace(given, model=LinearModel(coef, intercept), in_sample=log_odds)
        if given.out_of_fold is None or not isinstance(given.fold_models, LinearFolds):
            return given
        # So few coefficients are the same without a fold.
        held_out, moved = given.out_of_fold.copy(), given.fold_models
        held_out[:, members] = log_odds[:, members]
        fold_coef, fold_intercept = moved.coef.copy(), moved.intercept.copy()
        fold_coef[:, :, members], fold_intercept[:, members] = 0.0, 0.0
        return replace(
            given, out_of_fold=held_out, fold_models=LinearFolds(fold_coef, fold_intercept, moved.folds)
        )


def better_alone(given: Fit, alone: Fit, outputs: Floats, observed: Mask) -> Floats:
    """1 for the outputs that models of all inputs predict clearly better than the given predictions, else 0."""
    ours, theirs = (
        np.where(observed, -log_rho(held_out(fit), outputs), 0.0).sum(axis=0) for fit in (given, alone)
    )
    return np.asarray(theirs < CLEARLY * ours, dtype=np.float64)


def temperature(values: Floats, chosen: Rows) -> tuple[float, Floats]:
    """The slope b and offsets a_i by which exp(a_i + b v_i) is nearest to what was chosen, ``(n_classes,)``."""
    n_rows, n_classes = values.shape
    if not n_rows:
        return 1.0, np.zeros(n_classes)
    each, hit = np.arange(n_rows), np.zeros((n_rows, n_classes))
    hit[each, chosen] = 1.0
    start = np.concatenate([[1.0], np.zeros(n_classes)])

    def loss_and_gradient(at: Floats) -> tuple[float, Floats]:
        scores = at[0] * values + at[1:]
        gap = softmax(scores, axis=1) - hit
        loss = float((logsumexp(scores, axis=1) - scores[each, chosen]).sum())
        loss += STRENGTH / 2 * float(((at - start) ** 2).sum())
        return loss, np.concatenate([[(gap * values).sum()], gap.sum(axis=0)]) + STRENGTH * (at - start)

    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B").x
    return float(found[0]), found[1:]


def _column(design: Matrix, column: int) -> Floats:
    values = design[:, [column]]
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)[:, 0]


def calibrated(design: Matrix, filled: Floats, observed: Mask, columns: Sequence[int], folds: Folds | None) -> Fit:
    """One logistic regression per output on the one column that holds its given log-odds."""
    n_rows, n_outputs = filled.shape
    n_columns, nobody = design.shape[1] + n_outputs, np.zeros((1, 1), dtype=bool)
    n_folds = 0 if folds is None else int(folds.max()) + 1
    coef, intercept = np.zeros((n_columns, n_outputs)), np.zeros(n_outputs)
    moved = np.zeros((n_columns, n_folds, n_outputs), dtype=np.float32)
    moved_intercept = np.zeros((n_folds, n_outputs))
    in_sample, out_of_fold = np.empty((n_rows, n_outputs)), np.empty((n_rows, n_outputs))
    for i, column in enumerate(columns):
        values = _column(design, column)[:, None]
        scale = float(values.std()) or 1.0
        own = slice(i, i + 1)
        table = values / scale, filled[:, own], observed[:, own], nobody
        part = fit_logistic(*table, [STRENGTH], None if folds is None else folds[:, own])
        assert isinstance(part.model, LinearModel)
        coef[column, i], intercept[i] = part.model.coef[0, 0] / scale, part.model.intercept[0]
        in_sample[:, i] = part.in_sample[:, 0]
        if part.out_of_fold is not None and isinstance(part.fold_models, LinearFolds):
            kept, own_fold = len(part.fold_models.intercept), part.fold_models.folds[:, 0]
            moved[column, :kept, i] = part.fold_models.coef[0, :, 0] / scale
            moved_intercept[:kept, i] = part.fold_models.intercept[:, 0]
            # By the coefficients as they are kept, so that these give the same log-odds again.
            shift = moved[column, own_fold, i] * values[:, 0] + moved_intercept[own_fold, i]
            out_of_fold[:, i] = in_sample[:, i] + shift
    return Fit(
        model=LinearModel(coef, intercept),
        in_sample=in_sample,
        out_of_fold=None if folds is None else out_of_fold,
        strength=np.full(n_outputs, STRENGTH),
        converged=np.ones(n_outputs, dtype=bool),
        fold_models=None if folds is None else LinearFolds(moved, moved_intercept, folds),
    )
