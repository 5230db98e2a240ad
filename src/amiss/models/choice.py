"""Linear models or boosted trees? For each output, whichever predicts rows outside the folds better.

Logistic regressions are fitted to all outputs. Boosting takes far longer, so it is first tried on one fold of each
output, those with the highest log-loss first, for there is most to gain. Where the trial looks promising, all
folds are boosted, and the log-odds of an output become those of the linear model, of the trees, or the mean of
both, by their log-loss outside the folds.

Trials end when the time budget is used up. It is counted in work, not by the clock, so that the same table gives
the same models on every machine; a second of it is about a second on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_expit

from amiss.arrays import Floats, Mask, Matrix
from amiss.errors import quoted_list
from amiss.models.averages import average_fit, best_shares, held_out
from amiss.models.boosting.fit import BoostedOutput, Boosting, seconds_of_fit
from amiss.models.boosting.trees import constant
from amiss.models.conditional import Fit
from amiss.models.folds import Folds
from amiss.models.logistic.fit import LogisticLearner
from amiss.progress import Progress
from amiss.wording import count

FEWEST = 20  # rows with the rarer value, or trees are not tried
LEAST_GAIN = 0.02  # of the linear model's loss: what predicts hardly better often finds fewer errors
PROMISING = 1.02  # times the linear model's loss on the first fold
TRIALS = 0.5  # of the budget
CORES = 2

Candidate = tuple[int, int]
"""A view (0: with the other outputs, 1: the inputs alone) and an output."""


@dataclass(frozen=True)
class AutoLearner:
    """Fits logistic regressions, and boosted trees where these predict better."""

    linear: LogisticLearner
    time_budget: float

    @property
    def needs_folds(self) -> bool:
        return True

    @property
    def steps_per_output(self) -> int:
        return self.linear.steps_per_output + 1

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
        assert folds is not None  # needs_folds asks for them
        table = design, filled, observed
        linear = self.linear.fit(
            *table, visible, folds, names=names, n_jobs=n_jobs, progress=progress, alone=alone
        )
        seen = [visible] if linear.alone is None else [visible, np.zeros_like(visible)]
        fits = [linear] if linear.alone is None else [linear, linear.alone]
        search = _Search(Boosting(*table, folds), seen, [held_out(fit) for fit in fits], n_jobs)
        boosted, untried = search.within(self.time_budget)
        progress(filled.shape[1])
        chosen = [search.chosen(view, fit, boosted) for view, fit in enumerate(fits)]
        notes = _notes(chosen, names, untried)
        whole = replace(chosen[0][0], notes=notes)
        return whole if linear.alone is None else replace(whole, alone=chosen[1][0])


@dataclass(frozen=True, eq=False)
class _Search:
    """Looks for outputs that trees predict better; ``held_out`` are the linear models' log-odds by view."""

    boosting: Boosting
    seen: Sequence[Mask]
    held_out: Sequence[Floats]
    n_jobs: int | None

    def within(self, budget: float) -> tuple[dict[Candidate, BoostedOutput], set[int]]:
        """Trees of the promising outputs, and the outputs for which the budget did not suffice."""
        candidates = self._candidates()
        tried, spent = [], 0.0
        for candidate in candidates:
            spent += self._seconds(candidate, 1)
            if spent > TRIALS * budget:
                break
            tried.append(candidate)
        spent = sum(self._seconds(candidate, 1) for candidate in tried)
        untried = set(candidates) - set(tried)
        gains = dict(zip(tried, self._trials(tried), strict=True))
        promising = sorted((each for each in tried if gains[each] > -np.inf), key=lambda each: -gains[each])
        wanted = []
        for candidate in promising:
            spent += self._seconds(candidate, self.boosting.n_folds)
            if spent > budget:
                untried.add(candidate)
                spent -= self._seconds(candidate, self.boosting.n_folds)
                continue
            wanted.append(candidate)
        found = self.boosting.outputs([self._asked(each) for each in wanted], self.n_jobs)
        return dict(zip(wanted, found, strict=True)), {output for _, output in untried}

    def chosen(
        self, view: int, linear: Fit, boosted: dict[Candidate, BoostedOutput]
    ) -> tuple[Fit, dict[int, float]]:
        """The fit of a view, and the share that trees have in the outputs where they have one."""
        every, nothing = range(self.boosting.filled.shape[1]), self.boosting.nothing(constant(0.0))
        found = [boosted.get((view, output), nothing) for output in every]
        theirs = np.column_stack([each.held_out for each in found])
        table = self.boosting.filled, self.boosting.observed
        share = best_shares(self.held_out[view], theirs, *table, LEAST_GAIN)
        share[[(view, output) not in boosted for output in every]] = 0.0
        shares = {int(output): float(share[output]) for output in np.flatnonzero(share)}
        if not shares:
            return linear, {}
        trees = self.boosting.fit_of([each if output in shares else nothing for output, each in enumerate(found)])
        return average_fit(linear, trees, share), shares

    def _candidates(self) -> list[Candidate]:
        """Outputs with enough rows of either value, those with the highest loss first."""
        found = []
        for view, by_linear in enumerate(self.held_out):
            for output in range(by_linear.shape[1]):
                told = self.boosting.filled[self.boosting.observed[:, output], output]
                if min((told == 0).sum(), (told == 1).sum()) >= FEWEST:
                    found.append((-self._loss(by_linear[:, output], output), view, output))
        return [(view, output) for _, view, output in sorted(found)]

    def _trials(self, tried: Sequence[Candidate]) -> list[float]:
        """What the first fold says: by how much the loss falls; -inf where it is not promising."""
        losses = self.boosting.trials([self._asked(each) for each in tried], self.n_jobs)
        gains = []
        for (view, output), theirs in zip(tried, losses, strict=True):
            first = self.boosting.folds[:, output] == 0
            ours = self._loss(self.held_out[view][:, output], output, first)
            gains.append(ours - theirs if theirs < PROMISING * ours else -np.inf)
        return gains

    def _loss(self, log_odds: Floats, output: int, some: Mask | None = None) -> float:
        told = self.boosting.observed[:, output] if some is None else some & self.boosting.observed[:, output]
        target = self.boosting.filled[told, output]
        return float(-log_expit(np.where(target == 1, log_odds[told], -log_odds[told])).sum())

    def _asked(self, candidate: Candidate) -> tuple[int, Mask]:
        view, output = candidate
        return output, self.seen[view][:, output]

    def _seconds(self, candidate: Candidate, n_fits: int) -> float:
        n_rows, n_columns = self.boosting.design.shape
        n_seen = int(self._asked(candidate)[1].sum())
        return n_fits * seconds_of_fit(n_rows, n_columns + n_seen) / CORES


def _notes(
    chosen: Sequence[tuple[Fit, dict[int, float]]], names: Sequence[str], untried: set[int]
) -> tuple[str, ...]:
    """What a reader should know of the choice."""
    with_trees = sorted({output for _, shares in chosen for output in shares})
    notes = []
    if with_trees:
        said = quoted_list([names[output] for output in with_trees])
        notes.append(f"Boosted trees help to predict {count(len(with_trees), 'output')}: {said}.")
    elif not untried:
        notes.append("Boosted trees predict no output better than the linear models, so none are used.")
    if untried:
        notes.append(
            f"The time budget did not suffice to try boosted trees on {count(len(untried), 'output')}; "
            "raise it (time_budget, --time-budget) to try them all."
        )
    return tuple(notes)
