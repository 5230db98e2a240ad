"""The logistic loss, its gradient and its curvature, for many problems at once.

A *problem* is one output at one strength on some of the rows. All problems share the matrix
Z ``(n_rows, n_columns)``; with z̄ its column means, parameters b ``(n_columns,)`` and a, strength
λ, row weights w and targets y in {0, 1}, problem c minimises

    f_n     = (z_n - z̄)·b + a
    L(b, a) = Σ_n w_n [log(1 + e^{f_n}) - y_n f_n] + λ/2 |b|²

    p_n     = 1 / (1 + e^{-f_n}),    r_n = w_n (p_n - y_n),    d_n = w_n p_n (1 - p_n)
    ∂L/∂b   = Σ_n r_n (z_n - z̄) + λ b,                ∂L/∂a = Σ_n r_n
    H (v,u) = Σ_n d_n ((z_n - z̄)·v + u) (z_n - z̄, 1) + λ (v, 0)

Centring changes nothing but what the intercept means, and makes H nearly block-diagonal. It is
done on the products, so Z may be sparse: (z_n - z̄)·b + a = z_n·b + (a - z̄·b), whose second part is
the same for all rows and is called the offset; and Σ r_n (z_n - z̄) = Σ r_n z_n - z̄ Σ r_n, which
is left to whoever has added up the blocks. The intercept carries no penalty.

Shapes: coefficients ``(n_columns, n_problems)``; margins, targets, weights and curvatures
``(n_rows, n_problems)``. Every function here works on a block of rows, and what it returns for
several blocks is to be *summed*.
"""

from __future__ import annotations

import numpy as np

from amiss.table import Floats, Matrix


def margins(Z: Matrix, coef: Floats, offset: Floats) -> Floats:
    """f for a block of rows."""
    result: Floats = Z @ coef
    result += offset
    return result


def pull_back(Z: Matrix, residuals: Floats) -> tuple[Floats, Floats]:
    """Σ_n r_n z_n and Σ_n r_n over a block of rows, for every problem."""
    return Z.T @ residuals, residuals.sum(axis=0)


def row_losses(f: Floats, y: Floats, w: Floats) -> Floats:
    """w_n [log(1 + e^{f_n}) - y_n f_n] for every row and problem."""
    softplus = _decay(f)
    if f.dtype == np.float32:
        # Three times as fast as log1p, and what it loses is below the precision of the sum.
        softplus += 1
        np.log(softplus, out=softplus)
    else:
        np.log1p(softplus, out=softplus)
    softplus += np.maximum(f, 0)
    softplus -= y * f
    softplus *= w
    return softplus


def losses(f: Floats, y: Floats, w: Floats) -> Floats:
    """Σ_n w_n [log(1 + e^{f_n}) - y_n f_n] over a block of rows, for every problem, in float64."""
    return np.asarray(row_losses(f, y, w).sum(axis=0, dtype=np.float64))


def residuals(f: Floats, y: Floats, w: Floats, curvature: Floats) -> Floats:
    """r for a block of rows; d is written into ``curvature``.

    With e = exp(-|f|) and q = 1 / (1 + e), p is q or e q, and p (1 - p) is e q²: nothing
    overflows, and a small p keeps its digits.
    """
    e = _decay(f)
    q = 1 / (1 + e)
    e *= q
    np.multiply(e, q, out=curvature)
    curvature *= w
    p = np.where(f >= 0, q, e)
    p -= y
    p *= w
    return p


def curvature_product(Z: Matrix, curvature: Floats, coef: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """H (v, u) over a block of rows, given v and the offset u - z̄·v, the penalty's part left out."""
    along = margins(Z, coef, offset)
    along *= curvature
    return pull_back(Z, along)


def _decay(f: Floats) -> Floats:
    """exp(-|f|)."""
    result = np.abs(f)
    np.negative(result, out=result)
    np.exp(result, out=result)
    return result
