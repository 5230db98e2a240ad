"""From a table to fitted models: the encoder, the models, and the rows they were fitted to.

Rows are put in the order of their fingerprints first, so that nothing depends on the order they came in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.fingerprints import Fingerprints, row_fingerprints
from amiss.data.predictions import given_columns
from amiss.data.row_roles import LOG_PROBABILITY
from amiss.data.table import Table, copied_rows, sort_rows
from amiss.encoding.as_given import AsGiven, Scaled, metric_of
from amiss.encoding.encoder import Encoder, fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError
from amiss.models.classifiers import ClassifierLearner
from amiss.models.conditional import ConditionalModel, Fit, FoldModels, linear_twin
from amiss.models.folds import in_company, stratified_folds
from amiss.models.given import GivenLearner, given_learner
from amiss.models.learner import Learner
from amiss.models.log_odds import LogOdds
from amiss.models.missing import Expectations, base_rates
from amiss.models.mixed.expected import MixedExpectations
from amiss.models.mixed.fit import MixedLogOdds, fit_mixed, stand_ins
from amiss.models.mixed.given import GivenPredictions
from amiss.models.mixed.layout import OutputLayout, coded
from amiss.models.mixed.model import MixedModel, usual_log_odds
from amiss.models.scaling_choice import choose_scaling
from amiss.models.settings import UNSCALED, ModelSettings
from amiss.models.ties import NO_TIES, Ties
from amiss.wording import count

AS_GIVEN = SCALINGS["block"]  # log-odds say most at their extremes, which ranks would flatten
WITHOUT_ROWS = "this model was saved without the rows of the fit; only new rows can be explained"


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of a fit in the order of their fingerprints; the user's row n stands at ``place[n]``."""

    design: Matrix
    Y: Floats
    place: Rows
    fingerprints: Fingerprints
    fold_models: FoldModels | None
    inputs_fold_models: FoldModels | None = None
    groups: Rows | None = None  # rows with the same number were in one fold

    def __repr__(self) -> str:
        columns = f"{count(self.design.shape[1], 'encoded column')}, {count(self.Y.shape[1], 'output')}"
        return f"<TrainingRows: {count(len(self.Y), 'row')}, {columns}>"

    @cached_property
    def order(self) -> Rows:
        """The user's number of each row here."""
        return np.argsort(self.place)

    @cached_property
    def in_company(self) -> Mask:
        """The rows whose group has other rows: a model that saw these has half seen the row.

        So they are judged only by models that saw none of their group.
        """
        return in_company(self.groups, len(self.Y))

    def model_of(self, position: int, model: ConditionalModel, share: float) -> ConditionalModel | None:
        """The model by which a row was scored; None where it was not kept.

        ``share`` is the share that models which did not see the row have in its log-odds.
        """
        return self._mixed(position, model, self.fold_models, share)

    def inputs_model_of(self, position: int, model: ConditionalModel, share: float) -> ConditionalModel | None:
        """The same for the model of the inputs alone."""
        return self._mixed(position, model, self.inputs_fold_models, share)

    def _mixed(
        self, position: int, model: ConditionalModel, folds: FoldModels | None, share: float
    ) -> ConditionalModel | None:
        if share == 0:
            return replace(model, row=position) if isinstance(model, MixedModel) else model
        if folds is None:
            return None
        if self.in_company[position]:
            share = 1.0
        mine = self.fingerprints[position]
        first, last = (np.searchsorted(self.fingerprints, mine, side) for side in ("left", "right"))
        return folds.of_row(model, np.arange(first, last), share)


@dataclass(frozen=True, eq=False)
class FittedModels:
    """What fitting gives: how inputs are encoded, the models of the outputs, and the rows they were fitted to.

    ``average`` is the average training row, inputs and outputs. ``rows`` is None in a model that was saved
    without them. Strengths are NaN for models without them. ``inputs_model`` sees the inputs alone; None if
    nothing asked for it. Log-odds of ``ties`` are to be normalised. ``only_given`` says that there are no inputs
    but predictions that the user brought. ``metric`` scales encoded rows where distances count and the encoder
    scales nothing. ``layout`` is that of outputs of several kinds; None if every output is 0 or 1.
    """

    encoder: Encoder
    model: ConditionalModel
    expectations: Expectations | MixedExpectations
    strength: Floats
    converged: Mask
    average: Floats
    seed: int
    rows: TrainingRows | None
    inputs_model: ConditionalModel | None = None
    ties: Ties = NO_TIES
    only_given: bool = False
    metric: Encoder | None = None
    layout: OutputLayout | None = None

    def coded(self, Y: Floats) -> Floats:
        """Outputs as the scores see them (:func:`amiss.models.mixed.layout.coded`)."""
        return Y if self.layout is None else coded(Y, self.layout.columns)

    def usual_log_odds(self, filled: Floats) -> Floats:
        """Log-odds of observed outputs of several kinds by what is usual in the table."""
        assert isinstance(self.expectations, MixedExpectations)
        return usual_log_odds(self.expectations.layout, self.expectations.usual, filled)

    def points(self, filled: Floats) -> Floats:
        """Where outputs lie among neighbours."""
        return filled if self.layout is None else self.layout.points(filled)

    def __repr__(self) -> str:
        outputs = count(len(self.strength), "output")
        rows = "without the rows of the fit" if self.rows is None else count(len(self.rows.Y), "row")
        return f"<FittedModels: {type(self.model).__name__} of {outputs}, {rows}>"

    @property
    def training_rows(self) -> TrainingRows:
        """The rows of the fit; an error if the model was saved without them."""
        if self.rows is None:
            raise DataError(WITHOUT_ROWS)
        return self.rows

    def log_odds(self, design: Matrix, filled: Floats) -> Floats:
        """Log-odds of rows given their inputs and outputs, those of a class as of one choice."""
        return self.ties.normalised(self.model.log_odds(design, filled))

    def inputs_log_odds(self, design: Matrix, filled: Floats) -> Floats | None:
        """Log-odds of rows given their inputs alone; None if there is no such model."""
        if self.inputs_model is None:
            return None
        return self.ties.normalised(self.inputs_model.log_odds(design, filled))

    def dependence(self) -> Floats | None:
        """``[j, i]`` is what output j = 1 adds to the log-odds of output i; None if the models are not linear."""
        n_columns = self.encoder.n_columns
        if self.layout is not None:
            return None
        linear = self.model.as_linear(n_columns)
        if linear is not self.model:  # rows show whether it gives the same log-odds
            design, Y = self.training_rows.design[:50], self.training_rows.Y[:50]
            linear = linear_twin(self.model, design, self.expectations.filled(design, Y))
        return None if linear is None else linear.coef[n_columns:]


@dataclass(frozen=True, eq=False)
class FitResult:
    """Fitted models and their log-odds of the training rows, in the order of these.

    One result serves every scoring rule, weighting, share of out-of-fold models and decision. ``by_inputs`` are
    log-odds given the inputs alone; None if nothing asked for them. ``notes`` are what a reader should know of it.
    """

    models: FittedModels
    by_all: LogOdds | MixedLogOdds
    by_inputs: LogOdds | MixedLogOdds | None = None
    notes: tuple[str, ...] = ()

    @property
    def in_sample(self) -> Floats:
        return self.by_all.mixed(0)

    @property
    def out_of_fold(self) -> Floats | None:
        return self.by_all.out_of_fold

    def log_odds(self, share: float) -> Floats:
        """In-sample (0), out-of-fold (1), or an average in which the latter have this share."""
        return self.by_all.mixed(share)


def fit_models(
    inputs: Table,
    outputs: Table,
    settings: ModelSettings,
    *,
    seed: int,
    n_jobs: int | None = None,
    verbose: bool = False,
    part: bool = False,
    given: Sequence[int] = (),
    groups: Rows | None = None,
    overwrite: bool = False,
) -> FitResult:
    """Fit the models to a table, or to a ``part`` of a table that was already checked as a whole.

    In a part an output may be missing in every row, and a text may differ in most of them. ``given`` are the
    inputs that hold given log-odds of each output. Rows with the same number in ``groups`` are kept in one fold.
    If nobody needs ``inputs`` any longer, ``overwrite`` saves another matrix of their size.
    """
    fingerprints = row_fingerprints(inputs.values, outputs.values, seed)
    order = np.argsort(fingerprints, kind="stable")
    dense = isinstance(inputs.values, np.ndarray)
    inputs = sort_rows(inputs, order, n_jobs) if overwrite and dense else copied_rows(inputs, order)
    outputs, fingerprints = outputs.take(order), fingerprints[order]
    groups = None if groups is None else groups[order]
    if outputs.kinds:
        table = inputs, outputs, fingerprints, groups
        return _fit_kinds(settings, *table, np.argsort(order), seed, part, n_jobs, verbose, bool(given))
    metric, learner, scaling = None, settings.learner, settings.scaling
    as_given = isinstance(learner, ClassifierLearner) and settings.shows_as_given
    if scaling is None:
        scaling = SCALINGS[UNSCALED] if as_given else AS_GIVEN if given else None
    encoder = fit_encoder(inputs, scaling or choose_scaling(inputs, outputs, n_jobs=n_jobs), part=part)
    library, design = inputs.library, encoder.transform(inputs, overwrite=True)
    Y = np.asarray(outputs.values)
    if isinstance(learner, ClassifierLearner) and as_given:
        metric = metric_of(encoder, design)
        learner = replace(learner, views=(AsGiven(encoder, library), Scaled(metric)))
    ties = settings.parents.ties(Y)
    if given:
        exclusive = inputs.names[given[0]].startswith(LOG_PROBABILITY)
        learner = given_learner(learner, settings, encoder, given, ties.classes if exclusive else ())
    fits = _fit(settings, learner, outputs.names, design, Y, ties, groups, n_jobs, verbose)
    whole, alone, expectations = fits.by_all, fits.by_inputs, fits.expectations
    rows = TrainingRows(
        design=design,
        Y=Y,
        place=np.argsort(order, kind="stable"),
        fingerprints=fingerprints,
        fold_models=whole.fold_models,
        inputs_fold_models=None if alone is None else alone.fold_models,
        groups=groups,
    )
    models = FittedModels(
        encoder=encoder,
        model=whole.model,
        expectations=expectations,
        strength=whole.strength,
        converged=whole.converged,
        average=np.concatenate([np.ravel(design.mean(axis=0, dtype=np.float64)), expectations.rates]),
        seed=seed,
        rows=rows,
        inputs_model=None if alone is None else alone.model,
        ties=fits.ties,
        only_given=len(given) == len(inputs.names),
        metric=metric,
    )
    by_inputs = None if alone is None else LogOdds.of(alone, fits.ties, fingerprints, rows.in_company)
    return FitResult(models, LogOdds.of(whole, fits.ties, fingerprints, rows.in_company), by_inputs, whole.notes)


def _fit_kinds(
    settings: ModelSettings,
    inputs: Table,
    outputs: Table,
    fingerprints: Fingerprints,
    groups: Rows | None,
    place: Rows,
    seed: int,
    part: bool,
    n_jobs: int | None,
    verbose: bool,
    given: bool,
) -> FitResult:
    """The same for outputs of several kinds; rows stand in the order of their fingerprints."""
    Y, scaling = np.asarray(outputs.values), settings.scaling
    if scaling is None and given:
        scaling = AS_GIVEN
    if scaling is None:
        told = stand_ins(OutputLayout.of(outputs.kinds, Y), Y, outputs)
        scaling = choose_scaling(inputs, told, n_jobs=n_jobs)
    encoder = fit_encoder(inputs, scaling, part=part)
    design = encoder.transform(inputs, overwrite=True)
    how: dict[str, Any] = {"settings": settings, "groups": groups, "fingerprints": fingerprints}
    predictions = given_columns(inputs.names, outputs.kinds) if given else ()
    how["given"] = GivenPredictions(encoder, predictions) if given else None
    fit = fit_mixed(design, Y, outputs.kinds, seed=seed, n_jobs=n_jobs, verbose=verbose, **how)
    whole, alone = fit.by_all, fit.by_inputs
    rows = TrainingRows(
        design=design,
        Y=Y,
        place=place,
        fingerprints=fingerprints,
        fold_models=whole.folds,
        inputs_fold_models=None if alone is None else alone.folds,
        groups=groups,
    )
    models = FittedModels(
        encoder=encoder,
        model=whole.model,
        expectations=fit.expectations,
        strength=whole.strength,
        converged=whole.converged,
        average=np.concatenate([np.ravel(design.mean(axis=0, dtype=np.float64)), fit.expectations.usual]),
        seed=seed,
        rows=rows,
        inputs_model=None if alone is None else alone.model,
        only_given=given and len({place for each in predictions for place in each}) == len(inputs.names),
        layout=whole.model.layout,
    )
    return FitResult(models, whole.log_odds, None if alone is None else alone.log_odds, fit.notes)


def without_fold_models(models: FittedModels) -> FittedModels:
    """The same models where no log-odds come from models that did not see a row."""
    return replace(models, rows=replace(models.training_rows, fold_models=None, inputs_fold_models=None))


@dataclass(frozen=True, eq=False)
class _Fits:
    """The fits of a table: given the inputs and other outputs, and, if that was asked for, the inputs alone."""

    by_all: Fit
    by_inputs: Fit | None
    expectations: Expectations
    ties: Ties


def _fit(
    settings: ModelSettings,
    learner: Learner,
    names: tuple[str, ...],
    design: Matrix,
    Y: Floats,
    ties: Ties,
    groups: Rows | None,
    n_jobs: int | None,
    verbose: bool,
) -> _Fits:
    """Fit; where outputs are missing, models of them on the inputs alone fill them in."""
    n_outputs, observed, folds = Y.shape[1], ~np.isnan(Y), None
    if settings.needs_folds:
        n_units = len(Y) if groups is None else len(np.unique(groups))
        folds = stratified_folds(Y, min(settings.cv, n_units), groups)

    def fit(filled: Floats, visible: Mask, alone: Mask | None = None) -> Fit:
        with progress.stages(verbose)("fitting outputs", n_outputs * learner.steps_per_output) as advance:
            table = design, filled, observed, visible
            return learner.fit(*table, folds, names=names, n_jobs=n_jobs, progress=advance, alone=alone)

    visible = settings.parents.visible(n_outputs, settings.output_order(names), ties)
    expectations = Expectations(base_rates(Y))
    if visible.any() and not observed.all():
        first = fit(expectations.filled(design, Y), np.zeros_like(visible))
        expectations = Expectations(base_rates(Y), first.model)
    both = settings.inputs_alone and (bool(visible.any()) or isinstance(learner, GivenLearner))
    # Tied outputs predict each other so well that their strengths would hardly hold back a model of the inputs.
    whole = fit(expectations.filled(design, Y), visible, ties.defined(n_outputs) if both else None)
    alone = whole if whole.alone is None else whole.alone  # if no model sees another output, they are the same
    return _Fits(whole, alone if settings.inputs_alone else None, expectations, ties)
