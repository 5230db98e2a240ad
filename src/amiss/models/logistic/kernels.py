"""Loops that numba compiles; only :mod:`~amiss.models.logistic.compiled` imports them.

Each loop touches few arrays at once: with more than four, the compiler cannot make sure that they
do not overlap, and gives up on vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

ZERO, ONE = np.float32(0), np.float32(1)
MOST = np.float32(80)
HUGE = np.float32(1e37)
SIXTYFOURTH = np.float32(1 / 64)
C2, C3, C4 = np.float32(1 / 2), np.float32(1 / 6), np.float32(1 / 24)
C5, C6, C7 = np.float32(1 / 120), np.float32(1 / 720), np.float32(1 / 5040)


@njit(nogil=True, fastmath=True, cache=True)
def multiply_rows(indptr: Any, indices: Any, data: Any, right: Any, out: Any) -> None:
    """A CSR matrix times a dense one. Eight entries at a time, so that ``out`` is passed over less often."""
    n_columns = right.shape[1]
    for n in range(len(indptr) - 1):
        row = out[n]
        for c in range(n_columns):
            row[c] = 0
        t, end = indptr[n], indptr[n + 1]
        while t + 8 <= end:
            v0, v1, v2, v3 = data[t], data[t + 1], data[t + 2], data[t + 3]
            v4, v5, v6, v7 = data[t + 4], data[t + 5], data[t + 6], data[t + 7]
            r0, r1 = right[indices[t]], right[indices[t + 1]]
            r2, r3 = right[indices[t + 2]], right[indices[t + 3]]
            r4, r5 = right[indices[t + 4]], right[indices[t + 5]]
            r6, r7 = right[indices[t + 6]], right[indices[t + 7]]
            for c in range(n_columns):
                row[c] += (
                    v0 * r0[c] + v1 * r1[c] + v2 * r2[c] + v3 * r3[c]
                    + v4 * r4[c] + v5 * r5[c] + v6 * r6[c] + v7 * r7[c]
                )  # fmt: skip
            t += 8
        while t < end:
            v0, r0 = data[t], right[indices[t]]
            for c in range(n_columns):
                row[c] += v0 * r0[c]
            t += 1


@njit(nogil=True, fastmath=True, cache=True)
def losses_and_residuals(f: Any, signs: Any, curvature: Any, total: Any) -> None:
    """``loss.losses_and_residuals`` in single precision; the losses are added to ``total``.

    Logarithms are taken of products of 64 factors, each between 1 and 2.
    """
    n_rows, n_problems = f.shape
    factors, against = np.ones(n_problems, np.float32), np.zeros(n_problems, np.float32)
    for n in range(n_rows):
        _decay(f[n], signs[n], curvature[n])
        _add_up(f[n], curvature[n], factors, against)
        _slopes(f[n], signs[n], curvature[n])
        if n % 64 == 63 or n == n_rows - 1:
            for c in range(n_problems):
                total[c] += np.log(factors[c]) + against[c]
            factors[:] = ONE
            against[:] = ZERO


@njit(nogil=True, fastmath=True, cache=True)
def _decay(f: Any, signs: Any, out: Any) -> None:
    """m = -t f replaces f, and ``out`` is |t| e^{-|m|}, as (1 - |m|/64 + …)^64, to 5e-6 of it."""
    for c in range(len(f)):
        t = signs[c]
        m = -t * max(min(f[c], HUGE), -HUGE)  # an infinite margin must not meet t = 0
        f[c] = m
        x = -min(abs(m), MOST) * SIXTYFOURTH
        e = ONE + x * (ONE + x * (C2 + x * (C3 + x * (C4 + x * (C5 + x * (C6 + x * C7))))))
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        out[c] = e * t * t


@njit(nogil=True, fastmath=True, cache=True)
def _add_up(m: Any, decay: Any, factors: Any, against: Any) -> None:
    """log(1 + e^m) = log(1 + e^{-|m|}) + max(m, 0), the sum of the first kept as a product."""
    for c in range(len(m)):
        factors[c] *= ONE + decay[c]
        against[c] += max(m[c], ZERO)


@njit(nogil=True, fastmath=True, cache=True)
def _slopes(m: Any, signs: Any, decay: Any) -> None:
    """r replaces m, and d replaces the decay."""
    for c in range(len(m)):
        e = decay[c]
        s = (ONE if m[c] > ZERO else e) / (ONE + e)
        m[c] = -signs[c] * s
        decay[c] = s * (ONE - s)
