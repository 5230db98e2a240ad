"""Approximate inverses of the problems' curvature matrices, for conjugate gradients.

H = Z' D Z + λ differs from problem to problem by D, the curvatures of its rows. Two ways to an
approximate inverse, by what the matrix allows:

- *sampled*, dense with few columns: the curvature matrix of a sample of the rows, drawn in
  proportion to their curvature, inverted for each problem by itself. A few conjugate steps are then
  enough, whatever the strength.
- *diagonal*, otherwise: a product with anything else would cost more than it saves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask, Matrix
from amiss.models.logistic.blocks import SharedRows, Sums

MOST_COLUMNS_SAMPLED = 400  # beyond, one matrix a problem takes too much room
ROWS_A_COLUMN = 12  # sampled for each column of Z
WORTH_SAMPLING = 3  # rows for each squared column; with fewer, products with Z are cheaper than inverses
LEAST = 1e-12
SHARES = 4

Columns = npt.NDArray[np.intp]


class Preconditioner(Protocol):
    """Applies an approximate inverse to residuals ``(n_columns + 1, n_problems)``."""

    def __call__(self, residual: Floats, result: Floats) -> Floats:
        """Writes z into ``result`` and returns residual·z for every problem."""
        ...

    def take(self, problems: Columns) -> Preconditioner: ...


class Curvatures(Protocol):
    """What is kept of the problems' curvatures to precondition them at any strength."""

    def at(self, strength: Floats) -> Preconditioner: ...

    def take(self, problems: Columns) -> Curvatures: ...


def approximate(rows: SharedRows, curvature: Floats, allowed: Mask) -> Curvatures:
    """The best there is for these rows; ``curvature`` is ``(n_rows, n_problems)``."""
    if not rows.is_sparse and worth_sampling(rows.n_rows, rows.n_columns):
        return SampledCurvatures.of(rows, curvature, allowed)
    return DiagonalCurvatures.of(rows, curvature, allowed)


def worth_sampling(n_rows: int, n_columns: int) -> bool:
    """Whether a matrix for each problem is small enough, and there are rows enough to estimate it from."""
    return n_columns <= MOST_COLUMNS_SAMPLED and n_columns**2 <= WORTH_SAMPLING * n_rows


@dataclass(frozen=True)
class DiagonalCurvatures:
    """Σ_n d_n (z_nj - m_j)² for every column j and problem, m_j the mean of z_nj with weights d_n.

    Centred so, each problem's intercept and coefficients do not interfere. ``mean`` is by how much
    m differs from the common centre, and zero where forbidden.
    """

    rows: SharedRows
    squares: Floats
    mean: Floats
    total: Floats
    allowed: Mask

    @classmethod
    def of(cls, rows: SharedRows, curvature: Floats, allowed: Mask) -> DiagonalCurvatures:
        total = np.maximum(curvature.sum(axis=0), LEAST).astype(rows.dtype)
        mean, squares = rows.moments(curvature)
        mean /= total
        squares -= total * mean**2
        mean -= rows.centre[:, None]
        mean[-len(allowed) :] *= allowed
        return cls(rows, np.maximum(squares, 0, out=squares), mean, total, allowed)

    def at(self, strength: Floats) -> Diagonal:
        inverse = 1 / (self.squares + np.maximum(strength, LEAST))
        inverse[-len(self.allowed) :] *= self.allowed
        return Diagonal(self.rows, inverse, self.mean, 1 / self.total)

    def take(self, problems: Columns) -> DiagonalCurvatures:
        squares, mean = (self.rows.taken(values, problems) for values in (self.squares, self.mean))
        return DiagonalCurvatures(self.rows, squares, mean, self.total[problems], self.allowed[:, problems])


@dataclass(frozen=True)
class Diagonal:
    rows: SharedRows
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

        along_mean, dots = self.rows.sweep(len(self.mean), residual.shape[1], work)
        result[-1] = residual[-1] * self.intercept - along_mean
        return np.asarray(dots + residual[-1] * result[-1])

    def take(self, problems: Columns) -> Diagonal:
        inverse, mean = (self.rows.taken(values, problems) for values in (self.inverse, self.mean))
        return Diagonal(self.rows, inverse, mean, self.intercept[problems])


@dataclass(frozen=True)
class SampledCurvatures:
    """H without the penalty, ``(n_problems, n_columns + 1, n_columns + 1)``, the intercept's column last."""

    rows: SharedRows
    matrices: Floats
    allowed: Mask

    @classmethod
    def of(cls, rows: SharedRows, curvature: Floats, allowed: Mask) -> SampledCurvatures:
        n_columns, n_problems = rows.n_columns, curvature.shape[1]
        n_sampled = min(rows.n_rows, ROWS_A_COLUMN * n_columns)
        total = np.maximum(curvature.sum(axis=0, dtype=np.float64), LEAST)
        matrices = np.empty((n_problems, n_columns + 1, n_columns + 1), dtype=rows.dtype)

        def one(problem: int) -> None:
            sample = np.ones((n_sampled, n_columns + 1), dtype=rows.dtype)
            np.subtract(_drawn(rows.Z, curvature[:, problem], n_sampled), rows.centre, out=sample[:, :-1])
            np.matmul(sample.T, sample, out=matrices[problem])
            matrices[problem] *= total[problem] / n_sampled

        rows.each(one, n_problems)
        return cls(rows, matrices, allowed)

    def at(self, strength: Floats) -> Sampled:
        n_columns = self.rows.n_columns
        inverses = np.empty_like(self.matrices)
        penalised = np.arange(n_columns)

        def one(problem: int) -> None:
            H = self.matrices[problem].copy()
            H[penalised, penalised] += strength[problem]
            inverse = _inverse(H)
            closed = n_columns - len(self.allowed) + np.flatnonzero(~self.allowed[:, problem])
            inverse[closed], inverse[:, closed] = 0, 0
            np.add(inverse, inverse.T, out=inverses[problem])

        self.rows.each(one, len(inverses))
        inverses /= 2
        return Sampled(self.rows, inverses, np.arange(len(inverses)))

    def take(self, problems: Columns) -> SampledCurvatures:
        return SampledCurvatures(self.rows, self.matrices[problems], self.allowed[:, problems])


class Sampled:
    """One symmetric matrix an output, zero where forbidden, shared by the problems of that output."""

    def __init__(self, rows: SharedRows, inverses: Floats, which: Columns) -> None:
        self.rows, self.inverses, self.which = rows, inverses, which
        self._groups = [(i, np.flatnonzero(which == i)) for i in np.unique(which)]

    def __call__(self, residual: Floats, result: Floats) -> Floats:
        def work(share: int) -> None:
            for i, problems in self._groups[share::SHARES]:
                result[:, problems] = self.inverses[i] @ residual[:, problems]

        self.rows.each(work, min(SHARES, len(self._groups)))
        return np.einsum("ij,ij->j", residual, result)

    def take(self, problems: Columns) -> Sampled:
        return Sampled(self.rows, self.inverses, self.which[problems])


def _inverse(H: Floats) -> Floats:
    """The inverse, or that of the diagonal if there is none in this precision."""
    try:
        return np.asarray(np.linalg.inv(H))
    except np.linalg.LinAlgError:
        return np.diag(1 / np.maximum(np.diagonal(H), LEAST)).astype(H.dtype)


def _drawn(Z: Matrix, curvature: Floats, n_sampled: int) -> Floats:
    """Rows drawn in proportion to their curvature, at even steps through its running sum."""
    running = np.cumsum(curvature, dtype=np.float64)
    steps = (np.arange(n_sampled) + 0.5) * (running[-1] / n_sampled)
    return np.asarray(Z[np.minimum(np.searchsorted(running, steps), len(Z) - 1)])
