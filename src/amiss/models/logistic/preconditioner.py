"""Approximate inverses of the problems' curvature matrices, for conjugate gradients.

H = Z' D Z + λ differs from problem to problem by D, the curvatures of its rows. There are two approximate
inverses; the shape of the matrix decides which is used:

- *sampled*, dense with few columns: the curvature matrix of a sample of the rows, drawn in
  proportion to their curvature, inverted for each problem by itself. A few conjugate steps are then
  enough, whatever the strength.
- *diagonal*, otherwise: any other matrix would cost more than it saves.

Of the rows only sums are needed (:class:`amiss.models.logistic.seam.Curvatures`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.logistic.objective import PenalisedHessian
from amiss.models.logistic.pool import Indices, Pool, Sums

MOST_COLUMNS_SAMPLED = 400  # beyond, one matrix per problem takes too much room
ROWS_PER_COLUMN = 12  # sampled for each column of Z
WORTH_SAMPLING = 3  # rows for each squared column; with fewer, products with Z are cheaper than inverses
LEAST = 1e-12
SHARES = 4


class Preconditioner(Protocol):
    """Applies an approximate inverse to residuals ``(n_columns + 1, n_problems)``."""

    def __call__(self, residual: Floats, result: Floats) -> Floats:
        """Writes z into ``result`` and returns residual·z for every problem."""
        ...

    def take(self, problems: Indices) -> Preconditioner: ...


class Approximation(Protocol):
    """What is kept of the problems' curvatures to precondition them at any strength."""

    def at(self, strength: Floats) -> Preconditioner: ...

    def take(self, problems: Indices) -> Approximation: ...


def approximate(hessian: PenalisedHessian) -> Approximation:
    """The best there is for these rows and problems."""
    layout = hessian.rows.layout
    if not layout.is_sparse and worth_sampling(layout.n_rows, layout.n_columns):
        return SampledApproximation.of(hessian)
    return DiagonalApproximation.of(hessian)


def worth_sampling(n_rows: int, n_columns: int) -> bool:
    """Whether a matrix for each problem is small enough, and there are rows enough to estimate it from."""
    return 0 < n_columns <= MOST_COLUMNS_SAMPLED and n_columns**2 <= WORTH_SAMPLING * n_rows


@dataclass(frozen=True)
class DiagonalApproximation:
    """Σ_n d_n (z_nj - m_j)² for every column j and problem, m_j the mean of z_nj with weights d_n.

    Centred so, each problem's intercept and coefficients do not interfere. ``mean`` is by how much
    m differs from the common centre, and zero where forbidden.
    """

    pool: Pool
    squares: Floats
    mean: Floats
    total: Floats
    allowed: Mask

    @classmethod
    def of(cls, hessian: PenalisedHessian) -> DiagonalApproximation:
        pool, allowed = hessian.rows.pool, hessian.allowed
        total, mean, squares = hessian.curvatures.moments()
        total = np.maximum(total, LEAST).astype(mean.dtype)
        mean /= total
        squares -= total * mean**2
        mean -= hessian.centre[:, None]
        mean[len(mean) - len(allowed) :] *= allowed
        return cls(pool, np.maximum(squares, 0, out=squares), mean, total, allowed)

    def at(self, strength: Floats) -> Diagonal:
        inverse = 1 / (self.squares + np.maximum(strength, LEAST))
        inverse[len(inverse) - len(self.allowed) :] *= self.allowed
        return Diagonal(self.pool, inverse, self.mean, 1 / self.total)

    def take(self, problems: Indices) -> DiagonalApproximation:
        squares, mean = (self.pool.take(values, problems) for values in (self.squares, self.mean))
        return DiagonalApproximation(self.pool, squares, mean, self.total[problems], self.allowed[:, problems])


@dataclass(frozen=True)
class Diagonal:
    pool: Pool
    inverse: Floats
    mean: Floats
    intercept: Floats

    def __call__(self, residual: Floats, result: Floats) -> Floats:
        def work(some: slice) -> Sums:
            z, mean = result[some], self.mean[some]
            np.multiply(mean, residual[-1], out=z)
            np.subtract(residual[some], z, out=z)
            z *= self.inverse[some]
            return np.einsum("ij,ij->j", mean, z), np.einsum("ij,ij->j", residual[some], z)

        along_mean, dots = self.pool.sweep(len(self.mean), residual.shape[1], work)
        result[-1] = residual[-1] * self.intercept - along_mean
        return np.asarray(dots + residual[-1] * result[-1])

    def take(self, problems: Indices) -> Diagonal:
        inverse, mean = (self.pool.take(values, problems) for values in (self.inverse, self.mean))
        return Diagonal(self.pool, inverse, mean, self.intercept[problems])


@dataclass(frozen=True)
class SampledApproximation:
    """H without the penalty, ``(n_problems, n_columns + 1, n_columns + 1)``, the intercept's column last."""

    pool: Pool
    matrices: Floats
    allowed: Mask

    @classmethod
    def of(cls, hessian: PenalisedHessian) -> SampledApproximation:
        pool, layout = hessian.rows.pool, hessian.rows.layout
        n_sampled = min(layout.n_rows, ROWS_PER_COLUMN * layout.n_columns)
        total, matrices = hessian.curvatures.sampled(n_sampled, hessian.centre)
        total = np.maximum(total, LEAST)

        def scale(problem: int) -> None:
            matrices[problem] *= total[problem] / n_sampled

        pool.each(scale, len(matrices), matrices.size)
        return cls(pool, matrices, hessian.allowed)

    def at(self, strength: Floats) -> Sampled:
        n_columns = self.matrices.shape[1] - 1
        inverses = np.empty_like(self.matrices)
        penalised = np.arange(n_columns)

        def one(problem: int) -> None:
            H = self.matrices[problem].copy()
            H[penalised, penalised] += strength[problem]
            inverse = _inverse(H)
            closed = n_columns - len(self.allowed) + np.flatnonzero(~self.allowed[:, problem])
            inverse[closed], inverse[:, closed] = 0, 0
            np.add(inverse, inverse.T, out=inverses[problem])

        self.pool.each(one, len(inverses), inverses.size * n_columns)
        inverses /= 2
        return Sampled(self.pool, inverses, np.arange(len(inverses)))

    def take(self, problems: Indices) -> SampledApproximation:
        return SampledApproximation(self.pool, self.matrices[problems], self.allowed[:, problems])


class Sampled:
    """One symmetric matrix per output, zero where forbidden, shared by the problems of that output."""

    def __init__(self, pool: Pool, inverses: Floats, which: Indices) -> None:
        self.pool, self.inverses, self.which = pool, inverses, which
        self._groups = [(i, np.flatnonzero(which == i)) for i in np.unique(which)]

    def __call__(self, residual: Floats, result: Floats) -> Floats:
        def work(share: int) -> None:
            for i, problems in self._groups[share::SHARES]:
                result[:, problems] = self.inverses[i] @ residual[:, problems]

        self.pool.each(work, min(SHARES, len(self._groups)), residual.size * len(residual))
        return np.einsum("ij,ij->j", residual, result)

    def take(self, problems: Indices) -> Sampled:
        return Sampled(self.pool, self.inverses, self.which[problems])


def _inverse(H: Floats) -> Floats:
    """The inverse, or that of the diagonal if there is none in this precision."""
    try:
        return np.asarray(np.linalg.inv(H))
    except np.linalg.LinAlgError:
        return np.diag(1 / np.maximum(np.diagonal(H), LEAST)).astype(H.dtype)
