"""The outputs' models: log-odds of every output given the inputs and the other outputs, and rho.

Strengths are chosen in single precision (:mod:`amiss.strengths`); the fit at the chosen strength is
then finished in double precision, only its directions still being searched in single. The fits that
did not see a fold are kept as what they differ by, so that a row's log-odds can be taken apart, and
taken again with another value in it, by the very models that gave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit, log_expit
from threadpoolctl import threadpool_limits

from amiss import loss
from amiss.axes import principal_axes
from amiss.design import joint
from amiss.folds import Folds
from amiss.precondition import worth_sampling
from amiss.progress import Progress
from amiss.rows import SharedRows, in_blocks
from amiss.solver import Effort, solve
from amiss.strengths import choose_strengths, outside_folds
from amiss.table import Floats, Mask, Matrix, Rows

Crossfit = Literal["half"] | float | bool

FINAL = Effort(tolerance=1e-8, newton_steps=100, residual=0.1, tightening=True)


SAME = 1e-6  # log-odds: nearer than this a model is what its coefficients say
SURE = 15.0  # log-odds: beyond, the digits of a classifier's probability do not tell


class ConditionalModel(Protocol):
    """The log-odds of y_i = 1 given x and the visible other outputs, for every output i."""

    def log_odds(self, inputs: Matrix, outputs: Floats, /) -> Floats: ...

    def as_linear(self, n_inputs: int, /) -> LinearModel | None:
        """The same as coefficients, if it seems to be that."""


@dataclass(frozen=True)
class LinearModel:
    """Coefficients on Z = [x, y], ``(n_columns, n_outputs)``; what an output may not see is zero."""

    coef: Floats
    intercept: Floats

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        n_inputs = inputs.shape[1]
        result: Floats = inputs @ self.coef[:n_inputs]
        result += outputs @ self.coef[n_inputs:]
        result += self.intercept
        return result

    def as_linear(self, n_inputs: int) -> LinearModel:
        return self


@dataclass(frozen=True)
class FoldModels:
    """Linear models that did not see a fold, by what they differ from the model of all rows.

    ``coef`` is ``(n_columns, n_folds, n_outputs)``, ``intercept`` ``(n_folds, n_outputs)``; ``folds``
    are those of the training rows, ``(n_rows, n_outputs)``.
    """

    coef: npt.NDArray[np.float32]
    intercept: Floats
    folds: Folds

    def shifts(self, inputs: Matrix, outputs: Floats, n_jobs: int | None = None) -> Floats:
        """How much the log-odds of each training row differ by the models that did not see it."""
        n_columns, n_folds, n_outputs = self.coef.shape
        n_inputs = inputs.shape[1]
        coef = self.coef.reshape(n_columns, -1).astype(np.float64)
        result = np.empty(self.folds.shape)

        def work(rows: slice) -> None:
            every: Floats = inputs[rows] @ coef[:n_inputs]
            every += outputs[rows] @ coef[n_inputs:]
            every = every.reshape(-1, n_folds, n_outputs) + self.intercept
            own = self.folds[rows].astype(np.intp)[:, None, :]
            result[rows] = np.take_along_axis(every, own, axis=1)[:, 0]

        with threadpool_limits(1, user_api="blas"):
            in_blocks(len(result), work, n_jobs)
        return result


@dataclass(frozen=True)
class RowModel:
    """The model by which a training row was scored: ``part[f, i]`` of the model of output i without fold f."""

    whole: LinearModel
    folds: FoldModels
    part: Floats

    @classmethod
    def of(cls, whole: LinearModel, folds: FoldModels, copies: Rows, share: float) -> RowModel:
        """``share`` of the models that did not see the row, averaged over its ``copies``."""
        n_folds = len(folds.intercept)
        seen = np.stack([(folds.folds[copies] == fold).mean(axis=0) for fold in range(n_folds)])
        return cls(whole, folds, share * seen)

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        n_inputs, used = inputs.shape[1], np.arange(inputs.shape[1])
        dense = inputs
        if sparse.issparse(inputs):  # a few rows need only the coefficients of the columns they fill
            used = np.unique(inputs.indices)
            dense = inputs[:, used].toarray()
        every = np.tensordot(dense, self.folds.coef[used].astype(np.float64), 1)
        every += np.tensordot(outputs, self.folds.coef[n_inputs:].astype(np.float64), 1)
        shift = ((every + self.folds.intercept) * self.part).sum(axis=1)
        return self.whole.log_odds(inputs, outputs) + shift

    def as_linear(self, n_inputs: int) -> LinearModel:
        coef = self.whole.coef.copy()
        for fold in np.flatnonzero(self.part.any(axis=1)):
            coef += self.part[fold] * self.folds.coef[:, fold]
        return LinearModel(coef, self.whole.intercept + (self.part * self.folds.intercept).sum(axis=0))


@dataclass(frozen=True)
class Fit:
    """A fitted model and what its fit tells.

    ``in_sample`` and ``out_of_fold`` are log-odds ``(n_rows, n_outputs)``, the latter None if no
    folds were asked for. Strengths are NaN for models without them, and models that are not linear
    are not kept for each fold.
    """

    model: ConditionalModel
    in_sample: Floats
    out_of_fold: Floats | None
    strength: Floats
    converged: Mask
    fold_models: FoldModels | None = None


def fit_logistic(
    inputs: Matrix,
    outputs: Floats,
    observed: Mask,
    visible: Mask,
    strengths: Sequence[float],
    folds: Folds | None,
    *,
    parent_penalty: float = 1.0,
    n_jobs: int | None = None,
    progress: Progress = lambda steps=1: None,
) -> Fit:
    """One L2-penalised logistic regression an output.

    ``outputs`` holds 0 and 1, and expected values where ``observed`` is False. Without ``folds``
    there must be a single strength. Coefficients of outputs are penalised by the strength, those
    of inputs ``parent_penalty`` times less.
    """
    n_outputs, side = outputs.shape[1], loss.sides(outputs, observed)
    unshifted = inputs
    centre, inputs = _centred(inputs)
    few = worth_sampling(len(outputs), inputs.shape[1] + n_outputs)  # then nothing is gained by turning them
    axes = None if few else principal_axes(inputs)
    stretch = np.sqrt(parent_penalty)  # a longer column needs a smaller coefficient
    Z = joint((inputs if axes is None else inputs @ axes) * stretch, outputs)
    rows, rough = SharedRows(Z, n_jobs), SharedRows(Z, n_jobs, np.float32)
    strength, start = np.full(n_outputs, float(strengths[0])), None
    if folds is not None:
        choice = choose_strengths(rough, side, visible, strengths, folds, progress)
        strength, start = choice.strength, (choice.coef, choice.intercept)
    final = solve(rows, side, visible, strength, start=start, effort=FINAL, rough=rough)
    in_sample = rows.margins(final.coef, final.intercept)

    def on_columns(coef: Floats) -> Floats:
        """Coefficients on the columns as they came, of those on Z."""
        of_inputs, of_outputs = np.split(coef, [-n_outputs])
        of_inputs = stretch * (of_inputs if axes is None else np.tensordot(axes, of_inputs, 1))
        return np.concatenate([of_inputs, of_outputs])

    def at_zero(intercept: Floats, coef: npt.NDArray[Any]) -> Floats:
        """The intercept that goes with ``coef``, rounded as they are, where the columns are not centred."""
        return np.asarray(intercept - np.tensordot(centre, coef[: len(centre)].astype(np.float64), 1))

    coef = on_columns(final.coef)
    model = LinearModel(coef, at_zero(final.intercept, coef))
    fold_models, held_out = None, None
    if folds is not None:
        shift = outside_folds(rough, side, visible, folds, choice, final.coef, final.intercept)
        moved = on_columns(shift[:-1].astype(np.float64)).astype(np.float32)
        fold_models = FoldModels(moved, at_zero(shift[-1].astype(np.float64), moved), folds)
        held_out = in_sample + fold_models.shifts(unshifted, outputs, n_jobs)
    return Fit(model, in_sample, held_out, strength, final.converged, fold_models)


def _centred(inputs: Matrix) -> tuple[Floats, Matrix]:
    """What is taken off each column, and the rest: single precision would lose it behind a large mean.

    Of a sparse matrix it is only taken off columns without a zero.
    """
    if not sparse.issparse(inputs):
        centre = inputs.mean(axis=0)
        return centre, inputs - centre
    full = np.bincount(inputs.indices, minlength=inputs.shape[1]) == inputs.shape[0]
    if not full.any():
        return np.zeros(inputs.shape[1]), inputs
    centre = np.where(full, np.asarray(inputs.mean(axis=0)).ravel(), 0.0)
    shifted = inputs.copy()
    shifted.data = shifted.data - centre[shifted.indices]
    return centre, shifted


def linear_twin(model: ConditionalModel, inputs: Matrix, outputs: Floats) -> LinearModel | None:
    """The model as coefficients, if they give its log-odds of these rows (as far as a probability can tell)."""
    twin = model.as_linear(inputs.shape[1])
    if twin is None:
        return None
    ours, theirs = (np.clip(each.log_odds(inputs, outputs), -SURE, SURE) for each in (twin, model))
    return twin if np.abs(ours - theirs).max() < SAME else None


def crossfit_share(crossfit: Crossfit) -> float:
    """The share of the models that did not see a row."""
    return 0.5 if crossfit == "half" else float(crossfit)


def combined_log_odds(fit: Fit, crossfit: Crossfit) -> Floats:
    """In-sample (False), out-of-fold (True), or an average in which the latter have a share of ``crossfit``."""
    share = crossfit_share(crossfit)
    if share == 0:
        return fit.in_sample
    assert fit.out_of_fold is not None
    return fit.out_of_fold if share == 1 else (1 - share) * fit.in_sample + share * fit.out_of_fold


def log_rho(log_odds: Floats, outputs: Floats) -> Floats:
    """log rho = log P(the observed value), exact in both tails."""
    return np.asarray(log_expit(_towards_observed(log_odds, outputs)))


def rho(log_odds: Floats, outputs: Floats) -> Floats:
    """P(the observed value)."""
    return np.asarray(expit(_towards_observed(log_odds, outputs)))


def errors(log_odds: Floats, outputs: Floats) -> Floats:
    """eps = 1 - rho, exact where rho is near one."""
    return np.asarray(expit(-_towards_observed(log_odds, outputs)))


def _towards_observed(log_odds: Floats, outputs: Floats) -> Floats:
    return np.where(outputs == 1, log_odds, -log_odds)
