"""MCODE: the detector, as a scikit-learn-style estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from amiss import progress
from amiss.approximate_neighbors import Search, row_search
from amiss.canonical import Fingerprints, contents
from amiss.convert import are_label_lists
from amiss.dataset import as_inputs, as_outputs, matched, refuse_unequal_lengths
from amiss.decide import threshold_for_share
from amiss.design import Encoding, Scaling, fit_encoding, visible_outputs
from amiss.errors import DataError, listed
from amiss.estimators import fit_classifiers
from amiss.evaluate.choose import Choice, choose_score
from amiss.explain import Explainer
from amiss.explanation import Explanation
from amiss.folds import Folds, averaged_over_copies, stratified_folds
from amiss.missing import Expectations, base_rates
from amiss.model import (
    ConditionalModel,
    Crossfit,
    Fit,
    combined_log_odds,
    crossfit_share,
    errors,
    fit_logistic,
    linear_twin,
    log_rho,
    rho,
)
from amiss.neighbors import NearestRows, Neighbors
from amiss.parameters import STRENGTHS, check_parameters, permutation, positions_of, seed_of
from amiss.quality import output_quality, skills
from amiss.scorer import Reference, Scorer, TrainingRows, found, space
from amiss.scores import Score, contributions, scores
from amiss.table import Floats, Mask, Matrix, Rows, Table
from amiss.weights import Weighting, global_weights, mean_errors


@dataclass
class Evidence:
    """What a fit knows of its rows before they are scored, in the order of their content.

    The same evidence serves every ``score``, ``weighting``, ``crossfit``, ``exclude`` and ``contamination``.
    """

    order: Rows
    content: Fingerprints
    design: Matrix
    Y: Floats
    fit: Fit
    token: object
    found: tuple[NearestRows, Neighbors] | None = None
    found_by: tuple[object, ...] = ()  # the settings of that search


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
        (:mod:`amiss.scores`). The others are the paper's -Σ w_i log rho_i with weights from each
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
        Size of the neighbourhood for local weights; capped at the rows there are.
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
        How inputs are scaled (:mod:`amiss.design`); outputs always stay 0 and 1.
    exclude : sequence of output names or numbers, or float, default=None
        Outputs left out of the score; a float leaves out those whose skill is below it. They
        still serve as parents of the others.
    contamination : float, default=0.01
        The share of rows to flag.
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
        scaling: Scaling = "rank",
        exclude: Sequence[str | int] | float | None = None,
        contamination: float = 0.01,
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

    def gather(self, X: Any, Y: Any) -> Evidence:
        """Fit the models; what :meth:`score_rows` needs to score the rows."""
        check_parameters(self)
        self._label_lists = are_label_lists(Y)
        inputs, outputs = as_inputs(X), as_outputs(Y)
        validate_data(self, X=inputs if isinstance(X, (list, tuple)) else X, skip_check_array=True)
        refuse_unequal_lengths(inputs, outputs)
        _refuse_unobserved(outputs)
        self.input_names_, self.output_names_ = inputs.names, outputs.names
        self._named = inputs.named, outputs.named

        # In the order of their content, so that nothing depends on the order rows came in.
        content = contents(inputs.values, outputs.values, seed_of(self.random_state))
        order = np.argsort(content, kind="stable")
        inputs, outputs, content = inputs.take(order), outputs.take(order), content[order]

        self._encoding = fit_encoding(inputs, self.scaling)
        design, Y_sorted = self._encoding.transform(inputs), np.asarray(outputs.values)
        fit = self._fit_models(design, Y_sorted, self._folds(Y_sorted))
        if fit.out_of_fold is not None:
            fit = replace(fit, out_of_fold=averaged_over_copies(fit.out_of_fold, content))
        self._token = object()
        return Evidence(order, content, design, Y_sorted, fit, self._token)

    def score_rows(self, evidence: Evidence) -> MCODE:
        """Score the rows of what this detector gathered last, by its parameters as they are now."""
        check_parameters(self)
        if evidence.token is not self._token:
            raise ValueError("this detector has gathered other rows since; gather these again")
        if self.crossfit and evidence.fit.out_of_fold is None:
            raise ValueError("the rows were gathered without folds; gather them again with this crossfit")
        if self.score != "auto":
            self.choice_ = None
        chosen = getattr(self, "choice_", None)
        if self.score == "auto" and chosen is None:
            raise ValueError("score='auto' is chosen by fit; name a score")
        self.score_: Score = self.score if chosen is None else chosen.best  # type: ignore[assignment]  # not "auto"
        log_odds = combined_log_odds(evidence.fit, self.crossfit)
        self._score_training_rows(evidence, log_odds)
        self.threshold_ = threshold_for_share(self.decision_scores_, self.contamination)
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        return self

    def decision_function(self, X: Any, Y: Any) -> Floats:
        """Scores of new rows by the models, weights and neighbours of the fit.

        A row of the training data is a new row here: it is its own nearest neighbour, and its rho
        is that of models that saw it. Its score as a training row is in ``decision_scores_``.
        """
        return scores(self.contributions(X, Y))

    def contributions(self, X: Any, Y: Any) -> Floats:
        """What each output adds to the score of each new row, ``(n_rows, n_outputs)``."""
        scorer: Scorer = self._scorer
        return scorer.contributions(*self._new_rows(X, Y))

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
        design, Y_new = self._new_rows(X, Y)
        if row is None and len(Y_new) > 1:
            raise ValueError(f"there are {len(Y_new)} rows; say which one: explain(X, Y, row=0)")
        chosen = _row_number(row or 0, len(Y_new), "X has")
        explanation = self._explainer().of_new(design[[chosen]], Y_new[[chosen]])
        return replace(explanation, values=as_inputs(X).texts(chosen))

    def explain_rows(self, rows: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of many rows of the fit, which is faster than one by one."""
        check_is_fitted(self)
        return self._explainer().of_training(self._row_numbers(rows))

    def suspects(self, rows: Sequence[int]) -> Iterator[list[int]]:
        """Numbers of the outputs with a telling share of rows of the fit, in the order of their explanations."""
        check_is_fitted(self)
        return self._explainer().suspects_of_training(self._row_numbers(rows))

    def dependence(self) -> Floats | None:
        """``[j, i]`` is what output j = 1 adds to the log-odds of output i; None if the models are not linear."""
        check_is_fitted(self)
        design, Y = self._rows.design[:50], self._rows.Y[:50]
        linear = linear_twin(self._model, design, self._expectations.filled(design, Y))
        return None if linear is None else linear.coef[design.shape[1] :]

    def was_fitted_to(self, X: Any, Y: Any) -> bool:
        """Whether these are the rows of the fit, in their order; of the inputs some rows are looked at."""
        inputs, given = as_inputs(X), np.asarray(as_outputs(Y, self.output_names_, self._label_lists).values)
        rows: TrainingRows = self._rows
        if not np.array_equal(given, rows.Y[rows.place], equal_nan=True):
            return False
        some = np.unique(np.linspace(0, len(given) - 1, 200).astype(np.intp))
        ours = rows.design[rows.place[some]]
        apart = abs(self._encoding.transform(inputs.take(some)) - ours)
        return bool(apart.max() <= 1e-9 * max(1.0, abs(ours).max()))

    def predict(self, X: Any, Y: Any) -> npt.NDArray[np.intp]:
        """1 for new rows above the threshold of the fit, else 0."""
        return (self.decision_function(X, Y) > self.threshold_).astype(int)

    def fit_predict(self, X: Any, Y: Any) -> npt.NDArray[np.intp]:
        """Fit, and give ``labels_``."""
        labels: npt.NDArray[np.intp] = self.fit(X, Y).labels_
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    # How the fit goes about it.

    def _folds(self, Y: Floats) -> Folds | None:
        choosing = self.base_estimator is None and len(set(self.strengths)) > 1
        if not self.crossfit and not choosing:
            return None
        return stratified_folds(Y, min(self.cv, len(Y)))

    def _fit_models(self, design: Matrix, Y: Floats, folds: Folds | None) -> Fit:
        """Fit; where outputs are missing, first fit models of them on the inputs alone to fill them in."""
        order = None if self.order is None else permutation(self.order, self.output_names_)
        visible = visible_outputs(self.parents, Y.shape[1], order)
        observed = ~np.isnan(Y)
        self._expectations = Expectations(base_rates(Y))
        if not observed.all() and visible.any():
            filled = self._expectations.filled(design, Y)
            first = self._fit_once(design, filled, observed, np.zeros_like(visible), folds)
            self._expectations = Expectations(base_rates(Y), first.model)
        fit = self._fit_once(design, self._expectations.filled(design, Y), observed, visible, folds)
        self._model: ConditionalModel = fit.model
        return fit

    def _fit_once(
        self,
        design: Matrix,
        filled: Floats,
        observed: Mask,
        visible: Mask,
        folds: Folds | None,
    ) -> Fit:
        data = (design, filled, observed, visible)
        n_outputs = filled.shape[1]
        stages = progress.stages(self.verbose)
        if self.base_estimator is not None:
            with stages("fitting outputs", n_outputs) as advance:
                return fit_classifiers(
                    self.base_estimator,
                    *data,
                    folds,
                    names=self.output_names_,
                    n_jobs=self.n_jobs,
                    progress=advance,
                )
        strengths = sorted(set(self.strengths))
        with stages("fitting outputs", n_outputs * len(strengths)) as advance:
            return fit_logistic(
                *data,
                strengths,
                folds,
                parent_penalty=self.parent_penalty,
                n_jobs=self.n_jobs,
                progress=advance,
            )

    def _score_training_rows(self, evidence: Evidence, log_odds: Floats) -> None:
        """Weights, scores and quality of the rows of the fit, put back into the user's order."""
        Y = evidence.Y
        observed = ~np.isnan(Y)
        included = self._included_outputs(log_odds, Y, observed)
        self.__dict__.pop("neighbor_recall_", None)  # of an earlier fit
        row_errors = errors(log_odds, Y)
        everywhere, reference = None, None
        if self.score_ == "prod":
            everywhere = np.ones(Y.shape[1])
        elif self.score_ == "rw":
            everywhere = global_weights(row_errors, observed, self.weighting)
        else:
            nearest, near = self._found(evidence)
            reference = Reference(nearest, near, row_errors, observed, mean_errors(row_errors, observed))
            self.neighbor_recall_ = nearest.recall
        self._scorer = Scorer(
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
        weights = self._scorer.weights(None if reference is None else reference.neighbors)
        self.output_quality_ = output_quality(
            self.output_names_, evidence.fit, log_odds, Y, observed, weights, included
        )
        back = np.argsort(evidence.order, kind="stable")
        self._rows = TrainingRows(
            design=evidence.design,
            Y=Y,
            place=back,
            content=evidence.content,
            fold_models=evidence.fit.fold_models if self.crossfit else None,
            share=crossfit_share(self.crossfit),
            average=np.concatenate([np.ravel(evidence.design.mean(axis=0)), self._expectations.rates]),
        )
        self.contributions_ = contributions(log_rho(log_odds, Y), weights, observed, included, self.score_)[back]
        self.decision_scores_ = scores(self.contributions_)
        self.weights_ = weights if weights.ndim == 1 else weights[back]
        del weights  # these arrays are as large as the table, and there are enough of them
        self.rho_ = np.where(observed, rho(log_odds, Y), np.nan)[back]

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

    # Neighbours and new rows.

    def _found(self, evidence: Evidence) -> tuple[NearestRows, Neighbors]:
        """Who is near whom among the rows of the fit; found once."""
        settings = self.n_neighbors, self.neighbor_space, self.neighbor_search
        if evidence.found is None or evidence.found_by != settings:
            filled = self._expectations.filled(evidence.design, evidence.Y)
            rows = space(evidence.design, filled, self.neighbor_space)
            nearest = row_search(rows, self.neighbor_search, self.n_neighbors, self.n_jobs)
            near = found(nearest, self.n_neighbors, None, self.n_jobs, self.verbose)
            evidence.found, evidence.found_by = (nearest, near), settings
        return evidence.found

    def _row_numbers(self, rows: Sequence[int]) -> list[int]:
        return [_row_number(row, len(self.decision_scores_), "the fit had") for row in rows]

    def _explainer(self) -> Explainer:
        encoding: Encoding = self._encoding
        return Explainer(
            scorer=self._scorer,
            rows=self._rows,
            input_names=self.input_names_,
            output_names=self.output_names_,
            source=encoding.sources,
            contributions=self.contributions_,
            probability=self.rho_,
            weights=self.weights_,
            threshold=self.threshold_,
        )

    def _new_rows(self, X: Any, Y: Any) -> tuple[Matrix, Floats]:
        check_is_fitted(self)
        inputs = matched(as_inputs(X), self.input_names_, "x", self._named[0])
        outputs = as_outputs(Y, self.output_names_, self._label_lists)
        outputs = matched(outputs, self.output_names_, "y", self._named[1])
        refuse_unequal_lengths(inputs, outputs)
        encoding: Encoding = self._encoding
        return encoding.transform(inputs), np.asarray(outputs.values)


def _row_number(row: int, n_rows: int, whose: str) -> int:
    if not 0 <= row < n_rows:
        raise DataError(f"there is no row {row}: {whose} {n_rows} rows, counted from 0")
    return int(row)


def _refuse_unobserved(outputs: Table) -> None:
    empty = np.isnan(np.asarray(outputs.values)).all(axis=0)
    if empty.any():
        names = [name for name, gone in zip(outputs.names, empty, strict=True) if gone]
        raise DataError(f"{outputs.files}output {listed(names)} is missing in every row; drop it or fill it in")
