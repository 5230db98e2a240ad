"""One L2-penalised logistic regression per output, all of them solved together.

Strengths are chosen in single precision (:mod:`amiss.models.logistic.path`); the fit at the chosen strength is
then finished in double precision, only its directions still being searched in single. The fits that
did not see a fold are kept as what they differ by, so that a row's log-odds can be taken apart, and
taken again with another value in it, by the very models that gave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix
from amiss.encoding.joint import joint
from amiss.models.conditional import Fit, FoldModels, LinearModel
from amiss.models.folds import Folds
from amiss.models.logistic import loss
from amiss.models.logistic.axes import principal_axes
from amiss.models.logistic.blocks import SharedRows
from amiss.models.logistic.newton import Effort, solve
from amiss.models.logistic.path import choose_strengths, outside_folds
from amiss.models.logistic.preconditioner import worth_sampling
from amiss.progress import Progress

FINAL = Effort(tolerance=1e-8, newton_steps=100, residual=0.1, tightening=True)


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
