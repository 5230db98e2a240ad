"""The logistic loss, its gradient and its curvature, for many problems at once.

A *problem* is one output at one strength on some of the rows. All problems share the matrix
Z ``(n_rows, n_columns)``; with z̄ its column means, parameters b ``(n_columns,)`` and a, strength
λ, row weights w and targets y in {0, 1}, problem c minimises

    f_n     = (z_n - z̄)·b + a
    L(b, a) = Σ_n w_n [log(1 + e^{f_n}) - y_n f_n] + λ/2 |b|²

    p_n     = 1 / (1 + e^{-f_n}),    r_n = w_n (p_n - y_n),    d_n = w_n p_n (1 - p_n)
    ∂L/∂b   = Σ_n r_n (z_n - z̄) + λ b,                ∂L/∂a = Σ_n r_n
    H (v,u) = Σ_n d_n ((z_n - z̄)·v + u) (z_n - z̄, 1) + λ (v, 0)

Centring changes nothing but what the intercept means, and makes H nearly block-diagonal; it is
done on the products, so Z may be sparse. The intercept carries no penalty.

Shapes: parameters ``(n_columns + 1, n_problems)`` with the intercept last; margins, targets,
weights and curvatures ``(n_rows, n_problems)``. Every function here works on a block of rows, and
what it returns for several blocks is to be *summed*.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from amiss.table import Floats, Matrix


def margins(Z: Matrix, centre: Floats, parameters: Floats) -> Floats:
    """f for a block of rows."""
    coef, intercept = parameters[:-1], parameters[-1]
    result: Floats = Z @ coef
    result += intercept - centre @ coef
    return result


def pull_back(Z: Matrix, centre: Floats, residuals: Floats) -> Floats:
    """Σ_n r_n (z_n - z̄, 1) over a block of rows, for every problem."""
    total = residuals.sum(axis=0)
    result = np.empty((Z.shape[1] + 1, residuals.shape[1]))
    result[:-1] = Z.T @ residuals
    result[:-1] -= np.outer(centre, total)
    result[-1] = total
    return result


def losses(f: Floats, y: Floats, w: Floats) -> Floats:
    """Σ_n w_n [log(1 + e^{f_n}) - y_n f_n] over a block of rows, for every problem."""
    softplus = np.abs(f)
    np.negative(softplus, out=softplus)
    np.exp(softplus, out=softplus)
    np.log1p(softplus, out=softplus)
    softplus += np.maximum(f, 0.0)
    softplus -= y * f
    softplus *= w
    return np.asarray(softplus.sum(axis=0))


def residuals(f: Floats, y: Floats, w: Floats, curvature: Floats) -> Floats:
    """r for a block of rows; d is written into ``curvature``."""
    p = expit(f)
    np.subtract(1.0, p, out=curvature)
    curvature *= p
    curvature *= w
    p -= y
    p *= w
    return p


def curvature_product(Z: Matrix, centre: Floats, curvature: Floats, direction: Floats) -> Floats:
    """H (v, u) over a block of rows, the penalty's part left out."""
    along = margins(Z, centre, direction)
    along *= curvature
    return pull_back(Z, centre, along)
