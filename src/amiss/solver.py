"""All outputs, strengths and folds at once: Newton's method with conjugate gradients.

The problems share Z, so one product with Z serves them all. Each problem has its own Newton
direction, step length and end: a problem that has converged leaves the batch at once, and one
that is slow neither holds up the others nor hides among them.

    solve(rows, targets, weights, allowed, strengths) -> Solution

``allowed[j, c]`` says whether problem c may use the j-th of the last columns of Z, which are the
outputs; a forbidden coefficient stays zero, which is how the model of output i does not see y_i
although y_i is a column of Z. The columns before, the inputs, are open to all. Missing outputs
and held-out folds are zeros in ``weights``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amiss import loss
from amiss.precondition import Columns, Preconditioner, forbid, preconditioner
from amiss.rows import SharedRows
from amiss.table import Floats, Mask, Matrix

MOST_CONJUGATE_STEPS = 50
MOST_HALVINGS = 30
BATCH_BYTES = 64 << 20
WORTH_LEAVING = 0.7  # taking problems out of the products copies the rest


@dataclass(frozen=True)
class Effort:
    """How far to go.

    A problem has converged when the next Newton step promises to lower its objective by less than
    ``tolerance`` of it. ``residual`` is how much of the gradient the solution of a Newton system
    may leave; if ``tightening``, less and less of it as the gradient shrinks, so that the last
    steps converge quadratically.
    """

    tolerance: float
    newton_steps: int
    residual: float = 0.2
    tightening: bool = False


TIGHT = Effort(tolerance=1e-9, newton_steps=100, residual=0.25, tightening=True)


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


@dataclass
class _Batch:
    """The problems still being solved, one column each."""

    which: Columns
    y: Floats
    w: Floats
    allowed: Mask
    strength: Floats
    parameters: Floats
    f: Floats
    d: Floats
    objective: Floats
    last: Mask
    first_norm: Floats
    precondition: Preconditioner | None

    def keep(self, columns: Columns) -> None:
        if self.precondition is not None:
            self.precondition = self.precondition.take(columns)
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
    effort: Effort = TIGHT,
    precondition: Preconditioner | None = None,
) -> Solution:
    """Minimise every problem.

    Parameters
    ----------
    rows : the matrix, in the precision the work is done in
    targets, weights : (n_rows, n_problems), targets 0 or 1 wherever the weight is not 0
    allowed : (n_outputs, n_problems) for the last n_outputs columns of Z
    strengths : (n_problems,)
    start : coefficients and intercepts to start from
    effort : when to stop
    precondition : for problems much like these, if there is one
    """
    n_problems = targets.shape[1]
    step = max(1, BATCH_BYTES // (rows.dtype.itemsize * max(rows.n_rows, rows.n_columns)))
    parts = []
    with rows.at_work():
        for first in range(0, n_problems, step):
            part = slice(first, first + step)
            begin = None if start is None else (start[0][:, part], start[1][part])
            problem = (targets[:, part], weights[:, part], allowed[:, part], strengths[part])
            near = None if precondition is None else precondition.take(np.arange(n_problems)[part])
            parts.append(_solve_batch(rows, *problem, begin, effort, near))
    fields = ("coef", "intercept", "objective", "grad_norm", "n_iter", "converged")
    return Solution(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in fields))


def _solve_batch(
    rows: SharedRows,
    y: Floats,
    w: Floats,
    allowed: Mask,
    strength: Floats,
    start: tuple[Floats, Floats] | None,
    effort: Effort,
    precondition: Preconditioner | None,
) -> Solution:
    weight, positive = w.sum(axis=0, dtype=np.float64), (w * y).sum(axis=0, dtype=np.float64)
    result = _base_rates(rows, weight, positive)
    two_sided = np.flatnonzero((positive > 0) & (positive < weight))
    if not len(two_sided):
        return result
    batch = _begin(rows, y, w, allowed, strength, start, result.intercept, two_sided)
    batch.precondition = None if precondition is None else precondition.take(two_sided)
    for iteration in range(effort.newton_steps + 1):
        gradient = _gradient(rows, batch)
        norm = np.abs(gradient).max(axis=0)
        if iteration == 0:
            batch.first_norm = norm
        ended = batch.last | (norm == 0) | (iteration == effort.newton_steps)
        if ended.any():
            _record(rows, batch, np.flatnonzero(ended), norm, iteration, result)
            going_on = np.flatnonzero(~ended)
            if not len(going_on):
                break
            batch.keep(going_on)
            gradient, norm = np.ascontiguousarray(gradient[:, going_on]), norm[going_on]
        if batch.precondition is None:
            batch.precondition = preconditioner(rows, batch.d, batch.strength, batch.allowed)
        residual = np.full(len(norm), effort.residual)
        if effort.tightening:
            residual = np.minimum(residual, np.sqrt(norm / np.maximum(batch.first_norm, norm)))
        direction = _newton_direction(rows, batch, gradient, residual)
        promised = -_dots(gradient, direction)
        batch.last = promised / 2 <= effort.tolerance * np.maximum(batch.objective, 1e-12)
        _advance(rows, batch, direction, promised)
    return result


def _base_rates(rows: SharedRows, weight: Floats, positive: Floats) -> Solution:
    """The answer for problems whose targets are all alike, and where all others are to be written."""
    n_problems = len(weight)
    rate = (positive + 0.5) / (weight + 1.0)
    return Solution(
        coef=np.zeros((rows.n_columns, n_problems), dtype=rows.dtype),
        intercept=np.log(rate) - np.log1p(-rate),
        objective=-(positive * np.log(rate) + (weight - positive) * np.log1p(-rate)),
        grad_norm=np.zeros(n_problems),
        n_iter=np.zeros(n_problems, dtype=np.intp),
        converged=np.ones(n_problems, dtype=bool),
    )


def _begin(
    rows: SharedRows,
    y: Floats,
    w: Floats,
    allowed: Mask,
    strength: Floats,
    start: tuple[Floats, Floats] | None,
    intercept: Floats,
    columns: Columns,
) -> _Batch:
    """The batch of some problems, with margins and objective at its starting parameters."""
    allowed = np.ascontiguousarray(allowed[:, columns])
    parameters = np.zeros((rows.n_columns + 1, len(columns)), dtype=rows.dtype)
    parameters[-1] = intercept[columns]
    if start is not None:
        parameters[:-1] = start[0][:, columns]
        forbid(parameters, allowed)
        parameters[-1] = start[1][columns] + rows.centre @ parameters[:-1]
    y, w = (np.ascontiguousarray(values[:, columns], dtype=rows.dtype) for values in (y, w))
    f, d = np.empty_like(y), np.empty_like(y)
    offset = rows.offset(parameters)
    strength = strength[columns].astype(rows.dtype)

    def work(block: slice, Z: Matrix) -> tuple[Floats, ...]:
        f[block] = loss.margins(Z, parameters[:-1], offset)
        return (loss.losses(f[block], y[block], w[block]),)

    objective = rows.total(work)[0] + _penalty(parameters, strength)
    none, zero = np.zeros(len(columns), dtype=bool), np.zeros(len(columns))
    return _Batch(columns, y, w, allowed, strength, parameters, f, d, objective, none, zero, None)


def _record(
    rows: SharedRows, batch: _Batch, ended: Columns, norm: Floats, iteration: int, result: Solution
) -> None:
    which, coef = batch.which[ended], batch.parameters[:-1, ended]
    result.coef[:, which] = coef
    result.intercept[which] = batch.parameters[-1, ended] - rows.centre @ coef
    result.objective[which] = batch.objective[ended]
    result.grad_norm[which] = norm[ended]
    result.n_iter[which] = iteration
    result.converged[which] = batch.last[ended] | (norm[ended] == 0)


def _dots(a: Floats, b: Floats) -> Floats:
    """Σ_j a_jc b_jc for every problem c."""
    return np.asarray(np.einsum("ij,ij->j", a, b))


def _penalty(parameters: Floats, strength: Floats) -> Floats:
    coef = parameters[:-1]
    return np.asarray(strength / 2 * _dots(coef, coef), dtype=np.float64)


def _gradient(rows: SharedRows, batch: _Batch) -> Floats:
    """The gradient of every problem; the curvatures are left in the batch."""

    def work(block: slice, Z: Matrix) -> tuple[Floats, ...]:
        return loss.pull_back(Z, loss.residuals(batch.f[block], batch.y[block], batch.w[block], batch.d[block]))

    gradient = rows.pulled_back(work)
    gradient[:-1] += batch.strength * batch.parameters[:-1]
    forbid(gradient, batch.allowed)
    return gradient


def _newton_direction(rows: SharedRows, batch: _Batch, gradient: Floats, residual: Floats) -> Floats:
    """H s = -gradient for every problem, by preconditioned conjugate gradients.

    A problem whose residual is small enough stands still, and leaves when enough others do.
    """
    result = np.zeros_like(gradient)
    active = np.arange(gradient.shape[1])
    assert batch.precondition is not None
    d, allowed, strength, precondition = batch.d, batch.allowed, batch.strength, batch.precondition
    s, r = np.zeros_like(gradient), -gradient
    p = precondition(r)
    rz = _dots(r, p)
    goal = (residual**2 * rz).astype(rows.dtype)
    moving = rz > 0
    for _ in range(MOST_CONJUGATE_STEPS):
        product = _curvature_product(rows, d, allowed, strength, p)
        bend = _dots(p, product)
        moving &= bend > 0
        length = np.where(moving, rz / np.where(moving, bend, 1), 0)
        s += length * p
        r -= length * product
        z = precondition(r)
        previous, rz = rz, _dots(r, z)
        moving &= rz > goal
        if np.count_nonzero(moving) <= WORTH_LEAVING * len(moving):
            result[:, active] = s
            keep = np.flatnonzero(moving)
            if not len(keep):
                return result
            active, strength = active[keep], strength[keep]
            previous, rz, goal = previous[keep], rz[keep], goal[keep]
            d, s, r, z, p = (np.ascontiguousarray(values[:, keep]) for values in (d, s, r, z, p))
            allowed, precondition, moving = allowed[:, keep], precondition.take(keep), moving[keep]
        p *= np.where(moving, rz / np.where(previous > 0, previous, 1), 0)
        p += z
    result[:, active] = s
    return result


def _curvature_product(rows: SharedRows, d: Floats, allowed: Mask, strength: Floats, direction: Floats) -> Floats:
    offset = rows.offset(direction)

    def work(block: slice, Z: Matrix) -> tuple[Floats, ...]:
        return loss.curvature_product(Z, d[block], direction[:-1], offset)

    product = rows.pulled_back(work)
    product[:-1] += strength * direction[:-1]
    forbid(product, allowed)
    return product


def _advance(rows: SharedRows, batch: _Batch, direction: Floats, promised: Floats) -> None:
    """Go along the directions, halving a step until the objective falls enough."""
    along = np.empty_like(batch.f)
    length = np.ones(len(promised), dtype=rows.dtype)
    offset = rows.offset(direction)

    def work(block: slice, Z: Matrix) -> tuple[Floats, ...]:
        along[block] = loss.margins(Z, direction[:-1], offset)
        return (loss.losses(batch.f[block] + along[block], batch.y[block], batch.w[block]),)

    reached = rows.total(work)[0] + _penalty(batch.parameters + direction, batch.strength)
    # Rounding in the objective must not be mistaken for a rise at the very end.
    slack = 10 * np.sqrt(rows.n_rows) * np.finfo(rows.dtype).eps * np.abs(batch.objective)
    for _ in range(MOST_HALVINGS):
        short = np.flatnonzero(reached > batch.objective - 1e-4 * length * promised + slack)
        if not len(short):
            break
        length[short] /= 2

        def try_again(block: slice, Z: Matrix, short: Columns = short) -> tuple[Floats, ...]:
            f = batch.f[block][:, short] + length[short] * along[block][:, short]
            return (loss.losses(f, batch.y[block][:, short], batch.w[block][:, short]),)

        moved = batch.parameters[:, short] + length[short] * direction[:, short]
        reached[short] = rows.total(try_again)[0] + _penalty(moved, batch.strength[short])
    batch.parameters += length * direction
    along *= length
    batch.f += along
    batch.objective = reached
