"""The outputs' models: log-odds of every output given the inputs and the other outputs.

Three kinds are here: linear models, averages of other models, and what every kind has in common. Models that were
fitted without a fold are in :mod:`amiss.models.fold_models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, Rows, product
from amiss.models.folds import Folds
from amiss.wording import count

SAME = 1e-6  # log-odds that differ by less are the same
SURE = 15.0  # log-odds beyond this are not compared: a probability so near 0 or 1 has too few digits


class ConditionalModel(Protocol):
    """The log-odds of y_i = 1 given x and the visible other outputs, for every output i."""

    def log_odds(self, inputs: Matrix, outputs: Floats, /) -> Floats: ...

    def as_linear(self, n_inputs: int, /) -> LinearModel | None:
        """The model's coefficients if it looks linear, otherwise None."""

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats, /) -> Attribution | None:
        """What each column of one row adds to the log-odds of an output; None if the model cannot tell.

        ``inputs`` and ``outputs`` are ``(1, n_columns)`` and ``(1, n_outputs)``, ``average`` is the average
        training row.
        """


@dataclass(frozen=True, eq=False)
class Attribution:
    """Log-odds of a row taken apart: ``average + columns.sum()``, with ``columns`` those of Z = [x, y]."""

    average: float
    columns: Floats


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Coefficients on Z = [x, y], ``(n_columns, n_outputs)``; what an output may not see is zero."""

    coef: Floats
    intercept: Floats

    def __repr__(self) -> str:
        return f"<LinearModel: {count(self.coef.shape[0], 'column')}, {count(self.coef.shape[1], 'output')}>"

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        n_inputs = inputs.shape[1]
        result: Floats = product(inputs, self.coef[:n_inputs])
        result += outputs @ self.coef[n_inputs:]
        result += self.intercept
        return result

    def as_linear(self, n_inputs: int) -> LinearModel:
        return self

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats) -> Attribution:
        coef = self.coef[:, output]
        return Attribution(
            float(self.intercept[output] + coef @ average), coef * (row_of(inputs, outputs) - average)
        )


@dataclass(frozen=True, eq=False)
class AverageModel:
    """An average of the log-odds of several models, with ``shares`` in each output, ``(n_models, n_outputs)``."""

    models: tuple[ConditionalModel, ...]
    shares: Floats

    def __repr__(self) -> str:
        kinds = sorted({type(model).__name__ for model in self.models})
        return f"<AverageModel: {', '.join(kinds)} of {count(self.shares.shape[1], 'output')}>"

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        result = np.zeros((inputs.shape[0], self.shares.shape[1]))
        for model, share in zip(self.models, self.shares, strict=True):
            if share.any():
                result += share * model.log_odds(inputs, outputs)
        return result

    def as_linear(self, n_inputs: int) -> LinearModel | None:
        used = [place for place, share in enumerate(self.shares) if share.any()]
        parts = [self.models[place].as_linear(n_inputs) for place in used]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        shares = self.shares[used]
        coef = sum(share * part.coef for share, part in zip(shares, known, strict=True))
        intercept = sum(share * part.intercept for share, part in zip(shares, known, strict=True))
        return LinearModel(np.asarray(coef), np.asarray(intercept))

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats) -> Attribution | None:
        base, columns = 0.0, np.zeros(len(average))
        for model, share in zip(self.models, self.shares[:, output], strict=True):
            if share:
                part = model.attribution(inputs, outputs, output, average)
                if part is None:
                    return None
                base, columns = base + share * part.average, columns + share * part.columns
        return Attribution(base, columns)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and what was learned in fitting it.

    ``in_sample`` and ``out_of_fold`` are log-odds ``(n_rows, n_outputs)``, the latter None if no folds were
    asked for. ``shown`` are those that count as in-sample where both are averaged (by default ``in_sample``):
    models that learn rows by heart say nothing by them, so there they are those out of fold. Strengths are NaN for
    models without them. ``alone`` is the same given the inputs alone, if it was asked for. ``notes`` are what a
    reader of the results should know of the fit.
    """

    model: ConditionalModel
    in_sample: Floats
    out_of_fold: Floats | None
    strength: Floats
    converged: Mask
    fold_models: FoldModels | None = None
    alone: Fit | None = None
    shown: Floats | None = None
    notes: tuple[str, ...] = ()


class FoldModels(Protocol):
    """Models fitted without each fold, by which training rows are judged."""

    @property
    def folds(self) -> Folds:
        """The fold of each training row, ``(n_rows, n_outputs)``."""

    def of_row(self, whole: ConditionalModel, copies: Rows, share: float, /) -> ConditionalModel | None:
        """The model of a row: ``share`` of those that did not see it, averaged over its ``copies``.

        ``whole`` is the model of all rows, which has the rest.
        """


def linear_twin(model: ConditionalModel, inputs: Matrix, outputs: Floats) -> LinearModel | None:
    """The model's coefficients if they reproduce its log-odds of these rows, otherwise None."""
    twin = model.as_linear(inputs.shape[1])
    if twin is None:
        return None
    ours, theirs = (np.clip(each.log_odds(inputs, outputs), -SURE, SURE) for each in (twin, model))
    return twin if np.abs(ours - theirs).max() < SAME else None


def row_of(inputs: Matrix, outputs: Floats) -> Floats:
    """One row of Z = [x, y] as a vector."""
    first = inputs.toarray()[0] if sparse.issparse(inputs) else inputs[0]
    return np.concatenate([first, outputs[0]])
