"""MCODE: the detector, as a scikit-learn-style estimator with PyOD's names. It checks, delegates and exposes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from amiss.arrays import Floats
from amiss.data.columns import Columns
from amiss.data.frames import collected
from amiss.decisions.outlier_probability import outlier_probabilities
from amiss.decisions.settings import BatchRequest
from amiss.encoding.encoded_rows import EncodedRows
from amiss.explanations.explanation import Explanation
from amiss.explanations.row_numbers import checked_row, row_of_batch, row_of_fit
from amiss.fitted import FittedDetector, confidence, explain_new_row, fit_table, p_values
from amiss.models.settings import STRENGTHS
from amiss.monitoring.batch import ScoredBatch
from amiss.output.cells import Cell
from amiss.output.listed import Listed, listed_cells, listed_rows
from amiss.output.ranking import RankedRow
from amiss.output.report import refuse_other_rows, write_report
from amiss.persistence import load_fitted, save_fitted
from amiss.settings import DEFAULTS, Settings, refuse_other_arguments

OF_ROWS = ("decision_scores_", "labels_", "contributions_", "probabilities_", "rho_", "weights_", "p_values_")


class MCODE(BaseEstimator):  # type: ignore[misc]
    """Multivariate conditional outlier detection: finds rows whose outputs do not match their inputs.

    For every output, a model given the inputs and the other outputs is fitted, and one given the inputs alone; rho
    is the probability of the observed value. By these a score weighs how a row can be wrong; higher is more
    unusual.

    Parameters
    ----------
    parents : {"untied", "others", "chain", "none"}, default="untied"
        Which other outputs an output's model sees: all but those of the same class (one-hot columns give each
        other away), all (the paper's), those before it in ``order``, or none.
    order : sequence of output names or numbers, default=None; of the chain, None is the order of the columns
    rule : {"mixture", "flip", "lrw", "rw", "prod", "auto"}, default="mixture"
        The scoring rule. "mixture" is -log P(the row is right), by hypotheses of how it can be wrong
        (:mod:`amiss.scoring.hypotheses`), "flip" the evidence that outputs were flipped one by one. The others are
        the paper's -Σ w_i log rho_i with weights from each row's neighbourhood, from all rows, or none. "auto" is
        the rule that finds errors made on purpose in the table best; ``choice_`` says why.
    weighting : {"sqrt", "error", "brier"}, default="sqrt"
        A weight of "lrw" and "rw" is the inverse of the root of the mean error, of the mean error, or of the mean
        squared error. The paper's is "error".
    crossfit : bool or float, default=0.6
        Whether a row's rho comes from models that saw the row (False, the paper's), did not (True), or from an
        average of both log-odds, in which the latter have this share.
    n_neighbors : int, default=100
        Size of the neighbourhood for local weights. With 0 every row has the weights of all rows, and the detector
        can be saved without its rows.
    neighbor_space : {"joint", "inputs"}, default="joint"
        Whether neighbours are near in inputs and outputs, or in inputs alone.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "approximate" compares a row with rows around it only, as "auto" does from 20,000 dense rows on.
    strengths : sequence of float
        L2 strengths to choose from by cross-validated log-loss, for each output by itself. The objective is the
        summed log-loss plus strength/2 times the squared length of the coefficients.
    parent_penalty : float, default=4.0
        How many times more the coefficients of other outputs are penalised than those of inputs.
    cv : int, default=5; number of folds
    model : {"linear", "boosting", "auto"} or classifier with ``predict_proba``, default="linear"
        What predicts the outputs: logistic regressions, gradient-boosted trees, for each output whichever of these
        is better (or an average of both), or clones of a classifier of yours.
    time_budget : float, default=60.0
        About how many seconds "auto" may take to try boosted trees. It is counted in work, not by the clock, so
        the same table gives the same models everywhere.
    scaling : {"auto", "rank", "block", "none", "standard", "maxabs", "log-unit"}, default="auto"
        How inputs are scaled (:mod:`amiss.encoding.scalings`). "auto" is "rank" or "block", by log-loss.
    exclude : sequence of output names or numbers, or float, default=None
        Outputs left out of the score; a float leaves out those whose skill is below it. They still are parents.
    contamination : float or "auto", default=0.01
        The share of rows to flag. "auto" flags rows that are wrong with a chance of over 30 %; with rules other
        than "mixture" it is ``fdr=0.2``.
    fdr : float, default=None
        A false-discovery level, instead of ``contamination``: flag as many rows as keep the share of falsely
        flagged ones at about this level. A row is flagged when it scores higher than simulated rows whose outputs
        follow the models, which is right if the models' probabilities are. After :meth:`calibrate` new rows are
        compared with rows held out of the fit. Rows of the fit are then scored as with ``crossfit=True``.
    output_kinds : mapping of output names to kinds, default=None
        "binary", "class", "ordinal", "count" or "number", or a list of levels in their order. The kind of any
        other output is told from its values: 0 and 1 are binary, texts a class, whole numbers from 0 on a count,
        other numbers a number.
    random_state : int, RandomState, Generator or None, default=0; seeds the folds, None is a new seed every time
    n_jobs : int, default=-1; number of threads, -1 is all cores
    verbose : bool, default=False; show progress on standard error

    Attributes
    ----------
    decision_scores_ : (n_rows,) the score of each training row
    threshold_, labels_ : rows above the threshold are flagged (1)
    contributions_ : (n_rows, n_outputs) what each output adds to the score
    probabilities_ : (n_rows, n_outputs) the probability of each observed value by the models, NaN if it is
        missing; ``rho_`` is the paper's name for it
    weights_ : (n_outputs,), or (n_rows, n_outputs) where they come from each row's neighbourhood
    p_values_ : (n_rows,) how often simulated rows score as high; only with ``fdr`` or "auto"
    output_quality_ : :class:`~amiss.OutputQuality`, how good each output's model is
    error_estimate_ : :class:`~amiss.ErrorEstimate`, how many rows and cells are wrong; only with "mixture"
    rule_, choice_ : the name of the rule, and the :class:`~amiss.RuleChoice` of rule="auto" (else None)
    calibration_ : :class:`~amiss.Calibration`, what rows held out of the fit score; None before :meth:`calibrate`
    neighbor_recall_ : share of the true neighbours found in a sample; only with local weights
    input_names_, output_names_ : the columns
    fitted_ : :class:`~amiss.FittedDetector`, all of this as one immutable value

    A model that was saved without its rows has no attributes with one entry per row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
    >>> Y[17, 1] = 1 - Y[17, 1]
    >>> detector = MCODE().fit(X, Y)
    >>> int(np.argmax(detector.decision_scores_))
    17
    >>> suspect = detector.explain(17).suspects[0]
    >>> suspect.output, suspect.observed, suspect.direction
    ('y1', 1, 'commission')
    """

    def __init__(
        self,
        *,
        parents: str = "untied",
        order: Sequence[str | int] | None = None,
        rule: str = "mixture",
        weighting: str = "sqrt",
        crossfit: float | bool = 0.6,
        n_neighbors: int = 100,
        neighbor_space: str = "joint",
        neighbor_search: str = "auto",
        strengths: Sequence[float] = STRENGTHS,
        parent_penalty: float = 4.0,
        cv: int = 5,
        model: Any = "linear",
        time_budget: float = 60.0,
        scaling: str = "auto",
        exclude: Sequence[str | int] | float | None = None,
        contamination: float | Literal["auto"] = 0.01,
        fdr: float | None = None,
        output_kinds: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int = -1,
        verbose: bool | int = False,
    ) -> None:
        self.parents = parents
        self.order = order
        self.rule = rule
        self.weighting = weighting
        self.crossfit = crossfit
        self.n_neighbors = n_neighbors
        self.neighbor_space = neighbor_space
        self.neighbor_search = neighbor_search
        self.strengths = strengths
        self.parent_penalty = parent_penalty
        self.cv = cv
        self.model = model
        self.time_budget = time_budget
        self.scaling = scaling
        self.exclude = exclude
        self.contamination = contamination
        self.fdr = fdr
        self.output_kinds = output_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, Y: Any, *, probabilities: Any = None, groups: Any = None, **others: Any) -> MCODE:
        """Fit the models to X and Y, and score their rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, Hugging Face dataset, list of dictionaries or Table, (n_rows, n_inputs)
            Texts are categories; NaN or None is missing.
        Y : one of these, or a list of label lists, (n_rows, n_outputs)
            0 and 1, classes, counts or numbers (``output_kinds``); NaN is missing. A missing output is left out of
            its model and of the row's score; as a parent of others it enters by its expected value given the
            inputs (for new rows, if no output was missing in the fit, by what is usual).
        probabilities : array or data frame, (n_rows, n_outputs), or a dictionary, default=None
            Your own out-of-fold predictions: the probability that each output is 1, by a model that did not see
            the row; of a class one for each level, of a number the value that is expected. X may be None. New rows
            need theirs too. Columns are matched by name (``p_tag_a``); a dictionary has an array for each output.
        groups : array or series, (n_rows,), or "auto", default=None
            Rows of one group belong together (pictures of one patient): models that judge a row saw none of its
            group. "auto" finds near copies, and keeps them together.
        """
        refuse_other_arguments(others)
        settings, X = Settings.of(**{name: getattr(self, name) for name in DEFAULTS}), collected(X)
        columns, inputs, outputs = Columns.of(X, Y, probabilities, dict(settings.output_kinds))
        validate_data(self, X=inputs if X is None or isinstance(X, (list, tuple)) else X, skip_check_array=True)
        return self._adopt(fit_table(settings, columns, inputs, outputs, groups))

    @classmethod
    def from_probabilities(cls, P: Any, Y: Any, *, groups: Any = None, **parameters: Any) -> MCODE:
        """A detector with these ``parameters``, fitted to your own out-of-fold predictions (see :meth:`fit`)."""
        return cls(**parameters).fit(None, Y, probabilities=P, groups=groups)

    def calibrate(self, X: Any, Y: Any, *, probabilities: Any = None) -> MCODE:
        """Find out how high rows score that the fit has not seen, so that new rows can be judged by it.

        Give the rows of the fit: each is scored by a detector that is fitted anew without its fold, which
        takes about four times as long as the fit. Or give other rows that are like those to come. Either may hold
        wrong rows; the p-values of new ones are then larger, not smaller.

        After it new rows have p-values, and ``fdr`` judges by these. With a share as ``contamination`` the
        ``threshold_`` is the score that an unseen row exceeds with this chance.
        """
        return self._adopt(self._fitted().calibrated(*self._fitted().columns.align(X, Y, probabilities)))

    def decision_function(self, X: Any, Y: Any = None, *, probabilities: Any = None) -> Floats:
        """Scores of new rows by the models, weights and neighbours of the fit, ``(n_rows,)``.

        A row that was in the fit has the score it had there (``decision_scores_``).
        """
        return self._fitted().score(self._encoded(X, Y, probabilities)).scores

    def contributions(self, X: Any, Y: Any = None, *, probabilities: Any = None) -> Floats:
        """What each output adds to the score of each new row, ``(n_rows, n_outputs)``."""
        return self._fitted().score(self._encoded(X, Y, probabilities)).contributions

    def score(self, X: Any, Y: Any, *, probabilities: Any = None) -> float:
        """Mean log-probability of the observed outputs of new rows; higher is better, as in scikit-learn."""
        return self._fitted().score(self._encoded(X, Y, probabilities)).mean_log_probability

    def score_batch(
        self,
        X: Any,
        Y: Any = None,
        *,
        fdr: float | None = None,
        rate: float | None = None,
        alerts: int | None = None,
        against: str | None = None,
        probabilities: Any = None,
    ) -> ScoredBatch:
        """Score and flag a batch of new rows, and say what about it is unlike the fit.

        Rows above the fit's threshold are flagged or, with a detector that has ``fdr``, as many as pass that
        level in this batch. ``fdr`` asks for another level, ``rate`` flags what this share of unseen rows would
        exceed, ``alerts`` that many most unusual rows of this batch. A level judges new rows only; rows of the
        fit are flagged as they were there if that was by the same level, and else not at all.

        A level compares ``against`` rows held out of the fit (the default after :meth:`calibrate`) or rows
        simulated by the models (the default before it). The former finds little if as many of those are wrong; the
        latter trusts the models' probabilities.
        """
        request = BatchRequest(fdr, rate, alerts, against)
        return self._fitted().score_batch(self._encoded(X, Y, probabilities), request)

    def p_values(self, X: Any, Y: Any = None, *, probabilities: Any = None) -> Floats:
        """How often rows the fit has not seen score as high as each new row; NaN for a row that was in the fit."""
        return p_values(self._fitted(), self._encoded(X, Y, probabilities))

    def predict(self, X: Any, Y: Any = None, *, probabilities: Any = None) -> npt.NDArray[np.intp]:
        """1 for new rows above the ``threshold_`` (with ``fdr``, for those of the batch that pass it), else 0."""
        rows = self._encoded(X, Y, probabilities)
        return self._fitted().decide(rows, self._fitted().score(rows)).flagged.astype(int)

    def predict_proba(self, X: Any, Y: Any = None, method: str = "linear", *, probabilities: Any = None) -> Floats:
        """PyOD's: each row's chance of being usual and of being an outlier, ``(n_rows, 2)``.

        They are scores on a scale from 0 to 1 by those of the training rows, not calibrated chances.
        """
        found = self.decision_function(X, Y, probabilities=probabilities)
        return outlier_probabilities(found, self._fitted().training_scores, method)

    def predict_confidence(self, X: Any, Y: Any = None, *, probabilities: Any = None) -> Floats:
        """PyOD's: how likely each row would keep its flag if the training rows were drawn again, ``(n_rows,)``."""
        return confidence(self._fitted(), self._encoded(X, Y, probabilities))

    def fit_predict(
        self, X: Any, Y: Any, *, probabilities: Any = None, groups: Any = None
    ) -> npt.NDArray[np.intp]:
        """Fit, and give ``labels_``."""
        return np.asarray(self.fit(X, Y, probabilities=probabilities, groups=groups).labels_)

    def explain(
        self, X: Any = None, Y: Any = None, *, row: int | None = None, label: Any = None, probabilities: Any = None
    ) -> Explanation:
        """Why a row has its score.

        ``explain(17)`` is row 17 of the fit, counted from 0, ``explain(label="p17")`` the row that its index calls
        so; ``explain(X_new, Y_new, row=0)``, or with a label, is a new row.
        """
        if Y is None:
            return next(self.explain_rows([row_of_fit(X, row, label, self._fitted().labels)]))
        inputs, outputs = self._fitted().columns.align(X, Y, probabilities)
        return explain_new_row(self._fitted(), inputs, outputs, row_of_batch(row, label, inputs))

    def explain_rows(self, rows: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of many rows of the fit, which is faster than one by one."""
        fitted = self._fitted()
        n_rows = len(fitted.training_rows)
        return fitted.explainer.training_rows([checked_row(row, n_rows, "the fit had") for row in rows])

    def rows(
        self, n: int | None = None, *, reasons: int = 3, batch: ScoredBatch | None = None
    ) -> Listed[RankedRow]:
        """The ``n`` most unusual rows of the fit or of a batch, with their reasons; ``row`` is counted from 1."""
        return listed_rows(self._fitted(), batch, n, reasons)

    def cells(self, n: int | None = None, *, batch: ScoredBatch | None = None) -> Listed[Cell]:
        """The ``n`` single outputs that are most suspicious, over all rows of the fit: what to correct first."""
        return listed_cells(self._fitted(), batch, n)

    def write_report(
        self,
        path: str | Path,
        X: Any,
        Y: Any,
        *,
        ids: Sequence[str] | None = None,
        batch: ScoredBatch | None = None,
        probabilities: Any = None,
        **options: Any,
    ) -> None:
        """Write a report on the rows of the fit, or on a ``batch``: one HTML file that works offline.

        Parameters
        ----------
        path, title : an HTML file, which is written completely or not at all, and the title of the page
        X, Y, probabilities : what the detector was fitted to, or what was scored
        ids : what the rows are called; by default the index of a pandas frame
        pictures : one picture per row, as files or as an array (n_rows, height, width) or (…, 3)
        shown : columns that stand beside each row: by name, a text per row
        n_details : how many of the most unusual rows are explained
        """
        inputs, outputs = self._fitted().columns.align(X, Y, probabilities)
        if batch is None:
            refuse_other_rows(self._fitted(), inputs, outputs)
        called = inputs.index if ids is None else ids
        write_report(path, self._fitted(), inputs, ids=called, batch=batch, **options)

    def save(self, path: str | Path, *, rows: bool = True, estimators: bool = False) -> None:
        """Keep the detector in a file (mode 0600) that :func:`amiss.load` reads; nothing in it is ever executed.

        With ``rows`` the file holds the rows of the fit, as local weights need them. Without, it holds no row, but
        names, categories and up to 256 values of each column; it needs ``n_neighbors=0`` or a rule without
        neighbours. ``estimators`` keeps a classifier of yours too, by skops (extra ``skops``).
        """
        save_fitted(self._fitted(), Path(path), rows=rows, estimators=estimators)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for kind in ("allow_nan", "sparse", "categorical", "string"):
            setattr(tags.input_tags, kind, True)
        tags.target_tags.required = tags.target_tags.multi_output = True
        return tags

    def _fitted(self) -> FittedDetector:
        check_is_fitted(self)
        # Of the parameters only those that change no number may be set after the fit.
        self.fitted_: FittedDetector = self.fitted_.on_machine(self.n_jobs, bool(self.verbose))
        return self.fitted_

    def _encoded(self, X: Any, Y: Any, probabilities: Any) -> EncodedRows:
        fitted = self._fitted()
        return fitted.encode(*fitted.columns.align(X, Y, probabilities))

    def _adopt(self, fitted: FittedDetector) -> MCODE:
        """Expose what a fit left behind."""
        for name in (*OF_ROWS, "neighbor_recall_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.fitted_ = fitted
        self.input_names_, self.output_names_ = fitted.columns.inputs, fitted.columns.outputs
        self.threshold_, self.output_quality_ = fitted.decision.threshold, fitted.quality
        self.rule_, self.choice_ = fitted.scorer.rule.name, fitted.choice
        self.calibration_, self.error_estimate_ = fitted.calibration, fitted.error_estimate
        if fitted.scorer.local is not None:
            self.neighbor_recall_ = fitted.scorer.local.neighborhood.nearest.recall
        if (rows := fitted.training) is not None:
            self.decision_scores_, self.contributions_ = rows.scores, rows.contributions
            self.probabilities_ = self.rho_ = rows.probabilities
            self.weights_, self.labels_ = rows.weights, fitted.decision.flagged.astype(int)
            if fitted.decision.p_values is not None:
                self.p_values_ = fitted.decision.p_values
        return self


def load(path: str | Path, *, trusted: Sequence[str] | None = None) -> MCODE:
    """The detector that :meth:`MCODE.save` kept; a file that is damaged, altered or no model is refused.

    A classifier of yours is read only with ``trusted``: the types in it beyond scikit-learn's, or an empty list.
    """
    fitted = load_fitted(Path(path), trusted)
    detector = MCODE(**fitted.settings.parameters)
    detector.n_features_in_ = len(fitted.columns.inputs)
    if fitted.columns.from_frame:
        detector.feature_names_in_ = np.array(fitted.columns.inputs, dtype=object)
    return detector._adopt(fitted)
