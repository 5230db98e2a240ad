"""Models fitted without a fold: for each training row, those that did not see it.

A training row is scored by an average of the model that saw it and of the models that did not. These are kept, so
that its log-odds can be taken apart, and recomputed after a change, with the models that produced them. Of linear
models we keep how the coefficients of each fold differ from those of the model of all rows; of others the models
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Matrix, Rows
from amiss.models.conditional import Attribution, AverageModel, ConditionalModel, FoldModels, LinearModel
from amiss.models.folds import Folds
from amiss.threads import in_blocks, one_blas_thread


def fold_shares(folds: Folds, copies: Rows, n_folds: int) -> Floats:
    """In which folds the copies of a row lie, as shares of them, ``(n_folds, n_outputs)``."""
    return np.stack([(folds[copies] == fold).mean(axis=0) for fold in range(n_folds)])


@dataclass(frozen=True, eq=False)
class LinearFolds:
    """Linear models fitted without a fold, as differences from the model of all rows.

    ``coef`` is ``(n_columns, n_folds, n_outputs)``, ``intercept`` ``(n_folds, n_outputs)``; ``folds``
    are those of the training rows, ``(n_rows, n_outputs)``.
    """

    coef: npt.NDArray[np.float32]
    intercept: Floats
    folds: Folds

    def of_row(self, whole: ConditionalModel, copies: Rows, share: float) -> RowModel | None:
        linear = whole.as_linear(self.coef.shape[0] - self.coef.shape[2])
        return None if linear is None else RowModel.of(linear, self, copies, share)

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
    folds: LinearFolds
    part: Floats

    @classmethod
    def of(cls, whole: LinearModel, folds: LinearFolds, copies: Rows, share: float) -> RowModel:
        """``share`` of the models that did not see the row, averaged over its ``copies``."""
        return cls(whole, folds, share * fold_shares(folds.folds, copies, len(folds.intercept)))

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

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats) -> Attribution:
        return self.as_linear(inputs.shape[1]).attribution(inputs, outputs, output, average)


@dataclass(frozen=True, eq=False)
class KeptFolds:
    """Models of any kind, one fitted without each fold.

    Models that learn rows ``by_heart`` have no say in what they saw: a row is judged only by those that did not
    see it.
    """

    models: tuple[ConditionalModel, ...]
    folds: Folds
    by_heart: bool

    def of_row(self, whole: ConditionalModel, copies: Rows, share: float) -> AverageModel:
        unseen = fold_shares(self.folds, copies, len(self.models)) * (1.0 if self.by_heart else share)
        shares = np.vstack([1 - unseen.sum(axis=0), unseen])
        shares[0][np.abs(shares[0]) < 1e-12] = 0.0
        return AverageModel((whole, *self.models), shares)


@dataclass(frozen=True, eq=False)
class AverageFolds:
    """The folds of an average of models of several kinds; ``shares`` are ``(n_kinds, n_outputs)``."""

    kinds: tuple[FoldModels, ...]
    shares: Floats

    @property
    def folds(self) -> Folds:
        return self.kinds[0].folds

    def of_row(self, whole: ConditionalModel, copies: Rows, share: float) -> AverageModel | None:
        assert isinstance(whole, AverageModel)
        pairs = zip(self.kinds, whole.models, strict=True)
        found = [kind.of_row(model, copies, share) for kind, model in pairs]
        known = tuple(model for model in found if model is not None)
        return AverageModel(known, self.shares) if len(known) == len(found) else None
