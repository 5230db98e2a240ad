"""From a table to fitted models: the encoder, the models, and the rows they were fitted to.

Rows are put in the order of their fingerprints first, so that nothing depends on the order they came in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.fingerprints import Fingerprints, row_fingerprints
from amiss.data.table import Table
from amiss.encoding.encoder import Encoder, fit_encoder
from amiss.errors import DataError
from amiss.models.conditional import ConditionalModel, Fit, FoldModels, RowModel, linear_twin
from amiss.models.folds import averaged_over_copies, stratified_folds
from amiss.models.missing import Expectations, base_rates
from amiss.models.scaling_choice import choose_scaling
from amiss.models.settings import ModelSettings
from amiss.models.ties import NO_TIES, Ties
from amiss.wording import count

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

    def __repr__(self) -> str:
        columns = f"{count(self.design.shape[1], 'encoded column')}, {count(self.Y.shape[1], 'output')}"
        return f"<TrainingRows: {count(len(self.Y), 'row')}, {columns}>"

    @cached_property
    def order(self) -> Rows:
        """The user's number of each row here."""
        return np.argsort(self.place)

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
            return model
        whole = None if folds is None else model.as_linear(self.design.shape[1])
        if folds is None or whole is None:
            return None
        mine = self.fingerprints[position]
        first, last = (np.searchsorted(self.fingerprints, mine, side) for side in ("left", "right"))
        return RowModel.of(whole, folds, np.arange(first, last), share)


@dataclass(frozen=True, eq=False)
class FittedModels:
    """What fitting gives: how inputs are encoded, the models of the outputs, and the rows they were fitted to.

    ``average`` is the average training row, inputs and outputs. ``rows`` is None in a model that was saved
    without them. Strengths are NaN for models without them. ``inputs_model`` sees the inputs alone; None if
    nothing asked for it. Log-odds of ``ties`` are to be normalised.
    """

    encoder: Encoder
    model: ConditionalModel
    expectations: Expectations
    strength: Floats
    converged: Mask
    average: Floats
    seed: int
    rows: TrainingRows | None
    inputs_model: ConditionalModel | None = None
    ties: Ties = NO_TIES

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
        linear = self.model.as_linear(n_columns)
        if linear is not self.model:  # rows show whether it gives the same log-odds
            design, Y = self.training_rows.design[:50], self.training_rows.Y[:50]
            linear = linear_twin(self.model, design, self.expectations.filled(design, Y))
        return None if linear is None else linear.coef[n_columns:]


@dataclass(frozen=True, eq=False)
class LogOdds:
    """Log-odds of the training rows, ``(n_rows, n_outputs)``, by models that saw a row and by models that did not.

    They are normalised by ``ties`` after they are mixed, as those of one model are.
    """

    by_seeing: Floats
    by_not_seeing: Floats | None
    ties: Ties

    @classmethod
    def of(cls, fit: Fit, ties: Ties, fingerprints: Fingerprints) -> LogOdds:
        held_out = None if fit.out_of_fold is None else averaged_over_copies(fit.out_of_fold, fingerprints)
        return cls(fit.in_sample, held_out, ties)

    @property
    def out_of_fold(self) -> Floats | None:
        return None if self.by_not_seeing is None else self.mixed(1)

    def mixed(self, share: float) -> Floats:
        """In-sample (0), out-of-fold (1), or an average in which the latter have this share."""
        if share == 0:
            return self.ties.normalised(self.by_seeing)
        if self.by_not_seeing is None:
            raise ValueError("the models were fitted without folds; fit them again with this crossfit")
        if share == 1:
            return self.ties.normalised(self.by_not_seeing)
        return self.ties.normalised((1 - share) * self.by_seeing + share * self.by_not_seeing)


@dataclass(frozen=True, eq=False)
class FitResult:
    """Fitted models and their log-odds of the training rows, in the order of these.

    One result serves every scoring rule, weighting, share of out-of-fold models and decision. ``by_inputs`` are
    log-odds given the inputs alone; None if nothing asked for them.
    """

    models: FittedModels
    by_all: LogOdds
    by_inputs: LogOdds | None = None

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
) -> FitResult:
    """Fit the models to a table, or to a ``part`` of a table that was already checked as a whole.

    In a part an output may be missing in every row, and a text may differ in most of them.
    """
    fingerprints = row_fingerprints(inputs.values, outputs.values, seed)
    order = np.argsort(fingerprints, kind="stable")
    inputs, outputs, fingerprints = inputs.take(order), outputs.take(order), fingerprints[order]
    scaling = settings.scaling or choose_scaling(inputs, outputs, n_jobs=n_jobs)
    encoder = fit_encoder(inputs, scaling, part=part)
    design, Y = encoder.transform(inputs), np.asarray(outputs.values)
    fits = _fit(settings, outputs.names, design, Y, n_jobs, verbose)
    whole, alone, expectations = fits.by_all, fits.by_inputs, fits.expectations
    rows = TrainingRows(
        design=design,
        Y=Y,
        place=np.argsort(order, kind="stable"),
        fingerprints=fingerprints,
        fold_models=whole.fold_models,
        inputs_fold_models=None if alone is None else alone.fold_models,
    )
    models = FittedModels(
        encoder=encoder,
        model=whole.model,
        expectations=expectations,
        strength=whole.strength,
        converged=whole.converged,
        average=np.concatenate([np.ravel(design.mean(axis=0)), expectations.rates]),
        seed=seed,
        rows=rows,
        inputs_model=None if alone is None else alone.model,
        ties=fits.ties,
    )
    by_inputs = None if alone is None else LogOdds.of(alone, fits.ties, fingerprints)
    return FitResult(models, LogOdds.of(whole, fits.ties, fingerprints), by_inputs)


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
    settings: ModelSettings, names: tuple[str, ...], design: Matrix, Y: Floats, n_jobs: int | None, verbose: bool
) -> _Fits:
    """Fit; where outputs are missing, models of them on the inputs alone fill them in."""
    learner, n_outputs, observed = settings.learner, Y.shape[1], ~np.isnan(Y)
    folds = stratified_folds(Y, min(settings.cv, len(Y))) if settings.needs_folds else None

    def fit(filled: Floats, visible: Mask, alone: Mask | None = None) -> Fit:
        with progress.stages(verbose)("fitting outputs", n_outputs * learner.steps_per_output) as advance:
            table = design, filled, observed, visible
            return learner.fit(*table, folds, names=names, n_jobs=n_jobs, progress=advance, alone=alone)

    ties = settings.parents.ties(Y)
    visible = settings.parents.visible(n_outputs, settings.output_order(names), ties)
    expectations = Expectations(base_rates(Y))
    if visible.any() and not observed.all():
        first = fit(expectations.filled(design, Y), np.zeros_like(visible))
        expectations = Expectations(base_rates(Y), first.model)
    both = settings.inputs_alone and bool(visible.any())
    # Tied outputs predict each other so well that their strengths would hardly hold back a model of the inputs.
    whole = fit(expectations.filled(design, Y), visible, ties.defined(n_outputs) if both else None)
    alone = whole.alone if visible.any() else whole  # if no model sees another output, they are the same
    return _Fits(whole, alone if settings.inputs_alone else None, expectations, ties)
