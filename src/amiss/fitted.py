"""What a fit leaves behind, as one immutable value: everything that scores, judges and explains rows later.

fit_detector(settings, columns, inputs, outputs) -> FittedDetector
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.data.columns import Columns
from amiss.data.fingerprints import Fingerprints, are_duplicated, row_fingerprints
from amiss.data.remark import Code, Remark, coded
from amiss.data.row_roles import as_groups
from amiss.data.table import Table
from amiss.decisions.calibration import FEWEST_ROWS, Calibration, FitAndScore, HeldOutRows, hold_out_folds
from amiss.decisions.decision import BatchDecider, Decision, decide_training
from amiss.decisions.draws import drawn_scores
from amiss.decisions.outlier_probability import flag_confidence
from amiss.decisions.settings import BatchRequest
from amiss.decisions.thresholds import threshold_for_new
from amiss.encoding.encoded_rows import EncodedRows, fingerprints_by_fit
from amiss.errors import DataError
from amiss.evaluation.choice import RuleChoice, choose_rule
from amiss.evaluation.one_fit import Subject
from amiss.explanations.explainer import Explainer
from amiss.explanations.explanation import Explanation
from amiss.models.fitting import WITHOUT_ROWS, FittedModels, fit_models, without_fold_models
from amiss.models.folds import in_company
from amiss.monitoring.batch import Findings, ScoredBatch
from amiss.monitoring.drift import drift_of
from amiss.monitoring.empty_batch import nothing_decided, stand_in, without_rows
from amiss.monitoring.membership import MembershipFilter
from amiss.monitoring.near_copies import NearCopies
from amiss.monitoring.row_order import remarks_on_order
from amiss.monitoring.shifts import shifts
from amiss.monitoring.unseen import familiar, first_values, unseen_values
from amiss.remarks.near_copies import MANY_NEAR, kept_together, look_like_copies, near_copy_groups
from amiss.remarks.of_fit import TableSeen, remarks_on_fit, remarks_on_table
from amiss.scoring.error_rates import ErrorRates
from amiss.scoring.estimate import ErrorEstimate, estimate_errors
from amiss.scoring.quality import OutputQuality
from amiss.scoring.rows import ScoredRows
from amiss.scoring.scorer import Scorer
from amiss.scoring.training import Known, TrainingLogOdds, neighborhood_of, score_training_rows
from amiss.scoring.training_match import score_new_rows
from amiss.scoring.two_views import TwoViews
from amiss.settings import Settings
from amiss.wording import count


@dataclass(frozen=True, eq=False)
class FittedDetector:
    """The result of fitting a detector; nothing mutates it.

    Attributes
    ----------
    settings : what was asked for, with the rule that was chosen
    columns : the columns of the fit, to which those of new tables are matched
    models : encoder, models, and the rows of the fit
    scorer : scores rows by the rule, weights and neighbours of the fit
    training : the scored rows of the fit; None if the model was saved without them
    training_scores : their scores, by which other rows are ranked (rounded and sorted without ``training``)
    quality : how good each output's model is
    decision : which rows of the fit are flagged
    error_rates : how often each output's model errs on rows it has not seen
    calibration : how high rows held out of the fit score; None before :meth:`calibrated`
    choice : what rule="auto" measured; None for any other rule
    membership : recognises a batch that was in the fit, if the rows were not kept
    reading : how the table was read from a file, so that later files are read alike
    remarks : what a reader of the results should know of the table and the models; ``notes`` are their texts
    labels : what the frame of pandas called its rows; None if it only counted them, and in a model file
    """

    settings: Settings
    columns: Columns
    models: FittedModels
    scorer: Scorer
    training: ScoredRows | None
    training_scores: Floats
    quality: OutputQuality
    decision: Decision
    error_rates: ErrorRates
    calibration: Calibration | None = None
    choice: RuleChoice | None = None
    membership: MembershipFilter | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    labels: tuple[Any, ...] | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(remark.text for remark in self.remarks)

    def __repr__(self) -> str:
        rows, columns = count(len(self.training_scores), "row"), self.columns
        names = f"{count(len(columns.inputs), 'input')}, {count(len(columns.outputs), 'output')}"
        return f"<FittedDetector: {rows}, {names}, rule {self.scorer.rule.name!r}>"

    @property
    def training_rows(self) -> ScoredRows:
        """The scored rows of the fit; an error if the model was saved without them."""
        if self.training is None:
            raise DataError(WITHOUT_ROWS)
        return self.training

    @cached_property
    def error_estimate(self) -> ErrorEstimate | None:
        """How many rows and outputs are wrong; None for rules that weigh no hypotheses, or without rows."""
        if self.training is None:
            return None
        return estimate_errors(self.scorer.hypotheses, self.training, self.settings.n_jobs)

    @cached_property
    def explainer(self) -> Explainer:
        return Explainer(
            models=self.models,
            scorer=self.scorer,
            training=self.training,
            training_scores=self.training_scores,
            threshold=self.decision.threshold,
            input_names=self.columns.inputs,
            output_names=self.columns.outputs,
        )

    def on_machine(self, n_jobs: int | None, verbose: bool) -> FittedDetector:
        """The same with another number of threads, or with progress shown."""
        if (self.settings.n_jobs, self.settings.verbose) == (n_jobs, verbose):
            return self
        settings = replace(self.settings, n_jobs=n_jobs, verbose=verbose)
        return replace(self, settings=settings, scorer=replace(self.scorer, n_jobs=n_jobs, verbose=verbose))

    def encode(self, inputs: Table, outputs: Table) -> EncodedRows:
        """Rows with the columns of the fit as the models see them."""
        return EncodedRows.of(self.models.encoder, inputs, outputs, self.models.seed)

    def score(self, rows: EncodedRows) -> ScoredRows:
        """Scores of new rows; a row that was in the fit has the score that it had there."""
        if not len(rows):
            return without_rows(self.score(stand_in(rows)))
        return score_new_rows(self.models, self.scorer, self.training, rows, self.columns.outputs)

    def decide(self, rows: EncodedRows, scored: ScoredRows, request: BatchRequest | None = None) -> Decision:
        """Which rows of a batch are flagged, as the request says or as the fit does."""
        if not len(rows):
            return nothing_decided(self.decision.threshold, self.calibration is not None)
        decider = BatchDecider(
            threshold=self.decision.threshold,
            level=self.settings.decision.level,
            training_scores=self.training_scores,
            training_flags=None if self.training is None else self.decision.flagged,
            calibration=self.calibration,
        )

        def drawn(level: float) -> Floats:
            order = np.argsort(rows.fingerprints, kind="stable")  # no other order matters
            weights = scored.weights_of(order)
            log_odds, Y, seed = scored.log_odds[order], scored.coded[order], self.models.seed
            views = None if scored.views is None else scored.views.take(order)
            forecast = None if scored.forecast is None else scored.forecast.take(order)
            how: dict[str, Any] = {"seed": seed, "level": level, "forecast": forecast}
            return drawn_scores(self.scorer, log_odds, Y, weights, views, **how)

        return decider.decide(scored, request or BatchRequest(), drawn)

    def score_batch(self, rows: EncodedRows, request: BatchRequest) -> ScoredBatch:
        """Scores, flags, and what about the batch is unlike the fit."""
        scored = self.score(rows)
        decision = self.decide(rows, scored, request)
        findings = self._findings(rows, scored)
        return ScoredBatch(scored, decision, findings, self.calibration, self.training is not None, rows)

    def _findings(self, rows: EncodedRows, scored: ScoredRows) -> Findings:
        if not len(rows):
            return Findings((), (), drift_of(scored, self.error_rates), near_copies=0, estimated_members=0)
        encoder, rates, near_copies = self.models.encoder, self.models.expectations.rates, 0
        if self.training is not None:
            new = np.flatnonzero(scored.is_new & familiar(encoder, rows.inputs))
            near_copies = self._near_copies.estimated(rows, new) if len(new) else 0
        return Findings(
            unseen=unseen_values(encoder, rows.inputs),
            shifts=shifts(encoder, rows, len(self.training_scores)),
            drift=drift_of(scored, self.error_rates),
            near_copies=near_copies,
            estimated_members=self.estimated_members(rows),
            first_values=first_values(rates, rows.Y, self.columns.outputs),
            order=remarks_on_order(rows.Y, self.columns.output_columns, rates),
        )

    @cached_property
    def _near_copies(self) -> NearCopies:
        rows = self.models.training_rows
        return NearCopies.of(rows.design, rows.Y)

    def estimated_members(self, rows: EncodedRows) -> int:
        """How many rows seem to have been in the fit, of a model that was saved without its rows."""
        return 0 if self.membership is None else self.membership.estimated_members(rows.fingerprints)

    def calibrated(self, inputs: Table, outputs: Table) -> FittedDetector:
        """The same, knowing how high rows score that the fit has not seen: the rows of the fit, or others."""
        known, models = self.models.rows, self.models
        fingerprints = fingerprints_by_fit(models.encoder, inputs, outputs, models.seed)
        if known is not None and np.array_equal(np.sort(fingerprints), known.fingerprints):
            how = self.scorer.included, self._refit(), self.settings.verbose
            groups = None if known.groups is None else known.groups[_ranks(fingerprints)]
            held_out = hold_out_folds(inputs, outputs, fingerprints, *how, groups=groups)
            if np.count_nonzero(held_out.is_new) < FEWEST_ROWS:
                raise DataError(f"a calibration needs {FEWEST_ROWS} rows that are not copies of others")
        else:
            rows = self.encode(inputs, outputs)
            held_out, members = HeldOutRows.of(self.score(rows)), self.estimated_members(rows)
            n_new = np.count_nonzero(held_out.is_new)
            if members or n_new < FEWEST_ROWS:
                raise DataError(
                    f"a calibration needs all rows of the fit, or at least {FEWEST_ROWS} others; of these "
                    f"{len(rows)} rows {n_new - members} were not in the fit"
                )
        return _with_calibration(self, Calibration.of(held_out))

    def _refit(self) -> FitAndScore:
        """A function that fits a detector like this one to some rows and scores others."""
        left_out, known = np.flatnonzero(self.quality.excluded).tolist(), self.scorer.hypotheses
        settings = self.settings.for_refits(left_out, self.scorer.searched)
        learned = known if isinstance(known, TwoViews) else None  # its scale is the table's; a part has another

        def fit_and_score(
            inside: tuple[Table, Table], outside: tuple[Table, Table], groups: Rows | None
        ) -> ScoredRows:
            other = fit_detector(settings, self.columns, *inside, groups=groups, part=True, learned=learned)
            return other.score(other.encode(*outside))

        return fit_and_score


def _with_calibration(fitted: FittedDetector, calibration: Calibration) -> FittedDetector:
    decision, asked = fitted.decision, fitted.settings.decision
    if asked.level is None and not asked.by_chance:
        threshold, _ = threshold_for_new(calibration.scores, asked.share)
        flagged: Mask = decision.flagged if fitted.training is None else fitted.training.scores > threshold
        decision = replace(decision, threshold=threshold, flagged=flagged)
    return replace(fitted, calibration=calibration, decision=decision, error_rates=calibration.errors)


def _ranks(fingerprints: Fingerprints) -> Rows:
    """The place of each row in the order of the fingerprints."""
    return np.argsort(np.argsort(fingerprints, kind="stable"), kind="stable")


def is_table_of(fitted: FittedDetector, inputs: Table, outputs: Table) -> bool:
    """Whether these are the rows of the fit, in their order; of the inputs some rows are looked at."""
    given = np.asarray(outputs.values)
    if not np.array_equal(given, fitted.training_rows.Y, equal_nan=True):
        return False
    rows = fitted.models.training_rows
    some = np.unique(np.linspace(0, len(given) - 1, 200).astype(np.intp))
    ours = rows.design[rows.place[some]]
    apart = abs(fitted.models.encoder.transform(inputs.take(some)) - ours)
    return bool(apart.max() <= 1e-9 * max(1.0, abs(ours).max()))


def p_values(fitted: FittedDetector, rows: EncodedRows) -> Floats:
    """How often rows the fit has not seen score as high as each new row."""
    if fitted.calibration is None:
        raise DataError("p-values of new rows need rows held out of the fit; call calibrate(X, Y) after fit")
    return fitted.calibration.p_values_of(fitted.score(rows))


def confidence(fitted: FittedDetector, rows: EncodedRows) -> Floats:
    """How likely each row would keep its flag if the training rows were drawn again."""
    scored, usual = fitted.score(rows), fitted.training_scores
    n_flagged = int((usual > fitted.decision.threshold).sum())
    return flag_confidence(scored.scores, fitted.decide(rows, scored).flagged, usual, n_flagged)


def explain_new_row(fitted: FittedDetector, inputs: Table, outputs: Table, row: int) -> Explanation:
    """Why a row of a table with the columns of the fit has its score."""
    texts, place = inputs.texts(row), row
    if fitted.settings.decision.level is None:  # then no other row has a say
        inputs, outputs, place = inputs.take(np.array([row])), outputs.take(np.array([row])), 0
    rows = fitted.encode(inputs, outputs)
    scored = fitted.score(rows)
    decision, is_new = fitted.decide(rows, scored), bool(scored.is_new[place])
    # Under a false-discovery level the threshold is that of all rows given here.
    threshold = decision.threshold if is_new else fitted.decision.threshold
    explanation = next(replace(fitted.explainer, threshold=threshold).new_rows(rows, scored, [place]))
    p_value = None
    if is_new and fitted.calibration is not None:
        p_value = float(fitted.calibration.p_values(scored.scores[[place]])[0])
    return replace(explanation, p_value=p_value, values=texts, flagged=bool(decision.flagged[place]))


def fit_table(
    settings: Settings, columns: Columns, inputs: Table, outputs: Table, groups: Any, *, overwrite: bool = False
) -> FittedDetector:
    """Fit a detector to a whole table, and note what of it would mislead.

    ``groups`` say which rows belong together. With "auto" these are near copies: a first fit finds them, and if
    there are any, a second one keeps them together. ``overwrite`` says that nobody needs ``inputs`` any longer.
    """
    alike = are_duplicated(row_fingerprints(inputs.values, outputs.values, settings.seed)) & (groups is None)
    of_table = remarks_on_table(TableSeen(inputs, outputs, columns.given, alike))
    fitted = _fit_in_groups(settings, columns, inputs, outputs, groups, overwrite)
    of_fit = remarks_on_fit(outputs, fitted.quality, fitted.training_rows, fitted.decision.flagged)
    labels = inputs.index if inputs.index is not None else outputs.index
    return replace(fitted, remarks=(*fitted.remarks, *of_table, *of_fit), labels=labels)


def _fit_in_groups(
    settings: Settings, columns: Columns, inputs: Table, outputs: Table, groups: Any, overwrite: bool
) -> FittedDetector:
    automatic = isinstance(groups, str) and groups == "auto"
    remarks = coded(Code.PREDICTIONS, columns.doubts_about_given(inputs, outputs))
    together = None if groups is None or automatic else as_groups(groups, len(outputs))
    table = columns, inputs, outputs
    fitted = fit_detector(
        settings, *table, groups=together, remarks=remarks, overwrite=overwrite and not automatic
    )
    if automatic and fitted.scorer.local is None:
        raise DataError("groups='auto' looks at each row's neighbours, and there are none (n_neighbors, rule)")
    only_given = len(columns.given) == len(columns.inputs)  # near probabilities are no near copies
    copies = (
        None
        if together is not None or only_given
        else near_copy_groups(fitted.models, fitted.scorer, 0.0 if automatic else MANY_NEAR / 2)
    )
    if copies is None:
        return fitted
    n_copies = int(in_company(copies, len(copies)).sum())
    if automatic:
        settings = settings.with_rule(fitted.scorer.rule)
        remarks = (*remarks, kept_together(n_copies))
        again = fit_detector(settings, *table, groups=copies, remarks=remarks)
        return replace(again, choice=fitted.choice)
    if in_company(copies, len(copies)).mean() < MANY_NEAR:
        return fitted
    return replace(fitted, remarks=(*fitted.remarks, look_like_copies(n_copies)))


def fit_detector(
    settings: Settings,
    columns: Columns,
    inputs: Table,
    outputs: Table,
    *,
    groups: Rows | None = None,
    remarks: tuple[Remark, ...] = (),
    part: bool = False,
    learned: TwoViews | None = None,
    overwrite: bool = False,
) -> FittedDetector:
    """Fit the models, score the rows and flag the unusual ones.

    Rows with the same number in ``groups`` are kept in one fold. ``remarks`` are known of the table before.
    In a ``part`` of a table an output may be missing in every row, and a text may differ in most of them.
    ``learned`` is what the whole table showed of how rows can be wrong. With ``overwrite``, ``inputs`` are lost.
    """
    choice = None
    if settings.scoring.rule is None:
        choice = choose_rule(settings, Subject(inputs, outputs, columns.given, groups))
        settings = settings.with_rule(choice.best)
    scoring = settings.scoring
    how: dict[str, Any] = {"n_jobs": settings.n_jobs, "verbose": settings.verbose}
    rows: dict[str, Any] = {"given": columns.given, "groups": groups, "part": part, "overwrite": overwrite}
    result = fit_models(inputs, outputs, settings.models, seed=settings.seed, **rows, **how)
    remarks = (*remarks, *coded(Code.MODELS, result.notes))
    models = result.models if scoring.out_of_fold_share else without_fold_models(result.models)
    log_odds, error_rates = [TrainingLogOdds.of(result, scoring)], ErrorRates.out_of_fold(result)
    del result  # its log-odds are as large as the outputs, several times
    near = neighborhood_of(models, scoring, **how)
    jobs, known, names = settings.n_jobs, Known(learned), columns.outputs
    # Without stars, so that nobody here holds the log-odds any longer.
    scored = score_training_rows(
        models, log_odds.pop(), names, scoring, near, known=known, n_jobs=jobs, verbose=settings.verbose
    )

    def drawn(level: float) -> Floats:
        rows, order = models.training_rows, models.training_rows.order
        weights, views = scored.rows.weights_of(order), scored.rows.views
        coded, forecast = models.coded(rows.Y), scored.rows.forecast
        seen = scored.rows.log_odds[order], coded, weights, None if views is None else views.take(order)
        ahead = None if forecast is None else forecast.take(order)
        return drawn_scores(scored.scorer, *seen, seed=settings.seed, level=level, forecast=ahead)

    return FittedDetector(
        settings=settings.with_scaling(models.encoder.scaling),
        columns=columns,
        models=models,
        scorer=scored.scorer,
        training=scored.rows,
        training_scores=scored.rows.scores,
        quality=scored.quality,
        decision=decide_training(scored.rows.scores, settings.decision, drawn),
        error_rates=error_rates,
        choice=choice,
        remarks=remarks,
    )
