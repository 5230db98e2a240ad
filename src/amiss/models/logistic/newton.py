"""All outputs, strengths and folds at once: Newton's method with conjugate gradients.

The problems share Z, so one product with Z serves them all. Each problem has its own Newton
direction, step length and end: a problem that has converged leaves the batch at once, and one
that is slow neither delays the others nor goes unnoticed among them.

    solve(problems, terms, effort=effort) -> Solution

The solver sees only arrays ``(n_columns + 1, n_problems)`` and ``(n_problems,)``. The rows stay behind
``problems`` (:mod:`amiss.models.logistic.seam`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask
from amiss.models.logistic.conjugate import newton_direction
from amiss.models.logistic.objective import Objective, Start, Terms, dots
from amiss.models.logistic.pool import Indices
from amiss.models.logistic.preconditioner import Preconditioner, approximate
from amiss.models.logistic.seam import Problems

MOST_HALVINGS = 30
NO_SLOPE = 1e-6  # of the objective, in the largest entry of the gradient
BATCH_BYTES = 256 << 20


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


class Stop(IntEnum):
    """Why the solver stopped working on a problem."""

    CONVERGED = 0
    ONE_SIDED = 1
    """The targets are all alike, so there is no finite optimum: the answer is the smoothed base rate."""
    STEP_LIMIT = 2
    STUCK = 3
    """No step lowers the objective in this precision, although there is a slope."""


@dataclass(frozen=True)
class Solution:
    """What came out of each problem.

    ``coef`` is ``(n_columns, n_problems)``; everything else ``(n_problems,)``. ``stop`` holds values of
    :class:`Stop`.
    """

    coef: Floats
    intercept: Floats
    objective: Floats
    n_iter: npt.NDArray[np.intp]
    stop: npt.NDArray[np.int8]

    @property
    def converged(self) -> Mask:
        """Where there is nothing left to gain."""
        return np.asarray((self.stop == Stop.CONVERGED) | (self.stop == Stop.ONE_SIDED))

    @classmethod
    def base_rates(cls, counts: tuple[Floats, Floats], coef: Floats) -> Solution:
        """The answer for problems whose targets are all alike; room for the answers of all others."""
        weight, surplus = counts
        positive = (weight + surplus) / 2
        rate = (positive + 0.5) / (weight + 1.0)
        return cls(
            coef=coef,
            intercept=np.log(rate) - np.log1p(-rate),
            objective=-(positive * np.log(rate) + (weight - positive) * np.log1p(-rate)),
            n_iter=np.zeros(len(weight), dtype=np.intp),
            stop=np.full(len(weight), Stop.ONE_SIDED, dtype=np.int8),
        )


def solve(
    problems: Problems,
    terms: Terms,
    *,
    effort: Effort,
    start: Start | None = None,
    preconditioner: Preconditioner | None = None,
) -> Solution:
    """Minimise every problem, as many at a time as fit into memory.

    Parameters
    ----------
    problems : the rows and what they say of each problem
    terms : strengths, tilts and forbidden coefficients
    effort : when to stop
    start : coefficients and intercepts to start from
    preconditioner : for problems much like these, if there is one
    """
    layout = problems.rows.layout
    size = np.dtype(problems.precision.values).itemsize * max(layout.n_rows, layout.n_columns)
    step, solved = max(1, BATCH_BYTES // size), []
    with problems.rows.pool.at_work():
        for first in range(0, problems.n_problems, step):
            part = slice(first, min(first + step, problems.n_problems))
            begin = None if start is None else start.take(part)
            near = None if preconditioner is None else preconditioner.take(np.arange(part.start, part.stop))
            solver = NewtonSolver(problems.part(part), terms.part(part), effort)
            solved.append(solver.solve(begin, near))
    names = [field.name for field in fields(Solution)]
    return Solution(*(np.concatenate([getattr(each, name) for each in solved], axis=-1) for name in names))


@dataclass
class _Batch:
    """The problems still being solved, one column each, where they stand.

    ``which`` are their positions in the solution, ``norm`` is the largest entry of the gradient, now and at
    first; ``last`` says whose step was their last, and ``stuck`` whose step led nowhere.
    """

    which: Indices
    objective: Objective
    parameters: Floats
    gradient: Floats
    value: Floats
    norm: Floats
    first_norm: Floats
    last: Mask
    stuck: Mask
    preconditioner: Preconditioner | None

    def keep(self, problems: Indices) -> None:
        """Only go on with these."""
        pool = self.objective.problems.rows.pool
        if self.preconditioner is not None:
            self.preconditioner = self.preconditioner.take(problems)
        self.objective = self.objective.take(problems)
        for name in ("parameters", "gradient"):
            setattr(self, name, pool.take(getattr(self, name), problems))
        for name in ("which", "value", "norm", "first_norm", "last", "stuck"):
            setattr(self, name, getattr(self, name)[problems])


class NewtonSolver:
    """One batch of problems, from start to end.

    1. :meth:`setup`: answer the one-sided problems, and evaluate the others at the start.
    2. :meth:`check_convergence`: record the problems that have ended; the others go on.
    3. :meth:`inner_solve`: the Newton directions, by conjugate gradients.
    4. :meth:`check_promise`: what the directions promise, which of them are the last, and which lead nowhere.
    5. :meth:`line_search`: go along them, halving a step until the objective falls enough; then again from 2.
    """

    def __init__(self, problems: Problems, terms: Terms, effort: Effort) -> None:
        self.problems, self.terms, self.effort = problems, terms, effort
        self.layout, self.dtype = problems.rows.layout, np.dtype(problems.precision.values)
        self.centre = problems.rows.centre.astype(self.dtype, copy=False)

    @np.errstate(invalid="ignore")  # BLAS raises it from lanes it throws away; a real one leaves a problem stuck
    def solve(self, start: Start | None, preconditioner: Preconditioner | None) -> Solution:
        """All steps, in the order above."""
        if not self.setup(start, preconditioner):
            return self.solution
        for iteration in range(self.effort.newton_steps + 1):
            if not self.check_convergence(iteration):
                break
            direction = self.inner_solve()
            promised = self.check_promise(direction)
            if not self.effort.confirmed and self.batch.last.any():
                going_on = self.take_promised_steps(direction, promised, iteration)
                if not len(going_on):
                    break
                direction, promised = np.take(direction, going_on, axis=1), promised[going_on]
            self.line_search(direction, promised)
        return self.solution

    def setup(self, start: Start | None, preconditioner: Preconditioner | None) -> bool:
        """Answer the one-sided problems, and evaluate the others at the start, if there are any."""
        weight, surplus = counts = self.problems.counts()
        coef = np.zeros((self.layout.n_columns, len(weight)), dtype=self.dtype)
        self.solution = Solution.base_rates(counts, coef)
        two_sided = np.flatnonzero(np.abs(surplus) < weight)
        if not len(two_sided):
            return False
        objective = Objective(self._problems_of(two_sided), self._terms_of(two_sided))
        if start is None:
            parameters = np.zeros((self.layout.n_columns + 1, len(two_sided)), dtype=self.dtype)
            parameters[-1] = self.solution.intercept[two_sided]
        else:
            parameters = start.take(two_sided).parameters(self.centre, objective.terms.allowed)
        value, gradient = objective.evaluate(parameters)
        norm, nobody = np.abs(gradient).max(axis=0), np.zeros(len(two_sided), dtype=bool)
        self.batch = _Batch(
            which=two_sided,
            objective=objective,
            parameters=parameters,
            gradient=gradient,
            value=value,
            norm=norm,
            first_norm=norm,
            last=nobody,
            stuck=nobody,
            preconditioner=None if preconditioner is None else preconditioner.take(two_sided),
        )
        return True

    def check_convergence(self, iteration: int) -> bool:
        """Record the problems that have ended; whether any go on."""
        batch = self.batch
        batch.norm = np.abs(batch.gradient).max(axis=0)
        flat = batch.norm == 0
        ended = batch.last | flat | (iteration == self.effort.newton_steps)
        if ended.any():
            done = (batch.last & ~batch.stuck) | flat
            stop = np.where(done, Stop.CONVERGED, np.where(batch.stuck, Stop.STUCK, Stop.STEP_LIMIT))
            self._record(np.flatnonzero(ended), iteration, stop)
            if ended.all():
                return False
            batch.keep(np.flatnonzero(~ended))
        return True

    def inner_solve(self) -> Floats:
        """The Newton directions ``(n_columns + 1, n_problems)``: H s = -gradient, as closely as is of use."""
        batch, effort = self.batch, self.effort
        hessian = batch.objective.hessian()
        if batch.preconditioner is None:
            batch.preconditioner = approximate(hessian).at(batch.objective.terms.strength)
        residual = np.full(len(batch.norm), effort.residual)
        if effort.tightening:
            residual = np.minimum(residual, np.sqrt(batch.norm / np.maximum(batch.first_norm, batch.norm)))
        direction = newton_direction(
            hessian, batch.preconditioner, batch.gradient, residual, effort.conjugate_steps
        )
        return direction.astype(self.dtype, copy=False)

    def check_promise(self, direction: Floats) -> Floats:
        """By how much the directions promise to lower the objectives; marks the last ones and those stuck."""
        batch = self.batch
        promised = -dots(batch.gradient, direction).astype(np.float64)
        batch.last = promised / 2 <= self.effort.tolerance * np.maximum(batch.value, 1e-12)
        # A direction that leads nowhere although there is a slope: no more can be had in this precision.
        slope = batch.norm > NO_SLOPE * np.maximum(batch.value, 1)
        batch.stuck = batch.last & ~(promised > 0) & slope
        direction[:, batch.stuck] = 0
        return np.asarray(promised)

    def take_promised_steps(self, direction: Floats, promised: Floats, iteration: int) -> Indices:
        """Take the last steps without evaluating what they reach, and record it; returns who goes on."""
        batch = self.batch
        sure, going_on = np.flatnonzero(batch.last), np.flatnonzero(~batch.last)
        batch.parameters[:, sure] += direction[:, sure]
        batch.value[sure] -= promised[sure] / 2
        self._record(sure, iteration + 1, np.where(batch.stuck, Stop.STUCK, Stop.CONVERGED))
        if len(going_on):
            batch.keep(going_on)
        return going_on

    def line_search(self, direction: Floats, promised: Floats) -> None:
        """Go along the directions, halving a step until the objective falls enough.

        Problems that find no such step stay where they were, and are stuck.
        """
        batch = self.batch
        before, batch.parameters = batch.parameters, batch.parameters + direction
        reached, batch.gradient = batch.objective.evaluate(batch.parameters)
        length = np.ones(len(promised), dtype=self.dtype)
        # Rounding in the objective must not be mistaken for a rise at the very end.
        slack = 10 * np.sqrt(self.layout.n_rows) * np.finfo(self.dtype).eps * np.abs(batch.value)
        fallen = reached <= batch.value - 1e-4 * length * promised + slack
        for _ in range(MOST_HALVINGS):
            short = np.flatnonzero(~fallen)
            if not len(short):
                break
            length[short] /= 2
            batch.parameters[:, short] = before[:, short] + length[short] * direction[:, short]
            trial = np.ascontiguousarray(batch.parameters[:, short])
            reached[short], batch.gradient[:, short] = batch.objective.evaluate(trial, short)
            fallen = reached <= batch.value - 1e-4 * length * promised + slack
        batch.parameters[:, ~fallen] = before[:, ~fallen]
        batch.value = np.where(fallen, reached, batch.value)
        batch.stuck |= ~fallen
        batch.last |= batch.stuck

    def _problems_of(self, some: Indices) -> Problems:
        n_problems = self.problems.n_problems
        return self.problems.take(some) if len(some) < n_problems else self.problems.part(slice(0, n_problems))

    def _terms_of(self, some: Indices) -> Terms:
        terms = self.terms
        return Terms(
            np.ascontiguousarray(terms.allowed[:, some]),
            terms.strength[some].astype(self.dtype),
            None if terms.tilt is None else np.ascontiguousarray(terms.tilt[:, some]),
        )

    def _record(self, ended: Indices, iteration: int, stop: npt.NDArray[np.intp]) -> None:
        """Write the answers of some problems of the batch; ``stop`` is that of all of them."""
        batch, solution = self.batch, self.solution
        which, coef = batch.which[ended], batch.parameters[:-1, ended]
        solution.coef[:, which] = coef
        solution.intercept[which] = batch.parameters[-1, ended] - self.centre @ coef
        solution.objective[which] = batch.value[ended]
        solution.n_iter[which] = iteration
        solution.stop[which] = stop[ended]
