"""The logistic loss, its slope and its curvature, for many problems at once.

A *problem* is one output at one strength on some of the rows. All problems share the matrix
Z ``(n_rows, n_columns)``. Each row has a *sign* for each problem: t_n = 1 where the output is 1,
-1 where it is 0, and 0 where the row does not count (the output is missing, or the row is held
out). With z̄ the column means of Z, parameters b ``(n_columns,)`` and a, and strength λ, a problem
minimises

    f_n     = (z_n - z̄)·b + a
    L(b, a) = Σ_n |t_n| log(1 + e^{-t_n f_n}) + λ/2 |b|²

    s_n     = |t_n| / (1 + e^{t_n f_n}),    r_n = -t_n s_n,    d_n = s_n (1 - s_n)
    ∂L/∂b   = Σ_n r_n (z_n - z̄) + λ b,      ∂L/∂a = Σ_n r_n
    H (v,u) = Σ_n d_n ((z_n - z̄)·v + u) (z_n - z̄, 1) + λ (v, 0)

s is the probability of the value that was *not* observed. Centring changes nothing but what the
intercept means, and makes H nearly block-diagonal. It is done on the products, so Z may be sparse:
(z_n - z̄)·b + a = z_n·b + (a - z̄·b), whose second part is the same for all rows and is called the
offset; and Σ r_n (z_n - z̄) = Σ r_n z_n - z̄ Σ r_n, which is left to whoever has added up the blocks.
The intercept carries no penalty.

Margins, signs and curvatures are ``(n_rows, n_problems)``. Every function here works on a block of
rows, and what it returns for several blocks is to be *summed*.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask

SURE = 80.0  # beyond this margin log(1 + e^m) = m and 1 + e^{-m} = 1, in double precision as in single


def signs_of(targets: Floats, counts: Mask) -> npt.NDArray[np.int8]:
    """1, -1 and 0 from targets 0 and 1, and from whether a row counts."""
    result = np.where(targets == 1, np.int8(1), np.int8(-1))
    result *= counts
    return result


def against(f: Floats, signs: Floats) -> Floats:
    """-t f, how far a row's margin lies against what was observed; far below zero where t = 0."""
    result: Floats = f * signs
    np.negative(result, out=result)
    np.copyto(result, -SURE, where=signs == 0)
    return np.maximum(result, -SURE, out=result)


def row_losses(f: Floats, signs: Floats) -> Floats:
    """|t_n| log(1 + e^{-t_n f_n}) for every row and problem."""
    return _softplus(against(f, signs))[0]


def losses_and_residuals(f: Floats, signs: Floats, curvature: Floats) -> Floats:
    """Σ_n |t_n| log(1 + e^{-t_n f_n}); r replaces the margins, and d is written into ``curvature``."""
    loss, odds = _softplus(against(f, signs))
    total = loss.sum(axis=0).astype(np.float64)
    np.add(odds, 1, out=loss)
    odds /= loss  # s
    np.multiply(odds, signs, out=f)
    np.negative(f, out=f)
    np.multiply(odds, odds, out=curvature)
    np.subtract(odds, curvature, out=curvature)
    return np.asarray(total)


def _softplus(m: Floats) -> tuple[Floats, Floats]:
    """log(1 + e^m), and e^m as far as it is of use; ``m`` is used up."""
    odds = np.minimum(m, SURE)
    m -= odds
    np.exp(odds, out=odds)
    # Three times as fast in single precision as log1p, and what it loses is below that of the sum.
    result = np.log(odds + 1) if m.dtype == np.float32 else np.log1p(odds)
    result += m
    return result, odds
