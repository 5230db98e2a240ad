"""How many errors of each kind, learned from the table itself.

Nobody knows which rows are wrong. But we can make wrong rows: flip an output of each row, or give it the outputs
of another row, and see how the models that are there judge it. A logistic regression of "made" against "found" on
a statistic gives the log-likelihood ratio as a line (Platt's calibration). Expectation maximisation over the rows
then gives the share of each kind, and the lines are fitted again with rows that look wrong counting less.

Whether nothing was annotated needs no made rows: P(row is empty | x) = share + (1 - share) q, where q is the
chance that the right outputs are empty, a logistic function of U.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.fitting import FittedModels
from amiss.scoring.doubt import with_doubt
from amiss.scoring.hypotheses import Hypotheses, Line, Statistics, statistics, unpredictability
from amiss.scoring.quality import skills
from amiss.scoring.views import Views

FEWEST_ROWS = 50  # of fewer rows no share is estimated
MOST_MADE, MOST_LOOKED_AT = 5000, 2000
STEPS, REFITS = 60, (0, 5, 10, 20)
LEAST_FALL, MOST_FALL, LEAST_GAIN, RARELY_EMPTY = 0.5, 2.0, 4.0, 0.1
FIRST_SHARE, MOST_WRONG = 0.02, 0.6
NEWTON_STEPS, RIDGE = 30, 1e-3
NO_EVIDENCE = Line(-50.0, 0.0)  # no row looks as if it had been made


@dataclass(frozen=True, eq=False)
class Found:
    """The rows of a fit, in the order of their fingerprints, as the scores see them.

    ``held_out`` are log-odds by models that did not see a row.
    """

    models: FittedModels
    log_odds: Floats
    held_out: Floats
    weights: Floats
    views: Views
    included: Mask

    @property
    def Y(self) -> Floats:
        return self.models.training_rows.Y

    @property
    def telling(self) -> Mask:
        """The outputs that count and vary; of one that is always the same nothing is known, unless all are."""
        rates = self.models.expectations.rates
        varying = self.included & (rates > 0) & (rates < 1)
        return varying if varying.any() else self.included

    @property
    def base_rates(self) -> Floats:
        """Smoothed, so that no value is impossible."""
        observed = ~np.isnan(self.Y)
        ones = np.where(observed, self.Y, 0.0).sum(axis=0)
        return np.asarray((ones + 0.5) / (observed.sum(axis=0) + 1.0))

    @cached_property
    def rates(self) -> tuple[Floats, Floats, Floats]:
        """Base rates, and how unpredictable the outputs are by each of the views.

        Those of a class are taken for predictable: where one of them stands, another one was expected.
        """
        observed = ~np.isnan(self.Y)
        by_all, by_inputs = (
            unpredictability(skills(held_out, self.Y, observed)[2])
            for held_out in (self.held_out, self.views.held_out)
        )
        for group in self.models.ties.classes:
            by_all[list(group)] = by_inputs[list(group)] = 0.0
        return self.base_rates, by_all, by_inputs

    @property
    def n_units(self) -> int:
        """How many outputs count that can be wrong one by one; those of a class are one."""
        telling = set(np.flatnonzero(self.telling).tolist())
        return len(telling) - sum(max(0, len(telling & set(group)) - 1) for group in self.models.ties.classes)

    def statistics(self) -> Statistics:
        seen = self.log_odds, self.Y, self.weights, self.views.held_out
        return statistics(self.base_rates, self.telling, *seen)

    def of_made(self, rows: Rows, made: Floats) -> Statistics:
        """Statistics of some rows if these were their outputs, by models that did not see the rows."""
        models, design = self.models, self.models.training_rows.design[rows]
        shift = models.log_odds(design, _filled(models, design, made))
        shift -= models.log_odds(design, _filled(models, design, self.Y[rows]))
        weights = self.weights if self.weights.ndim == 1 else self.weights[rows]
        seen = self.held_out[rows] + shift, made, weights, self.views.held_out[rows]
        return statistics(self.base_rates, self.telling, *seen)


def learn_hypotheses(found: Found, seed: int) -> Hypotheses:
    """The shares of the kinds of error in a table, lines for their likelihood ratios, and how much to doubt."""
    nothing = Hypotheses(*found.rates, found.telling, (0.0, 0.0, 0.0), *(NO_EVIDENCE,) * 3)
    if len(found.Y) < FEWEST_ROWS:
        return nothing
    rng = np.random.default_rng(seed)
    some = np.unique(np.linspace(0, len(found.Y) - 1, MOST_MADE).astype(np.intp))
    seen = found.statistics()
    flipped = found.of_made(some, _flipped(found.Y[some], found.telling, rng))
    several = found.n_units > 1  # in a single choice another row's class is just another class
    swapped = found.of_made(some, found.Y[rng.permutation(some)]) if several else None
    blank, share = _blank_rows(seen) if found.telling.sum() > 1 else (NO_EVIDENCE, 0.0)
    learned = replace(nothing, blank=blank, shares=(FIRST_SHARE, FIRST_SHARE * several, share))
    learned = _expectation_maximisation(learned, seen, flipped, swapped)
    doubts = learned.doubts(found.Y, found.weights, found.views)
    one_class = bool(found.telling.sum() > 1 and not several)
    return with_doubt(learned, seen, doubts, one_class=one_class)


def _expectation_maximisation(
    learned: Hypotheses, seen: Statistics, flipped: Statistics, swapped: Statistics | None
) -> Hypotheses:
    right = np.ones(len(seen.is_empty))
    for step in range(STEPS):
        if step in REFITS:
            learned = replace(learned, contradiction=_line(seen.contradiction, flipped.contradiction, right))
            if swapped is not None:
                learned = replace(learned, unrelated=_line(seen.unrelated, swapped.unrelated, right))
        odds = learned.blind_odds(seen, bounded=False)
        chance = odds / (1 - sum(learned.shares[:2]) + odds.sum(axis=0))
        right = 1 - chance.sum(axis=0)
        shares = chance.mean(axis=1)
        shares *= min(1.0, MOST_WRONG / max(shares.sum(), 1e-12))
        learned = replace(learned, shares=(float(shares[0]), float(shares[1]), learned.shares[2]))
    return learned


def _flipped(Y: Floats, included: Mask, rng: np.random.Generator) -> Floats:
    """One output of each row flipped, among those that are observed and count."""
    order = np.where(~np.isnan(Y) & included, rng.random(Y.shape), -1.0)
    chosen = order.argmax(axis=1)
    made = Y.copy()
    each = np.arange(len(Y))
    made[each, chosen] = 1 - made[each, chosen]
    return made


def _filled(models: FittedModels, design: Matrix, Y: Floats) -> Floats:
    return models.expectations.filled(design, Y)


def _line(found: Floats, made: Floats, right: Floats) -> Line:
    """The log-likelihood ratio of made rows against found ones, which count as far as they seem ``right``."""
    statistic = np.concatenate([found, made])
    weights = np.concatenate([right, np.full(len(made), right.sum() / len(made))])
    labels = np.concatenate([np.zeros(len(found)), np.ones(len(made))])
    return logistic_line(statistic, labels, weights, least_slope=0.0)


def _blank_rows(seen: Statistics) -> tuple[Line, float]:
    """The log-odds that the right outputs are empty, as a falling line in U, and the share of rows left blank.

    P(empty | U) = share + (1 - share) expit(a - b U), by maximum likelihood. The line has to fall, with b
    between ``LEAST_FALL`` and ``MOST_FALL`` (outputs that do not depend on each other have b = 1), so that
    emptiness which has nothing to do with the inputs counts as an error, and no row is sure to be one. The share
    is 0 where it explains no more than chance does; but where empty rows are rare, all of them count as errors
    unless the inputs explain them better.
    """
    some = np.unique(np.linspace(0, len(seen.is_empty) - 1, MOST_LOOKED_AT).astype(np.intp))
    empty, evidence = seen.is_empty[some], seen.blank[some]
    if empty.sum() in (0, len(empty)):
        return NO_EVIDENCE, 0.0

    def line(parameters: Floats) -> Line:
        fall = LEAST_FALL + (MOST_FALL - LEAST_FALL) * float(expit(parameters[1]))
        return Line(float(parameters[0]), -fall)

    def loss(share: float, parameters: Floats) -> float:
        chance = np.clip(share + (1 - share) * expit(line(parameters)(evidence)), 1e-12, 1 - 1e-12)
        return -float(np.where(empty, np.log(chance), np.log1p(-chance)).sum())

    starts = [np.array([intercept, slope]) for intercept in (0.0, 3.0) for slope in (-1.0, 1.0)]
    none = min((minimize(lambda at: loss(0.0, at), start, method="Nelder-Mead") for start in starts), key=_lost)
    with_share = [np.array([share, *none.x]) for share in (-5.0, -2.5)]
    with_share += [np.array([-3.0, *start]) for start in starts[::3]]
    best = min(
        (minimize(lambda at: loss(float(expit(at[0])), at[1:]), s, method="Nelder-Mead") for s in with_share),
        key=_lost,
    )
    if empty.mean() <= RARELY_EMPTY:
        all_of_them = float(empty.mean())
        blamed = min(
            (minimize(lambda at: loss(all_of_them, at), start, method="Nelder-Mead") for start in starts),
            key=_lost,
        )
        if blamed.fun - best.fun < LEAST_GAIN:
            return line(blamed.x), all_of_them
    if none.fun - best.fun < LEAST_GAIN:
        return line(none.x), 0.0
    return line(best.x[1:]), float(expit(best.x[0]))


def _lost(found: Any) -> float:
    return float(found.fun)


def logistic_line(statistic: Floats, labels: Floats, weights: Floats, least_slope: float | None = None) -> Line:
    """A weighted logistic regression on one variable, by Newton's method on the standardised variable.

    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 0.5])
    >>> logistic_line(x, (x > 0.2).astype(float), np.ones(6)).slope > 1
    True
    """
    centre, spread = float(statistic.mean()), float(statistic.std()) or 1.0
    z = (statistic - centre) / spread
    intercept = slope = 0.0
    for _ in range(NEWTON_STEPS):
        chance = expit(intercept + slope * z)
        residual = weights * (chance - labels)
        curve = weights * chance * (1 - chance)
        gradient = np.array([residual.sum(), residual @ z + RIDGE * slope])
        mixed = curve @ z
        hessian = np.array([[curve.sum() + RIDGE, mixed], [mixed, curve @ z**2 + RIDGE]])
        step = np.linalg.solve(hessian, gradient)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))  # far from the optimum Newton overshoots
        intercept, slope = intercept - float(step[0]), slope - float(step[1])
        if np.abs(step).max() < 1e-8:
            break
    if least_slope is not None and slope < least_slope:
        return NO_EVIDENCE
    return Line(intercept - slope * centre / spread, slope / spread)
