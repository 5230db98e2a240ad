"""How much likelier a row is if it was made wrong than if it was found: the log-likelihood ratio of a statistic.

A logistic regression of "made" against "found" gives it (Platt's calibration): as a line in one statistic, or as a
plane over a statistic and the rarity of a row's outputs. Rows with rare outputs are hard to predict, right or
wrong, so a plane compares them with each other. A ratio never falls: no row is less suspicious because its
statistic is larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from amiss.arrays import Floats

NEWTON_STEPS, HALVINGS, RIDGE = 30, 20, 1e-3


@dataclass(frozen=True)
class Line:
    """intercept + slope · statistic"""

    intercept: float
    slope: float

    def __call__(self, statistic: Floats) -> Floats:
        return np.asarray(self.intercept + self.slope * statistic)


@dataclass(frozen=True)
class Plane:
    """intercept + slope · statistic + of_rarity · rarity"""

    intercept: float
    slope: float
    of_rarity: float

    def __call__(self, statistic: Floats, rarity: Floats) -> Floats:
        return np.asarray(self.intercept + self.slope * statistic + self.of_rarity * rarity)


NO_LINE = Line(-50.0, 0.0)  # no row looks as if it had been made
NO_PLANE = Plane(-50.0, 0.0, 0.0)


def fit_line(found: Floats, made: Floats, right: Floats) -> Line:
    """The ratio of made rows to found ones, which count as far as they seem ``right``; it has to rise."""
    intercept, slope = logistic_coefficients([np.concatenate([found, made])], *_against(found, made, right))
    return Line(intercept, slope) if slope > 0 else NO_LINE


def fit_plane(found: tuple[Floats, Floats], made: tuple[Floats, Floats], right: Floats) -> Plane:
    """The same over a statistic and the rarity of the outputs."""
    features = [np.concatenate(pair) for pair in zip(found, made, strict=True)]
    intercept, slope, of_rarity = logistic_coefficients(features, *_against(found[0], made[0], right))
    return Plane(intercept, slope, of_rarity) if slope > 0 else NO_PLANE


def _against(found: Floats, made: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Labels of found and made rows, and weights by which both sides count the same."""
    labels = np.concatenate([np.zeros(len(found)), np.ones(len(made))])
    return labels, np.concatenate([right, np.full(len(made), right.sum() / len(made))])


def logistic_coefficients(features: list[Floats], labels: Floats, weights: Floats) -> tuple[float, ...]:
    """Intercept and coefficients of a weighted logistic regression, by Newton's method on standardised features.

    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 0.5])
    >>> logistic_coefficients([x], (x > 0.2).astype(float), np.ones(6))[1] > 1
    True
    """
    table = np.column_stack(features)
    centre, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread == 0] = 1.0
    design = np.column_stack([np.ones(len(table)), (table - centre) / spread])
    signs, penalty = np.where(labels == 1, 1.0, -1.0), np.full(design.shape[1], RIDGE)
    penalty[0] = 0.0

    def loss(at: Floats) -> float:
        wrong = -signs * (design @ at)
        # log(1 + exp(wrong)), five times as fast as logaddexp
        softplus = np.maximum(wrong, 0.0) + np.log1p(np.exp(-np.abs(wrong)))
        return float(weights @ softplus + 0.5 * penalty @ at**2)

    coef = np.zeros(design.shape[1])
    now = loss(coef)
    for _ in range(NEWTON_STEPS):
        chance = expit(design @ coef)
        gradient = design.T @ (weights * (chance - labels)) + penalty * coef
        hessian = (design.T * (weights * chance * (1 - chance))) @ design + RIDGE * np.eye(len(coef))
        step = np.linalg.solve(hessian, gradient)
        for _ in range(HALVINGS):  # far from the optimum Newton overshoots
            after = loss(coef - step)
            if after <= now:
                break
            step /= 2
        coef, now = coef - step, after
        if np.abs(step).max() < 1e-8:
            break
    slopes = coef[1:] / spread
    return (float(coef[0] - slopes @ centre), *slopes.tolist())
