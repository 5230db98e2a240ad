"""Wide inputs along their principal axes, without a copy of them.

The solver wants Z = [(X - x̄) V s, Y], with V orthonormal: along the principal axes the curvature matrix is nearly
diagonal (:mod:`amiss.models.logistic.axes`). Of wide inputs in single precision that matrix would be one more as
large as the table. It is not needed: with b on the columns of Z,

    Z b  = (X - x̄) (s V b_x) + Y b_y        Z' r = (s V' (X - x̄)' r, Y' r)

so coefficients are turned on the way there and sums on the way back. That takes as many operations as a product
with a matrix of n_columns rows, and tables of this kind have many times as many. It is exact, like any rotation.

The first columns of V are the leading principal axes. The inputs vary little and alike along the others, which may
therefore be any that are orthonormal to the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from amiss.arrays import Floats, Matrix
from amiss.encoding.leading_axes import axes_of, column_means, covariance_of
from amiss.models.logistic.blocks import SHARDS, DenseBlocks, Layout, Running, Turn, Use
from amiss.models.logistic.pool import Pool, Sums, added
from amiss.threads import one_blas_thread

LEADING = 256
MOST_UNEVEN = 1e3  # between the columns' standard deviations: beyond, rounding would blur the small ones
SAMPLE = 2048  # rows from which curvatures along the axes are estimated
OFF_CENTRE = 1e-3  # of the standard deviation: a smaller mean costs no digits


@dataclass(frozen=True, eq=False)
class TurnedRows:
    """Z ``(n_rows, n_columns + n_outputs)`` by its parts: ``inputs`` and ``outputs`` of the same rows.

    ``axes`` is V, ``(n_columns, n_columns)``, ``stretch`` s. ``centre`` is x̄, or zero if that is near enough: then
    nothing needs to be subtracted, and ``left`` is the mean that is left.
    """

    inputs: Matrix
    outputs: Floats
    centre: Floats
    left: Floats
    axes: Floats
    stretch: float

    @classmethod
    def of(cls, inputs: Matrix, outputs: Floats, stretch: float) -> TurnedRows | None:
        """None if the columns are too uneven to be turned in single precision."""
        mean = column_means(inputs)
        with one_blas_thread():  # its own threads would let the bits depend on their number
            covariance = covariance_of(inputs, mean)
            spread = np.sqrt(np.diagonal(covariance) / len(outputs))
            if spread.max() > MOST_UNEVEN * spread.min(where=spread > 0, initial=np.inf):
                return None
            axes = np.linalg.qr(axes_of(covariance, LEADING, 1.0), mode="complete")[0]
        near = bool((np.abs(mean) <= OFF_CENTRE * spread).all())
        centre = np.zeros_like(mean) if near else mean
        return cls(inputs, outputs, centre, mean - centre, axes, stretch)

    def first(self, n_rows: int) -> TurnedRows:
        """The first rows, along the same axes."""
        return replace(self, inputs=self.inputs[:n_rows], outputs=self.outputs[:n_rows])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.outputs), self.inputs.shape[1] + self.outputs.shape[1]

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return len(self.outputs)

    def mean(self, axis: int, dtype: Any) -> Floats:
        """The column means of Z."""
        assert axis == 0
        return np.concatenate([self.left @ self.axes * self.stretch, self.outputs.mean(axis=0)]).astype(dtype)

    def parts(self, rows: slice, dtype: Any) -> list[tuple[slice, Floats]]:
        """Rows of X - x̄ and of Y, and the columns that they are; X itself where nothing is to be done to it."""
        width, inputs = len(self.axes), self.inputs[rows]
        if self.centre.any():
            inputs = inputs - self.centre
        outputs = self.outputs[rows].astype(dtype, copy=False)
        return [(slice(0, width), inputs.astype(dtype, copy=False)), (slice(width, self.shape[1]), outputs)]

    @cached_property
    def sample(self) -> tuple[slice, Floats]:
        """Some rows at even steps, and where they stand along the axes, stretched."""
        rows = slice(0, len(self), max(1, len(self) // SAMPLE))
        along = (self.inputs[rows] - self.centre) @ self.axes * self.stretch
        return rows, along.astype(np.float32)


class TurnedBlocks(DenseBlocks):
    """Blocks of [X - x̄, Y]; what comes in and goes out is along the axes. All rows are in one partition."""

    def __init__(self, Z: TurnedRows, layout: Layout, first: int, pool: Pool, dtype: np.dtype[Any]) -> None:
        assert first == 0 and len(Z) == layout.n_rows, "rows that are turned on the way stay together"
        self.Z, self.layout, self.first, self.pool, self.dtype = Z, layout, first, pool, dtype
        self.axes = (Z.axes * Z.stretch).astype(dtype)
        self.scratch = [np.empty(0, dtype=dtype) for _ in range(SHARDS)]

    def margins(self, coef: Floats, offset: Floats, use: Use) -> None:
        super().margins(self._there(coef), offset, use)

    def products(self, coef: Floats, offset: Floats, turn: Turn, running: Running) -> None:
        plain = Running(running.sums, [np.empty_like(product) for product in running.products])
        super().products(self._there(coef), offset, turn, plain)
        for product in plain.products[1:]:
            plain.products[0] += product
        self._back(plain.products[0], running.products[0])
        for product in running.products[1:]:
            product[...] = 0  # all is in the first

    def moments(self, weights: Floats, running: list[Sums]) -> None:
        """First moments by a product; the second of inputs from a sample, because they only precondition."""
        plain: list[Sums] = [()] * len(running)

        def work(shard: int, rows: slice, begins: bool) -> None:
            (_, inputs), (_, outputs) = self._parts(rows)
            mine, Y = weights[rows], outputs.T
            first = np.concatenate([inputs.T @ mine, Y @ mine])
            plain[shard] = added(plain[shard], (first, (Y * Y) @ mine))

        self._walk(weights.shape[1], self.layout.n_columns, work)
        first, second = (sum(each[1:], each[0]) for each in zip(*(part for part in plain if part), strict=True))
        turned = np.empty_like(first)
        self._back(first, turned)
        rows, along = self.Z.sample
        share = weights.sum(axis=0) / np.maximum(weights[rows].sum(axis=0), np.finfo(np.float32).tiny)
        squares = ((along * along).T @ weights[rows]) * share
        running[0] = added(running[0], (turned, np.concatenate([squares.astype(second.dtype), second])))
        for shard in range(1, len(running)):
            running[shard] = added(running[shard], (np.zeros_like(turned), np.zeros_like(turned)))

    def _there(self, coef: Floats) -> Floats:
        """Coefficients on [X - x̄, Y] of those on Z."""
        width = len(self.axes)
        return np.concatenate([self.axes @ coef[:width], coef[width:]])

    def _back(self, plain: Floats, result: Floats) -> None:
        """Sums along Z of those along [X - x̄, Y], and what follows them."""
        width = len(self.axes)
        np.matmul(self.axes.T, plain[:width], out=result[:width])
        result[width:] = plain[width:]

    def _parts(self, rows: slice) -> list[tuple[slice, Floats]]:
        parts: list[tuple[slice, Floats]] = self.Z.parts(rows, self.dtype)
        return parts
