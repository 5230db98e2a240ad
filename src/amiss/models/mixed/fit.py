"""Fits models of outputs of several kinds: of choices logistic ones (or what is asked for), of amounts forests.

Both views are fitted: given the inputs and the other outputs, and given the inputs alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.fingerprints import Fingerprints
from amiss.data.output_kinds import OutputColumn
from amiss.data.table import Table
from amiss.errors import DataError
from amiss.models.conditional import Fit, LinearModel
from amiss.models.folds import Folds, in_company, stratified_folds
from amiss.models.log_odds import LogOdds
from amiss.models.mixed.expected import MixedExpectations
from amiss.models.mixed.given import GivenPredictions
from amiss.models.mixed.layout import OutputLayout, coded
from amiss.models.mixed.model import (
    N_QUANTILES,
    MixedFolds,
    MixedModel,
    Predicted,
    observed_log_odds,
    residual_quantiles,
    seen_by_amount,
    tails_of,
    usual_log_odds,
    with_columns,
)
from amiss.models.numbers.fit import fit_number
from amiss.models.numbers.model import NumberModel
from amiss.models.projection import log_rho
from amiss.models.settings import ModelSettings
from amiss.models.ties import NO_TIES, Ties
from amiss.wording import count, first_few, in_sentence

NO_CHAIN = "parents='chain' is for tables in which every output is 0 or 1; choose 'untied', 'others' or 'none'"


@dataclass(frozen=True, eq=False)
class MixedLogOdds:
    """Log-odds of what was observed in the rows of a fit, by models that saw a row and by models that did not.

    Amounts are always judged by models that did not see the row.
    """

    layout: OutputLayout
    choices: LogOdds
    U: Floats
    centre: Floats
    spread: Floats
    tails: Floats
    Y: Floats
    usual: Floats

    def skills(self, share: float) -> Floats:
        """How much better than what is usual each output is predicted: 0 is no better, 1 is perfect.

        Of choices that is the log-loss, of amounts the mean absolute error.
        """
        missing = np.isnan(self.Y)
        losses = [
            np.where(missing, 0.0, log_rho(found, coded(self.Y, self.layout.columns))).sum(axis=0)
            for found in (self.mixed(share), usual_log_odds(self.layout, self.usual, self.U))
        ]
        skill = 1 - losses[0] / np.where(losses[1] == 0, -1.0, losses[1])
        for place, i in enumerate(self.layout.amounts):
            y = self.Y[:, i]
            usually = np.nansum(np.abs(y - self.layout.centre[i]))
            skill[i] = 1 - np.nansum(np.abs(y - self.centre[:, place])) / (usually or 1.0)
        return skill

    @property
    def out_of_fold(self) -> Floats | None:
        return None if self.choices.by_not_seeing is None else self.mixed(1)

    def mixed(self, share: float) -> Floats:
        """In-sample (0), out-of-fold (1), or an average in which the latter have this share."""
        return observed_log_odds(self.layout, self.U, self.predicted(share))

    def predicted(self, share: float) -> Predicted:
        """What is expected of each output, whatever was observed."""
        return Predicted(self.choices.mixed(share), self.centre, self.spread, self.tails)


@dataclass(frozen=True, eq=False)
class MixedView:
    """The models of one view, and their log-odds of the rows of the fit."""

    model: MixedModel
    log_odds: MixedLogOdds
    folds: MixedFolds
    strength: Floats
    converged: Mask
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MixedFit:
    """Both views of a table; ``by_inputs`` is None if nothing asked for it."""

    by_all: MixedView
    by_inputs: MixedView | None
    expectations: MixedExpectations
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MixedTable:
    """What is fitted to: encoded inputs, outputs in the order of the fingerprints, and how."""

    design: Matrix
    Y: Floats
    fingerprints: Fingerprints
    groups: Rows | None
    layout: OutputLayout
    settings: ModelSettings
    given: GivenPredictions | None
    seed: int
    n_jobs: int | None
    verbose: bool

    def fit(self) -> MixedFit:
        """Both views, and what stands in for missing outputs."""
        settings, layout = self.settings, self.layout
        if settings.parents.ordered:
            raise DataError(NO_CHAIN)
        tags = [i for i in layout.choice_span if not len(layout.level_column[i])]
        ties = _of_all(settings.parents.ties(self.Y[:, tags]), tags)
        visible = settings.parents.visible(len(layout.columns), None, ties)
        expectations = MixedExpectations.of(layout, self.Y)
        alone, nobody = None, np.zeros_like(visible)
        if settings.inputs_alone or (visible.any() and np.isnan(self.Y).any()):
            alone = self._view(expectations, nobody, ties)
            if np.isnan(self.Y).any():
                expectations = MixedExpectations(layout, expectations.usual, expectations.rates, alone.model)
        whole = alone if alone is not None and not visible.any() else self._view(expectations, visible, ties)
        by_inputs = alone if settings.inputs_alone else None
        return MixedFit(whole, by_inputs, expectations, (*self._notes(), *whole.notes))

    def _view(self, expectations: MixedExpectations, visible: Mask, ties: Ties) -> MixedView:
        """The models given the inputs and the outputs that each may see."""
        U = expectations.filled(self.design, self.Y)
        layout, sees = self.layout, bool(visible.any())
        of_choices = layout.ties(ties)
        fit = self._choices(U, visible, sees)
        models = self._amounts(U, sees)
        model = MixedModel(layout, fit.model, models, of_choices, sees, np.zeros((len(models), N_QUANTILES)))
        amounts = model.predicted_amounts(self.design, U, np.arange(len(U)))
        model = replace(model, residuals=residual_quantiles(self.Y[:, list(layout.amounts)], *amounts))
        log_odds = MixedLogOdds(
            layout=layout,
            choices=LogOdds.of(fit, of_choices, self.fingerprints, in_company(self.groups, len(U))),
            U=U,
            centre=amounts[0],
            spread=amounts[1],
            tails=tails_of(model.residuals),
            Y=self.Y,
            usual=expectations.usual,
        )
        strength, converged = self._of_outputs(fit)
        folds = MixedFolds(fit.fold_models, layout)
        return MixedView(model, log_odds, folds, strength, converged, fit.notes)

    def _choices(self, U: Floats, visible: Mask, sees: bool) -> Fit:
        """The models of tags and levels."""
        layout, learner = self.layout, self.settings.learner
        how: dict[str, Any] = {"names": self.layout.choice_names, "n_jobs": self.n_jobs}
        filled = layout.choices(U)
        n_rows, n_choices = filled.shape
        design = with_columns(self.design, layout.amounts_seen(U)) if sees and layout.amounts else self.design
        if not n_choices:
            nothing, none = LinearModel(np.zeros((design.shape[1], 0)), np.zeros(0)), np.zeros((n_rows, 0))
            return Fit(nothing, none, none, np.zeros(0), np.zeros(0, dtype=bool))
        observed = ~np.isnan(layout.choices(layout.expanded(self.Y)))
        folds = self._folds(np.where(observed, filled, np.nan)) if self.settings.needs_folds else None
        with progress.stages(self.verbose)("fitting outputs", n_choices * learner.steps_per_output) as advance:
            how["progress"] = advance
            if self.given is None:
                return learner.fit(design, filled, observed, layout.visible(visible), folds, **how)
            of_given = self.given.learner(learner, self.settings, layout)
            if not sees:
                return of_given.fit_alone(design, filled, observed, folds, **how)
            of_given = replace(of_given, n_seen=len(layout.amounts))
            return of_given.fit(design, filled, observed, layout.visible(visible), folds, **how)

    def _folds(self, choices: Floats) -> Folds:
        n_units = len(choices) if self.groups is None else len(np.unique(self.groups))
        return stratified_folds(choices, min(self.settings.cv, n_units), self.groups)

    def _amounts(self, U: Floats, sees: bool) -> tuple[NumberModel, ...]:
        """The models of counts and numbers."""
        units = self.groups
        if units is None:  # copies of a row know each other
            units = np.unique(self.fingerprints, return_inverse=True)[1]
        models = []
        with progress.stages(self.verbose)("growing forests", len(self.layout.amounts)) as advance:
            for i in self.layout.amounts:
                Z = seen_by_amount(self.layout, self.design, U, i) if sees else self.design
                y, whole = self.Y[:, i], self.layout.columns[i].kind.whole
                how: dict[str, Any] = {"units": units, "seed": self.seed, "n_jobs": self.n_jobs, "whole": whole}
                if self.given is None:
                    models.append(fit_number(Z, y, ~np.isnan(y), **how))
                else:
                    models.append(self.given.fit_amount(Z, y, i, **how))
                advance(1)
        return tuple(models)

    def _of_outputs(self, fit: Fit) -> tuple[Floats, Mask]:
        """The strength of each output, and whether its models converged; amounts have no strength."""
        strength = np.full(len(self.layout.columns), np.nan)
        converged = np.ones(len(strength), dtype=bool)
        for i, span in self.layout.choice_span.items():
            strength[i], converged[i] = np.median(fit.strength[span]), fit.converged[span].all()
        return strength, converged

    def _notes(self) -> list[str]:
        """What kinds the outputs were taken for, and which rare levels were pooled."""
        notes = [kinds_sentence(self.layout.columns)]
        pooled = [
            f"{in_sentence(column.name)} ({count(int((places[:-1] == places[-1]).sum()), 'level')})"
            for column, places in zip(self.layout.columns, self.layout.level_column, strict=True)
            if len(places) and places[-1] >= 0
        ]
        if pooled:
            notes.append(f"Levels in fewer than 3 rows are judged as one: {first_few(pooled)}.")
        return notes


def kinds_sentence(columns: Sequence[OutputColumn]) -> str:
    """What kinds the outputs were taken for."""
    by_kind: dict[str, list[str]] = {}
    for column in columns:
        by_kind.setdefault(column.kind.name, []).append(in_sentence(column.name))
    said = [f"{kind} ({first_few(names)})" for kind, names in by_kind.items()]
    return f"Kinds of outputs: {', '.join(said)}. Where that is wrong, say so: --kinds (output_kinds)."


def stand_ins(layout: OutputLayout, Y: Floats, table: Table) -> Table:
    """Outputs of 0 and 1 that stand for these where a scaling is chosen: amounts become "above the median"."""
    U = layout.expanded(Y)
    amounts = layout.is_amount
    U[:, amounts] = np.where(np.isnan(U[:, amounts]), np.nan, U[:, amounts] > layout.centre[list(layout.amounts)])
    return Table(U, tuple(f"u{i}" for i in range(U.shape[1])), origin=table.origin)


def _of_all(ties: Ties, which: Sequence[int]) -> Ties:
    """Ties among some of the outputs, by the positions of all."""
    if not ties:
        return NO_TIES
    return Ties(
        classes=tuple(tuple(which[i] for i in group) for group in ties.classes),
        copies=tuple((which[i], which[j]) for i, j in ties.copies),
        opposites=tuple(which[i] for i in ties.opposites),
        implications=tuple((which[i], which[j]) for i, j in ties.implications),
    )


def fit_mixed(design: Matrix, Y: Floats, columns: tuple[OutputColumn, ...], **how: Any) -> MixedFit:
    """Fit models of outputs of several kinds; rows stand in the order of their fingerprints."""
    return MixedTable(design=design, Y=Y, layout=OutputLayout.of(columns, Y), **how).fit()
