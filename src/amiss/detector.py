"""MCODE: the detector, as a scikit-learn-style estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from amiss.arrays import Floats, Mask, Matrix
from amiss.data.alignment import matched, refuse_other_order, refuse_unequal_lengths
from amiss.data.convert import are_label_lists
from amiss.data.fingerprints import copied
from amiss.data.table import Table
from amiss.data.validation import as_inputs, as_outputs
from amiss.decisions.calibration import FEWEST_ROWS, Calibration, ErrorLevels, held_out
from amiss.decisions.thresholds import (
    discoveries,
    drawn_scores,
    p_values,
    threshold_below,
    threshold_for_new,
    threshold_for_share,
)
from amiss.encoding.encoder import Encoder
from amiss.errors import DataError, listed
from amiss.evaluation.choice import Choice, choose_score
from amiss.explanations.explainer import Explainer, Trained
from amiss.explanations.explanation import Explanation
from amiss.models import fitting as gathering
from amiss.models.conditional import LinearModel, linear_twin
from amiss.models.fitting import Evidence
from amiss.models.projection import Crossfit, combined_log_odds, crossfit_share, errors, log_rho, rho
from amiss.monitoring.batch import Batch
from amiss.monitoring.judge import Judge
from amiss.persistence import restore, state
from amiss.scoring.approximate_neighbors import Search
from amiss.scoring.neighbors import NearestRows, Neighbors
from amiss.scoring.quality import output_quality, skills
from amiss.scoring.rules import Score, contributions, scores
from amiss.scoring.scorer import Reference, Scorer, TrainingRows
from amiss.scoring.weights import Weighting, global_weights, mean_errors, steadied_local_weights
from amiss.settings import STRENGTHS, check_parameters, judged_by_draws, level_of, positions_of


class MCODE(BaseEstimator):  # type: ignore[misc]
    """Multivariate conditional outlier detection: rows whose outputs do not go with their inputs.

    For every output a model of it given the inputs and the other outputs is fitted; rho is the
    probability that model gives to the value that was observed. A row's score is a sum over its
    outputs of how little their rho fits. Higher is more unusual.

    Parameters
    ----------
    parents : {"others", "chain", "none"}, default="others"
        Which other outputs an output's model sees: all, those before it in ``order``, or none.
    order : sequence of output names or numbers, default=None
        The order of the chain; None is the order of the columns.
    score : {"flip", "lrw", "rw", "prod", "auto"}, default="flip"
        "flip" is the evidence that outputs were flipped, Σ log(1 + (1 - rho_i) / (d (rho_i + 1/w_i)))
        (:mod:`amiss.scoring.rules`). The others are the paper's -Σ w_i log rho_i with weights from each
        row's neighbourhood, from all rows, or none (the paper's weights are weighting="error").
        "auto" flips outputs of the table itself, sees which score finds them, and takes that one;
        ``score_`` and ``choice_`` say which, and why.
    weighting : {"sqrt", "error", "brier"}, default="sqrt"
        What a weight of "lrw" and "rw" is the inverse of: the square root of the mean error, the
        mean error (the paper's), or the mean squared error.
    crossfit : bool, "half" or float, default=0.6
        Whether a row's rho comes from models that saw the row (False, the paper's), did not (True),
        or from an average of both log-odds, in which the latter have this share; "half" is 0.5.
    n_neighbors : int, default=100
        Size of the neighbourhood for local weights; capped at the rows there are. With 0 every row has
        the weights of all rows, and the detector can be saved without its rows.
    neighbor_space : {"joint", "inputs"}, default="joint"
        Whether neighbours are near in inputs and outputs, or in inputs alone.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        Approximate (extra ``ann``) is for very many dense rows; "auto" is approximate from 200,000
        of them, if the extra is installed. ``neighbor_recall_`` says what it misses. Sparse rows are
        always searched exactly.
    strengths : sequence of float
        L2 strengths to choose from by cross-validated log-loss, for each output by itself. The
        objective is the sum over rows of the log-loss plus strength/2 times the squared length of
        the coefficients, those of inputs counting ``parent_penalty`` times less.
    parent_penalty : float, default=4.0
        How many times more the coefficients of other outputs are penalised than those of inputs. The
        strength is that of the outputs; inputs have strength / parent_penalty.
    cv : int, default=5
        Number of folds.
    base_estimator : classifier with ``predict_proba``, default=None
        Takes the place of the logistic models.
    scaling : {"rank", "block", "none", "standard", "maxabs", "log-unit"}, default="rank"
        How inputs are scaled (:mod:`amiss.encoding.scalings`); outputs always stay 0 and 1.
    exclude : sequence of output names or numbers, or float, default=None
        Outputs left out of the score; a float leaves out those whose skill is below it. They
        still serve as parents of the others.
    contamination : float or "auto", default=0.01
        The share of rows to flag. "auto" flags the rows that stand out from what the models would make: it
        is ``fdr=0.2``.
    fdr : float, default=None
        Flag so many rows that about this share of them, at most, is flagged by chance, instead of
        ``contamination``. Rows of the fit are judged against outputs drawn from the models, which holds as
        far as the models' probabilities do. New rows are too, but after :meth:`calibrate` against rows held
        out of the fit, which holds if clean new rows are like those. With it, and with "auto", rows of
        the fit are scored by models that did not see them (``crossfit`` is then taken for True).
    random_state : int, RandomState, Generator or None, default=0
        Seeds the assignment of rows to folds; None is a new seed every time.
    n_jobs : int, default=-1
        Number of threads; -1 is all cores.
    verbose : bool, default=False
        Show progress on standard error.

    Attributes
    ----------
    decision_scores_ : (n_rows,) the score of each training row
    threshold_, labels_ : rows above the threshold are flagged (1)
    p_values_ : (n_rows,) how often outputs drawn from the models score as high; only with ``fdr`` or "auto"
    calibration_ : what rows held out of the fit score; None before :meth:`calibrate`
    rho_ : (n_rows, n_outputs) probability of each observed value, NaN where it is missing
    weights_ : (n_outputs,), or (n_rows, n_outputs) for local weights
    score_ : the score used
    choice_ : what score="auto" measured; None for any other score
    contributions_ : (n_rows, n_outputs) what each output adds to the score
    neighbor_recall_ : share of the true neighbours found, measured on a sample; 1 for the exact search.
        Only with local weights.
    output_quality_ : how good each output's model is
    input_names_, output_names_ : the columns

    Examples
    --------
    >>> import numpy as np
    >>> from amiss import MCODE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
    >>> Y[17, 1] = 1 - Y[17, 1]
    >>> detector = MCODE().fit(X, Y)
    >>> int(np.argmax(detector.decision_scores_))
    17
    >>> int(np.argmax(detector.contributions_[17]))
    1
    """

    def __init__(
        self,
        *,
        parents: Literal["others", "chain", "none"] = "others",
        order: Sequence[str | int] | None = None,
        score: Score | Literal["auto"] = "flip",
        weighting: Weighting = "sqrt",
        crossfit: Crossfit = 0.6,
        n_neighbors: int = 100,
        neighbor_space: Literal["joint", "inputs"] = "joint",
        neighbor_search: Search = "auto",
        strengths: Sequence[float] = STRENGTHS,
        parent_penalty: float = 4.0,
        cv: int = 5,
        base_estimator: Any = None,
        scaling: str = "rank",
        exclude: Sequence[str | int] | float | None = None,
        contamination: float | Literal["auto"] = 0.01,
        fdr: float | None = None,
        random_state: Any = 0,
        n_jobs: int = -1,
        verbose: bool | int = False,
    ) -> None:
        self.parents = parents
        self.order = order
        self.score = score
        self.weighting = weighting
        self.crossfit = crossfit
        self.n_neighbors = n_neighbors
        self.neighbor_space = neighbor_space
        self.neighbor_search = neighbor_search
        self.strengths = strengths
        self.parent_penalty = parent_penalty
        self.cv = cv
        self.base_estimator = base_estimator
        self.scaling = scaling
        self.exclude = exclude
        self.contamination = contamination
        self.fdr = fdr
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, Y: Any) -> MCODE:
        """Fit the models to X and Y, and score their rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Table, (n_rows, n_inputs)
            Texts are categories; NaN or None is missing.
        Y : array, sparse matrix, data frame, Table or list of label lists, (n_rows, n_outputs)
            0, 1, or NaN for missing. A missing output is left out of its model and of the row's
            score; as a parent of others it enters by its expected value given the inputs (for new
            rows, if no output was missing in the fit, by its base rate).
        """
        check_parameters(self)
        self.choice_: Choice | None = choose_score(self, X, Y) if self.score == "auto" else None
        return self.score_rows(self.gather(X, Y))

    def gather(self, X: Any, Y: Any, *, part: bool = False) -> Evidence:
        """Fit the models; what :meth:`score_rows` needs to score the rows.

        In a ``part`` of a table an output may be missing in every row, and a text in most of them be another.
        """
        check_parameters(self)
        self._label_lists = are_label_lists(Y)
        inputs, outputs = as_inputs(X), as_outputs(Y)
        validate_data(self, X=inputs if isinstance(X, (list, tuple)) else X, skip_check_array=True)
        refuse_unequal_lengths(inputs, outputs)
        refuse_other_order(X, Y)
        if not part:
            _refuse_unobserved(outputs)
        self.input_names_, self.output_names_ = inputs.names, outputs.names
        self._named = inputs.named, outputs.named

        self.__dict__.pop("reading_", None)  # of a model that was loaded
        evidence = gathering.gather(self, inputs, outputs, part=part)
        self._token = evidence.token
        return evidence

    def score_rows(self, evidence: Evidence) -> MCODE:
        """Score the rows of what this detector gathered last, by its parameters as they are now."""
        check_parameters(self)
        if evidence.token is not getattr(self, "_token", None):
            raise ValueError("this detector has gathered other rows since; gather these again")
        share = 1.0 if judged_by_draws(self) else crossfit_share(self.crossfit)
        if share and evidence.fit.out_of_fold is None:
            raise ValueError("the rows were gathered without folds; gather them again with this crossfit")
        if self.score != "auto":
            self.choice_ = None
        chosen = getattr(self, "choice_", None)
        if self.score == "auto" and chosen is None:
            raise ValueError("score='auto' is chosen by fit; name a score")
        self.score_: Score = self.score if chosen is None else chosen.best  # type: ignore[assignment]  # not "auto"
        fit = evidence.fit
        self._encoding, self._expectations = evidence.encoding, evidence.expectations
        self._model, self._seed = fit.model, evidence.seed
        self._strength, self._converged = fit.strength, fit.converged
        self._error_levels = ErrorLevels.unknown(evidence.Y.shape[1])
        if fit.out_of_fold is not None:
            # Of rows that are no copies: new rows that are compared with it are none either.
            single = ~np.isnan(evidence.Y) & ~copied(evidence.content)[:, None]
            self._error_levels = ErrorLevels.of(errors(fit.out_of_fold, evidence.Y), single)
        self.calibration_: Calibration | None = None
        rows = TrainingRows(
            design=evidence.design,
            Y=evidence.Y,
            place=np.argsort(evidence.order, kind="stable"),
            content=evidence.content,
            log_odds=combined_log_odds(fit, share),
            fold_models=fit.fold_models if share else None,
            share=share,
        )
        self._average = np.concatenate([np.ravel(evidence.design.mean(axis=0)), evidence.expectations.rates])
        self._settle(rows, gathering.neighborhood(self, evidence) if self._has_neighbors else None)
        self._flag()
        self._fitted_by = self.get_params(deep=False)  # whatever is set later, the file says what made the fit
        return self

    def calibrate(self, X: Any, Y: Any) -> MCODE:
        """Find out how high rows score that the fit has not seen, so that new rows can be judged by it.

        Give the rows of the fit: each is scored by a detector that is fitted anew without its fold, which
        takes about four times as long as the fit. Or give other rows that are like those to come; they
        are scored as they are, at once, those apart that were in the fit. Either may hold wrong rows; the
        p-values of new ones are then larger, not smaller.

        After it new rows have p-values, and a detector with ``fdr`` judges them by these. With a share as
        ``contamination`` the ``threshold_`` is then the score that an unseen row like these exceeds with this
        chance; rows of the fit score a little lower, so fewer of them are flagged by it (``labels_``).
        """
        inputs, outputs = self._matched(X, Y)
        judge = self._judge()
        content = judge.contents(inputs, outputs)
        observed = ~np.isnan(np.asarray(outputs.values))
        if self._has_rows and np.array_equal(np.sort(content), self._rows.content):
            parts, probability, new = held_out(self, inputs, outputs, content)
            if np.count_nonzero(new) < FEWEST_ROWS:
                raise DataError(f"a calibration needs {FEWEST_ROWS} rows that are not copies of others")
        else:
            scored = judge.scored(inputs, outputs)
            parts, probability, new = scored.contributions, scored.probability, scored.twins < 0
            if judge.passing(content) or np.count_nonzero(new) < FEWEST_ROWS:
                raise DataError(
                    f"a calibration needs all rows of the fit, or at least {FEWEST_ROWS} others; of these "
                    f"{len(new)} rows {np.count_nonzero(new) - judge.passing(content)} were not in the fit"
                )
        parts, probability, observed = parts[new], probability[new], observed[new]
        unlikely = np.where(observed, 1.0 - probability, 0.0)
        self.calibration_ = Calibration.of(parts, unlikely, observed, self._scorer.included)
        self._error_levels = self.calibration_.errors
        if self._level is None:
            share = float(self._fitted_by["contamination"])
            self.threshold_, _ = threshold_for_new(self.calibration_.scores, share)
            if self._has_rows:
                self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        return self

    def decision_function(self, X: Any, Y: Any) -> Floats:
        """Scores of new rows by the models, weights and neighbours of the fit.

        The models have seen the rows of the fit, and would find them usual; a row that is the same as
        one of them has the score it had in the fit (``decision_scores_``).
        """
        return scores(self.contributions(X, Y))

    def contributions(self, X: Any, Y: Any) -> Floats:
        """What each output adds to the score of each new row, ``(n_rows, n_outputs)``."""
        return self._judge().scored(*self._matched(X, Y)).contributions

    def judge(
        self,
        X: Any,
        Y: Any,
        *,
        fdr: float | None = None,
        rate: float | None = None,
        alerts: int | None = None,
        against: Literal["rows", "models"] | None = None,
    ) -> Batch:
        """Score and flag a batch of new rows, and say what about it is unlike the fit.

        Flagged is what the fit's threshold says or, with a detector that has ``fdr``, what passes that level
        in this batch. ``fdr`` asks for another level, ``rate`` flags what this share of unseen rows would
        exceed, ``alerts`` the so many most unusual rows of this batch. A level is kept among new rows; rows of the
        fit are flagged as they were there if that was by the same level, and else not at all.

        A level is kept ``against`` rows held out of the fit (the default after :meth:`calibrate`) or outputs
        drawn from the models (the default before it). The former needs nothing but that clean new rows are
        like those, but finds little if as many of those are wrong; the latter trusts the models'
        probabilities.
        """
        judge = self._judge()
        rows = judge.scored(*self._matched(X, Y))
        return judge.batch(rows, judge.cut(rows, fdr, rate, alerts, against))

    def p_values(self, X: Any, Y: Any) -> Floats:
        """How often rows the fit has not seen score as high as each new row; NaN for a row that was in the fit."""
        check_is_fitted(self)
        if self.calibration_ is None:
            raise DataError("p-values of new rows need rows held out of the fit; call calibrate(X, Y) after fit")
        judge = self._judge()
        found = judge.cut(judge.scored(*self._matched(X, Y)), alerts=1).p_values
        assert found is not None
        return found

    def explain(self, X: Any = None, Y: Any = None, *, row: int | None = None) -> Explanation:
        """Why a row has its score.

        ``explain(17)`` explains row 17 of the fit, counted from 0. ``explain(X_new, Y_new)`` explains a
        new row; of several, say which by ``row``.

        Examples
        --------
        >>> import numpy as np
        >>> from amiss import MCODE
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 4))
        >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
        >>> Y[17, 1] = 1 - Y[17, 1]
        >>> why = MCODE().fit(X, Y).explain(17)
        >>> why.suspects[0].output, why.suspects[0].observed, why.suspects[0].direction
        ('y1', 1, 'commission')
        >>> print(why.sentences()[1])
        y1 is 1 where 0 is expected (the model gives a 1 a chance of under 0.1%); it makes 80% of the score.
        """
        if Y is None:
            number = row if X is None else X
            if not isinstance(number, Integral) or isinstance(number, bool) or None not in (X, row):
                raise TypeError("explain takes the number of a row of the fit, or X and Y of new rows")
            return next(self.explain_rows([int(number)]))
        inputs, outputs = self._matched(X, Y)
        if row is None and len(outputs) > 1:
            raise ValueError(f"there are {len(outputs)} rows; say which one: explain(X, Y, row=0)")
        chosen = _row_number(row or 0, len(outputs), "X has")
        judge, place = self._judge(), chosen
        if judge.level is None:  # then no other row has a say
            inputs, outputs, place = inputs.take(np.array([chosen])), outputs.take(np.array([chosen])), 0
        rows = judge.scored(inputs, outputs)
        cut, twin = judge.cut(rows), int(rows.twins[place])
        if twin >= 0:
            explanation = replace(next(self._explainer().of_training([twin])), label="This row", row=None)
        else:
            # Under a false-discovery level the threshold is that of all rows given here.
            explainer = replace(self._explainer(), threshold=cut.threshold)
            explanation = next(explainer.of_new(*self._encoded(inputs, outputs, [place])))
            if self.calibration_ is not None:
                p_value = float(self.calibration_.p_values(rows.scores[[place]])[0])
                explanation = replace(explanation, p_value=p_value)
        return replace(explanation, values=as_inputs(X).texts(chosen), flagged=bool(cut.flagged[place]))

    def _encoded(self, inputs: Table, outputs: Table, rows: Sequence[int]) -> tuple[Matrix, Floats]:
        some = np.asarray(rows, dtype=np.intp)
        encoding: Encoder = self._encoding
        return encoding.transform(inputs.take(some)), np.asarray(outputs.values)[some]

    def explain_rows(self, rows: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of many rows of the fit, which is faster than one by one."""
        check_is_fitted(self)
        return self._explainer().of_training(self._row_numbers(rows))

    def suspects(self, rows: Sequence[int]) -> Iterator[list[int]]:
        """Numbers of the outputs with a telling share of rows of the fit, in the order of their explanations."""
        check_is_fitted(self)
        return self._explainer().suspects_of_training(self._row_numbers(rows))

    def suspects_of_new(self, X: Any, Y: Any) -> Iterator[list[int]]:
        """The same for new rows."""
        inputs, outputs = self._matched(X, Y)
        judge, explainer = self._judge(), self._explainer()
        twins = judge.twins(judge.contents(inputs, outputs))
        new = explainer.suspects_of_new(*self._encoded(inputs, outputs, np.flatnonzero(twins < 0).tolist()))
        seen = explainer.suspects_of_training(twins[twins >= 0].tolist())
        for twin in twins:
            yield next(seen if twin >= 0 else new)

    def dependence(self) -> Floats | None:
        """``[j, i]`` is what output j = 1 adds to the log-odds of output i; None if the models are not linear."""
        check_is_fitted(self)
        if isinstance(self._model, LinearModel):
            return self._model.coef[self._encoding.n_columns :]
        design, Y = self._rows.design[:50], self._rows.Y[:50]
        linear = linear_twin(self._model, design, self._expectations.filled(design, Y))
        return None if linear is None else linear.coef[design.shape[1] :]

    def was_fitted_to(self, X: Any, Y: Any) -> bool:
        """Whether these are the rows of the fit, in their order; of the inputs some rows are looked at."""
        self._row_numbers([0])
        inputs, given = as_inputs(X), np.asarray(as_outputs(Y, self.output_names_, self._label_lists).values)
        rows: TrainingRows = self._rows
        if not np.array_equal(given, rows.Y[rows.place], equal_nan=True):
            return False
        some = np.unique(np.linspace(0, len(given) - 1, 200).astype(np.intp))
        ours = rows.design[rows.place[some]]
        apart = abs(self._encoding.transform(inputs.take(some)) - ours)
        return bool(apart.max() <= 1e-9 * max(1.0, abs(ours).max()))

    def predict(self, X: Any, Y: Any) -> npt.NDArray[np.intp]:
        """1 for new rows above the ``threshold_`` (with ``fdr``, for those of the batch that keep it), else 0."""
        judge = self._judge()
        rows = judge.scored(*self._matched(X, Y))
        return judge.cut(rows).flagged.astype(int)

    def fit_predict(self, X: Any, Y: Any) -> npt.NDArray[np.intp]:
        """Fit, and give ``labels_``."""
        labels: npt.NDArray[np.intp] = self.fit(X, Y).labels_
        return labels

    def save(self, path: str | Path, *, rows: bool = True) -> None:
        """Keep the detector in a file (mode 0600) that :func:`amiss.load` reads; nothing in it is ever executed.

        With ``rows`` the file holds the rows of the fit, as local weights need them, and everything of the
        detector works after loading. Without, it holds no row, but the columns' names, their categories
        and up to 256 values of each column; it needs ``n_neighbors=0`` or a score without neighbours.
        """
        check_is_fitted(self)
        state.save(self, Path(path), rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    # How rows of the fit are scored.

    @property
    def _has_neighbors(self) -> bool:
        return self.score_ in ("flip", "lrw") and self.n_neighbors > 0

    def _settle(self, rows: TrainingRows, found: tuple[NearestRows, Neighbors] | None) -> None:
        """Weights, scores and quality of the rows of the fit, in the user's order."""
        Y, log_odds, back = rows.Y, rows.log_odds, rows.place
        observed = ~np.isnan(Y)
        included = self._included_outputs(log_odds, Y, observed)
        self._rows = rows
        self._scorer = self._scorer_of(log_odds, Y, included, found)
        reference = self._scorer.reference
        self.__dict__.pop("neighbor_recall_", None)  # of an earlier fit
        if reference is not None:
            self.neighbor_recall_ = reference.nearest.recall
        weights = self._scorer.weights(None if reference is None else reference.neighbors)
        self.output_quality_ = output_quality(
            self.output_names_, self._strength, self._converged, log_odds, Y, observed, weights, included
        )
        self.contributions_ = contributions(log_rho(log_odds, Y), weights, observed, included, self.score_)[back]
        self.decision_scores_ = self._training_scores = scores(self.contributions_)
        self.weights_ = weights if weights.ndim == 1 else weights[back]
        del weights  # these arrays are as large as the table, and there are enough of them
        self.rho_ = np.where(observed, rho(log_odds, Y), np.nan)[back]

    def _scorer_of(
        self, log_odds: Floats, Y: Floats, included: Mask, found: tuple[NearestRows, Neighbors] | None
    ) -> Scorer:
        observed, row_errors = ~np.isnan(Y), errors(log_odds, Y)
        everywhere, reference = None, None
        if found is not None:
            reference = Reference(*found, row_errors, observed, mean_errors(row_errors, observed))
        elif self.score_ == "prod":
            everywhere = np.ones(Y.shape[1])
        elif self.score_ == "flip":
            nobody = np.empty((1, 0), dtype=np.intp)
            means = mean_errors(row_errors, observed)
            everywhere = steadied_local_weights(row_errors, observed, nobody, means)[0]
        else:
            everywhere = global_weights(row_errors, observed, self.weighting)
        return self._new_scorer(included, everywhere, reference)

    def _new_scorer(self, included: Mask, everywhere: Floats | None, reference: Reference | None) -> Scorer:
        return Scorer(
            model=self._model,
            expectations=self._expectations,
            score=self.score_,
            weighting=self.weighting,
            included=included,
            global_weights=everywhere,
            reference=reference,
            n_neighbors=self.n_neighbors,
            neighbor_space=self.neighbor_space,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _flag(self) -> None:
        """The threshold for rows of the fit, and who is above it."""
        found, rows = self.decision_scores_, self._rows
        self.__dict__.pop("p_values_", None)  # of an earlier fit
        if judged_by_draws(self):
            weights = self.weights_ if self.weights_.ndim == 1 else self.weights_[rows.order]
            level = level_of(self.contamination, self.fdr)
            assert level is not None
            drawn = drawn_scores(self._scorer, rows.log_odds, rows.Y, weights, self._seed, level)
            self.p_values_ = p_values(found, drawn)
            self.threshold_ = threshold_below(found, discoveries(self.p_values_, level))
        else:
            self.threshold_ = threshold_for_share(found, float(self.contamination))
        self.labels_ = (found > self.threshold_).astype(int)

    def _included_outputs(self, log_odds: Floats, Y: Floats, observed: Mask) -> Mask:
        included = np.ones(Y.shape[1], dtype=bool)
        if isinstance(self.exclude, Real):
            included = skills(log_odds, Y, observed)[2] >= self.exclude
            if not included.any():
                raise DataError(f"every output has a skill below {self.exclude}; ask for less")
        elif self.exclude is not None:
            names: list[Any] = [self.exclude] if isinstance(self.exclude, str) else list(self.exclude)  # type: ignore[arg-type]
            included[positions_of(names, self.output_names_, "exclude")] = False
            if not included.any():
                raise DataError("exclude names every output; leave at least one")
        return included

    # New rows.

    @property
    def _has_rows(self) -> bool:
        """Whether the rows of the fit are here; a model may have been saved without them."""
        return hasattr(self, "_rows")

    @property
    def _level(self) -> float | None:
        """The false-discovery level of the fit; parameters set later do not change what was fitted."""
        return level_of(self._fitted_by["contamination"], self._fitted_by["fdr"])

    def _matched(self, X: Any, Y: Any) -> tuple[Table, Table]:
        """New rows with the columns of the fit, in their order."""
        check_is_fitted(self)
        inputs = matched(as_inputs(X), self.input_names_, "x", self._named[0])
        outputs = as_outputs(Y, self.output_names_, self._label_lists)
        outputs = matched(outputs, self.output_names_, "y", self._named[1])
        refuse_unequal_lengths(inputs, outputs)
        refuse_other_order(X, Y)
        return inputs, outputs

    def _judge(self) -> Judge:
        check_is_fitted(self)
        return Judge(
            scorer=self._scorer,
            encoding=self._encoding,
            seed=self._seed,
            content=self._rows.content if self._has_rows else None,
            traces=None if self._has_rows else self._traces,
            trained=self._trained(),
            labels=self.labels_ == 1 if self._has_rows else None,
            training_scores=self._training_scores,
            threshold=self.threshold_,
            level=self._level,
            calibration=self.calibration_,
            error_levels=self._error_levels,
            output_names=self.output_names_,
        )

    def _trained(self) -> Trained | None:
        return Trained(self._rows, self.contributions_, self.rho_, self.weights_) if self._has_rows else None

    # Explanations.

    def _row_numbers(self, rows: Sequence[int]) -> list[int]:
        if not self._has_rows:
            raise DataError("this model was saved without the rows of the fit; only new rows can be explained")
        return [_row_number(row, len(self.decision_scores_), "the fit had") for row in rows]

    def _explainer(self) -> Explainer:
        encoding: Encoder = self._encoding
        return Explainer(
            scorer=self._scorer,
            input_names=self.input_names_,
            output_names=self.output_names_,
            source=encoding.sources,
            average=self._average,
            training_scores=self._training_scores,
            threshold=self.threshold_,
            trained=self._trained(),
        )


def load(path: str | Path) -> MCODE:
    """The detector that :meth:`MCODE.save` kept; a file that is damaged, altered or no model is refused."""
    return restore.load(MCODE(), Path(path))


def _row_number(row: int, n_rows: int, whose: str) -> int:
    if not 0 <= row < n_rows:
        raise DataError(f"there is no row {row}: {whose} {n_rows} rows, counted from 0")
    return int(row)


def _refuse_unobserved(outputs: Table) -> None:
    empty = np.isnan(np.asarray(outputs.values)).all(axis=0)
    if empty.any():
        names = [name for name, gone in zip(outputs.names, empty, strict=True) if gone]
        raise DataError(f"{outputs.files}output {listed(names)} is missing in every row; drop it or fill it in")
