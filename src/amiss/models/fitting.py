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
from amiss.models.classifiers import fit_classifiers
from amiss.models.conditional import ConditionalModel, Fit, FoldModels, LinearModel, RowModel
from amiss.models.folds import Folds, averaged_over_copies, stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.missing import Expectations, base_rates
from amiss.models.settings import ModelSettings


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit in the order of their fingerprints; the user's row n stands at ``place[n]``."""

    design: Matrix
    Y: Floats
    place: Rows
    fingerprints: Fingerprints
    fold_models: FoldModels | None

    @cached_property
    def order(self) -> Rows:
        """The user's number of each row here."""
        return np.argsort(self.place)

    def model_of(self, position: int, model: ConditionalModel, share: float) -> ConditionalModel | None:
        """The model by which a row was scored; None where it was not kept.

        ``share`` is the share that models which did not see the row have in its log-odds.
        """
        if share == 0:
            return model
        if self.fold_models is None or not isinstance(model, LinearModel):
            return None
        mine = self.fingerprints[position]
        first, last = (np.searchsorted(self.fingerprints, mine, side) for side in ("left", "right"))
        return RowModel.of(model, self.fold_models, np.arange(first, last), share)


@dataclass(frozen=True)
class FittedModels:
    """What fitting gives: how inputs are encoded, the models of the outputs, and the rows they were fitted to.

    ``average`` is the average training row, inputs and outputs. ``rows`` is None in a model that was saved
    without them. Strengths are NaN for models without them.
    """

    encoder: Encoder
    model: ConditionalModel
    expectations: Expectations
    strength: Floats
    converged: Mask
    average: Floats
    seed: int
    rows: TrainingRows | None

    @property
    def training_rows(self) -> TrainingRows:
        """The rows, where the caller knows that they were kept."""
        assert self.rows is not None
        return self.rows


@dataclass(frozen=True)
class FitResult:
    """Fitted models and their log-odds of the training rows, ``(n_rows, n_outputs)`` in the order of these.

    One result serves every scoring rule, weighting, share of out-of-fold models and decision.
    """

    models: FittedModels
    in_sample: Floats
    out_of_fold: Floats | None

    def log_odds(self, share: float) -> Floats:
        """In-sample (0), out-of-fold (1), or an average in which the latter have this share."""
        if share == 0:
            return self.in_sample
        if self.out_of_fold is None:
            raise ValueError("the models were fitted without folds; fit them again with this crossfit")
        return self.out_of_fold if share == 1 else (1 - share) * self.in_sample + share * self.out_of_fold


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
    """Fit the models to a table, or to a ``part`` of one that was looked at whole.

    In a part an output may be missing in every row, and a text may differ in most of them.
    """
    fingerprints = row_fingerprints(inputs.values, outputs.values, seed)
    order = np.argsort(fingerprints, kind="stable")
    inputs, outputs, fingerprints = inputs.take(order), outputs.take(order), fingerprints[order]
    encoder = fit_encoder(inputs, settings.scaling, part=part)
    design, Y = encoder.transform(inputs), np.asarray(outputs.values)
    learner = _Learner(settings, outputs.names, n_jobs, verbose)
    fit, expectations = _fit(learner, design, Y)
    out_of_fold = None if fit.out_of_fold is None else averaged_over_copies(fit.out_of_fold, fingerprints)
    rows = TrainingRows(design, Y, np.argsort(order, kind="stable"), fingerprints, fit.fold_models)
    average = np.concatenate([np.ravel(design.mean(axis=0)), expectations.rates])
    models = FittedModels(encoder, fit.model, expectations, fit.strength, fit.converged, average, seed, rows)
    return FitResult(models, fit.in_sample, out_of_fold)


def without_fold_models(models: FittedModels) -> FittedModels:
    """The same models where no log-odds come from models that did not see a row."""
    return replace(models, rows=replace(models.training_rows, fold_models=None))


@dataclass(frozen=True)
class _Learner:
    """Fits one model per output, of the kind that the settings ask for."""

    settings: ModelSettings
    names: tuple[str, ...]
    n_jobs: int | None
    verbose: bool

    def fit(self, design: Matrix, filled: Floats, observed: Mask, visible: Mask, folds: Folds | None) -> Fit:
        settings, n_outputs = self.settings, filled.shape[1]
        stages = progress.stages(self.verbose)
        if settings.base_estimator is not None:
            with stages("fitting outputs", n_outputs) as advance:
                return fit_classifiers(
                    settings.base_estimator,
                    design,
                    filled,
                    observed,
                    visible,
                    folds,
                    names=self.names,
                    n_jobs=self.n_jobs,
                    progress=advance,
                )
        strengths = sorted(set(settings.strengths))
        with stages("fitting outputs", n_outputs * len(strengths)) as advance:
            return fit_logistic(
                design,
                filled,
                observed,
                visible,
                strengths,
                folds,
                parent_penalty=settings.parent_penalty,
                n_jobs=self.n_jobs,
                progress=advance,
            )


def _fit(learner: _Learner, design: Matrix, Y: Floats) -> tuple[Fit, Expectations]:
    """Fit; where outputs are missing, first fit models of them on the inputs alone to fill them in."""
    settings = learner.settings
    folds = stratified_folds(Y, min(settings.cv, len(Y))) if settings.needs_folds else None
    visible = settings.parents.visible(Y.shape[1], settings.output_order(learner.names))
    observed = ~np.isnan(Y)
    expectations = Expectations(base_rates(Y))
    if not observed.all() and visible.any():
        filled = expectations.filled(design, Y)
        first = learner.fit(design, filled, observed, np.zeros_like(visible), folds)
        expectations = Expectations(base_rates(Y), first.model)
    filled = expectations.filled(design, Y)
    return learner.fit(design, filled, observed, visible, folds), expectations
