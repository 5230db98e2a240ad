"""One L2-penalised logistic regression per output, all of them solved together.

Strengths are chosen in single precision (:mod:`amiss.models.logistic.path`); the fit at the chosen strength is
then finished in double precision; only its directions are still searched in single. For each fold we keep how
its coefficients differ from those of the full model. So a row's log-odds can be decomposed, and recomputed after a
change, with the models that produced them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, is_single, row_blocks
from amiss.encoding.joint import joint
from amiss.encoding.leading_axes import column_means, is_wide
from amiss.models.conditional import Fit, LinearModel
from amiss.models.fold_models import LinearFolds
from amiss.models.folds import Folds
from amiss.models.logistic.axes import principal_axes
from amiss.models.logistic.local import LocalRows
from amiss.models.logistic.loss import signs_of
from amiss.models.logistic.newton import Effort, Solution, solve
from amiss.models.logistic.objective import Start, Terms
from amiss.models.logistic.partition import Signs
from amiss.models.logistic.path import WHOLE, choose_strengths, outside_folds
from amiss.models.logistic.preconditioner import worth_sampling
from amiss.models.logistic.seam import MIXED, SINGLE, Rows
from amiss.models.logistic.turned import TurnedRows
from amiss.progress import Progress, ignored

# Rows that are enough to choose strengths that are a factor of ten apart: of a wide table, and of any other.
ENOUGH_ROWS, ROWS_PER_COLUMN = 16_384, 16
ENOUGH_NARROW_ROWS = 50_000
OFTEN = 100  # rows among them in which an output is 1, and in which it is 0
FINAL = Effort(tolerance=1e-8, newton_steps=100, residual=0.1, tightening=True)
FINAL_WIDE = replace(FINAL, tolerance=1e-6)  # the inputs have seven digits


@dataclass(frozen=True)
class LogisticLearner:
    """Fits logistic regressions with one of several ``strengths``, which folds choose for each output."""

    strengths: Sequence[float]
    parent_penalty: float

    @property
    def needs_folds(self) -> bool:
        return len(set(self.strengths)) > 1

    @property
    def steps_per_output(self) -> int:
        return len(set(self.strengths))

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
        return fit_logistic(
            design,
            filled,
            observed,
            visible,
            sorted(set(self.strengths)),
            folds,
            parent_penalty=self.parent_penalty,
            n_jobs=n_jobs,
            progress=progress,
            alone=alone,
        )


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
    progress: Progress = ignored,
    alone: Mask | None = None,
) -> Fit:
    """One L2-penalised logistic regression per output.

    ``outputs`` holds 0 and 1, and expected values where ``observed`` is False. Without ``folds``
    there must be a single strength. Coefficients of outputs are penalised by the strength, those
    of inputs ``parent_penalty`` times less. With ``alone``, models of the inputs alone are fitted too, at the
    strengths that were chosen, but for the outputs in ``alone``, for which they are chosen anew.
    """
    # Where no model sees another output, Z does without them: they would cost as much as all the rest together.
    n_seen = outputs.shape[1] if visible.any() else 0
    visible, unseen = visible[:n_seen], outputs.shape[1] - n_seen
    design = _Design.of(inputs, outputs[:, :n_seen], parent_penalty)
    signs = signs_of(outputs, observed)
    rows = LocalRows(design.Z, signs, folds, n_jobs)
    fits = fit_rows(rows, visible, strengths, progress, _first_rows(design.Z, signs, folds, n_jobs))

    def fit_of(found: OutputFits) -> Fit:
        coef = design.on_columns(found.final.coef)
        model = LinearModel(_with_zeros(coef, unseen), design.at_zero(found.final.intercept, coef))
        in_sample = rows.margins(found.final.coef, found.final.intercept)
        fold_models, held_out = None, None
        if folds is not None and found.shift is not None:
            moved = design.on_columns(found.shift[:-1].astype(np.float64)).astype(np.float32)
            fold_models = LinearFolds(moved, design.at_zero(found.shift[-1].astype(np.float64), moved), folds)
            held_out = in_sample + fold_models.shifts(inputs, outputs[:, :n_seen], n_jobs)
            fold_models = replace(fold_models, coef=_with_zeros(moved, unseen))
        return Fit(model, in_sample, held_out, found.strength, found.final.converged, fold_models)

    whole = fit_of(fits)
    if alone is None:
        return whole
    nobody = np.zeros_like(visible)
    strength = fits.strength.copy()
    if rows.n_folds and alone.any():
        strength[alone] = choose_strengths(rows, nobody, strengths, outputs=np.flatnonzero(alone)).strength[alone]
    # Of wide inputs most of the way was gone by the models that see the outputs too.
    begin = Start(fits.final.coef, fits.final.intercept) if rows.layout.is_turned else None
    return replace(whole, alone=fit_of(fit_at(rows, nobody, strength, _start(rows, nobody, strength, begin))))


def cross_validated_loss(
    inputs: Matrix, outputs: Floats, strengths: Sequence[float], folds: Folds, *, n_jobs: int | None = None
) -> Floats:
    """The log-loss outside the folds of models of each output given the inputs, at its best strength.

    It is summed over the rows in which the output is not NaN, and about as exact as choosing a strength needs it.
    """
    observed = ~np.isnan(outputs)
    filled = np.where(observed, outputs, 0.0)
    design = _Design.of(inputs, filled, 1.0)
    rows = LocalRows(design.Z, signs_of(filled, observed), folds, n_jobs)
    return choose_strengths(rows, np.zeros((rows.n_outputs, rows.n_outputs), dtype=bool), strengths).loss


@dataclass(frozen=True)
class OutputFits:
    """The fits of all outputs on Z: on all rows, and by how much those outside each fold differ from them.

    ``strength`` is ``(n_outputs,)``, ``shift`` ``(n_columns + 1, n_folds, n_outputs)`` with the intercepts last,
    or None without folds.
    """

    final: Solution
    strength: Floats
    shift: Floats | None


def fit_rows(
    rows: Rows,
    visible: Mask,
    strengths: Sequence[float],
    progress: Progress = ignored,
    some: Rows | None = None,
) -> OutputFits:
    """Choose the strengths and fit all outputs, wherever the rows are; ``some`` rows are enough to choose by."""
    if not rows.n_folds:
        return fit_at(rows, visible, np.full(rows.n_outputs, float(strengths[0])))
    choice = choose_strengths(some or rows, visible, strengths, progress)
    start, shift = Start(choice.coef, choice.intercept), choice.shift
    if some is not None:
        start = _start(rows, visible, choice.strength, start)
        shift = shift * (some.layout.n_rows / rows.layout.n_rows)  # a row matters less among more
    return fit_at(rows, visible, choice.strength, start, shift)


def _first_rows(Z: Matrix, signs: Signs, folds: Folds | None, n_jobs: int | None) -> LocalRows | None:
    """The first of many rows, if they show every output often enough; None if all rows are to be used.

    They come in the order of their fingerprints, so the first are as good as any. The strength is the precision of
    what is expected of coefficients, and does not grow with the number of rows.
    """
    is_turned = isinstance(Z, TurnedRows)
    enough = max(ENOUGH_ROWS if is_turned else ENOUGH_NARROW_ROWS, ROWS_PER_COLUMN * Z.shape[1])
    if folds is None or Z.shape[0] < 2 * enough:
        return None
    some = slice(0, enough)
    rarest = min((signs[some] > 0).sum(axis=0).min(), (signs[some] < 0).sum(axis=0).min())
    if rarest < OFTEN:
        return None
    return LocalRows(Z.first(enough) if is_turned else Z[some], signs[some], folds[some], n_jobs)


def fit_at(
    rows: Rows, visible: Mask, strength: Floats, start: Start | None = None, shift: Floats | None = None
) -> OutputFits:
    """Fit all outputs, each at its strength; ``start`` and ``shift`` are where to start."""
    effort = FINAL_WIDE if rows.layout.is_turned else FINAL
    final = solve(rows.problems(None, MIXED), Terms(visible, strength), start=start, effort=effort)
    if rows.n_folds:
        shift = outside_folds(rows, visible, strength, final, shift)
    return OutputFits(final, strength, shift)


def _start(rows: Rows, visible: Mask, strength: Floats, start: Start | None = None) -> Start:
    """Where a fit may start: most of the way can be gone in single precision."""
    terms = Terms(visible, strength.astype(SINGLE.values))
    near = solve(rows.problems(None, SINGLE), terms, start=start, effort=WHOLE)
    return Start(near.coef, near.intercept)


@dataclass(frozen=True)
class _Design:
    """The matrix Z that the solver works on, and the way back from its columns to those of the table.

    The inputs are centred, turned along their principal axes where that helps, and stretched. Wide inputs in
    single precision are turned on the way (:mod:`amiss.models.logistic.turned`).
    """

    Z: Matrix
    centre: Floats
    axes: Floats | None
    stretch: float
    n_outputs: int

    @classmethod
    def of(cls, inputs: Matrix, outputs: Floats, parent_penalty: float) -> _Design:
        stretch = np.sqrt(parent_penalty)  # a longer column needs a smaller coefficient
        # With few columns nothing is gained by turning them.
        few = worth_sampling(len(outputs), inputs.shape[1] + outputs.shape[1])
        axes: Floats | None = None
        turned = TurnedRows.of(inputs, outputs, stretch) if is_wide(inputs) and not few else None
        Z: Matrix = turned
        if turned is not None:
            centre, axes = turned.centre, turned.axes
        elif is_single(inputs) and (few or is_wide(inputs)):
            centre = column_means(inputs)
            Z = _joint_blocks(inputs, centre, stretch, outputs)
        elif few and not sparse.issparse(inputs) and inputs.dtype == np.float64:
            centre = inputs.mean(axis=0)
            Z = _joint_blocks(inputs, centre, stretch, outputs)
        else:
            centre, inputs = _centred(inputs.astype(np.float64, copy=False))
            axes = None if few else principal_axes(inputs)
            Z = joint((inputs if axes is None else inputs @ axes) * stretch, outputs)
        return cls(Z, centre, axes, stretch, outputs.shape[1])

    def on_columns(self, coef: Floats) -> Floats:
        """Coefficients on the columns as they came, of those on Z."""
        of_inputs, of_outputs = np.split(coef, [len(coef) - self.n_outputs])
        turned = of_inputs if self.axes is None else np.tensordot(self.axes, of_inputs, 1)
        return np.concatenate([self.stretch * turned, of_outputs])

    def at_zero(self, intercept: Floats, coef: npt.NDArray[Any]) -> Floats:
        """The intercept that goes with ``coef``, rounded as they are, where the columns are not centred."""
        inputs = coef[: len(self.centre)].astype(np.float64)
        return np.asarray(intercept - np.tensordot(self.centre, inputs, 1))


def _with_zeros(coef: npt.NDArray[Any], n_columns: int) -> npt.NDArray[Any]:
    """Coefficients with those of further columns, which nothing was fitted to."""
    return np.concatenate([coef, np.zeros((n_columns, *coef.shape[1:]), dtype=coef.dtype)]) if n_columns else coef


def _joint_blocks(inputs: Matrix, centre: Floats, stretch: float, outputs: Floats) -> Matrix:
    """Z in the precision of dense inputs, without another matrix of their size on the way."""
    Z = np.empty((len(outputs), inputs.shape[1] + outputs.shape[1]), dtype=inputs.dtype)
    for rows in row_blocks(len(Z)):
        Z[rows, : inputs.shape[1]] = (inputs[rows] - centre) * stretch
    Z[:, inputs.shape[1] :] = outputs
    return Z


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
