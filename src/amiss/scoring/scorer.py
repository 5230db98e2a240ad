"""The scorer of a fit: its rule, weights and neighbours, which score other rows alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask, Matrix, Neighbors, Rows
from amiss.models.fitting import FittedModels
from amiss.models.mixed.model import MixedModel, observed_log_odds
from amiss.models.projection import log_rho
from amiss.scoring.forecast import Forecast
from amiss.scoring.hypotheses import KINDS, Hypotheses
from amiss.scoring.neighborhood import Neighborhood
from amiss.scoring.rules import ScoringRule, contributions
from amiss.scoring.spaces import NeighborSpace
from amiss.scoring.two_views import TwoViews
from amiss.scoring.views import Views
from amiss.scoring.weightings import Weighting
from amiss.scoring.weights import mean_errors
from amiss.threads import in_blocks
from amiss.wording import count


@dataclass(frozen=True, eq=False)
class LocalErrors:
    """What local weights need of the training rows: who is near whom, and their errors by one of the views."""

    neighborhood: Neighborhood
    errors: Floats
    observed: Mask
    mean_errors: Floats

    @classmethod
    def of(cls, neighborhood: Neighborhood, errors: Floats, observed: Mask) -> LocalErrors:
        return cls(neighborhood, errors, observed, mean_errors(errors, observed))


@dataclass(frozen=True, eq=False)
class ViewWeights:
    """Weights by one of the views: the same for every row, or from the ``local`` errors."""

    everywhere: Floats | None
    local: LocalErrors | None

    def of(
        self, rule: ScoringRule, weighting: Weighting, near: Neighbors | None, n_jobs: int | None = None
    ) -> Floats:
        if self.everywhere is not None:
            return self.everywhere
        local = self.local
        assert local is not None and near is not None
        return rule.local_weights(local.errors, local.observed, local.mean_errors, near, weighting, n_jobs)


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores rows by a rule, with ``global_weights`` or with weights from ``local`` errors.

    ``share`` is the share that models which did not see a row have in the log-odds of training rows,
    ``doubt_share`` the same in the log-odds that doubts come from. ``by_inputs`` gives weights by the models of
    the inputs alone and ``hypotheses`` is what was learned of the table; both are None for rules that need
    neither.
    """

    rule: ScoringRule
    weighting: Weighting
    included: Mask
    share: float
    doubt_share: float
    global_weights: Floats | None
    local: LocalErrors | None
    neighbor_space: NeighborSpace
    n_jobs: int | None
    verbose: bool
    by_inputs: ViewWeights | None = None
    hypotheses: Hypotheses | TwoViews | None = None

    def __repr__(self) -> str:
        weights = "global" if self.local is None else "local"
        outputs = f"{int(self.included.sum())} of {count(len(self.included), 'output')}"
        return f"<Scorer: rule {self.rule.name!r}, {weights} weights, {outputs}>"

    @property
    def searched(self) -> str:
        """The search of neighbours that was used, by its name."""
        return "exact" if self.local is None or self.local.neighborhood.neighbors is not None else "approximate"

    def contributions(self, log_odds: Floats, Y: Floats, weights: Floats, views: Views | None = None) -> Floats:
        """What each output adds to the score, by its log-odds and weights, ``(n_rows, n_outputs)``."""
        return self.judged(log_odds, Y, weights, views).contributions

    def judged(self, log_odds: Floats, Y: Floats, weights: Floats, views: Views | None = None) -> Judged:
        """What each output adds to the score and, by hypotheses, what kind of error it looks like and where."""
        added = np.empty_like(log_odds)
        if self.hypotheses is None or views is None:

            def work(rows: slice) -> None:
                mine = weights if weights.ndim == 1 else weights[rows]
                Y_rows = Y[rows]
                rho = log_rho(log_odds[rows], Y_rows)
                added[rows] = contributions(self.rule, rho, mine, ~np.isnan(Y_rows), self.included)

            in_blocks(len(added), work, self.n_jobs)
            return Judged(added)

        hypotheses, seen = self.hypotheses, views
        odds, wrong = np.empty((len(added), len(KINDS))), np.empty_like(log_odds)

        def weigh(rows: slice) -> None:
            mine = weights if weights.ndim == 1 else weights[rows]
            found = hypotheses.verdicts(log_odds[rows], Y[rows], mine, seen.take(rows))
            added[rows], odds[rows], wrong[rows] = found.contributions, found.odds, found.wrong

        in_blocks(len(added), weigh, self.n_jobs)
        return Judged(added, odds, wrong)

    def seen(self, models: FittedModels, design: Matrix, Y: Floats) -> Seen:
        """What makes the scores of new rows."""
        filled = models.expectations.filled(design, Y)
        near = self.neighbors(design, filled)
        if isinstance(models.model, MixedModel):
            return self._seen_of_kinds(models, models.model, design, filled, near)
        log_odds = models.log_odds(design, filled)
        views = self._views(models, design, filled, near, log_odds)
        return Seen(log_odds, self.weights(near), views)

    def _seen_of_kinds(
        self, models: FittedModels, model: MixedModel, design: Matrix, filled: Floats, near: Neighbors | None
    ) -> Seen:
        """The same of rows whose outputs are of several kinds."""
        layout, found, alone = model.layout, model.predicted(design, filled), models.inputs_model
        log_odds = observed_log_odds(layout, filled, found)
        if not isinstance(alone, MixedModel):
            return Seen(log_odds, self.weights(near), None, Forecast(layout, found, found, model.residuals))
        by_inputs, views = alone.predicted(design, filled), None
        if self.by_inputs is not None:
            odds = observed_log_odds(layout, filled, by_inputs)
            weights = self.by_inputs.of(self.rule, self.weighting, near, self.n_jobs)
            views = Views(log_odds, odds, odds, weights, models.usual_log_odds(filled))
        return Seen(log_odds, self.weights(near), views, Forecast(layout, found, by_inputs, model.residuals))

    def _views(
        self, models: FittedModels, design: Matrix, filled: Floats, near: Neighbors | None, log_odds: Floats
    ) -> Views | None:
        """The other views of new rows, if the rule asks for them."""
        if self.by_inputs is None:
            return None
        alone = models.inputs_log_odds(design, filled)
        assert alone is not None
        return Views(log_odds, alone, alone, self.by_inputs.of(self.rule, self.weighting, near, self.n_jobs))

    def neighbors(self, design: Matrix, filled: Floats, own: Rows | None = None) -> Neighbors | None:
        """The training rows near some rows, where weights are local; ``own`` are not to be found again."""
        if self.local is None:
            return None
        neighborhood = self.local.neighborhood
        points = self.neighbor_space.of(neighborhood.inputs(design), neighborhood.outputs(filled))
        return neighborhood.of(points, own, self.n_jobs, self.verbose)

    def weights(self, near: Neighbors | None) -> Floats:
        """Local weights of rows with these neighbours, or the global weights."""
        return ViewWeights(self.global_weights, self.local).of(self.rule, self.weighting, near, self.n_jobs)


def training_weights(scorer: Scorer) -> tuple[Floats, Floats | None]:
    """Weights of the training rows by both views; the latter is None where no rule asks for it."""
    rule, weighting, local, by_inputs = scorer.rule, scorer.weighting, scorer.local, scorer.by_inputs
    if local is None:
        assert scorer.global_weights is not None
        return scorer.global_weights, None if by_inputs is None else by_inputs.everywhere
    near = local.neighborhood.neighbors
    if near is not None:
        other = None if by_inputs is None else by_inputs.of(rule, weighting, near, scorer.n_jobs)
        return scorer.weights(near), other
    views = [local, *([] if by_inputs is None or by_inputs.local is None else [by_inputs.local])]
    found = [np.empty_like(view.errors) for view in views]
    nobody = np.empty((1, 0), dtype=np.int32)
    usual = [rule.local_weights(view.errors, view.observed, view.mean_errors, nobody, weighting) for view in views]

    def visit(rows: Rows, among: Rows, places: Neighbors) -> None:
        seen = _are_seen(local.observed[among], places)
        for view, weights, instead in zip(views, found, usual, strict=True):
            near_errors = view.errors[among], view.observed[among], view.mean_errors
            own = rule.local_weights(*near_errors, places, weighting)
            weights[rows] = own if seen is None else np.where(seen, own, instead)

    local.neighborhood.each(visit, scorer.n_jobs, scorer.verbose)
    return found[0], found[1] if len(found) > 1 else None


def _are_seen(observed: Mask, places: Neighbors) -> Mask | None:
    """Whether any neighbour shows an output, ``(n_rows, n_outputs)``; None if all do."""
    if observed.all():
        return None
    seen = np.zeros((len(places), observed.shape[1]), dtype=bool)
    for column in places.T:
        seen |= observed[column]
    return seen


@dataclass(frozen=True, eq=False)
class Seen:
    """What makes the scores of rows beside their outputs."""

    log_odds: Floats
    weights: Floats
    views: Views | None
    forecast: Forecast | None = None


@dataclass(frozen=True, eq=False)
class Judged:
    """Contributions ``(n_rows, n_outputs)`` and, by hypotheses, odds of each kind of error and of each output.

    ``odds`` is ``(n_rows, n_kinds)``, ``wrong`` the probability that each output is wrong, ``(n_rows,
    n_outputs)``.
    """

    contributions: Floats
    odds: Floats | None = None
    wrong: Floats | None = None
