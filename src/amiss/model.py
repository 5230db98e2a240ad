"""The outputs' models: chooses each strength, keeps out-of-fold predictions, gives log-odds.

Strengths are tried from strong to weak, each started from the last. For every strength the folds
are fitted too, started from the fit on all rows, and the held-out log-loss is added up; an output
leaves the path once that loss has risen clearly, or twice in a row. The out-of-fold log-odds at
the chosen strength are a by-product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit

from amiss.design import joint
from amiss.folds import Folds
from amiss.loss import losses
from amiss.progress import Progress
from amiss.solver import SharedRows, Solution, solve
from amiss.table import Floats, Mask, Matrix

Crossfit = Literal["half"] | bool

PATH_TOLERANCE = 1e-7  # the held-out log-odds of the path are results, so not too coarse
FINAL_TOLERANCE = 1e-10
MOST_RISES = 2
CLEAR_RISE = 0.1


class ConditionalModel(Protocol):
    """The log-odds of y_i = 1 given x and the visible other outputs, for every output i."""

    def log_odds(self, inputs: Matrix, outputs: Floats, /) -> Floats: ...


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


@dataclass(frozen=True)
class Fit:
    """A fitted model and what its fit tells.

    ``in_sample`` and ``out_of_fold`` are log-odds ``(n_rows, n_outputs)``, the latter None if no
    folds were asked for. Strengths are NaN for models without them.
    """

    model: ConditionalModel
    in_sample: Floats
    out_of_fold: Floats | None
    strength: Floats
    converged: Mask


def fit_logistic(
    inputs: Matrix,
    outputs: Floats,
    observed: Mask,
    visible: Mask,
    strengths: Sequence[float],
    folds: Folds | None,
    *,
    n_jobs: int | None = None,
    progress: Progress = lambda steps=1: None,
) -> Fit:
    """One L2-penalised logistic regression an output.

    ``outputs`` holds 0 and 1, and expected values where ``observed`` is False. Without ``folds``
    there must be a single strength.
    """
    n_outputs = outputs.shape[1]
    rows = SharedRows(joint(inputs, outputs), n_jobs)
    allowed = np.vstack([np.ones((inputs.shape[1], n_outputs), dtype=bool), visible])
    targets, weights = np.where(observed, outputs, 0.0), observed.astype(float)
    path = _Path(rows, targets, weights, allowed, folds)
    with rows.at_work():
        active = np.arange(n_outputs)
        ladder = sorted(strengths, reverse=True)
        for position, strength in enumerate(ladder):
            if not len(active):
                break
            before = len(active)
            active = path.follow(active, strength)
            left = before - len(active)
            progress(before + left * (len(ladder) - position - 1))
        final = solve(
            rows,
            targets,
            weights,
            allowed,
            path.strength,
            start=(path.coef, path.intercept),
            tolerance=FINAL_TOLERANCE,
        )
        in_sample = rows.margins(final.coef, final.intercept)
    return Fit(
        model=LinearModel(final.coef, final.intercept),
        in_sample=in_sample,
        out_of_fold=path.out_of_fold if folds is not None else None,
        strength=path.strength,
        converged=final.converged,
    )


class _Path:
    """The best strength of each output so far, with its coefficients and out-of-fold log-odds."""

    def __init__(
        self,
        rows: SharedRows,
        targets: Floats,
        weights: Floats,
        allowed: Mask,
        folds: Folds | None,
    ) -> None:
        n_outputs = targets.shape[1]
        self.rows, self.targets, self.weights, self.allowed, self.folds = (
            rows,
            targets,
            weights,
            allowed,
            folds,
        )
        self.coef, self.intercept = np.zeros(allowed.shape), np.zeros(n_outputs)
        self.strength = np.full(n_outputs, np.nan)
        self.best_loss = np.full(n_outputs, np.inf)
        self.out_of_fold = np.zeros(targets.shape if folds is not None else (0, n_outputs))
        self._rises = np.zeros(n_outputs, dtype=int)
        self._last = np.zeros(allowed.shape), np.zeros(n_outputs)

    def follow(self, active: npt.NDArray[np.intp], strength: float) -> npt.NDArray[np.intp]:
        """Fit the active outputs at ``strength``, and tell which are to go on to a weaker one."""
        start = None if np.isnan(self.strength).all() else (self._last[0][:, active], self._last[1][active])
        solution = self._solve(active, self.weights[:, active], strength, start)
        self._last[0][:, active], self._last[1][active] = solution.coef, solution.intercept
        held_out, loss = None, np.zeros(len(active))
        if self.folds is not None:
            held_out = self._held_out(active, strength, solution)
            loss = losses(held_out, self.targets[:, active], self.weights[:, active])
        before = self.best_loss[active]
        better = loss < before
        winners = active[better]
        self.coef[:, winners], self.intercept[winners] = solution.coef[:, better], solution.intercept[better]
        self.strength[winners], self.best_loss[winners] = strength, loss[better]
        if held_out is not None:
            self.out_of_fold[:, winners] = held_out[:, better]
        self._rises[active] = np.where(better, 0, self._rises[active] + 1)
        done = (self._rises[active] >= MOST_RISES) | (loss > (1 + CLEAR_RISE) * before)
        return active[~done]

    def _held_out(self, active: npt.NDArray[np.intp], strength: float, whole: Solution) -> Floats:
        """Log-odds of each row by the fit that did not see it."""
        assert self.folds is not None
        folds = self.folds[:, active]
        result = np.empty(folds.shape)
        for fold in range(int(self.folds.max()) + 1):
            outside = folds == fold
            seen = self.weights[:, active] * ~outside
            solution = self._solve(active, seen, strength, (whole.coef, whole.intercept))
            np.copyto(result, self.rows.margins(solution.coef, solution.intercept), where=outside)
        return result

    def _solve(
        self,
        active: npt.NDArray[np.intp],
        weights: Floats,
        strength: float,
        start: tuple[Floats, Floats] | None,
    ) -> Solution:
        return solve(
            self.rows,
            self.targets[:, active],
            weights,
            self.allowed[:, active],
            np.full(len(active), strength),
            start=start,
            tolerance=PATH_TOLERANCE,
        )


def combined_log_odds(fit: Fit, crossfit: Crossfit) -> Floats:
    """In-sample (False), out-of-fold (True) or the average of both ("half")."""
    if crossfit is False:
        return fit.in_sample
    assert fit.out_of_fold is not None
    return fit.out_of_fold if crossfit is True else (fit.in_sample + fit.out_of_fold) / 2


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
