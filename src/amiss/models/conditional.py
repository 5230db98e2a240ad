"""The outputs' models: log-odds of every output given the inputs and the other outputs.

Linear models know their coefficients. For each fold we keep how its coefficients differ from those of the full
model. So a row's log-odds can be decomposed, and recomputed after a change, with the models that produced them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.folds import Folds
from amiss.threads import in_blocks, one_blas_thread
from amiss.wording import count

SAME = 1e-6  # log-odds that differ by less are the same
SURE = 15.0  # log-odds beyond this are not compared: a probability so near 0 or 1 has too few digits


class ConditionalModel(Protocol):
    """The log-odds of y_i = 1 given x and the visible other outputs, for every output i."""

    def log_odds(self, inputs: Matrix, outputs: Floats, /) -> Floats: ...

    def as_linear(self, n_inputs: int, /) -> LinearModel | None:
        """The model's coefficients if it looks linear, otherwise None."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Coefficients on Z = [x, y], ``(n_columns, n_outputs)``; what an output may not see is zero."""

    coef: Floats
    intercept: Floats

    def __repr__(self) -> str:
        return f"<LinearModel: {count(self.coef.shape[0], 'column')}, {count(self.coef.shape[1], 'output')}>"

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        n_inputs = inputs.shape[1]
        result: Floats = inputs @ self.coef[:n_inputs]
        result += outputs @ self.coef[n_inputs:]
        result += self.intercept
        return result

    def as_linear(self, n_inputs: int) -> LinearModel:
        return self


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Linear models fitted without a fold, as differences from the model of all rows.

    ``coef`` is ``(n_columns, n_folds, n_outputs)``, ``intercept`` ``(n_folds, n_outputs)``; ``folds``
    are those of the training rows, ``(n_rows, n_outputs)``.
    """

    coef: npt.NDArray[np.float32]
    intercept: Floats
    folds: Folds

    def shifts(self, inputs: Matrix, outputs: Floats, n_jobs: int | None = None) -> Floats:
        """How much the log-odds of each training row differ by the models that did not see it."""
        n_columns, n_folds, n_outputs = self.coef.shape
        n_inputs = inputs.shape[1]
        coef = self.coef.reshape(n_columns, -1).astype(np.float64)
        result = np.empty(self.folds.shape)

        def work(rows: slice) -> None:
            every: Floats = inputs[rows] @ coef[:n_inputs]
            every += outputs[rows] @ coef[n_inputs:]
            every = every.reshape(-1, n_folds, n_outputs) + self.intercept
            own = self.folds[rows].astype(np.intp)[:, None, :]
            result[rows] = np.take_along_axis(every, own, axis=1)[:, 0]

        with one_blas_thread():
            in_blocks(len(result), work, n_jobs)
        return result


@dataclass(frozen=True, eq=False)
class RowModel:
    """The mixture of models that scored a training row.

    ``part[f, i]`` is the share of output i's model fitted without fold f.
    """

    whole: LinearModel
    folds: FoldModels
    part: Floats

    @classmethod
    def of(cls, whole: LinearModel, folds: FoldModels, copies: Rows, share: float) -> RowModel:
        """``share`` of the models that did not see the row, averaged over its ``copies``."""
        n_folds = len(folds.intercept)
        seen = np.stack([(folds.folds[copies] == fold).mean(axis=0) for fold in range(n_folds)])
        return cls(whole, folds, share * seen)

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        n_inputs, used = inputs.shape[1], np.arange(inputs.shape[1])
        dense = inputs
        if sparse.issparse(inputs):  # a few rows need only the coefficients of the columns they fill
            used = np.unique(inputs.indices)
            dense = inputs[:, used].toarray()
        every = np.tensordot(dense, self.folds.coef[used].astype(np.float64), 1)
        every += np.tensordot(outputs, self.folds.coef[n_inputs:].astype(np.float64), 1)
        shift = ((every + self.folds.intercept) * self.part).sum(axis=1)
        return self.whole.log_odds(inputs, outputs) + shift

    def as_linear(self, n_inputs: int) -> LinearModel:
        coef = self.whole.coef.copy()
        for fold in np.flatnonzero(self.part.any(axis=1)):
            coef += self.part[fold] * self.folds.coef[:, fold]
        return LinearModel(coef, self.whole.intercept + (self.part * self.folds.intercept).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and what was learned in fitting it.

    ``in_sample`` and ``out_of_fold`` are log-odds ``(n_rows, n_outputs)``, the latter None if no
    folds were asked for. Strengths are NaN for models without them, and models that are not linear
    are not kept for each fold. ``alone`` is the same given the inputs alone, if it was asked for.
    """

    model: ConditionalModel
    in_sample: Floats
    out_of_fold: Floats | None
    strength: Floats
    converged: Mask
    fold_models: FoldModels | None = None
    alone: Fit | None = None


def linear_twin(model: ConditionalModel, inputs: Matrix, outputs: Floats) -> LinearModel | None:
    """The model's coefficients if they reproduce its log-odds of these rows, otherwise None."""
    twin = model.as_linear(inputs.shape[1])
    if twin is None:
        return None
    ours, theirs = (np.clip(each.log_odds(inputs, outputs), -SURE, SURE) for each in (twin, model))
    return twin if np.abs(ours - theirs).max() < SAME else None
