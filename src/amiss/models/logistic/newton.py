"""All outputs, strengths and folds at once: Newton's method with conjugate gradients.

The problems share Z, so one product with Z serves them all. Each problem has its own Newton
direction, step length and end: a problem that has converged leaves the batch at once, and one
that is slow neither holds up the others nor hides among them.

    solve(rows, side, allowed, strengths) -> Solution

``side[n, c]`` is 1 or -1 for what row n says of problem c, and 0 where it says nothing: a missing
output or a held-out row. ``allowed[j, c]`` says whether problem c may use the j-th of the last
columns of Z, which are the outputs; a forbidden coefficient stays zero, which is how the model of
output i does not see y_i although y_i is a column of Z. The columns before, the inputs, are open to
all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask
from amiss.models.logistic import compiled
from amiss.models.logistic.blocks import SharedRows, Sums
from amiss.models.logistic.preconditioner import Columns, Preconditioner, approximate

MOST_HALVINGS = 30
NO_SLOPE = 1e-6  # of the objective, in the largest entry of the gradient
BATCH_BYTES = 256 << 20
WORTH_LEAVING = 0.6  # taking problems out of the products copies the rest


@dataclass(frozen=True)
class Effort:
    """How far to go.

    A problem has converged when the next Newton step promises to lower its objective by less than
    ``tolerance`` of it. ``residual`` is how much of the gradient the solution of a Newton system
    may leave; if ``tightening``, less and less of it as the gradient shrinks, so that the last
    steps converge quadratically. Unless ``confirmed``, the last step is taken on its promise: what
    it reaches is not computed, and the objective is the one that was promised.
    """

    tolerance: float
    newton_steps: int
    residual: float = 0.2
    conjugate_steps: int = 50
    tightening: bool = False
    confirmed: bool = True


TIGHT = Effort(tolerance=1e-9, newton_steps=100, residual=0.25, tightening=True)


@dataclass(frozen=True)
class Solution:
    """What came out of each problem.

    ``coef`` is ``(n_columns, n_problems)``; everything else ``(n_problems,)``. ``grad_norm`` is
    the largest entry of the gradient where it was last computed. A problem whose targets are all
    alike has no finite optimum: its coefficients are zero and its intercept is the smoothed base
    rate.
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

    rows: SharedRows
    which: Columns
    side: Floats
    allowed: Mask
    strength: Floats
    parameters: Floats
    curvature: Floats
    gradient: Floats
    objective: Floats
    first_norm: Floats
    tilt: Floats | None
    precondition: Preconditioner | None

    def keep(self, columns: Columns) -> None:
        if self.precondition is not None:
            self.precondition = self.precondition.take(columns)
        self.side, self.curvature = (self.rows.taken(array, columns) for array in (self.side, self.curvature))
        for name in ("allowed", "parameters", "gradient", "tilt"):
            if getattr(self, name) is not None:
                setattr(self, name, self.rows.taken(getattr(self, name), columns))
        for name in ("which", "strength", "objective", "first_norm"):
            setattr(self, name, getattr(self, name)[columns])


def solve(
    rows: SharedRows,
    side: Floats,
    allowed: Mask,
    strengths: Floats,
    *,
    start: tuple[Floats, Floats] | None = None,
    effort: Effort = TIGHT,
    precondition: Preconditioner | None = None,
    rough: SharedRows | None = None,
    tilt: Floats | None = None,
) -> Solution:
    """Minimise every problem.

    Parameters
    ----------
    rows : the matrix, in the precision the objective and its gradient are computed in
    side : (n_rows, n_problems), 1, -1 or 0
    allowed : (n_outputs, n_problems) for the last n_outputs columns of Z
    strengths : (n_problems,)
    start : coefficients and intercepts to start from
    effort : when to stop
    precondition : for problems much like these, if there is one
    rough : the same matrix in the precision directions are computed in; ``rows`` if there is none
    tilt : (n_columns + 1, n_problems), for each problem a vector whose product with the parameters is
        taken off its objective
    """
    n_problems = side.shape[1]
    step = max(1, BATCH_BYTES // (rows.dtype.itemsize * max(rows.n_rows, rows.n_columns)))
    rough = rows if rough is None else rough
    parts = []
    with rows.at_work(), rough.at_work():
        for first in range(0, n_problems, step):
            part = slice(first, first + step)
            begin = None if start is None else (start[0][:, part], start[1][part])
            near = None if precondition is None else precondition.take(np.arange(n_problems)[part])
            lean = None if tilt is None else tilt[:, part]
            problem = (side[:, part], allowed[:, part], strengths[part], begin, lean)
            parts.append(_solve_batch(rows, rough, *problem, effort, near))
    fields = ("coef", "intercept", "objective", "grad_norm", "n_iter", "converged")
    return Solution(*(np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in fields))


def slope_and_curvature(
    rows: SharedRows, side: Floats, allowed: Mask, strengths: Floats, coef: Floats, intercept: Floats
) -> tuple[Floats, Floats]:
    """Gradients ``(n_columns + 1, n_problems)`` and the curvatures of all rows."""
    with rows.at_work():
        everyone = np.arange(side.shape[1])
        batch = _begin(rows, rows, side, allowed, strengths, (coef, intercept), None, intercept, everyone)
    return batch.gradient, batch.curvature


def _solve_batch(
    rows: SharedRows,
    rough: SharedRows,
    side: Floats,
    allowed: Mask,
    strength: Floats,
    start: tuple[Floats, Floats] | None,
    tilt: Floats | None,
    effort: Effort,
    precondition: Preconditioner | None,
) -> Solution:
    weight, surplus = np.abs(side).sum(axis=0, dtype=np.float64), side.sum(axis=0, dtype=np.float64)
    result = _base_rates(rows, weight, (weight + surplus) / 2)
    two_sided = np.flatnonzero(np.abs(surplus) < weight)
    if not len(two_sided):
        return result
    batch = _begin(rows, rough, side, allowed, strength, start, tilt, result.intercept, two_sided)
    batch.precondition = None if precondition is None else precondition.take(two_sided)
    last = stuck = np.zeros(len(two_sided), dtype=bool)
    for iteration in range(effort.newton_steps + 1):
        norm = np.abs(batch.gradient).max(axis=0)
        if iteration == 0:
            batch.first_norm = norm
        ended = last | (norm == 0) | (iteration == effort.newton_steps)
        if ended.any():
            well = (last & ~stuck) | (norm == 0)
            _record(batch, np.flatnonzero(ended), norm, iteration, well[ended], result)
            going_on = np.flatnonzero(~ended)
            if not len(going_on):
                break
            batch.keep(going_on)
            norm = norm[going_on]
        if batch.precondition is None:
            batch.precondition = approximate(rough, batch.curvature, batch.allowed).at(batch.strength)
        residual = np.full(len(norm), effort.residual)
        if effort.tightening:
            residual = np.minimum(residual, np.sqrt(norm / np.maximum(batch.first_norm, norm)))
        direction = _newton_direction(rough, batch, residual, effort.conjugate_steps).astype(
            rows.dtype, copy=False
        )
        promised = -_dots(batch.gradient, direction).astype(np.float64)
        last = promised / 2 <= effort.tolerance * np.maximum(batch.objective, 1e-12)
        # A direction that leads nowhere although there is a slope: no more can be had in this precision.
        stuck = last & ~(promised > 0) & (norm > NO_SLOPE * np.maximum(batch.objective, 1))
        direction[:, stuck] = 0
        if not effort.confirmed and last.any():
            sure = np.flatnonzero(last)
            batch.parameters[:, sure] += direction[:, sure]
            batch.objective[sure] -= promised[sure] / 2
            _record(batch, sure, norm, iteration + 1, ~stuck[sure], result)
            going_on = np.flatnonzero(~last)
            if not len(going_on):
                break
            batch.keep(going_on)
            direction, promised = np.take(direction, going_on, axis=1), promised[going_on]
            last, stuck = last[going_on], stuck[going_on]
        stuck |= _advance(batch, direction, promised)
        last |= stuck
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
    rough: SharedRows,
    side: Floats,
    allowed: Mask,
    strength: Floats,
    start: tuple[Floats, Floats] | None,
    tilt: Floats | None,
    intercept: Floats,
    columns: Columns,
) -> _Batch:
    """The batch of some problems, evaluated at its starting parameters."""
    allowed = np.ascontiguousarray(allowed[:, columns])
    parameters = np.zeros((rows.n_columns + 1, len(columns)), dtype=rows.dtype)
    parameters[-1] = intercept[columns]
    if start is not None:
        parameters[:-1] = start[0][:, columns]
        _forbid(parameters[:-1], slice(0, rows.n_columns), rows.n_columns, allowed)
        parameters[-1] = start[1][columns] + rows.centre @ parameters[:-1]
    side = side.astype(rows.dtype, copy=False)
    if len(columns) < side.shape[1]:
        side = rows.taken(side, columns)
    batch = _Batch(
        rows=rows,
        which=columns,
        side=side,
        allowed=allowed,
        strength=strength[columns].astype(rows.dtype),
        parameters=parameters,
        curvature=np.empty(side.shape, dtype=rough.dtype),
        gradient=np.empty_like(parameters),
        objective=np.empty(len(columns)),
        first_norm=np.zeros(len(columns)),
        tilt=None if tilt is None else np.ascontiguousarray(tilt[:, columns]),
        precondition=None,
    )
    batch.objective, batch.gradient = _evaluated(batch, parameters)
    return batch


def _record(
    batch: _Batch, ended: Columns, norm: Floats, iteration: int, converged: Mask, result: Solution
) -> None:
    which, coef = batch.which[ended], batch.parameters[:-1, ended]
    result.coef[:, which] = coef
    result.intercept[which] = batch.parameters[-1, ended] - batch.rows.centre @ coef
    result.objective[which] = batch.objective[ended]
    result.grad_norm[which] = norm[ended]
    result.n_iter[which] = iteration
    result.converged[which] = converged


def _evaluated(batch: _Batch, parameters: Floats, some: Columns | None = None) -> tuple[Floats, Floats]:
    """Objective and gradient of all or some problems; their curvatures are left in the batch."""
    slopes = compiled.slopes(batch.rows.compiled, batch.rows.dtype)
    columns = slice(None) if some is None else some
    strength, allowed = batch.strength[columns], batch.allowed[:, columns]

    def between(rows: slice, f: Floats) -> Sums:
        side, curvature = batch.side[rows], batch.curvature[rows]
        if some is None and curvature.dtype == f.dtype:
            return (slopes(f, side, curvature),)
        part = np.empty_like(f)
        total = slopes(f, side if some is None else np.take(side, some, axis=1), part)
        curvature[:, columns] = part
        return (total,)

    def after(some_columns: slice, gradient: Floats) -> Sums:
        penalty = strength * parameters[some_columns]
        gradient += penalty
        _forbid(gradient, some_columns, batch.rows.n_columns, allowed)
        return (_dots(penalty, parameters[some_columns]).astype(np.float64) / 2,)

    gradient = np.empty_like(parameters)
    (total,), (penalty,) = batch.rows.there_and_back(parameters, between, after, gradient)
    objective = total + penalty
    if batch.tilt is not None:
        tilt = batch.tilt[:, columns]
        gradient -= tilt
        objective -= _dots(tilt, parameters)
    return objective, gradient


def _advance(batch: _Batch, direction: Floats, promised: Floats) -> Mask:
    """Go along the directions, halving a step until the objective falls enough.

    Returns which problems found no such step; they stay where they were.
    """
    before, batch.parameters = batch.parameters, batch.parameters + direction
    reached, batch.gradient = _evaluated(batch, batch.parameters)
    length = np.ones(len(promised), dtype=batch.rows.dtype)
    # Rounding in the objective must not be mistaken for a rise at the very end.
    slack = 10 * np.sqrt(batch.rows.n_rows) * np.finfo(batch.rows.dtype).eps * np.abs(batch.objective)
    fallen = reached <= batch.objective - 1e-4 * length * promised + slack
    for _ in range(MOST_HALVINGS):
        short = np.flatnonzero(~fallen)
        if not len(short):
            break
        length[short] /= 2
        batch.parameters[:, short] = before[:, short] + length[short] * direction[:, short]
        trial = np.ascontiguousarray(batch.parameters[:, short])
        reached[short], batch.gradient[:, short] = _evaluated(batch, trial, short)
        fallen = reached <= batch.objective - 1e-4 * length * promised + slack
    batch.parameters[:, ~fallen] = before[:, ~fallen]
    batch.objective = np.where(fallen, reached, batch.objective)
    return ~fallen


def _newton_direction(rough: SharedRows, batch: _Batch, residual: Floats, most_steps: int) -> Floats:
    """H s = -gradient for every problem, by preconditioned conjugate gradients.

    A problem whose residual is small enough stands still, and leaves when enough others do.
    """
    assert batch.precondition is not None
    r = -batch.gradient.astype(rough.dtype, copy=False)
    result = np.zeros_like(r)
    active = np.arange(r.shape[1])
    d, allowed, precondition = batch.curvature, batch.allowed, batch.precondition
    strength = batch.strength.astype(rough.dtype, copy=False)
    s, p, z, product = np.zeros_like(r), np.empty_like(r), np.empty_like(r), np.empty_like(r)
    rz = precondition(r, p)
    goal = (residual**2 * rz).astype(rough.dtype)
    moving = rz > 0
    for _ in range(most_steps):
        bend = _curvature_product(rough, d, allowed, strength, p, product)
        moving &= bend > 0
        _step(rough, np.where(moving, rz / np.where(moving, bend, 1), 0), p, product, s, r)
        previous = rz
        rz = precondition(r, z)
        moving &= rz > goal
        if np.count_nonzero(moving) <= WORTH_LEAVING * len(moving):
            result[:, active] = s
            keep = np.flatnonzero(moving)
            if not len(keep):
                return result
            active, strength = active[keep], strength[keep]
            previous, rz, goal = previous[keep], rz[keep], goal[keep]
            d, s, r, z, p = (rough.taken(values, keep) for values in (d, s, r, z, p))
            product = np.empty_like(p)
            allowed, precondition, moving = allowed[:, keep], precondition.take(keep), moving[keep]
        _turn(rough, np.where(moving, rz / np.where(previous > 0, previous, 1), 0), z, p)
    result[:, active] = s
    return result


def _curvature_product(
    rough: SharedRows, d: Floats, allowed: Mask, strength: Floats, p: Floats, product: Floats
) -> Floats:
    """H p into ``product``; returns p·H p."""

    def between(rows: slice, f: Floats) -> Sums:
        f *= d[rows]
        return ()

    def after(some: slice, product: Floats) -> Sums:
        product += strength * p[some]
        _forbid(product, some, rough.n_columns, allowed)
        return (_dots(p[some], product),)

    _, (bend,) = rough.there_and_back(p, between, after, product)
    return np.asarray(bend + p[-1] * product[-1])


def _step(rough: SharedRows, length: Floats, p: Floats, product: Floats, s: Floats, r: Floats) -> None:
    """s += length p; r -= length product."""

    def work(some: slice) -> Sums:
        s[some] += length * p[some]
        r[some] -= length * product[some]
        return ()

    rough.sweep(len(p), len(length), work)


def _turn(rough: SharedRows, share: Floats, z: Floats, p: Floats) -> None:
    """p = z + share p."""

    def work(some: slice) -> Sums:
        p[some] *= share
        p[some] += z[some]
        return ()

    rough.sweep(len(p), len(share), work)


def _forbid(product: Floats, some: slice, n_columns: int, allowed: Mask) -> None:
    """Zero what may not be used; ``product`` holds ``some`` columns of Z, of which the last are the outputs."""
    first = n_columns - len(allowed)
    if some.stop > first:
        begin = max(some.start, first)
        product[begin - some.start :] *= allowed[begin - first : some.stop - first]


def _dots(a: Floats, b: Floats) -> Floats:
    """Σ_j a_jc b_jc for every problem c."""
    return np.asarray(np.einsum("ij,ij->j", a, b))
