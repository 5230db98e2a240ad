"""The penalised objective of a batch of problems, on top of the sums that the rows give.

The rows know neither penalties nor means. With z̄ the column means of Z, parameters (b, a), strength λ and
tilt g, a problem minimises (:mod:`amiss.models.logistic.loss` has the derivatives)

    f_n     = (z_n - z̄)·b + a = z_n·b + offset,    offset = a - z̄·b
    L(b, a) = Σ_n |t_n| log(1 + e^{-t_n f_n}) + λ/2 |b|² - g·(b, a)

From Σ_n r_n (z_n, 1), which the rows give, follows Σ_n r_n (z_n - z̄) = Σ_n r_n z_n - z̄ Σ_n r_n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.logistic.pool import Indices, Pool, Sums
from amiss.models.logistic.seam import Curvatures, Problems, Rows


@dataclass(frozen=True)
class Terms:
    """What belongs to the problems and not to the rows.

    ``allowed[j, c]`` says whether problem c may use the j-th of the last columns of Z, which are the
    outputs. A forbidden coefficient stays zero: that is how the model of output i does not see y_i although
    y_i is a column of Z. The columns before, the inputs, are open to all problems.

    Attributes
    ----------
    allowed : (n_outputs, n_problems)
    strength : (n_problems,)
    tilt : (n_columns + 1, n_problems), or None
    """

    allowed: Mask
    strength: Floats
    tilt: Floats | None = None

    def part(self, problems: slice) -> Terms:
        """Neighbouring problems; nothing is copied."""
        tilt = None if self.tilt is None else self.tilt[:, problems]
        return Terms(self.allowed[:, problems], self.strength[problems], tilt)

    def take(self, problems: Indices, pool: Pool) -> Terms:
        """Some of the problems."""
        tilt = None if self.tilt is None else pool.take(self.tilt, problems)
        return Terms(pool.take(self.allowed, problems), self.strength[problems], tilt)


@dataclass(frozen=True)
class Start:
    """Where to start: coefficients ``(n_columns, n_problems)`` and intercepts ``(n_problems,)``."""

    coef: Floats
    intercept: Floats

    def take(self, problems: Indices | slice) -> Start:
        """Some of the problems."""
        return Start(self.coef[:, problems], self.intercept[problems])

    def parameters(self, centre: Floats, allowed: Mask) -> Floats:
        """The same as (b, a), without what is forbidden, in the precision of ``centre``."""
        n_columns = len(centre)
        result = np.zeros((n_columns + 1, len(self.intercept)), dtype=centre.dtype)
        result[:-1] = self.coef
        forbid(result[:-1], slice(0, n_columns), n_columns, allowed)
        result[-1] = self.intercept + centre @ result[:-1]
        return result


class Objective:
    """Objectives and gradients of a batch of problems, in the precision of their values."""

    def __init__(self, problems: Problems, terms: Terms) -> None:
        self.problems, self.terms = problems, terms
        self.dtype = np.dtype(problems.precision.values)
        self.centre = problems.rows.centre.astype(self.dtype, copy=False)

    def evaluate(self, parameters: Floats, some: Indices | None = None) -> tuple[Floats, Floats]:
        """Objectives ``(n_problems,)`` and gradients ``(n_columns + 1, n_problems)``, of all or some problems."""
        rows, columns = self.problems.rows, slice(None) if some is None else some
        strength, allowed = self.terms.strength[columns], self.terms.allowed[:, columns]
        gradient = np.empty_like(parameters)
        coef, offset = np.ascontiguousarray(parameters[:-1]), offset_of(parameters, self.centre)
        losses = self.problems.evaluate(coef, offset, gradient, some)

        def penalised(part: slice) -> Sums:
            slope = gradient[part]
            slope -= self.centre[part, None] * gradient[-1]
            penalty = strength * parameters[part]
            slope += penalty
            forbid(slope, part, rows.layout.n_columns, allowed)
            return (dots(penalty, parameters[part]).astype(np.float64) / 2,)

        (penalties,) = rows.pool.over(rows.column_slices, parameters.size, penalised)
        objective = losses + penalties
        if self.terms.tilt is not None:
            tilt = self.terms.tilt[:, columns]
            gradient -= tilt
            objective -= dots(tilt, parameters)
        return objective, gradient

    def hessian(self) -> PenalisedHessian:
        """The second derivative where the problems were last evaluated, in the precision of directions."""
        rows, dtype = self.problems.rows, self.problems.precision.directions
        return PenalisedHessian(
            rows,
            self.problems.curvatures(),
            rows.centre.astype(dtype, copy=False),
            self.terms.allowed,
            self.terms.strength.astype(dtype, copy=False),
        )

    def take(self, problems: Indices) -> Objective:
        """Some of the problems, with their curvatures."""
        pool = self.problems.rows.pool
        return Objective(self.problems.take(problems), self.terms.take(problems, pool))


@dataclass(frozen=True)
class PenalisedHessian:
    """H = Σ_n d_n (z_n - z̄, 1) (z_n - z̄, 1)' + λ (1, 0) for every problem, zero where forbidden."""

    rows: Rows
    curvatures: Curvatures
    centre: Floats
    allowed: Mask
    strength: Floats

    def product(self, p: Floats, result: Floats) -> Floats:
        """H p into ``result``; returns p·H p."""
        coef, offset = np.ascontiguousarray(p[:-1]), offset_of(p, self.centre)
        self.curvatures.hessian_product(coef, offset, result)

        def penalised(part: slice) -> Sums:
            product = result[part]
            product -= self.centre[part, None] * result[-1]
            product += self.strength * p[part]
            forbid(product, part, self.rows.layout.n_columns, self.allowed)
            return (dots(p[part], product),)

        (bend,) = self.rows.pool.over(self.rows.column_slices, p.size, penalised)
        return np.asarray(bend + p[-1] * result[-1])

    def take(self, problems: Indices) -> PenalisedHessian:
        """Some of the problems."""
        curvatures, allowed = self.curvatures.take(problems), self.allowed[:, problems]
        return PenalisedHessian(self.rows, curvatures, self.centre, allowed, self.strength[problems])


def offset_of(parameters: Floats, centre: Floats) -> Floats:
    """a - z̄·b for parameters (b, a)."""
    return np.asarray(parameters[-1] - centre @ parameters[:-1])


def forbid(product: Floats, some: slice, n_columns: int, allowed: Mask) -> None:
    """Zero what may not be used; ``product`` holds ``some`` columns of Z, of which the last are the outputs."""
    first = n_columns - len(allowed)
    if some.stop > first:
        begin = max(some.start, first)
        product[begin - some.start :] *= allowed[begin - first : some.stop - first]


def dots(a: Floats, b: Floats) -> Floats:
    """Σ_j a_jc b_jc for every problem c."""
    return np.asarray(np.einsum("ij,ij->j", a, b))
