"""Approximate inverses of the problems' curvature matrices, for conjugate gradients.

H = Z' D Z + λ differs from problem to problem by D, the curvatures of its rows. Three ways to an
approximate inverse, by what the matrix allows:

- *sampled*, dense with few columns: the curvature matrix of a sample of the rows, drawn in
  proportion to their curvature, inverted for each problem by itself. A few conjugate steps are then
  enough, whatever the strength.
- *eigenvectors*, dense with more columns: those of Z'Z, shared by all problems, with each problem's
  mean curvature.
- *diagonal*, sparse: a product with anything else would cost more than it saves.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from amiss.rows import SharedRows
from amiss.table import Floats, Mask, Matrix

MOST_COLUMNS_FOR_EIGENVECTORS = 1500
MOST_COLUMNS_SAMPLED = 400  # beyond, one matrix a problem takes too much room
ROWS_A_COLUMN = 12  # sampled for each column of Z
WORTH_SAMPLING = 3  # rows for each squared column; with fewer, products with Z are cheaper than inverses

Columns = npt.NDArray[np.intp]


class Preconditioner(Protocol):
    """Applies the approximate inverse to residuals ``(n_columns + 1, n_problems)``."""

    def __call__(self, residual: Floats) -> Floats: ...

    def take(self, problems: Columns) -> Preconditioner: ...


def preconditioner(rows: SharedRows, curvature: Floats, strength: Floats, allowed: Mask) -> Preconditioner:
    """The best there is for these rows; ``curvature`` is ``(n_rows, n_problems)``."""
    total = np.maximum(curvature.sum(axis=0), 1e-12).astype(rows.dtype)
    if rows.is_sparse or rows.n_columns > min(MOST_COLUMNS_FOR_EIGENVECTORS, rows.n_rows):
        return Diagonal(1 / (np.outer(rows.squares, total / rows.n_rows) + strength), 1 / total)
    if rows.n_columns <= MOST_COLUMNS_SAMPLED and rows.n_columns**2 <= WORTH_SAMPLING * rows.n_rows:
        return Sampled(_sampled_inverses(rows, curvature, total, strength, allowed), 1 / total)
    return Eigenvectors(*rows.eigen, total / rows.n_rows, strength, allowed, 1 / total)


class Diagonal:
    def __init__(self, inverse: Floats, intercept: Floats) -> None:
        self.inverse, self.intercept = inverse, intercept

    def __call__(self, residual: Floats) -> Floats:
        result = np.empty_like(residual)
        np.multiply(residual[:-1], self.inverse, out=result[:-1])
        np.multiply(residual[-1], self.intercept, out=result[-1])
        return result

    def take(self, problems: Columns) -> Diagonal:
        return Diagonal(self.inverse[:, problems], self.intercept[problems])


class Eigenvectors:
    def __init__(
        self,
        values: Floats,
        vectors: Floats,
        mean: Floats,
        strength: Floats,
        allowed: Mask,
        intercept: Floats,
    ) -> None:
        self.values, self.vectors, self.mean = values, vectors, mean
        self.strength, self.allowed, self.intercept = strength, allowed, intercept

    def __call__(self, residual: Floats) -> Floats:
        inner = self.vectors.T @ residual[:-1]
        inner /= np.outer(self.values, self.mean) + self.strength
        result = np.empty_like(residual)
        np.matmul(self.vectors, inner, out=result[:-1])
        result[-1] = residual[-1] * self.intercept
        forbid(result, self.allowed)
        return result

    def take(self, problems: Columns) -> Eigenvectors:
        mean, strength, intercept = self.mean[problems], self.strength[problems], self.intercept[problems]
        return Eigenvectors(self.values, self.vectors, mean, strength, self.allowed[:, problems], intercept)


class Sampled:
    """One symmetric matrix a problem, ``(n_problems, n_columns, n_columns)``, zero where forbidden."""

    def __init__(self, inverses: Floats, intercept: Floats) -> None:
        self.inverses, self.intercept = inverses, intercept

    def __call__(self, residual: Floats) -> Floats:
        result = np.empty_like(residual)
        result[:-1] = np.matmul(self.inverses, residual[:-1].T[:, :, None])[:, :, 0].T
        result[-1] = residual[-1] * self.intercept
        return result

    def take(self, problems: Columns) -> Sampled:
        return Sampled(self.inverses[problems], self.intercept[problems])


def forbid(parameters: Floats, allowed: Mask) -> None:
    """Zero what may not be used; only the last columns of Z, the outputs, are ever forbidden."""
    parameters[-len(allowed) - 1 : -1] *= allowed


def _sampled_inverses(
    rows: SharedRows, curvature: Floats, total: Floats, strength: Floats, allowed: Mask
) -> Floats:
    n_columns, n_problems = rows.n_columns, curvature.shape[1]
    n_sampled = min(rows.n_rows, ROWS_A_COLUMN * n_columns)
    inverses = np.empty((n_problems, n_columns, n_columns), dtype=rows.dtype)
    diagonal = np.arange(n_columns)

    def one(problem: int) -> None:
        sample = _drawn(rows.Z, curvature[:, problem], n_sampled) - rows.centre
        H = sample.T @ sample
        H *= total[problem] / n_sampled
        H[diagonal, diagonal] += strength[problem]
        inverse = np.linalg.inv(H)
        closed = n_columns - len(allowed) + np.flatnonzero(~allowed[:, problem])
        inverse[closed], inverse[:, closed] = 0, 0
        inverses[problem] = (inverse + inverse.T) / 2

    rows.each(one, n_problems)
    return inverses


def _drawn(Z: Matrix, curvature: Floats, n_sampled: int) -> Floats:
    """Rows drawn in proportion to their curvature, at even steps through its running sum."""
    running = np.cumsum(curvature, dtype=np.float64)
    steps = (np.arange(n_sampled) + 0.5) * (running[-1] / n_sampled)
    return np.asarray(Z[np.minimum(np.searchsorted(running, steps), len(Z) - 1)])
