"""How a row with outputs of several kinds can be wrong: some value contradicts the others, or some do not fit x.

Every kind of output gives odds against what was observed, o = (1 - rho) / rho
(:mod:`amiss.models.mixed.model`), by models given the inputs and the other outputs and by models given the
inputs alone. With e the local mean error of a view,

    c_i = o_i / (1 + ``OF_LOCAL_ERROR`` e_i o_i)

so no tag or class counts more than its reliability justifies; of amounts c_i = o_i, because their scale is local.
The evidence of each view is a sum over outputs

    contradiction   T   = Σ_i log(1 + c_i / d)
    inputs          T^x = Σ_i log(1 + min(c^x_i, ``MOST_BY_INPUTS``))

With d outputs, T is the evidence that some of them are wrong, each with odds of 1 to d, as in FLIP. An error made
in a single output is seen by the first, and one made in all of them (shifted together, or another row's) by the
second, because then the outputs vouch for each other. Which errors there are, the table itself tells: in most
tables the evidence of right rows falls off exponentially, and its rate is that of the middle of the distribution,
which errors do not reach. So U is T minus its median in units of that rate. Rows beyond are errors, of share pi
and mean mu, and expectation maximisation over both views finds these. With L = log pi - log mu + U (1 - 1/mu) of
each view, the first less ``HELD_BACK``,

    Score(n) = log(1 + exp L + exp L^x) = -log P(row n is right)

Where many outputs deviate together the inputs' mu is large, and their view decides; where single ones do, the
other one's. (docs/measurements/kinds.md has what was tried.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.scoring.hypotheses import ENOUGH_SKILL, KINDS, OF_BASE_RATE, Verdicts
from amiss.scoring.views import Views

OF_LOCAL_ERROR = 0.01
MOST_BY_INPUTS = 20.0
MIDDLE, UPPER = 0.5, 0.65  # quantiles between which the rate of right rows is measured
LEAST_RATE = 0.2  # evidence: where most rows have hardly any, less than this says nothing
HELD_BACK = 1.0
EXPECTED = (2.0, 100.0)  # wrong rows, of so many, before anything is seen
STEPS, FIRST_SHARE, FIRST_MEAN = 100, 0.03, 4.0
LEAST_MEAN, LEAST_SHARE, MOST_SHARE = 4.0, 1e-4, 0.3
MOST_LOG_ODDS = 30.0
MOST_EVIDENCE = 300.0


@dataclass(frozen=True)
class Tail:
    """The evidence of one view: median and rate of right rows, share and mean (in rates) of wrong ones."""

    median: float
    rate: float
    share: float
    mean: float

    def standardised(self, evidence: Floats) -> Floats:
        return (evidence - self.median) / self.rate

    def log_odds(self, evidence: Floats) -> Floats:
        """Of a row being wrong."""
        return np.asarray(
            np.log(self.share) - np.log(self.mean) + self.standardised(evidence) * (1 - 1 / self.mean)
        )


@dataclass(frozen=True, eq=False)
class TwoViews:
    """What was learned of a table whose outputs are of several kinds.

    ``unpredictable`` and ``unpredictable_by_inputs`` say how far each output is from being predictable, from 0 to
    1, ``choices`` which outputs are no amounts.
    """

    unpredictable: Floats
    unpredictable_by_inputs: Floats
    included: Mask
    choices: Mask
    contradiction: Tail
    inputs: Tail

    def verdicts(self, log_odds: Floats, Y: Floats, weights: Floats, views: Views) -> Verdicts:
        """Odds of each kind of error, how likely each output is wrong, and what it adds to the score."""
        cells, cells_x = self.doubts(log_odds, Y, weights, views)
        sums, sums_x = self.evidence(cells, cells_x, Y)
        log_odds_rows = np.stack([self.contradiction.log_odds(sums) - HELD_BACK, self.inputs.log_odds(sums_x)])
        total = np.logaddexp.reduce([np.zeros(len(Y)), *log_odds_rows], axis=0)
        chance = np.exp(log_odds_rows - total)  # of either, summing to that of being wrong
        shares = [_shares(np.log1p(each)) for each in (cells / Y.shape[1], cells_x)]
        wrong = chance[0][:, None] * _shares(cells) + chance[1][:, None] * cells_x / (1 + cells_x)
        blame = chance[0][:, None] * shares[0] + chance[1][:, None] * shares[1]
        odds = np.zeros((len(Y), len(KINDS)))
        odds[:, :2] = np.exp(np.minimum(log_odds_rows, MOST_EVIDENCE)).T
        return Verdicts(odds, wrong, total[:, None] * _shares(blame))

    def doubts(self, log_odds: Floats, Y: Floats, weights: Floats, views: Views) -> tuple[Floats, Floats]:
        """c_i by both views, ``(n_rows, n_outputs)``; 0 for outputs that do not count."""
        against = self._against(log_odds, Y, self.unpredictable, views)
        against_x = self._against(views.by_inputs, Y, self.unpredictable_by_inputs, views)
        of_error = OF_LOCAL_ERROR * self.choices
        cells = against / (1 + of_error * against / weights)
        cells_x = against_x / (1 + of_error * against_x / views.weights)
        return cells, np.minimum(cells_x, MOST_BY_INPUTS)

    def evidence(self, cells: Floats, cells_x: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """T of both views, ``(n_rows,)``, scaled for missing outputs."""
        counted = ~np.isnan(Y) & self.included
        scale = self.included.sum() / np.maximum(counted.sum(axis=1), 1)
        sums, sums_x = (np.log1p(each).sum(axis=1) * scale for each in (cells / Y.shape[1], cells_x))
        return np.asarray(sums), np.asarray(sums_x)

    def is_unrelated(self, odds: Floats) -> bool:
        """Whether all outputs look like another row's; that is not told apart here."""
        return False

    def _against(self, log_odds: Floats, Y: Floats, unpredictable: Floats, views: Views) -> Floats:
        """Odds of another value than the observed one; of choices relative to a share of the base rate's."""
        assert views.usual is not None
        relative = log_odds - np.maximum(OF_BASE_RATE, unpredictable) * self.choices * views.usual
        against = np.exp(np.clip(np.where(Y == 1, -relative, relative), -MOST_LOG_ODDS, MOST_LOG_ODDS))
        return np.where(~np.isnan(Y) & self.included, against, 0.0)


def learn_two_views(
    log_odds: Floats,
    Y: Floats,
    weights: Floats,
    views: Views,
    included: Mask,
    choices: Mask,
    skill: Floats,
    skill_by_inputs: Floats,
) -> TwoViews:
    """What the rows of a fit show: how the evidence of right rows falls off, and how many rows are beyond.

    ``choices`` are the outputs that are no amounts. ``skill`` is how well each output is predicted by either view.
    """
    nothing = Tail(0.0, 1.0, FIRST_SHARE, FIRST_MEAN)
    unpredictable = [np.clip(1 - each / ENOUGH_SKILL, 0.0, 1.0) for each in (skill, skill_by_inputs)]
    start = TwoViews(unpredictable[0], unpredictable[1], included, choices, nothing, nothing)
    found = start.evidence(*start.doubts(log_odds, Y, weights, views), Y)
    tails = _expectation_maximisation([_tail(each) for each in found], list(found))
    return TwoViews(unpredictable[0], unpredictable[1], included, choices, *tails)


def _tail(evidence: Floats) -> Tail:
    middle, upper = np.quantile(evidence, [MIDDLE, UPPER])
    rate = max(upper - middle, LEAST_RATE) / np.log((1 - MIDDLE) / (1 - UPPER))
    return Tail(float(middle), float(rate), FIRST_SHARE, FIRST_MEAN)


def _expectation_maximisation(tails: list[Tail], evidence: list[Floats]) -> list[Tail]:
    """Shares and means of the rows that are wrong by either view."""
    beyond = np.maximum(np.stack([t.standardised(e) for t, e in zip(tails, evidence, strict=True)]), 0.0)
    share, mean = np.full(len(tails), FIRST_SHARE), np.full(len(tails), FIRST_MEAN)
    for _ in range(STEPS):
        ratio = beyond * (1 - 1 / mean[:, None]) - np.log(mean)[:, None]
        odds = share[:, None] * np.exp(np.minimum(ratio, MOST_EVIDENCE))
        chance = odds / (1 - share.sum() + odds.sum(axis=0))
        total = chance.sum(axis=1)
        share = np.clip((total + EXPECTED[0]) / (beyond.shape[1] + EXPECTED[1]), LEAST_SHARE, MOST_SHARE)
        mean = np.maximum((chance * beyond).sum(axis=1) / np.maximum(total, 1e-9), LEAST_MEAN)
    found = zip(tails, share.tolist(), mean.tolist(), strict=True)
    return [replace(tail, share=of_wrong, mean=how_far) for tail, of_wrong, how_far in found]


def _shares(values: Floats) -> Floats:
    """Each row divided by its sum; where that is 0, all columns alike."""
    total = values.sum(axis=1, keepdims=True)
    return np.divide(values, total, out=np.full_like(values, 1 / values.shape[1]), where=total > 0)
