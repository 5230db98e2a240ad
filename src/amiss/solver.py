"""All outputs, strengths and folds at once: Newton's method with conjugate gradients.

The problems share Z, so one product with Z serves them all. Each problem has its own Newton
direction, step length and end: a problem that has converged leaves the batch at once, and one
that is slow neither holds up the others nor hides among them.

    solve(rows, targets, weights, allowed, strengths) -> Solution

``allowed[j, c]`` says whether problem c may use column j; a forbidden coefficient stays zero,
which is how the model of output i does not see y_i although y_i is a column of Z. Missing outputs
and held-out folds are zeros in ``weights``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from threadpoolctl import threadpool_limits

from amiss import loss
from amiss.table import Floats, Mask, Matrix

BLOCK_ROWS = 1024
MOST_SHARDS = 8
MOST_COLUMNS_FOR_EIGENVECTORS = 2500
MOST_NEWTON_STEPS = 100
MOST_CONJUGATE_STEPS = 50
MOST_HALVINGS = 30
BATCH_BYTES = 64 << 20


@dataclass(frozen=True)
class Solution:
    """What came out of each problem.

    ``coef`` is ``(n_columns, n_problems)``; everything else ``(n_problems,)``. ``grad_norm`` is
    the largest entry of the gradient. A problem whose targets are all alike has no finite
    optimum: its coefficients are zero and its intercept is the smoothed base rate.
    """

    coef: Floats
    intercept: Floats
    objective: Floats
    grad_norm: Floats
    n_iter: npt.NDArray[np.intp]
    converged: Mask


class SharedRows:
    """Z in blocks of rows, what is known of it once, and the threads that work on it."""

    def __init__(self, Z: Matrix, n_jobs: int | None = None) -> None:
        self.Z = Z
        self.n_rows, self.n_columns = int(Z.shape[0]), int(Z.shape[1])
        self.centre = np.asarray(Z.mean(axis=0)).ravel()
        self.threads = thread_count(n_jobs)
        self._shards = _shards(Z)
        self._eigen: tuple[Floats, Floats] | None = None
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Threads of our own over blocks of rows; the ones inside BLAS would be in their way."""
        if self._pool is not None:
            yield
            return
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(self.threads) as pool:
            self._pool = pool
            try:
                yield
            finally:
                self._pool = None

    def total(self, work: Callable[[slice, Matrix], Floats]) -> Floats:
        """The sum over all blocks of what ``work`` returns, always added in the same order."""

        def shard_total(shard: list[tuple[slice, Matrix]]) -> Floats:
            result = work(*shard[0])
            for block in shard[1:]:
                result += work(*block)
            return result

        assert self._pool is not None, "use within at_work()"
        parts = self._pool.map(shard_total, self._shards)
        result = next(parts)
        for part in parts:
            result += part
        return result

    def margins(self, coef: Floats, intercept: Floats) -> Floats:
        """Log-odds of every row for every problem."""
        result = np.empty((self.n_rows, coef.shape[1]))
        parameters = np.vstack([coef, intercept])
        uncentred = np.zeros_like(self.centre)

        def work(rows: slice, Z: Matrix) -> Floats:
            result[rows] = loss.margins(Z, uncentred, parameters)
            return np.zeros(0)

        with self.at_work():
            self.total(work)
        return result

    @property
    def squares(self) -> Floats:
        """Σ_n (z_nj - z̄_j)² for each column."""
        second = self.Z.multiply(self.Z).sum(axis=0) if hasattr(self.Z, "multiply") else (self.Z**2).sum(axis=0)
        return np.maximum(np.asarray(second).ravel() - self.n_rows * self.centre**2, 0.0)

    @property
    def eigen(self) -> tuple[Floats, Floats]:
        """Eigenvalues and eigenvectors of the centred Z'Z."""
        if self._eigen is None:
            product = self.Z.T @ self.Z
            gram = product if isinstance(product, np.ndarray) else product.toarray()
            gram = gram - self.n_rows * np.outer(self.centre, self.centre)
            values, vectors = linalg.eigh(gram)
            self._eigen = np.maximum(values, 0.0), vectors
        return self._eigen


@dataclass
class _Batch:
    """The problems still being solved, one column each."""

    which: npt.NDArray[np.intp]
    y: Floats
    w: Floats
    allowed: Mask
    strength: Floats
    parameters: Floats
    f: Floats
    d: Floats
    objective: Floats
    last: Mask
    first_norm: Floats = field(default_factory=lambda: np.zeros(0))

    def keep(self, columns: npt.NDArray[np.intp]) -> None:
        for name in ("y", "w", "allowed", "parameters", "f", "d"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[:, columns]))
        for name in ("which", "strength", "objective", "last", "first_norm"):
            setattr(self, name, getattr(self, name)[columns])


def solve(
    rows: SharedRows,
    targets: Floats,
    weights: Floats,
    allowed: Mask,
    strengths: Floats,
    *,
    start: tuple[Floats, Floats] | None = None,
    tolerance: float = 1e-9,
) -> Solution:
    """Minimise every problem.

    Parameters
    ----------
    targets, weights : (n_rows, n_problems), targets 0 or 1 wherever the weight is not 0
    allowed : (n_columns, n_problems)
    strengths : (n_problems,)
    start : coefficients and intercepts to start from
    tolerance : a problem has converged when the next Newton step promises to lower its
        objective by less than this share of it
    """
    n_problems = targets.shape[1]
    step = max(1, BATCH_BYTES // (8 * max(rows.n_rows, rows.n_columns)))
    parts = []
    with rows.at_work():
        for first in range(0, n_problems, step):
            part = slice(first, first + step)
            begin = None if start is None else (start[0][:, part], start[1][part])
            parts.append(
                _solve_batch(
                    rows,
                    targets[:, part],
                    weights[:, part],
                    allowed[:, part],
                    strengths[part],
                    begin,
                    tolerance,
                )
            )
    fields = ("coef", "intercept", "objective", "grad_norm", "n_iter", "converged")
    return Solution(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in fields))


def _solve_batch(
    rows: SharedRows,
    y: Floats,
    w: Floats,
    allowed: Mask,
    strength: Floats,
    start: tuple[Floats, Floats] | None,
    tolerance: float,
) -> Solution:
    n_problems = y.shape[1]
    weight, positive = w.sum(axis=0), (w * y).sum(axis=0)
    rate = (positive + 0.5) / (weight + 1.0)
    base = np.log(rate) - np.log1p(-rate)
    parameters = np.zeros((rows.n_columns + 1, n_problems))
    if start is None:
        parameters[-1] = base
    else:
        parameters[:-1] = start[0] * allowed
        parameters[-1] = start[1] + rows.centre @ parameters[:-1]
    result = Solution(
        coef=np.zeros((rows.n_columns, n_problems)),
        intercept=base,
        objective=-(positive * np.log(rate) + (weight - positive) * np.log1p(-rate)),
        grad_norm=np.zeros(n_problems),
        n_iter=np.zeros(n_problems, dtype=np.intp),
        converged=np.ones(n_problems, dtype=bool),
    )
    two_sided = np.flatnonzero((positive > 0) & (positive < weight))
    if not len(two_sided):
        return result
    shape = (rows.n_rows, n_problems)
    batch = _Batch(
        np.arange(n_problems), y, w, allowed, strength, parameters, np.empty(shape), np.empty(shape),
        np.zeros(n_problems), np.zeros(n_problems, dtype=bool), np.zeros(n_problems),
    )  # fmt: skip
    batch.keep(two_sided)
    _start(rows, batch)
    for iteration in range(MOST_NEWTON_STEPS + 1):
        gradient = _gradient(rows, batch)
        norm = np.abs(gradient).max(axis=0)
        if iteration == 0:
            batch.first_norm = norm
        ended = batch.last | (norm == 0) | (iteration == MOST_NEWTON_STEPS)
        if ended.any():
            _record(rows, batch, np.flatnonzero(ended), norm, iteration, result)
            going_on = np.flatnonzero(~ended)
            if not len(going_on):
                break
            batch.keep(going_on)
            gradient, norm = gradient[:, going_on], norm[going_on]
        direction = _newton_direction(rows, batch, gradient, norm)
        promised = -np.einsum("ij,ij->j", gradient, direction)
        batch.last = promised / 2 <= tolerance * np.maximum(batch.objective, 1e-12)
        _advance(rows, batch, direction, promised)
    return result


def _record(
    rows: SharedRows,
    batch: _Batch,
    ended: npt.NDArray[np.intp],
    norm: Floats,
    iteration: int,
    result: Solution,
) -> None:
    which, coef = batch.which[ended], batch.parameters[:-1, ended]
    result.coef[:, which] = coef
    result.intercept[which] = batch.parameters[-1, ended] - rows.centre @ coef
    result.objective[which] = batch.objective[ended]
    result.grad_norm[which] = norm[ended]
    result.n_iter[which] = iteration
    result.converged[which] = batch.last[ended] | (norm[ended] == 0)


def _start(rows: SharedRows, batch: _Batch) -> None:
    """Margins and objective at the starting parameters."""

    def work(block: slice, Z: Matrix) -> Floats:
        batch.f[block] = loss.margins(Z, rows.centre, batch.parameters)
        return loss.losses(batch.f[block], batch.y[block], batch.w[block])

    batch.objective = rows.total(work) + _penalty(batch.parameters, batch.strength)


def _penalty(parameters: Floats, strength: Floats) -> Floats:
    coef = parameters[:-1]
    return np.asarray(strength / 2 * np.einsum("ij,ij->j", coef, coef))


def _gradient(rows: SharedRows, batch: _Batch) -> Floats:
    """The gradient of every problem; the curvatures are left in the batch."""

    def work(block: slice, Z: Matrix) -> Floats:
        r = loss.residuals(batch.f[block], batch.y[block], batch.w[block], batch.d[block])
        return loss.pull_back(Z, rows.centre, r)

    gradient = rows.total(work)
    gradient[:-1] += batch.strength * batch.parameters[:-1]
    gradient[:-1] *= batch.allowed
    return gradient


def _newton_direction(rows: SharedRows, batch: _Batch, gradient: Floats, norm: Floats) -> Floats:
    """H s = -gradient for every problem, by preconditioned conjugate gradients.

    The residual asked for shrinks with the gradient, so that the last steps converge
    quadratically. A problem whose residual is small enough takes no further part.
    """
    goal = np.minimum(0.25, np.sqrt(norm / np.maximum(batch.first_norm, norm)))
    precondition = _preconditioner(rows, batch)
    everyone = np.arange(len(norm))
    result = np.zeros_like(gradient)
    active, d, allowed, strength = everyone, batch.d, batch.allowed, batch.strength
    s, residual = np.zeros_like(gradient), -gradient
    z = precondition(residual, active)
    p, rz = z.copy(), np.einsum("ij,ij->j", residual, z)
    size = np.sqrt(rz)
    goal = goal * size
    for _ in range(MOST_CONJUGATE_STEPS):
        product = _curvature_product(rows, d, allowed, strength, p)
        bend = np.einsum("ij,ij->j", p, product)
        length = np.where(bend > 0, rz / np.where(bend > 0, bend, 1.0), 0.0)
        s += length * p
        residual -= length * product
        z = precondition(residual, active)
        previous, rz = rz, np.einsum("ij,ij->j", residual, z)
        going_on = (np.sqrt(np.maximum(rz, 0.0)) > goal[active]) & (length > 0)
        if not going_on.all():
            result[:, active] = s
            if not going_on.any():
                return result
            keep = np.flatnonzero(going_on)
            active, d, allowed = active[keep], np.ascontiguousarray(d[:, keep]), allowed[:, keep]
            strength, s, residual, z, p = (
                strength[keep],
                s[:, keep],
                residual[:, keep],
                z[:, keep],
                p[:, keep],
            )
            previous, rz = previous[keep], rz[keep]
        p = z + (rz / previous) * p
    result[:, active] = s
    return result


def _curvature_product(rows: SharedRows, d: Floats, allowed: Mask, strength: Floats, direction: Floats) -> Floats:
    def work(block: slice, Z: Matrix) -> Floats:
        return loss.curvature_product(Z, rows.centre, d[block], direction)

    product = rows.total(work)
    product[:-1] += strength * direction[:-1]
    product[:-1] *= allowed
    return product


def _preconditioner(rows: SharedRows, batch: _Batch) -> Callable[[Floats, npt.NDArray[np.intp]], Floats]:
    """An approximate inverse of H: Z'Z times the mean curvature, plus the penalty.

    With few columns the eigenvectors of Z'Z give that inverse exactly; with many, the diagonal
    has to do.
    """
    total = np.maximum(batch.d.sum(axis=0), 1e-12)
    mean = total / rows.n_rows
    if rows.n_columns <= min(MOST_COLUMNS_FOR_EIGENVECTORS, rows.n_rows):
        values, vectors = rows.eigen

        def by_eigenvectors(residual: Floats, active: npt.NDArray[np.intp]) -> Floats:
            inverse = 1.0 / (np.outer(values, mean[active]) + batch.strength[active])
            result = np.empty_like(residual)
            result[:-1] = vectors @ (inverse * (vectors.T @ residual[:-1]))
            result[:-1] *= batch.allowed[:, active]
            result[-1] = residual[-1] / total[active]
            return result

        return by_eigenvectors
    squares = rows.squares

    def by_diagonal(residual: Floats, active: npt.NDArray[np.intp]) -> Floats:
        result = np.empty_like(residual)
        result[:-1] = residual[:-1] / (np.outer(squares, mean[active]) + batch.strength[active])
        result[-1] = residual[-1] / total[active]
        return result

    return by_diagonal


def _advance(rows: SharedRows, batch: _Batch, direction: Floats, promised: Floats) -> None:
    """Go along the directions, halving a step until the objective falls enough."""
    along = np.empty_like(batch.f)
    length = np.ones(len(promised))

    def work(block: slice, Z: Matrix) -> Floats:
        along[block] = loss.margins(Z, rows.centre, direction)
        return loss.losses(batch.f[block] + along[block], batch.y[block], batch.w[block])

    reached = rows.total(work) + _penalty(batch.parameters + direction, batch.strength)
    for _ in range(MOST_HALVINGS):
        # Rounding in the objective must not be mistaken for a rise at the very end.
        slack = 1e-12 * np.abs(batch.objective)
        short = np.flatnonzero(reached > batch.objective - 1e-4 * length * promised + slack)
        if not len(short):
            break
        length[short] /= 2

        def try_again(block: slice, Z: Matrix, short: npt.NDArray[np.intp] = short) -> Floats:
            f = batch.f[block][:, short] + length[short] * along[block][:, short]
            return loss.losses(f, batch.y[block][:, short], batch.w[block][:, short])

        moved = batch.parameters[:, short] + length[short] * direction[:, short]
        reached[short] = rows.total(try_again) + _penalty(moved, batch.strength[short])
    batch.parameters = batch.parameters + length * direction
    batch.f += length * along
    batch.objective = reached


def thread_count(n_jobs: int | None) -> int:
    """scikit-learn's habit: None is one, -1 all, -2 all but one."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)


def _shards(Z: Matrix) -> list[list[tuple[slice, Matrix]]]:
    """Blocks of rows dealt into a few shards; their number does not depend on the machine."""
    n_rows = int(Z.shape[0])
    starts = range(0, n_rows, BLOCK_ROWS)
    blocks: list[tuple[slice, Any]] = [
        (slice(a, min(a + BLOCK_ROWS, n_rows)), Z[a : min(a + BLOCK_ROWS, n_rows)]) for a in starts
    ]
    per_shard = -(-len(blocks) // MOST_SHARDS)
    return [blocks[first : first + per_shard] for first in range(0, len(blocks), per_shard)]
