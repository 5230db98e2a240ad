"""A partition: neighbouring rows of Z with their signs, folds and curvatures.

Nothing here knows of other partitions. A sum over all rows is handed from one partition to the next, and
each adds its blocks to it in the order of the rows (:class:`~amiss.models.logistic.blocks.Running`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Matrix
from amiss.models.folds import Folds
from amiss.models.logistic import compiled
from amiss.models.logistic.blocks import Blocks, Layout, Running, blocks_of
from amiss.models.logistic.loss import row_losses
from amiss.models.logistic.pool import Indices, Pool, Sums
from amiss.models.logistic.seam import Precision
from amiss.models.logistic.turned import TurnedBlocks

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Place:
    """Where the rows of a partition stand among all rows: the whole matrix, and the first of them."""

    layout: Layout
    first: int = 0
    n_folds: int = 0


class Partition:
    """Some rows: Z ``(n_rows, n_columns)``, signs and folds ``(n_rows, n_outputs)``."""

    def __init__(self, Z: Matrix, signs: Signs, folds: Folds | None, place: Place, pool: Pool) -> None:
        self.Z, self.signs, self.folds, self.place, self.pool = Z, signs, folds, place, pool
        self.n_rows = int(Z.shape[0])
        self._blocks: dict[Any, Blocks] = {}

    def blocks(self, dtype: Any) -> Blocks:
        """The rows in that precision."""
        key = np.dtype(dtype)
        if key not in self._blocks:
            where = self.place.layout, self.place.first, self.pool, key
            turned = self.place.layout.is_turned
            self._blocks[key] = TurnedBlocks(self.Z, *where) if turned else blocks_of(self.Z, *where)
        return self._blocks[key]

    def problems(self, outputs: Indices | None, precision: Precision) -> PartitionProblems:
        """One problem for each of some outputs, or of all."""
        signs, folds = self.signs, self.folds
        if outputs is not None:
            signs = self.pool.take(signs, outputs)
            folds = None if folds is None else self.pool.take(folds, outputs)
        return PartitionProblems(self, signs.astype(precision.values), precision, folds)

    def margins(self, coef: Floats, offset: Floats) -> Floats:
        """z_n·b + offset for every row here."""
        result = np.empty((self.n_rows, coef.shape[1]), dtype=coef.dtype)

        def keep(rows: slice, f: Floats) -> None:
            result[rows] = f

        self.blocks(coef.dtype).margins(coef, offset, keep)
        return result


class PartitionProblems:
    """The share of a partition in a batch of problems: ``signs`` and ``curvature`` ``(n_rows, n_problems)``."""

    def __init__(
        self, partition: Partition, signs: Floats, precision: Precision, folds: Folds | None = None
    ) -> None:
        self.partition, self.signs, self.precision, self.folds = partition, signs, precision, folds
        self.curvature: Floats | None = None
        self.held_out: Floats | None = None

    def counts(self) -> tuple[Floats, Floats]:
        """Σ_n |t_n| and Σ_n t_n, whole numbers that may be added in any order."""

        def work(rows: slice) -> Sums:
            signs = self.signs[rows]
            return np.abs(signs).sum(axis=0, dtype=np.float64), signs.sum(axis=0, dtype=np.float64)

        weight, surplus = self.partition.pool.sweep(len(self.signs), self.signs.shape[1], work)
        return weight, surplus

    def evaluate(self, coef: Floats, offset: Floats, some: Indices | None, running: Running) -> Running:
        """Add losses and residuals times rows to ``running``; the curvatures stay here."""
        layout, signs = self.partition.place.layout, self.signs
        slopes = compiled.slopes(layout.compiled, np.dtype(self.precision.values))
        columns = slice(None) if some is None else some
        if self.curvature is None:
            self.curvature = np.empty(signs.shape, dtype=self.precision.directions)
        curvature = self.curvature

        def turn(rows: slice, f: Floats) -> Sums:
            t, d = signs[rows], curvature[rows]
            if some is None and d.dtype == f.dtype:
                return (slopes(f, t, d),)
            part = np.empty_like(f)
            losses = slopes(f, t if some is None else np.take(t, some, axis=1), part)
            d[:, columns] = part
            return (losses,)

        self.partition.blocks(self.precision.values).products(coef, offset, turn, running)
        return running

    def curvatures(self) -> PartitionCurvatures:
        """The curvatures where the problems were last evaluated."""
        assert self.curvature is not None, "evaluate first"
        return PartitionCurvatures(
            self.partition, self.partition.blocks(self.precision.directions), self.curvature
        )

    def take(self, problems: Indices) -> PartitionProblems:
        """Some of the problems, with their curvatures."""
        take = self.partition.pool.take
        result = PartitionProblems(self.partition, take(self.signs, problems), self.precision)
        result.curvature = None if self.curvature is None else take(self.curvature, problems)
        return result

    def part(self, problems: slice) -> PartitionProblems:
        """Neighbouring problems, without their curvatures; signs are not copied."""
        return PartitionProblems(self.partition, self.signs[:, problems], self.precision)

    def outside_folds(self, outputs: slice) -> PartitionProblems:
        """Signs for every fold and output, 0 within the fold."""
        assert self.folds is not None, "no folds"
        t, folds, n_folds = self.signs[:, outputs], self.folds[:, outputs], self.partition.place.n_folds
        result = np.empty((len(t), n_folds, t.shape[1]), dtype=t.dtype)

        def work(rows: slice) -> Sums:
            for fold in range(n_folds):
                np.multiply(t[rows], folds[rows] != fold, out=result[rows, fold])
            return ()

        self.partition.pool.sweep(len(t), n_folds * t.shape[1], work)
        return PartitionProblems(self.partition, result.reshape(len(t), -1), self.precision)

    def hold_out(self, outputs: slice, coef: Floats, offset: Floats) -> None:
        """Take the margin of each row by the problem of :meth:`outside_folds` that did not see it."""
        assert self.folds is not None, "no folds"
        if self.held_out is None:
            self.held_out = np.empty(self.folds.shape, dtype=self.precision.values)
        folds, result = self.folds[:, outputs], self.held_out[:, outputs]

        def pick(rows: slice, f: Floats) -> None:
            own = folds[rows].astype(np.intp)[:, None, :]
            every = f.reshape(len(f), self.partition.place.n_folds, -1)
            result[rows] = np.take_along_axis(every, own, axis=1)[:, 0]

        self.partition.blocks(self.precision.values).margins(coef, offset, pick)

    def held_out_losses(self) -> Floats:
        """|t_n| log(1 + e^{-t_n f_n}) for each row and output, where f_n are the margins that were held out."""
        assert self.held_out is not None, "hold_out first"
        return row_losses(self.held_out, self.signs)


class PartitionCurvatures:
    """The share of a partition in the second derivatives: ``curvature`` ``(n_rows, n_problems)``."""

    def __init__(self, partition: Partition, blocks: Blocks, curvature: Floats) -> None:
        self.partition, self.blocks, self.curvature = partition, blocks, curvature

    def hessian_product(self, coef: Floats, offset: Floats, running: Running) -> Running:
        """Add Σ_n d_n f_n (z_n, 1) to ``running``."""

        def turn(rows: slice, f: Floats) -> Sums:
            f *= self.curvature[rows]
            return ()

        self.blocks.products(coef, offset, turn, running)
        return running

    def take(self, problems: Indices) -> PartitionCurvatures:
        return PartitionCurvatures(self.partition, self.blocks, self.partition.pool.take(self.curvature, problems))

    def moments(self, running: list[Sums]) -> list[Sums]:
        """Add Σ_n d_n z_nj and Σ_n d_n z_nj² to ``running``, by shards."""
        self.blocks.moments(self.curvature, running)
        return running

    def cumulated(self, problem: int, before: float | None = None) -> Floats:
        """Running sums of the curvatures, row by row; ``before`` is that of the partitions before."""
        if before is None:
            return np.cumsum(self.curvature[:, problem], dtype=np.float64)
        return np.cumsum(np.concatenate([[before], self.curvature[:, problem]]), dtype=np.float64)[1:]

    def rows_at(self, steps: Floats, cumulated: Floats) -> Floats:
        """The rows of Z ``(n_steps, n_columns)`` at which the running sum reaches each of the steps."""
        Z = self.partition.Z
        return np.asarray(Z[np.minimum(np.searchsorted(cumulated, steps), len(Z) - 1)])


def sampling_steps(total: float, n_sampled: int) -> Floats:
    """Even steps through the running sum of the curvatures."""
    return np.asarray((np.arange(n_sampled) + 0.5) * (total / n_sampled))


def cross_products(drawn: Floats, centre: Floats, result: Floats) -> None:
    """Σ_n (z_n - z̄, 1) (z_n - z̄, 1)' over the rows drawn, into ``result``."""
    sample = np.ones((len(drawn), len(centre) + 1), dtype=centre.dtype)
    np.subtract(drawn.astype(centre.dtype, copy=False), centre, out=sample[:, :-1])
    np.matmul(sample.T, sample, out=result)
