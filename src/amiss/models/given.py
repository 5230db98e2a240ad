"""Given log-odds: the user's own out-of-fold predictions are the models of the outputs given the inputs.

They are columns of the inputs. Each output's given log-odds z become a + b z by a logistic regression on that one
column, because networks are overconfident and forests are not confident enough. The models that see other outputs
see the given log-odds instead of the inputs.

Where there are further inputs x, models of these are fitted too, and each output takes what predicts it best
outside the folds: the given log-odds, those of the other models, or the mean of both
(:mod:`amiss.models.averages`). No model sees x and z together, because z gives its row away. It was predicted
without the row, so it lies a little below what all rows together say of x if y is 1, and a little above if y is 0.
A model that sees both learns to add what is missing, and knows the outputs of rows it has never seen, right or
wrong. (A classifier of the user's sees the columns as they came, the predictions among them.)

Of a class (:mod:`amiss.models.ties`), whose given columns are log-probabilities that are one choice together, one
slope is fitted for all: P(class i) is proportional to exp(a_i + b log p_i), which is temperature scaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.encoding.encoder import Encoder
from amiss.models.averages import average_fit, best_shares, held_out
from amiss.models.conditional import Fit, LinearModel
from amiss.models.fold_models import LinearFolds
from amiss.models.folds import Folds
from amiss.models.learner import Learner
from amiss.models.logistic.fit import fit_logistic
from amiss.models.settings import ModelSettings
from amiss.progress import Progress, ignored

STRENGTH = 1.0  # of the two coefficients' penalty, which matters only where an output is nearly always the same


@dataclass(frozen=True)
class GivenLearner:
    """Calibrates given log-odds, and leaves the models that see other outputs to another learner.

    ``columns`` are the encoded columns that hold the log-odds of each output. Those of a class among ``classes``
    hold log-probabilities, of which one unit is ``unit`` in the encoded column. ``linear`` fits models of the
    given log-odds and other outputs. The models that ``learner`` fits see further inputs and given log-odds
    ``together``, or only the former. ``others`` hold predictions of outputs that are fitted elsewhere, and the
    last ``n_seen`` columns of the design are such outputs, which models may see.
    """

    learner: Learner
    linear: Learner
    together: bool
    columns: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...] = ()
    unit: tuple[float, ...] = ()
    others: tuple[int, ...] = ()
    n_seen: int = 0

    @property
    def given(self) -> tuple[int, ...]:
        """Every column that holds a prediction."""
        return tuple(dict.fromkeys((*self.columns, *self.others)))

    @property
    def needs_folds(self) -> bool:
        return self.learner.needs_folds

    @property
    def steps_per_output(self) -> int:
        return self.learner.steps_per_output

    def fit(
        self,
        design: Matrix,
        filled: Floats,
        observed: Mask,
        visible: Mask,
        folds: Folds | None,
        *,
        names: Sequence[str],
        n_jobs: int | None,
        progress: Progress,
        alone: Mask | None = None,
    ) -> Fit:
        table = design, filled, observed
        given = self._calibrated(*table, folds)
        further = design.shape[1] > len(self.given) + self.n_seen
        if not visible.any() and not further and not self.n_seen:  # then nothing else is known
            progress(filled.shape[1] * self.steps_per_output)
            return given
        how: dict[str, Any] = {"names": names, "n_jobs": n_jobs}
        if not further:
            whole = self.learner.fit(*table, visible, folds, progress=progress, **how)
        elif self.together or folds is None:
            whole = self.learner.fit(*table, visible, folds, progress=progress, alone=alone, **how)
        else:
            inputs = without_columns(design, self.given)
            whole = self.learner.fit(inputs, *table[1:], visible, folds, progress=progress, alone=alone, **how)
            by_given = self._of_given(*table, visible, folds, **how)
            share = best_shares(held_out(whole), held_out(by_given), filled, observed)
            whole = replace(average_fit(whole, by_given, share), alone=whole.alone)
        if alone is None:
            return whole
        if whole.alone is not None and folds is not None:
            share = best_shares(held_out(given), held_out(whole.alone), filled, observed)
            given = average_fit(given, whole.alone, share)
        return replace(whole, alone=given)

    def fit_alone(
        self,
        design: Matrix,
        filled: Floats,
        observed: Mask,
        folds: Folds | None,
        *,
        progress: Progress,
        **how: Any,
    ) -> Fit:
        """Models that see no other output, and nothing else is fitted."""
        table = design, filled, observed
        given = self._calibrated(*table, folds)
        if folds is None or design.shape[1] == len(self.given):
            progress(filled.shape[1] * self.steps_per_output)
            return given
        inputs = design if self.together else without_columns(design, self.given)
        nobody = np.zeros((filled.shape[1],) * 2, dtype=bool)
        whole = self.learner.fit(inputs, filled, observed, nobody, folds, progress=progress, **how)
        share = best_shares(held_out(given), held_out(whole), filled, observed)
        return average_fit(given, whole, share)

    def _calibrated(self, design: Matrix, filled: Floats, observed: Mask, folds: Folds | None) -> Fit:
        """The given log-odds of every output, calibrated by themselves."""
        table = design, filled, observed
        given = calibrated(*table, self.columns, folds)
        for group in self.classes:
            given = self._with_class(given, *table, group)
        return given

    def _of_given(
        self, design: Matrix, filled: Floats, observed: Mask, visible: Mask, folds: Folds, **how: Any
    ) -> Fit:
        """Linear models of the given log-odds and the visible outputs."""
        columns = [*self.given, *range(design.shape[1] - self.n_seen, design.shape[1])]
        fit = self.linear.fit(design[:, columns], filled, observed, visible, folds, progress=ignored, **how)
        assert isinstance(fit.model, LinearModel) and isinstance(fit.fold_models, LinearFolds)
        rows = np.array([*columns, *range(design.shape[1], design.shape[1] + filled.shape[1])])
        coef = np.zeros((rows[-1] + 1, filled.shape[1]))
        coef[rows] = fit.model.coef
        moved = np.zeros((len(coef), *fit.fold_models.coef.shape[1:]), dtype=np.float32)
        moved[rows] = fit.fold_models.coef
        return replace(
            fit,
            model=LinearModel(coef, fit.model.intercept),
            fold_models=replace(fit.fold_models, coef=moved),
        )

    def _with_class(
        self, given: Fit, design: Matrix, filled: Floats, observed: Mask, group: tuple[int, ...]
    ) -> Fit:
        """The same with the outputs of a class calibrated as one choice."""
        members = list(group)
        values = np.column_stack([_column(design, self.columns[i]) / self.unit[i] for i in members])
        chosen = filled[:, members]
        rows = observed[:, members].all(axis=1) & (chosen.sum(axis=1) == 1)
        slope, offsets = temperature(values[rows], chosen[rows].argmax(axis=1))
        assert isinstance(given.model, LinearModel)
        coef, intercept, log_odds = given.model.coef.copy(), given.model.intercept.copy(), given.in_sample.copy()
        for place, i in enumerate(members):
            coef[self.columns[i], i], intercept[i] = slope / self.unit[i], offsets[place]
            log_odds[:, i] = slope * values[:, place] + offsets[place]
        given = replace(given, model=LinearModel(coef, intercept), in_sample=log_odds)
        if given.out_of_fold is None or not isinstance(given.fold_models, LinearFolds):
            return given
        # So few coefficients are the same without a fold.
        held_out, moved = given.out_of_fold.copy(), given.fold_models
        held_out[:, members] = log_odds[:, members]
        fold_coef, fold_intercept = moved.coef.copy(), moved.intercept.copy()
        fold_coef[:, :, members], fold_intercept[:, members] = 0.0, 0.0
        return replace(
            given, out_of_fold=held_out, fold_models=LinearFolds(fold_coef, fold_intercept, moved.folds)
        )


def given_learner(
    learner: Learner,
    settings: ModelSettings,
    encoder: Encoder,
    given: Sequence[int],
    classes: tuple[tuple[int, ...], ...],
    others: Sequence[int] = (),
) -> GivenLearner:
    """What calibrates ``given`` inputs; of ``classes`` as one choice, if one unit of them has one size."""
    columns = tuple(encoder.column_of(column) for column in given)
    straight = not encoder.ranks.counts[list(columns)].any() and not encoder.counts[list(columns)].any()
    unit = tuple(float(encoder.scale[column] / encoder.unit[column]) or 1.0 for column in columns)
    return GivenLearner(
        learner,
        settings.linear,
        settings.is_estimator,
        columns,
        classes if straight else (),
        unit,
        others=tuple(encoder.column_of(column) for column in others),
    )


def without_columns(design: Matrix, columns: Sequence[int]) -> Matrix:
    """The same rows with zeros in some columns: of them nothing is learned, and no place changes."""
    kept = np.ones(design.shape[1], dtype=design.dtype)
    kept[list(columns)] = 0
    return (design @ sparse.diags_array(kept)).tocsr() if sparse.issparse(design) else design * kept


def temperature(values: Floats, chosen: Rows) -> tuple[float, Floats]:
    """The slope b and offsets a_i by which exp(a_i + b v_i) is nearest to what was chosen, ``(n_classes,)``."""
    n_rows, n_classes = values.shape
    if not n_rows:
        return 1.0, np.zeros(n_classes)
    each, hit = np.arange(n_rows), np.zeros((n_rows, n_classes))
    hit[each, chosen] = 1.0
    start = np.concatenate([[1.0], np.zeros(n_classes)])

    def loss_and_gradient(at: Floats) -> tuple[float, Floats]:
        scores = at[0] * values + at[1:]
        gap = softmax(scores, axis=1) - hit
        loss = float((logsumexp(scores, axis=1) - scores[each, chosen]).sum())
        loss += STRENGTH / 2 * float(((at - start) ** 2).sum())
        return loss, np.concatenate([[(gap * values).sum()], gap.sum(axis=0)]) + STRENGTH * (at - start)

    from scipy.optimize import minimize  # takes a tenth of a second to import

    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B").x
    return float(found[0]), found[1:]


def _column(design: Matrix, column: int) -> Floats:
    values = design[:, [column]]
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)[:, 0]


def calibrated(design: Matrix, filled: Floats, observed: Mask, columns: Sequence[int], folds: Folds | None) -> Fit:
    """One logistic regression per output on the one column that holds its given log-odds."""
    n_rows, n_outputs = filled.shape
    n_columns, nobody = design.shape[1] + n_outputs, np.zeros((1, 1), dtype=bool)
    n_folds = 0 if folds is None else int(folds.max()) + 1
    coef, intercept = np.zeros((n_columns, n_outputs)), np.zeros(n_outputs)
    moved = np.zeros((n_columns, n_folds, n_outputs), dtype=np.float32)
    moved_intercept = np.zeros((n_folds, n_outputs))
    in_sample, out_of_fold = np.empty((n_rows, n_outputs)), np.empty((n_rows, n_outputs))
    for i, column in enumerate(columns):
        values = _column(design, column)[:, None]
        scale = float(values.std()) or 1.0
        own = slice(i, i + 1)
        table = values / scale, filled[:, own], observed[:, own], nobody
        part = fit_logistic(*table, [STRENGTH], None if folds is None else folds[:, own])
        assert isinstance(part.model, LinearModel)
        coef[column, i], intercept[i] = part.model.coef[0, 0] / scale, part.model.intercept[0]
        in_sample[:, i] = part.in_sample[:, 0]
        if part.out_of_fold is not None and isinstance(part.fold_models, LinearFolds):
            kept, own_fold = len(part.fold_models.intercept), part.fold_models.folds[:, 0]
            moved[column, :kept, i] = part.fold_models.coef[0, :, 0] / scale
            moved_intercept[:kept, i] = part.fold_models.intercept[:, 0]
            # By the coefficients as they are kept, so that these give the same log-odds again.
            shift = moved[column, own_fold, i] * values[:, 0] + moved_intercept[own_fold, i]
            out_of_fold[:, i] = in_sample[:, i] + shift
    return Fit(
        model=LinearModel(coef, intercept),
        in_sample=in_sample,
        out_of_fold=None if folds is None else out_of_fold,
        strength=np.full(n_outputs, STRENGTH),
        converged=np.ones(n_outputs, dtype=bool),
        fold_models=None if folds is None else LinearFolds(moved, moved_intercept, folds),
    )
