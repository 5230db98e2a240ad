"""A linear model of one target that few large errors do not move: ridge regression with Huber's weights.

It minimises the sum over rows of w · (y - a - z·b)² + strength · |b|², where z are the columns on a common scale.
A row whose error is more than about two usual ones weighs w = (two usual errors) / (its error), otherwise 1. The
strength is the one with the least absolute error out of fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from amiss.arrays import Floats, Mask, Rows, row_blocks
from amiss.models.folds import Folds
from amiss.models.numbers.columns import level_and_unit

STRENGTHS = (0.01, 1.0, 10.0, 100.0, 1000.0)
STEPS = 6  # of reweighting
HUBER = 1.345 / 0.6745  # times the median absolute error: 95 % as efficient as least squares on normal errors
TINY = 1e-12  # on the common scale


@dataclass(frozen=True, eq=False)
class Line:
    """A linear model, and those that were fitted without each fold of the training rows.

    Attributes
    ----------
    coef : (n_columns,)
    intercept : number
    fold_coef : (n_folds, n_columns)
    fold_intercept : (n_folds,)
    folds : (n_rows,) the fold of each training row; -1 for a row that no model saw
    """

    coef: Floats
    intercept: float
    fold_coef: Floats
    fold_intercept: Floats
    folds: Folds

    def predict(self, X: Floats, rows: Rows | None = None) -> Floats:
        """Predictions; for training ``rows`` by the models that did not see them."""
        result = np.empty(len(X))
        coef = np.vstack([self.fold_coef, self.coef])  # a row of no fold, -1, finds the last
        intercept = np.append(self.fold_intercept, self.intercept)
        fold = np.full(len(X), -1) if rows is None else self.folds[rows]
        for block in row_blocks(len(X)):
            result[block] = (X[block] * coef[fold[block]]).sum(axis=1) + intercept[fold[block]]
        return result

    def without_rows(self) -> Line:
        """The same for new rows only."""
        return replace(
            self, fold_coef=self.fold_coef[:0], fold_intercept=self.fold_intercept[:0], folds=self.folds[:0]
        )


def fit_linear(X: Floats, y: Floats, folds: Folds) -> tuple[Line, Floats]:
    """A linear model on dense inputs, and its predictions out of fold, ``(n_rows,)``.

    Every fold has rows, and so have the others.
    """
    problem = _Problem.of(X, y)
    best, least = None, np.inf
    for strength in STRENGTHS:
        fold_coef, fold_intercept = problem.without_each_fold(strength, folds)
        found = Line(fold_coef[0], 0.0, fold_coef, fold_intercept, folds)
        held_out = found.predict(X, np.arange(len(X)))
        error = float(np.abs(y - held_out).mean())
        if best is None or error < least:
            best, least, chosen = (found, held_out), error, strength
    assert best is not None
    coef, intercept = problem.solution(chosen, np.ones(len(X), dtype=bool))
    return replace(best[0], coef=coef, intercept=intercept), best[1]


@dataclass(frozen=True, eq=False)
class _Problem:
    """Inputs and a target that are brought to a common scale, block by block."""

    X: Floats
    target: Floats
    mean: Floats
    deviation: Floats
    level: float
    unit: float

    @classmethod
    def of(cls, X: Floats, y: Floats) -> _Problem:
        level, unit = level_and_unit(y)
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        constant = deviation <= TINY * np.abs(X).max(axis=0)
        return cls(X, (y - level) / unit, mean, np.where(constant, np.inf, deviation), level, unit)

    def without_each_fold(self, strength: float, folds: Folds) -> tuple[Floats, Floats]:
        """Coefficients and intercepts of the models without each fold."""
        found = [self.solution(strength, folds != fold) for fold in range(int(folds.max()) + 1)]
        return np.stack([coef for coef, _ in found]), np.array([intercept for _, intercept in found])

    def solution(self, strength: float, some: Mask) -> tuple[Floats, float]:
        """Coefficients and intercept on the scale of the inputs and the target, fitted to some rows."""
        penalty = np.diag(np.append(np.full(self.X.shape[1], strength), TINY))
        weight, errors = some.astype(np.float64), np.zeros(len(self.X))
        for _ in range(STEPS):
            normal, right = penalty.copy(), np.zeros(len(penalty))
            for rows in row_blocks(len(self.X)):
                design = self._design(rows)
                weighted = design * weight[rows, None]
                normal += weighted.T @ design
                right += weighted.T @ self.target[rows]
            found = np.linalg.solve(normal, right)
            for rows in row_blocks(len(self.X)):
                errors[rows] = np.abs(self.target[rows] - self._design(rows) @ found)
            usual = HUBER * float(np.median(errors[some])) + TINY
            weight = np.where(some, np.minimum(1.0, usual / np.maximum(errors, TINY)), 0.0)
        coef = self.unit * found[:-1] / self.deviation
        return coef, float(self.level + self.unit * found[-1] - coef @ self.mean)

    def _design(self, rows: slice) -> Floats:
        """Columns on a common scale, a constant one as zeros, and a column of ones."""
        scaled = (self.X[rows] - self.mean) / self.deviation
        return np.column_stack([scaled, np.ones(len(scaled))])
