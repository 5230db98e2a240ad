"""The rows of a fit in this process: one partition, and threads that share its blocks."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats, Matrix
from amiss.models.folds import Folds
from amiss.models.logistic.blocks import Layout, Running, column_slices
from amiss.models.logistic.partition import (
    Partition,
    PartitionCurvatures,
    PartitionProblems,
    Place,
    Signs,
    cross_products,
    sampling_steps,
)
from amiss.models.logistic.pool import Indices, Pool, Sums, total
from amiss.models.logistic.seam import Precision


class LocalRows:
    """All rows in one partition: Z ``(n_rows, n_columns)``, signs and folds ``(n_rows, n_outputs)``.

    Implements :class:`amiss.models.logistic.seam.Rows`.
    """

    def __init__(self, Z: Matrix, signs: Signs, folds: Folds | None = None, n_jobs: int | None = None) -> None:
        self.layout, self.pool = Layout.of(Z), Pool(n_jobs)
        self.centre: Floats = np.asarray(Z.mean(axis=0, dtype=np.float64)).ravel()
        self.column_slices = column_slices(Z, self.layout)
        self.n_outputs = signs.shape[1]
        self.n_folds = 0 if folds is None else int(folds.max()) + 1
        self._partition = Partition(Z, signs, folds, Place(self.layout, 0, self.n_folds), self.pool)

    def problems(self, outputs: Indices | None, precision: Precision) -> LocalProblems:
        return LocalProblems(self, self._partition.problems(outputs, precision))

    def margins(self, coef: Floats, intercept: Floats) -> Floats:
        coef = np.ascontiguousarray(coef, dtype=np.float64)
        with self.pool.at_work():
            return self._partition.margins(coef, intercept.astype(np.float64))


class LocalProblems:
    """Implements :class:`amiss.models.logistic.seam.Problems`."""

    def __init__(self, rows: LocalRows, share: PartitionProblems) -> None:
        self.rows, self.precision, self._share = rows, share.precision, share
        self.n_problems = share.signs.shape[1]

    def counts(self) -> tuple[Floats, Floats]:
        return self._share.counts()

    def evaluate(self, coef: Floats, offset: Floats, result: Floats, some: Indices | None = None) -> Floats:
        running = Running.into(result, len(self.rows.layout.shards(coef.shape[1])))
        (losses,) = self._share.evaluate(coef, offset, some, running).finish()
        return losses

    def curvatures(self) -> LocalCurvatures:
        return LocalCurvatures(self.rows, self._share.curvatures())

    def take(self, problems: Indices) -> LocalProblems:
        return LocalProblems(self.rows, self._share.take(problems))

    def part(self, problems: slice) -> LocalProblems:
        return LocalProblems(self.rows, self._share.part(problems))

    def outside_folds(self, outputs: slice) -> LocalProblems:
        return LocalProblems(self.rows, self._share.outside_folds(outputs))

    def hold_out(self, outputs: slice, coef: Floats, offset: Floats) -> None:
        self._share.hold_out(outputs, coef, offset)

    def held_out_losses(self) -> Floats:
        return np.asarray(self._share.held_out_losses().sum(axis=0, dtype=np.float64))


class LocalCurvatures:
    """Implements :class:`amiss.models.logistic.seam.Curvatures`."""

    def __init__(self, rows: LocalRows, share: PartitionCurvatures) -> None:
        self.rows, self._share = rows, share

    def hessian_product(self, coef: Floats, offset: Floats, result: Floats) -> None:
        running = Running.into(result, len(self.rows.layout.shards(coef.shape[1])))
        self._share.hessian_product(coef, offset, running).finish()

    def take(self, problems: Indices) -> LocalCurvatures:
        return LocalCurvatures(self.rows, self._share.take(problems))

    def moments(self) -> tuple[Floats, Floats, Floats]:
        curvature = self._share.curvature
        running: list[Sums] = [()] * len(self.rows.layout.shards(curvature.shape[1]))
        first, second = total(self._share.moments(running))
        return np.asarray(curvature.sum(axis=0)), first, second

    def sampled(self, n_sampled: int, centre: Floats) -> tuple[Floats, Floats]:
        curvature, size = self._share.curvature, len(centre) + 1
        matrices = np.empty((curvature.shape[1], size, size), dtype=centre.dtype)

        def one(problem: int) -> None:
            running = self._share.cumulated(problem)
            drawn = self._share.rows_at(sampling_steps(running[-1], n_sampled), running)
            cross_products(drawn, centre, matrices[problem])

        self.rows.pool.each(one, len(matrices), matrices.size * n_sampled)
        return np.asarray(curvature.sum(axis=0, dtype=np.float64)), matrices
