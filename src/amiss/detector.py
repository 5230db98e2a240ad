"""MCODE: the detector, as a scikit-learn-style estimator with PyOD's names. It checks, delegates and exposes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from amiss.arrays import Floats
from amiss.data.columns import Columns
from amiss.decisions.outlier_probability import flag_confidence, outlier_probabilities
from amiss.decisions.settings import BatchRequest
from amiss.encoding.encoded_rows import EncodedRows
from amiss.errors import DataError
from amiss.explanations.explanation import Explanation
from amiss.fitted import FittedDetector, checked_row, explain_new_row, fit_detector
from amiss.models.projection import log_rho
from amiss.models.settings import STRENGTHS
from amiss.monitoring.batch import ScoredBatch
from amiss.output.cells import Cell, suspicious_cells
from amiss.output.report import Picture, refuse_other_rows, write_report
from amiss.persistence import load_fitted, save_fitted
from amiss.settings import DEFAULTS, Settings

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
    order : sequence of output names or numbers, default=None
        The order of the chain; None is the order of the columns.
    rule : {"mixture", "flip", "lrw", "rw", "prod", "auto"}, default="mixture"
        The scoring rule. "mixture" is -log P(the row is right), by hypotheses of how it can be wrong: its outputs
        contradict each other or the inputs, they belong to another row, or nothing was annotated
        (:mod:`amiss.scoring.hypotheses`). "flip" is the evidence that outputs were flipped one by one
        (:mod:`amiss.scoring.rules`). The others are the paper's -Σ w_i log rho_i with weights from each row's
        neighbourhood, from all rows, or none (the paper's weights are weighting="error"). "auto" makes errors of
        several kinds in the table itself and takes the rule that finds them best; ``choice_`` says why.
    weighting : {"sqrt", "error", "brier"}, default="sqrt"
        What a weight of "lrw" and "rw" is the inverse of: the square root of the mean error, the
        mean error (the paper's), or the mean squared error.
    crossfit : bool or float, default=0.6
        Whether a row's rho comes from models that saw the row (False, the paper's), did not (True),
        or from an average of both log-odds, in which the latter have this share.
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
        L2 strengths to choose from by cross-validated log-loss, for each output by itself. The objective is the
        sum of the log-loss plus strength/2 times the squared length of the coefficients, those of inputs counting
        ``parent_penalty`` times less.
    parent_penalty : float, default=4.0
        How many times more the coefficients of other outputs are penalised than those of inputs. The
        strength is that of the outputs; inputs have strength / parent_penalty.
    cv : int, default=5
        Number of folds.
    base_estimator : classifier with ``predict_proba``, default=None
        Takes the place of the logistic models.
    scaling : {"auto", "rank", "block", "none", "standard", "maxabs", "log-unit"}, default="auto"
        How inputs are scaled (:mod:`amiss.encoding.scalings`). "auto" is "rank" or "block", by log-loss.
    exclude : sequence of output names or numbers, or float, default=None
        Outputs left out of the score; a float leaves out those whose skill is below it. They
        still serve as parents of the others.
    contamination : float or "auto", default=0.01
        The share of rows to flag. "auto" flags rows that are wrong with a chance of over 30 %; with rules other
        than "mixture" it is ``fdr=0.2``.
    fdr : float, default=None
        A false-discovery level, instead of ``contamination``: flag as many rows as keep the share of falsely
        flagged ones at about this level. A row of the fit is flagged when it scores higher than simulated
        rows whose outputs follow the models, which is right if the models' probabilities are. So is a new
        row, but after :meth:`calibrate` it is compared with rows held out of the fit, which holds if clean
        new rows are like those. With a level, rows of the fit are scored by models that did not see them
        (as with ``crossfit=True``).
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
    contributions_ : (n_rows, n_outputs) what each output adds to the score
    probabilities_ : (n_rows, n_outputs) the probability of each observed value by the models, NaN if it is
        missing; ``rho_`` is the paper's name for it
    weights_ : (n_outputs,), or (n_rows, n_outputs) where they come from each row's neighbourhood
    p_values_ : (n_rows,) how often simulated rows score as high; only with ``fdr`` or "auto"
    output_quality_ : :class:`~amiss.OutputQuality`, how good each output's model is
    error_estimate_ : :class:`~amiss.ErrorEstimate`, how many rows and cells are wrong; only with "mixture"
    rule_ : the name of the rule that was used
    choice_ : :class:`~amiss.RuleChoice`, what rule="auto" measured; None for any other rule
    calibration_ : :class:`~amiss.Calibration`, what rows held out of the fit score; None before :meth:`calibrate`
    neighbor_recall_ : share of the true neighbours found, measured on a sample; 1 for the exact search.
        Only with local weights.
    input_names_, output_names_ : the columns
    fitted_ : :class:`~amiss.FittedDetector`, all of this as one immutable value

    A model that was saved without its rows has none of the attributes with one entry per row.

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
    >>> why = detector.explain(17)
    >>> why.suspects[0].output, why.suspects[0].observed, why.suspects[0].direction
    ('y1', 1, 'commission')
    >>> print(why.sentences()[1])
    It contradicts its other outputs or its inputs (chance that the row is wrong: 94%).
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
        base_estimator: Any = None,
        scaling: str = "auto",
        exclude: Sequence[str | int] | float | None = None,
        contamination: float | Literal["auto"] = 0.01,
        fdr: float | None = None,
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
        settings = Settings.of(**{name: getattr(self, name) for name in DEFAULTS})
        columns, inputs, outputs = Columns.of(X, Y)
        validate_data(self, X=inputs if isinstance(X, (list, tuple)) else X, skip_check_array=True)
        return self._adopt(fit_detector(settings, columns, inputs, outputs))

    def calibrate(self, X: Any, Y: Any) -> MCODE:
        """Find out how high rows score that the fit has not seen, so that new rows can be judged by it.

        Give the rows of the fit: each is scored by a detector that is fitted anew without its fold, which
        takes about four times as long as the fit. Or give other rows that are like those to come; they
        are scored as they are, at once, leaving out those that were in the fit. Either may hold wrong rows;
        the p-values of new ones are then larger, not smaller.

        After it new rows have p-values, and a detector with ``fdr`` judges them by these. With a share as
        ``contamination`` the ``threshold_`` is then the score that an unseen row like these exceeds with this
        chance; rows of the fit score a little lower, so fewer of them are flagged by it (``labels_``).
        """
        return self._adopt(self._fitted().calibrated(*self._fitted().columns.align(X, Y)))

    def decision_function(self, X: Any, Y: Any) -> Floats:
        """Scores of new rows by the models, weights and neighbours of the fit, ``(n_rows,)``.

        The models have seen the rows of the fit, and would find them usual; a row that is the same as
        one of them has the score it had in the fit (``decision_scores_``).
        """
        return self._fitted().score(self._encoded(X, Y)).scores

    def contributions(self, X: Any, Y: Any) -> Floats:
        """What each output adds to the score of each new row, ``(n_rows, n_outputs)``."""
        return self._fitted().score(self._encoded(X, Y)).contributions

    def score(self, X: Any, Y: Any) -> float:
        """Mean log-probability of the observed outputs of new rows: how well the models predict them.

        Higher is better, as scikit-learn's model selection expects; it says nothing about which rows are unusual.
        """
        scored = self._fitted().score(self._encoded(X, Y))
        if not scored.observed.any():
            raise DataError("every output of these rows is missing, so there is nothing to score")
        return float(log_rho(scored.log_odds, scored.Y)[scored.observed].mean())

    def score_batch(
        self,
        X: Any,
        Y: Any,
        *,
        fdr: float | None = None,
        rate: float | None = None,
        alerts: int | None = None,
        against: str | None = None,
    ) -> ScoredBatch:
        """Score and flag a batch of new rows, and say what about it is unlike the fit.

        Rows above the fit's threshold are flagged or, with a detector that has ``fdr``, as many as pass that
        level in this batch. ``fdr`` asks for another level, ``rate`` flags what this share of unseen rows would
        exceed, ``alerts`` that many most unusual rows of this batch. A level judges new rows only; rows of the
        fit are flagged as they were there if that was by the same level, and else not at all.

        A level compares ``against`` rows held out of the fit (the default after :meth:`calibrate`) or rows
        simulated by the models (the default before it). The former needs nothing but that clean new rows are
        like those, but finds little if as many of those are wrong; the latter trusts the models' probabilities.
        """
        return self._fitted().score_batch(self._encoded(X, Y), BatchRequest(fdr, rate, alerts, against))

    def p_values(self, X: Any, Y: Any) -> Floats:
        """How often rows the fit has not seen score as high as each new row; NaN for a row that was in the fit."""
        fitted, rows = self._fitted(), self._encoded(X, Y)
        if fitted.calibration is None:
            raise DataError("p-values of new rows need rows held out of the fit; call calibrate(X, Y) after fit")
        return fitted.calibration.p_values_of(fitted.score(rows))

    def predict(self, X: Any, Y: Any) -> npt.NDArray[np.intp]:
        """1 for new rows above the ``threshold_`` (with ``fdr``, for those of the batch that pass it), else 0."""
        rows = self._encoded(X, Y)
        return self._fitted().decide(rows, self._fitted().score(rows)).flagged.astype(int)

    def predict_proba(self, X: Any, Y: Any, method: str = "linear") -> Floats:
        """PyOD's: each row's chance of being usual and of being an outlier, ``(n_rows, 2)``.

        They are scores on a scale from 0 to 1 by those of the training rows, not calibrated chances. The p-values
        of :meth:`score_batch` are calibrated, but they are something else: how often usual rows score as high.
        """
        return outlier_probabilities(self.decision_function(X, Y), self._fitted().training_scores, method)

    def predict_confidence(self, X: Any, Y: Any) -> Floats:
        """PyOD's: how likely each row would keep its flag if the training rows were drawn again, ``(n_rows,)``."""
        fitted, rows = self._fitted(), self._encoded(X, Y)
        scored = fitted.score(rows)
        flagged, training_scores = fitted.decide(rows, scored).flagged, fitted.training_scores
        n_flagged = int((training_scores > fitted.decision.threshold).sum())
        return flag_confidence(scored.scores, flagged, training_scores, n_flagged)

    def fit_predict(self, X: Any, Y: Any) -> npt.NDArray[np.intp]:
        """Fit, and give ``labels_``."""
        return np.asarray(self.fit(X, Y).labels_)

    def explain(self, X: Any = None, Y: Any = None, *, row: int | None = None) -> Explanation:
        """Why a row has its score.

        ``explain(17)`` explains row 17 of the fit, counted from 0. ``explain(X_new, Y_new)`` explains a
        new row; of several, say which by ``row``.
        """
        if Y is None:
            number = row if X is None else X
            if not isinstance(number, Integral) or isinstance(number, bool) or None not in (X, row):
                raise TypeError("explain takes the number of a row of the fit, or X and Y of new rows")
            return next(self.explain_rows([int(number)]))
        inputs, outputs = self._fitted().columns.align(X, Y)
        if row is None and len(outputs) > 1:
            raise ValueError(f"there are {len(outputs)} rows; say which one: explain(X, Y, row=0)")
        return explain_new_row(self._fitted(), inputs, outputs, checked_row(row or 0, len(outputs), "X has"))

    def explain_rows(self, rows: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of many rows of the fit, which is faster than one by one."""
        fitted = self._fitted()
        n_rows = len(fitted.training_rows)
        return fitted.explainer.training_rows([checked_row(row, n_rows, "the fit had") for row in rows])

    def cells(self, n: int | None = None) -> list[Cell]:
        """The ``n`` single outputs that are most suspicious, over all rows of the fit: what to correct first."""
        return list(suspicious_cells(self._fitted().training_rows, n))

    def write_report(
        self,
        path: str | Path,
        X: Any,
        Y: Any,
        *,
        ids: Sequence[str] | None = None,
        pictures: Sequence[Picture] | None = None,
        n_details: int = 200,
        title: str = "amiss report",
    ) -> None:
        """Write a report on the rows of the fit: one HTML file that works offline.

        Parameters
        ----------
        path : an HTML file; it is written completely or not at all
        X, Y : what the detector was fitted to
        ids : what the rows are called
        pictures : one picture per row, as files or as an array (n_rows, height, width) or (…, 3)
        n_details : how many of the most unusual rows carry an explanation
        """
        fitted = self._fitted()
        inputs, outputs = fitted.columns.align(X, Y)
        refuse_other_rows(fitted, inputs, outputs)
        write_report(path, fitted, inputs, ids=ids, pictures=pictures, n_details=n_details, title=title)

    def save(self, path: str | Path, *, rows: bool = True) -> None:
        """Keep the detector in a file (mode 0600) that :func:`amiss.load` reads; nothing in it is ever executed.

        With ``rows`` the file holds the rows of the fit, as local weights need them, and everything of the
        detector works after loading. Without, it holds no row, but the columns' names, their categories
        and up to 256 values of each column; it needs ``n_neighbors=0`` or a rule without neighbours.
        """
        save_fitted(self._fitted(), Path(path), rows=rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = tags.target_tags.multi_output = True
        return tags

    def _fitted(self) -> FittedDetector:
        check_is_fitted(self)
        # Of the parameters only those that change no number may be set after the fit.
        self.fitted_: FittedDetector = self.fitted_.on_machine(self.n_jobs, bool(self.verbose))
        return self.fitted_

    def _encoded(self, X: Any, Y: Any) -> EncodedRows:
        fitted = self._fitted()
        return fitted.encode(*fitted.columns.align(X, Y))

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


def load(path: str | Path) -> MCODE:
    """The detector that :meth:`MCODE.save` kept; a file that is damaged, altered or no model is refused."""
    fitted = load_fitted(Path(path))
    detector = MCODE(**fitted.settings.parameters)
    detector.n_features_in_ = len(fitted.columns.inputs)
    if fitted.columns.from_frame:
        detector.feature_names_in_ = np.array(fitted.columns.inputs, dtype=object)
    return detector._adopt(fitted)
