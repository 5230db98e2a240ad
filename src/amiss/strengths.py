"""Each output's strength, chosen by cross-validated log-loss, and the out-of-fold log-odds it gives.

Strengths are tried from strong to weak, each started from the last. At every strength the folds
are fitted too, started from the fit on all rows, and their held-out log-loss is added up. An output
drops out of a strength as soon as the folds so far show a rise beyond what chance makes of as many
rows; it leaves the path after a clear rise, after two rises in a row, or when what it gains has
become very small.

All this only has to tell strengths apart, so it is done in single precision, and a fit goes as
far as that takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from amiss.folds import Folds
from amiss.loss import row_losses
from amiss.precondition import Columns, Preconditioner, preconditioner
from amiss.progress import Progress
from amiss.rows import SharedRows
from amiss.solver import Effort, Solution, solve
from amiss.table import Floats, Mask

WHOLE = Effort(tolerance=1e-3, newton_steps=20)
FOLD = Effort(tolerance=1e-4, newton_steps=3)

MOST_RISES = 2
CLEAR_RISE = 0.1  # of the best loss so far
BEYOND_CHANCE = 2.5  # standard errors
SMALL_GAIN = 0.005  # of the loss, and a quarter of the gain before


@dataclass(frozen=True)
class Choice:
    """The strength of each output, the fit on all rows there, and what fits without a row say of it."""

    strength: Floats
    coef: Floats
    intercept: Floats
    out_of_fold: Floats


def choose_strengths(
    rows: SharedRows,
    targets: Floats,
    weights: Floats,
    allowed: Mask,
    strengths: Sequence[float],
    folds: Folds,
    progress: Progress = lambda steps=1: None,
) -> Choice:
    """Follow the path for all outputs at once."""
    path = _Path(rows, targets, weights, allowed, folds)
    active = np.arange(targets.shape[1])
    ladder = sorted(strengths, reverse=True)
    with rows.at_work():
        for position, strength in enumerate(ladder):
            if not len(active):
                break
            going_on = path.follow(active, strength)
            left = len(active) - len(going_on)
            progress(len(active) + left * (len(ladder) - position - 1))
            active = going_on
    return Choice(path.strength, path.coef, path.intercept, path.out_of_fold)


class _Path:
    """The best strength of each output so far, and what is needed to go on from the last one."""

    def __init__(self, rows: SharedRows, targets: Floats, weights: Floats, allowed: Mask, folds: Folds) -> None:
        n_outputs = targets.shape[1]
        self.rows, self.allowed, self.folds = rows, allowed, folds
        self.targets, self.weights = targets.astype(rows.dtype), weights.astype(rows.dtype)
        self.n_folds = int(folds.max()) + 1
        self.coef = np.zeros((rows.n_columns, n_outputs), dtype=rows.dtype)
        self.intercept = np.zeros(n_outputs)
        self.strength = np.full(n_outputs, np.nan)
        self.fold_loss = np.full((self.n_folds, n_outputs), np.inf)
        self.out_of_fold = np.zeros(targets.shape, dtype=rows.dtype)
        # The start of it all: every output at its base rate.
        rate = (targets.sum(axis=0) + 0.5) / (weights.sum(axis=0) + 1)
        self._last = np.zeros((rows.n_columns, n_outputs), dtype=rows.dtype), logit(rate)
        self._rises, self._gain = np.zeros(n_outputs, dtype=int), np.zeros(n_outputs)

    def follow(self, active: Columns, strength: float) -> Columns:
        """Fit the active outputs at ``strength``, and tell which are to go on to a weaker one."""
        near = self._preconditioner(active, strength)
        whole = self._solve(active, self.weights[:, active], strength, self._last, WHOLE, near)
        held_out, fold_loss = self._held_out(active, strength, whole, near)
        loss, before = fold_loss.sum(axis=0), self.fold_loss[:, active].sum(axis=0)
        better = (loss < before) | np.isnan(self.strength[active])
        winners = active[better]
        self.strength[winners], self.fold_loss[:, winners] = strength, fold_loss[:, better]
        self.coef[:, winners], self.intercept[winners] = whole.coef[:, better], whole.intercept[better]
        self.out_of_fold[:, winners] = held_out[:, better]
        stays = ~self._is_done(active, loss, before)
        self._last = whole.coef[:, stays], whole.intercept[stays]
        return active[stays]

    def _is_done(self, active: Columns, loss: Floats, before: Floats) -> Mask:
        if not np.isfinite(before).all():  # the first strength of all
            return np.zeros(len(active), dtype=bool)
        gain = before - loss
        self._rises[active] = np.where(gain > 0, 0, self._rises[active] + 1)
        levelling = (gain > 0) & (gain < SMALL_GAIN * loss) & (gain < self._gain[active] / 4)
        self._gain[active] = np.maximum(gain, 0)
        return (self._rises[active] >= MOST_RISES) | (loss > (1 + CLEAR_RISE) * before) | levelling

    def _preconditioner(self, active: Columns, strength: float) -> Preconditioner | None:
        """One for the fit on all rows and for the folds, from the curvatures where they start."""
        if self.rows.is_sparse:
            return None  # that of each fit costs nothing
        p = expit(self.rows.margins(*self._last))
        p *= 1 - p
        p *= self.weights[:, active]
        strengths = np.full(len(active), strength, dtype=self.rows.dtype)
        return preconditioner(self.rows, p, strengths, self.allowed[:, active])

    def _held_out(
        self, active: Columns, strength: float, whole: Solution, near: Preconditioner | None
    ) -> tuple[Floats, Floats]:
        """Log-odds of each row by the fit that did not see it, and the loss in each fold.

        For an output that drops out on the way the loss is infinite.
        """
        log_odds = np.zeros((self.rows.n_rows, len(active)), dtype=self.rows.dtype)
        fold_loss = np.full((self.n_folds, len(active)), np.inf)
        rise, spread = np.zeros(len(active)), np.zeros(len(active))
        alive = np.arange(len(active))
        for fold in range(self.n_folds):
            outputs = active[alive]
            outside = self.folds[:, outputs] == fold
            weights, targets = self.weights[:, outputs], self.targets[:, outputs]
            start = whole.coef[:, alive], whole.intercept[alive]
            likewise = None if near is None else near.take(alive)
            part = self._solve(outputs, weights * ~outside, strength, start, FOLD, likewise)
            margins = self.rows.margins(part.coef, part.intercept)
            log_odds[:, alive] = np.where(outside, margins, log_odds[:, alive])
            loss = row_losses(margins, targets, weights * outside)
            fold_loss[fold, alive] = loss.sum(axis=0, dtype=np.float64)
            if np.isnan(self.strength[outputs]).any():
                continue
            loss -= row_losses(self.out_of_fold[:, outputs], targets, weights * outside)
            rise[alive] += loss.sum(axis=0, dtype=np.float64)
            spread[alive] += np.einsum("ij,ij->j", loss, loss)
            alive = alive[rise[alive] <= BEYOND_CHANCE * np.sqrt(spread[alive])]
            if not len(alive):
                break
        fold_loss[:, np.setdiff1d(np.arange(len(active)), alive)] = np.inf
        return log_odds, fold_loss

    def _solve(
        self,
        outputs: Columns,
        weights: Floats,
        strength: float,
        start: tuple[Floats, Floats],
        effort: Effort,
        near: Preconditioner | None,
    ) -> Solution:
        return solve(
            self.rows,
            self.targets[:, outputs],
            weights,
            self.allowed[:, outputs],
            np.full(len(outputs), strength),
            start=start,
            effort=effort,
            precondition=near,
        )
