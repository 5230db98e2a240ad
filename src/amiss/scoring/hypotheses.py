"""How a row can be wrong, as hypotheses that are weighed against "all is right".

Two views speak of a row: models given x and the other outputs (rho), and models given x alone (rho^x). With d
outputs, base rates b, and local mean errors e, the evidence for each kind of error is

    contradiction   S   = Σ_i log(1 + (1 - rho_i) / (d (rho_i + e_i)))            some outputs were flipped
    unrelated       PMI = Σ_i log b_i(y_i) - log rho^x_i                           they belong to another row
    blank           U   = -Σ_i log(1 - P(y_i = 1 | x)), if every y_i is 0          nothing was annotated

How often such an error was made *blindly*, whatever the inputs, is learned from the table
(:mod:`amiss.scoring.shares`). Rare outputs are hard to predict, so unrelated ones are told from right ones of the
same rarity, R = -Σ_i log b_i(y_i). With a share and a log-likelihood ratio of each kind,

    blind odds of a contradiction     share exp(a + b S)
    odds of unrelated outputs         share exp(a + b PMI + c R)
    odds of a row left blank          share (1 - q) / q,   q = P(the right outputs are empty | x) = expit(a + b U)

A ratio is trusted up to ``TRUSTED``: far from the rows that it was fitted to it would outbid every other
hypothesis.

People err where a case is hard, not blindly. A value is *doubtful* if a model does not believe it even after it
was shown the row, so doubt has log-odds of its own (:class:`~amiss.scoring.views.Views`). With o_i the odds
against the observed value by each view,

    doubt    c_i = D / d · o_i / (1 + ``OF_LOCAL_ERROR`` e_i o_i),     D = ``DOUBT`` or ``DOUBT_BY_INPUTS``
    odds of an error of judgement     scale (Π_i (1 + c_i) - 1)

The first view's odds count as a contradiction, the second's as outputs that do not fit the inputs. The scale is
learned from the table (:mod:`amiss.scoring.doubt`). Outputs that follow from each other by definition vouch for
each other's errors, so they are doubted by the second view alone, with both D, and a blank row counts them once.

People leave out what is rare more often than they add it, and a rare value of an output that no model can predict
is rare, not doubtful. So o_i is taken relative to a share of the base rate's odds: ``OF_BASE_RATE`` of its
log-odds, up to all of them as the skill of the output's model falls from ``ENOUGH_SKILL`` to 0.

Each hypothesis says how likely each output is the wrong one. An output is never more likely wrong than its row.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from scipy.special import log_expit, logit

from amiss.arrays import BLOCK_ROWS, Floats, Mask, Rows, row_blocks
from amiss.models.projection import log_rho
from amiss.scoring.likelihood_ratios import Line, Plane
from amiss.scoring.rules.flip import Flip
from amiss.scoring.views import Views

Kind = Literal["contradiction", "inputs", "unrelated", "blank"]
KINDS: tuple[Kind, ...] = ("contradiction", "inputs", "unrelated", "blank")

DOUBT, DOUBT_BY_INPUTS = 0.05, 0.02
TRUSTED = np.array([[6.0], [2.0], [10.0]])  # of contradictions, unrelated rows and blank rows
BEYOND = 0.05  # of the log-likelihood ratio counts where it is not trusted: rows do not tie
OF_BASE_RATE = 0.15
ENOUGH_SKILL = 0.05
OF_LOCAL_ERROR = 0.1
MOST_LOG_ODDS = 30.0
MOST_EVIDENCE = 300.0
FLIP = Flip()


def judged_by_inputs(odds: Floats) -> Mask:
    """Which rows with these odds look like an error that the models of the inputs alone see: no contradiction."""
    return np.asarray(np.argmax(odds, axis=-1) != KINDS.index("contradiction"))


@dataclass(frozen=True, eq=False)
class Statistics:
    """What is seen of some rows: S, PMI, R and U, ``(n_rows,)``, scaled for missing outputs."""

    contradiction: Floats
    unrelated: Floats
    rarity: Floats
    blank: Floats
    is_empty: Mask

    def take(self, rows: Rows) -> Statistics:
        """The same of some rows."""
        return Statistics(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What the hypotheses say: ``odds`` (n_rows, n_kinds), ``wrong`` (n_rows, n_outputs), and contributions.

    ``wrong`` is the probability that an output is wrong. Contributions add up to the score.
    """

    odds: Floats
    wrong: Floats
    contributions: Floats


@dataclass(frozen=True, eq=False)
class Doubts:
    """Odds against each observed value by both views, c_i of both, and the odds of an error of judgement.

    ``against`` and ``by_inputs_against`` are (n_rows, n_outputs), as are ``cells`` and ``by_inputs_cells``;
    ``rows`` is (n_rows, 2). All but the first two are multiplied by the scale.
    """

    against: Floats
    by_inputs_against: Floats
    cells: Floats
    by_inputs_cells: Floats
    rows: Floats


@dataclass(frozen=True, eq=False)
class RowDoubts:
    """What the doubts come to for whole rows, ``(n_rows,)``.

    ``by_both`` are the highest odds against one of a row's values that both views agree on, ``counted`` says
    whether any value counts, and ``odds`` are those of an error of judgement.
    """

    by_both: Floats
    counted: Mask
    odds: Floats

    def take(self, rows: Rows) -> RowDoubts:
        """The same of some rows."""
        return RowDoubts(self.by_both[rows], self.counted[rows], self.odds[rows])


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """What was learned of a table: base rates, shares of blind errors, their likelihood ratios, doubt.

    ``unpredictable`` and ``unpredictable_by_inputs`` say how far each output is from being predictable by each of
    the views, from 0 to 1. ``defined`` outputs follow from others by definition, ``repeated`` ones say nothing
    about empty rows that others do not say (:mod:`amiss.models.ties`). ``shares`` are of contradictions, of
    unrelated rows, and of rows left blank, some of which are rightly empty; ``blank`` is a line for the log-odds
    that the right outputs are empty. ``doubt`` is the scale of the odds of errors of judgement, and ``believed``
    says whether the doubtful rows count as wrong.
    """

    base_rates: Floats
    unpredictable: Floats
    unpredictable_by_inputs: Floats
    included: Mask
    defined: Mask
    repeated: Mask
    shares: tuple[float, float, float]
    contradiction: Line
    unrelated: Plane
    blank: Line
    doubt: float = 1.0
    believed: bool = False

    def statistics(self, log_odds: Floats, Y: Floats, weights: Floats, held_out: Floats) -> Statistics:
        """What makes the evidence for blind errors."""
        return statistics(self.base_rates, self.included, self.repeated, log_odds, Y, weights, held_out)

    def log_ratios(self, seen: Statistics) -> Floats:
        """Log-likelihood ratios of the three kinds of blind errors, ``(3, n_rows)``."""
        return np.stack([
            np.minimum(self.contradiction(seen.contradiction), MOST_EVIDENCE),
            np.minimum(self.unrelated(seen.unrelated, seen.rarity), MOST_EVIDENCE),
            np.where(seen.is_empty, np.minimum(-self.blank(seen.blank), MOST_EVIDENCE), -np.inf),
        ])  # fmt: skip

    def blind_odds(self, seen: Statistics, *, bounded: bool = True) -> Floats:
        """Odds of the three kinds of blind errors, ``(3, n_rows)``, as far as the ratios are trusted or beyond."""
        ratios = self.log_ratios(seen)
        with np.errstate(divide="ignore"):
            log_shares = np.log(self.shares)[:, None]
        return np.asarray(np.exp(log_shares + (_trusted(ratios, TRUSTED) if bounded else ratios)))

    def is_unrelated(self, odds: Floats) -> bool:
        """Whether outputs with these odds are rather another row's than right, if the ratio is trusted fully."""
        share, most = self.shares[1], TRUSTED[1, 0]
        if not share:
            return False
        even = share * np.exp(_trusted(np.array(-np.log(share)), most))
        return bool(odds[KINDS.index("unrelated")] >= even)

    def expected_blind(self, seen: Statistics) -> float:
        """The expected number of rows with a blind error, as the shares have it."""
        odds = self.blind_odds(seen, bounded=False).sum(axis=0)
        return float((odds / (1 + odds)).sum())

    def doubts(self, Y: Floats, weights: Floats, views: Views) -> Doubts:
        """What the models do not believe, although they were shown it."""
        against = self._against(views.doubted, Y, self.unpredictable)
        against_x = self._against(views.by_inputs, Y, self.unpredictable_by_inputs)
        against = np.where(self.defined, against_x, against)
        share = np.where(self.defined, 0.0, DOUBT)
        share_x = DOUBT + DOUBT_BY_INPUTS - share
        scale, d = _scale(self._counted(Y), self.included), Y.shape[1]
        cells = share / d * against / (1 + OF_LOCAL_ERROR * against / weights)
        cells_x = share_x / d * against_x / (1 + OF_LOCAL_ERROR * against_x / views.weights)
        evidence = np.stack([np.log1p(each).sum(axis=1) * scale for each in (cells, cells_x)], axis=1)
        rows = np.expm1(np.minimum(evidence, MOST_EVIDENCE))
        return Doubts(against, against_x, self.doubt * cells, self.doubt * cells_x, self.doubt * rows)

    def row_doubts(self, Y: Floats, weights: Floats, views: Views) -> RowDoubts:
        """The doubts of many rows, block by block: those of single outputs would be many tables of that size."""
        n_rows = len(Y)
        found = RowDoubts(np.empty(n_rows), np.empty(n_rows, dtype=bool), np.empty(n_rows))
        for rows in row_blocks(n_rows):
            mine = weights if weights.ndim == 1 else weights[rows]
            doubts = self.doubts(Y[rows], mine, views.take(rows))
            least = np.minimum(doubts.against, doubts.by_inputs_against)
            found.by_both[rows] = least.max(axis=1, initial=0.0)
            found.counted[rows] = (doubts.against > 0).any(axis=1)
            found.odds[rows] = doubts.rows.sum(axis=1)
        return found

    def verdicts(self, log_odds: Floats, Y: Floats, weights: Floats, views: Views) -> Verdicts:
        """Odds of each kind of error, how likely each output is wrong, and what it adds to the score."""
        flipped, unrelated, blank = self.blind_odds(self.statistics(log_odds, Y, weights, views.held_out))
        doubts = self.doubts(Y, weights, views)
        odds = np.stack([flipped + doubts.rows[:, 0], doubts.rows[:, 1], unrelated, blank], axis=1)
        judgement = doubts.cells + doubts.by_inputs_cells
        blind = flipped[:, None] * self._flipped_cells(log_odds, Y, weights)
        blind += (unrelated + blank)[:, None] * self._differing_cells(Y, views)
        evidence, total = judgement + blind, np.log1p(odds.sum(axis=1, keepdims=True))
        wrong = evidence / (1 + (flipped + unrelated + blank)[:, None] + judgement)
        sums = evidence.sum(axis=1, keepdims=True)
        share = np.divide(evidence, sums, out=np.zeros_like(log_odds), where=sums > 0)
        return Verdicts(odds, wrong, total * share)

    def _flipped_cells(self, log_odds: Floats, Y: Floats, weights: Floats) -> Floats:
        """The chance that each output was flipped if some output was."""
        against = self._against(log_odds, Y)
        flip = against / (1 + against / weights) / Y.shape[1]
        flip /= 1 + flip
        any_flip = -np.expm1(np.log1p(-np.minimum(flip, 1 - 1e-12)).sum(axis=1, keepdims=True))
        return np.divide(flip, any_flip, out=np.zeros_like(flip), where=any_flip > 0)

    def _differing_cells(self, Y: Floats, views: Views) -> Floats:
        """The chance that each output has another value if all of them were drawn anew."""
        against = self._against(views.by_inputs, Y)
        return np.asarray(against / (1 + against))

    def _against(self, log_odds: Floats, Y: Floats, unpredictable: float | Floats = 0.0) -> Floats:
        """Odds of the value that was not observed, relative to a share of the base rate's."""
        relative = log_odds - np.maximum(OF_BASE_RATE, unpredictable) * logit(self.base_rates)
        against = np.exp(np.clip(np.where(Y == 1, -relative, relative), -MOST_LOG_ODDS, MOST_LOG_ODDS))
        return np.where(self._counted(Y), against, 0.0)

    def _counted(self, Y: Floats) -> Mask:
        return np.asarray(~np.isnan(Y) & self.included)


def unpredictability(skill: Floats) -> Floats:
    """How far outputs are from being predictable, from 1 (no skill) to 0 (enough).

    >>> unpredictability(np.array([-0.1, 0.0, 0.02, 0.5])).round(2)
    array([1. , 1. , 0.6, 0. ])
    """
    return np.clip(1 - skill / ENOUGH_SKILL, 0.0, 1.0)


def statistics(
    base_rates: Floats,
    included: Mask,
    repeated: Mask,
    log_odds: Floats,
    Y: Floats,
    weights: Floats,
    held_out: Floats,
) -> Statistics:
    """The evidence for blind errors, of rows with these log-odds; ``held_out`` are given the inputs alone."""
    if len(Y) > BLOCK_ROWS:  # block by block: it takes several arrays as large as the outputs
        parts = [
            statistics(
                base_rates,
                included,
                repeated,
                log_odds[rows],
                Y[rows],
                weights if weights.ndim == 1 else weights[rows],
                held_out[rows],
            )
            for rows in row_blocks(len(Y))
        ]
        return Statistics(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Statistics)))
    counted = ~np.isnan(Y) & included
    scale = _scale(counted, included)

    def total(terms: Floats) -> Floats:
        return np.asarray(np.where(counted, terms, 0.0).sum(axis=1) * scale)

    usual = np.where(Y == 1, np.log(base_rates), np.log1p(-base_rates))
    return Statistics(
        contradiction=total(FLIP.terms(log_rho(log_odds, Y), weights)),
        unrelated=total(usual - log_rho(held_out, Y)),
        rarity=total(-usual),
        blank=total(np.where(repeated, 0.0, -log_expit(-held_out))),
        is_empty=counted.any(axis=1) & ~((Y == 1) & counted).any(axis=1),
    )


def _scale(counted: Mask, included: Mask) -> Floats:
    """By how much the sum over the outputs that are there falls short of that over all, ``(n_rows,)``."""
    return np.asarray(included.sum() / np.maximum(counted.sum(axis=1), 1))


def _trusted(log_ratio: Floats, most: Floats) -> Floats:
    """The same where it speaks against an error; bounded, but still rising, where it speaks for one."""
    return np.where(log_ratio > 0, most * np.tanh(log_ratio / most) + BEYOND * log_ratio, log_ratio)
