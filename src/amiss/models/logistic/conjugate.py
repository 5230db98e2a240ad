"""Newton directions of many problems at once, by preconditioned conjugate gradients."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats
from amiss.models.logistic.objective import PenalisedHessian
from amiss.models.logistic.pool import Pool, Sums
from amiss.models.logistic.preconditioner import Preconditioner

WORTH_LEAVING = 0.6  # taking problems out of the products copies the rest


def newton_direction(
    hessian: PenalisedHessian, preconditioner: Preconditioner, gradient: Floats, residual: Floats, most_steps: int
) -> Floats:
    """Solve H s = -gradient for every problem; everything is ``(n_columns + 1, n_problems)``.

    A problem is finished when its residual is below ``residual`` times the gradient. It then stands still, and
    is left out of the products as soon as enough problems are finished.
    """
    pool, dtype = hessian.rows.pool, hessian.centre.dtype
    r = -gradient.astype(dtype, copy=False)
    result = np.zeros_like(r)
    active = np.arange(r.shape[1])
    s, p, z, product = np.zeros_like(r), np.empty_like(r), np.empty_like(r), np.empty_like(r)
    rz = preconditioner(r, p)
    goal = (residual**2 * rz).astype(dtype)
    moving = rz > 0
    for _ in range(most_steps):
        bend = hessian.product(p, product)
        moving &= bend > 0
        _step(pool, np.where(moving, rz / np.where(moving, bend, 1), 0), p, product, s, r)
        previous = rz
        rz = preconditioner(r, z)
        moving &= rz > goal
        if np.count_nonzero(moving) <= WORTH_LEAVING * len(moving):
            result[:, active] = s
            keep = np.flatnonzero(moving)
            if not len(keep):
                return result
            active, previous, rz, goal = active[keep], previous[keep], rz[keep], goal[keep]
            s, r, z, p = (pool.take(values, keep) for values in (s, r, z, p))
            product = np.empty_like(p)
            hessian, preconditioner, moving = hessian.take(keep), preconditioner.take(keep), moving[keep]
        _turn(pool, np.where(moving, rz / np.where(previous > 0, previous, 1), 0), z, p)
    result[:, active] = s
    return result


def _step(pool: Pool, length: Floats, p: Floats, product: Floats, s: Floats, r: Floats) -> None:
    """s += length p; r -= length product."""

    def work(some: slice) -> Sums:
        s[some] += length * p[some]
        r[some] -= length * product[some]
        return ()

    pool.sweep(len(p), len(length), work)


def _turn(pool: Pool, share: Floats, z: Floats, p: Floats) -> None:
    """p = z + share p."""

    def work(some: slice) -> Sums:
        p[some] *= share
        p[some] += z[some]
        return ()

    pool.sweep(len(p), len(share), work)
