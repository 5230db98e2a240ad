"""How many errors of each kind, learned from the table itself.

Nobody knows which rows are wrong. But we can make wrong rows: flip an output of each row, or give it the outputs
of another row, and see how the models that are there judge it. That gives a log-likelihood ratio for each kind
(:mod:`amiss.scoring.likelihood_ratios`). Expectation maximisation over the rows then gives the share of each kind,
and the ratios are fitted again with rows that look wrong counting less. Whether nothing was annotated needs no
made rows (:mod:`amiss.scoring.blank_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.fitting import FittedModels
from amiss.scoring.blank_rows import learn_blank_rows
from amiss.scoring.doubt import with_doubt
from amiss.scoring.hypotheses import Hypotheses, Statistics, statistics, unpredictability
from amiss.scoring.likelihood_ratios import NO_LINE, NO_PLANE, fit_line, fit_plane
from amiss.scoring.quality import skills
from amiss.scoring.views import Views

FEWEST_ROWS = 50  # of fewer rows no share is estimated
MOST_MADE = 5000
STEPS, REFITS = 60, (0, 5, 10, 20)
FIRST_SHARE, MOST_WRONG = 0.02, 0.6
MOST_LEARNED_FROM = 50_000  # rows: more of them tell nothing new
LEARNED = 0.05  # in log-odds, on average: by how much a model that was shown a row differs from one that was not


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

    @cached_property
    def repeated(self) -> Mask:
        return self.models.ties.repeated(self.Y)

    @property
    def units(self) -> Rows:
        """The first row of each group; of very many, some at even steps."""
        groups = self.models.training_rows.groups
        units = np.arange(len(self.Y)) if groups is None else np.sort(np.unique(groups, return_index=True)[1])
        if len(units) <= MOST_LEARNED_FROM:
            return units
        return units[np.linspace(0, len(units) - 1, MOST_LEARNED_FROM).astype(np.intp)]

    @property
    def n_units(self) -> int:
        """How many outputs count that can be wrong one by one; those of a class are one."""
        counted = self.telling.copy()
        for group in self.models.ties.classes:
            counted[list(self.models.ties.above(group))] = False
            counted[[i for i in group if counted[i]][1:]] = False
        return int(counted.sum())

    def weights_of(self, rows: Rows) -> Floats:
        return self.weights if self.weights.ndim == 1 else self.weights[rows]

    def statistics(self, rows: Rows) -> Statistics:
        """Statistics of some rows as they are."""
        seen = self.log_odds[rows], self.Y[rows], self.weights_of(rows), self.views.held_out[rows]
        return statistics(self.base_rates, self.telling, self.repeated, *seen)

    def of_made(self, rows: Rows, made: Floats) -> Statistics:
        """Statistics of some rows if these were their outputs, by models that did not see the rows."""
        models, design = self.models, self.models.training_rows.design[rows]
        shift = models.log_odds(design, _filled(models, design, made))
        shift -= models.log_odds(design, _filled(models, design, self.Y[rows]))
        seen = self.held_out[rows] + shift, made, self.weights_of(rows), self.views.held_out[rows]
        return statistics(self.base_rates, self.telling, self.repeated, *seen)


def learn_hypotheses(found: Found, seed: int) -> Hypotheses:
    """The shares of the kinds of error in a table, lines for their likelihood ratios, and how much to doubt.

    A group of rows counts once, by the first of them: whoever erred in one row may have erred in all.
    """
    # Outputs that follow from others are doubted by the inputs; so are all if these are predictions already.
    tied = found.models.ties.defined(found.Y.shape[1]) | found.models.only_given, found.repeated
    nothing = Hypotheses(*found.rates, found.telling, *tied, (0.0, 0.0, 0.0), NO_LINE, NO_PLANE, NO_LINE)
    if len(found.Y) < FEWEST_ROWS:
        return nothing
    rng = np.random.default_rng(seed)
    units = found.units
    some = units[np.unique(np.linspace(0, len(units) - 1, MOST_MADE).astype(np.intp))]
    seen = found.statistics(units)
    flipped = found.of_made(some, _flipped(found.Y[some], found.telling, rng))
    several = found.n_units > 1  # in a single choice another row's class is just another class
    swapped = found.of_made(some, found.Y[rng.permutation(some)]) if several else None
    blank, share = NO_LINE, 0.0
    if found.telling.sum() > 1:
        blank, share = learn_blank_rows(seen.is_empty, seen.blank)
    learned = replace(nothing, blank=blank, shares=(FIRST_SHARE, FIRST_SHARE * several, share))
    learned = _expectation_maximisation(learned, seen, flipped, swapped)
    doubts = learned.row_doubts(found.Y[units], found.weights_of(units), found.views.take(units))
    one_class = bool(found.telling.sum() > 1 and not several)
    by_inputs, held_out = found.views.by_inputs[units], found.views.held_out[units]
    apart = np.abs(by_inputs - held_out)[~np.isnan(found.Y[units])]
    unlearned = bool(apart.mean() < LEARNED)
    return with_doubt(learned, seen, doubts, one_class=one_class, unlearned=unlearned)


def _expectation_maximisation(
    learned: Hypotheses, seen: Statistics, flipped: Statistics, swapped: Statistics | None
) -> Hypotheses:
    right = np.ones(len(seen.is_empty))
    for step in range(STEPS):
        if step in REFITS:
            learned = replace(learned, contradiction=fit_line(seen.contradiction, flipped.contradiction, right))
            if swapped is not None:
                pairs = (seen.unrelated, seen.rarity), (swapped.unrelated, swapped.rarity)
                learned = replace(learned, unrelated=fit_plane(*pairs, right))
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
