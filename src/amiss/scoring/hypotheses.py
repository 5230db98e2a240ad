"""How a row can be wrong, as hypotheses that are weighed against "all is right".

Two views speak of a row: models given x and the other outputs (rho), and models given x alone (rho^x). With d
outputs, base rates b, and local mean errors e, the evidence for each kind of error is

    contradiction   S   = Σ_i log(1 + (1 - rho_i) / (d (rho_i + e_i)))            some outputs were flipped
    inputs          S^x   the same from rho^x                                      outputs do not fit the inputs
    unrelated       PMI = Σ_i log b_i(y_i) - log rho^x_i                           they belong to another row
    blank           U   = -Σ_i log(1 - P(y_i = 1 | x)), if every y_i is 0          nothing was annotated

An error that people make where the case is hard has odds of about exp(S) - 1, whatever the table (S' is explained
below): that is what ``DOUBT`` and ``DOUBT_BY_INPUTS`` weigh. How often an error was made blindly is learned from
the table (:mod:`amiss.scoring.shares`): with a share and a line a + b S for the log-likelihood ratio,

    odds_contradiction = share exp(a + b S) + DOUBT (exp(S') - 1)
    odds_inputs        = DOUBT_BY_INPUTS (exp(S^x) - 1)
    odds_unrelated     = share exp(a + b PMI)
    odds_blank         = share (1 - q) / q,   q = P(the right outputs are empty | x) = expit(a + b U)

A line is trusted up to ``TRUSTED``: far from the rows that it was fitted to it would outbid every other
hypothesis.

A rare value of an output that the models cannot predict is rare, not doubtful. So in S' and S^x log-odds are taken
relative to those of the base rate, by a share that falls from 1 to 0 as the skill of the output's model rises to
``ENOUGH_SKILL``. (Where errors are made blindly, a rare value is suspicious by itself.)

Each hypothesis says how likely each output is the wrong one; ``cells`` adds that up over hypotheses. There a
value is compared with ``OF_BASE_RATE`` of the log-odds that the output has anyway, because people leave out what
is rare more often than they add it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import log_expit, logit

from amiss.arrays import Floats, Mask
from amiss.models.projection import log_rho
from amiss.scoring.by_inputs import ByInputs
from amiss.scoring.rules.flip import Flip

Kind = Literal["contradiction", "inputs", "unrelated", "blank"]
KINDS: tuple[Kind, ...] = ("contradiction", "inputs", "unrelated", "blank")

DOUBT, DOUBT_BY_INPUTS = 0.2, 0.1
TRUSTED = np.array([[4.0], [4.0], [8.0]])  # of contradictions, unrelated rows and blank rows
OF_BASE_RATE = 0.15
ENOUGH_SKILL = 0.05
OF_LOCAL_ERROR = 0.2  # in the odds that one output is wrong
MOST_LOG_ODDS = 30.0
MOST_EVIDENCE = 300.0
FLIP = Flip()


@dataclass(frozen=True)
class Line:
    """The log of a likelihood ratio as a line in some statistic."""

    intercept: float
    slope: float

    def __call__(self, statistic: Floats) -> Floats:
        return np.asarray(self.intercept + self.slope * statistic)


@dataclass(frozen=True, eq=False)
class Statistics:
    """What is seen of some rows: what each output adds, ``(n_rows, n_outputs)``, scaled for missing ones."""

    contradiction: Floats
    doubt: Floats
    inputs: Floats
    unrelated: Floats
    emptiness: Floats
    is_empty: Mask

    @property
    def blank(self) -> Floats:
        return self.emptiness.sum(axis=1)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What the hypotheses say: ``odds`` (n_rows, n_kinds), ``wrong`` (n_rows, n_outputs), and contributions.

    ``wrong`` is the probability that an output is wrong. Contributions add up to the score.
    """

    odds: Floats
    wrong: Floats
    contributions: Floats


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """What was learned of a table: base rates, shares of blind errors, and lines for their likelihood ratios.

    ``unpredictable`` and ``unpredictable_by_inputs`` say how far each output is from being predictable by each of
    the views, from 0 to 1. ``shares`` are of contradictions, of unrelated rows, and of rows left blank, some of
    which are rightly empty; ``blank`` is a line for the log-odds that the right outputs are empty.
    """

    base_rates: Floats
    unpredictable: Floats
    unpredictable_by_inputs: Floats
    included: Mask
    shares: tuple[float, float, float]
    contradiction: Line
    unrelated: Line
    blank: Line

    def statistics(self, log_odds: Floats, Y: Floats, weights: Floats, by_inputs: ByInputs) -> Statistics:
        """What makes the evidence for each hypothesis."""
        rates = self.base_rates, self.unpredictable, self.unpredictable_by_inputs
        return statistics(*rates, self.included, log_odds, Y, weights, by_inputs)

    def log_ratios(self, seen: Statistics) -> Floats:
        """Log-likelihood ratios of the three kinds of blind errors, ``(3, n_rows)``."""
        return np.stack([
            np.minimum(self.contradiction(seen.contradiction.sum(axis=1)), MOST_EVIDENCE),
            np.minimum(self.unrelated(seen.unrelated.sum(axis=1)), MOST_EVIDENCE),
            np.where(seen.is_empty, np.minimum(-self.blank(seen.blank), MOST_EVIDENCE), -np.inf),
        ])  # fmt: skip

    def verdicts(self, log_odds: Floats, Y: Floats, weights: Floats, by_inputs: ByInputs) -> Verdicts:
        """Odds of each kind of error, how likely each output is wrong, and what it adds to the score."""
        seen = self.statistics(log_odds, Y, weights, by_inputs)
        with np.errstate(divide="ignore"):
            ratios = _trusted(self.log_ratios(seen), TRUSTED)
            flipped, unrelated, blank = np.exp(np.log(self.shares)[:, None] + ratios)
        doubt = DOUBT * _expm1(seen.doubt.sum(axis=1))
        by_inputs_alone = DOUBT_BY_INPUTS * _expm1(seen.inputs.sum(axis=1))
        odds = np.stack([flipped + doubt, by_inputs_alone, unrelated, blank], axis=1)
        cells = self._cells(log_odds, Y, weights, by_inputs, flipped, unrelated + blank)
        total = np.log1p(odds.sum(axis=1))
        sums = cells.evidence.sum(axis=1)
        share = np.divide(cells.evidence, sums[:, None], out=np.zeros_like(log_odds), where=sums[:, None] > 0)
        within = 1 + (flipped + unrelated + blank)[:, None] + cells.doubt.sum(axis=1, keepdims=True)
        return Verdicts(odds, cells.evidence / within, total[:, None] * share)

    def _cells(
        self,
        log_odds: Floats,
        Y: Floats,
        weights: Floats,
        by_inputs: ByInputs,
        flipped: Floats,
        all_wrong: Floats,
    ) -> _Cells:
        counted = ~np.isnan(Y) & self.included
        d, usual = Y.shape[1], logit(self.base_rates)

        def odds_against(log_odds: Floats, share: float | Floats) -> Floats:
            return np.where(counted, _odds_against(log_odds - share * usual, Y), 0.0)

        against = odds_against(log_odds, OF_BASE_RATE)
        against_x = odds_against(by_inputs.log_odds, OF_BASE_RATE)
        in_doubt = odds_against(log_odds, np.maximum(OF_BASE_RATE, self.unpredictable))
        in_doubt_x = odds_against(by_inputs.log_odds, np.maximum(OF_BASE_RATE, self.unpredictable_by_inputs))
        doubt = DOUBT / d * in_doubt / (1 + OF_LOCAL_ERROR * in_doubt / weights)
        doubt += DOUBT_BY_INPUTS / d * in_doubt_x / (1 + OF_LOCAL_ERROR * in_doubt_x / by_inputs.weights)
        flip = against / (1 + against / weights) / d
        flip /= 1 + flip
        any_flip = -np.expm1(np.log1p(-np.minimum(flip, 1 - 1e-12)).sum(axis=1, keepdims=True))
        which = np.divide(flip, any_flip, out=np.zeros_like(flip), where=any_flip > 0)
        differs = against_x / (1 + against_x)
        return _Cells(doubt, doubt + flipped[:, None] * which + all_wrong[:, None] * differs)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The odds that each output is wrong, by doubt alone and by all hypotheses, ``(n_rows, n_outputs)``."""

    doubt: Floats
    evidence: Floats


def unpredictability(skill: Floats) -> Floats:
    """How far outputs are from being predictable, from 1 (no skill) to 0 (enough).

    >>> unpredictability(np.array([-0.1, 0.0, 0.02, 0.5])).round(2)
    array([1. , 1. , 0.6, 0. ])
    """
    return np.clip(1 - skill / ENOUGH_SKILL, 0.0, 1.0)


def statistics(
    base_rates: Floats,
    unpredictable: Floats,
    unpredictable_by_inputs: Floats,
    included: Mask,
    log_odds: Floats,
    Y: Floats,
    weights: Floats,
    by_inputs: ByInputs,
) -> Statistics:
    """What each output of each row adds to the evidence for the hypotheses."""
    counted = ~np.isnan(Y) & included
    present = counted.sum(axis=1, keepdims=True)
    scale = included.sum() / np.maximum(present, 1)

    def scaled(terms: Floats) -> Floats:
        return np.asarray(np.where(counted, terms, 0.0) * scale)

    usual, base = np.where(Y == 1, np.log(base_rates), np.log1p(-base_rates)), logit(base_rates)
    doubted, doubted_x = log_odds - unpredictable * base, by_inputs.log_odds - unpredictable_by_inputs * base
    return Statistics(
        contradiction=scaled(FLIP.terms(log_rho(log_odds, Y), weights)),
        doubt=scaled(FLIP.terms(log_rho(doubted, Y), weights)),
        inputs=scaled(FLIP.terms(log_rho(doubted_x, Y), by_inputs.weights)),
        unrelated=scaled(usual - log_rho(by_inputs.held_out, Y)),
        emptiness=scaled(-log_expit(-by_inputs.held_out)),
        is_empty=((Y == 1) & counted).sum(axis=1) == 0,
    )


def _odds_against(log_odds: Floats, Y: Floats) -> Floats:
    """Odds of the value that does not stand there."""
    return np.exp(np.clip(np.where(Y == 1, -log_odds, log_odds), -MOST_LOG_ODDS, MOST_LOG_ODDS))


def _expm1(evidence: Floats) -> Floats:
    return np.expm1(np.minimum(evidence, MOST_EVIDENCE))


def _trusted(log_ratio: Floats, most: Floats) -> Floats:
    """The same where it speaks against an error; bounded, but still rising, where it speaks for one."""
    return np.where(log_ratio > 0, most * np.tanh(log_ratio / most) + 1e-3 * log_ratio, log_ratio)
