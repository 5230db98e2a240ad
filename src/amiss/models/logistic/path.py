"""The regularisation path: each output's strength, chosen by cross-validated log-loss.

At a strength, all outputs are fitted on all rows, started from the strength before, and then on
the rows outside each fold, all folds at once, started from the fit on all rows.

The loss, seen over the logarithm of the strength, falls and then rises, with one valley. So the
search begins at a strength above most optima, goes to weaker ones while the loss falls, and to
stronger ones for the outputs whose loss rose at the first step. An output stops before the loss has
turned if it will probably turn next: when the log of the loss fell by less than ``LEVELLING`` times what it
fell in the step before. (In a parabola that factor would be a half. We compare logarithms because, for an
output that can be predicted almost surely, every step divides the loss by a factor.)

All this only has to tell strengths apart, so it is done in single precision, and each fit stops as soon as it
is good enough for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.logistic.newton import Effort, Solution, solve
from amiss.models.logistic.objective import Objective, Start, Terms, offset_of
from amiss.models.logistic.pool import Indices
from amiss.models.logistic.preconditioner import Approximation, approximate
from amiss.models.logistic.seam import SINGLE, Problems, Rows
from amiss.progress import Progress, ignored

WHOLE = Effort(tolerance=1e-3, newton_steps=20, conjugate_steps=15, confirmed=False)
FOLD = Effort(tolerance=3e-3, newton_steps=2, residual=0.15, conjugate_steps=12, confirmed=False)
FINAL_FOLD = Effort(tolerance=3e-4, newton_steps=2, residual=0.1, conjugate_steps=12, confirmed=False)

LEVELLING = 0.4
WORST = 1e300  # a loss that is no number
TOGETHER_BYTES = 64 << 20  # of the signs of all folds of the outputs that are fitted at once


@dataclass(frozen=True)
class Choice:
    """The strength of each output, its log-loss outside the folds there, the fit on all rows, and how far the fits
    outside each fold lie from it, ``(n_columns + 1, n_folds, n_outputs)`` with the intercepts last."""

    strength: Floats
    loss: Floats
    coef: Floats
    intercept: Floats
    shift: Floats


def choose_strengths(
    rows: Rows,
    allowed: Mask,
    strengths: Sequence[float],
    progress: Progress = ignored,
    outputs: Indices | None = None,
) -> Choice:
    """Follow the path for all outputs at once, or for some; ``allowed`` is ``(n_outputs, n_outputs)``."""
    ladder = sorted(strengths, reverse=True)
    first = len(ladder) // 3
    with rows.pool.at_work():
        search = _Search(rows, allowed)
        begin = search.step(np.arange(rows.n_outputs) if outputs is None else outputs, ladder[first], None)
        progress(len(begin.outputs))
        search.follow(begin, ladder[first + 1 :], progress)
        upward = begin.of(search.strength[begin.outputs] == ladder[first])
        progress((len(begin.outputs) - len(upward.outputs)) * first)
        search.follow(upward, ladder[:first][::-1], progress)
    return Choice(search.strength, search.loss, search.coef, search.intercept, search.shift)


def outside_folds(rows: Rows, allowed: Mask, strength: Floats, final: Solution, shift: Floats | None) -> Floats:
    """How far the fits on the rows outside each fold lie from the fit on all rows, each at its strength.

    ``final`` is that fit, from which the others are finished, and ``shift`` about where they lie, if that is
    known; the result is ``(n_columns + 1, n_folds, n_outputs)``, with the intercepts last.
    """
    terms = Terms(allowed, strength.astype(SINGLE.values))
    with rows.pool.at_work():
        fits = _FoldFits(rows.problems(None, SINGLE), terms, Start(final.coef, final.intercept), FINAL_FOLD)
        return fits.solve(shift)


@dataclass(frozen=True)
class _Place:
    """Where some outputs stand on the path: their fits at the last strength, and what they gained by it."""

    outputs: Indices
    coef: Floats
    intercept: Floats
    shift: Floats  # (n_columns + 1, n_folds, n_outputs): how far the fits outside a fold lie from it
    near: Approximation
    gain: Floats

    def of(self, some: Mask) -> _Place:
        return _Place(
            self.outputs[some],
            self.coef[:, some],
            self.intercept[some],
            self.shift[:, :, some],
            self.near.take(np.flatnonzero(some)),
            self.gain[some],
        )


class _Search:
    """The best strength of each output so far."""

    def __init__(self, rows: Rows, allowed: Mask) -> None:
        n_columns, n_outputs = rows.layout.n_columns, rows.n_outputs
        self.rows, self.allowed = rows, allowed
        self.coef = np.zeros((n_columns, n_outputs), dtype=SINGLE.values)
        self.intercept = np.zeros(n_outputs)
        self.strength = np.full(n_outputs, np.nan)
        self.loss = np.full(n_outputs, np.inf)  # above the worst, so that the first strength is always taken
        self.shift = np.zeros((n_columns + 1, rows.n_folds, n_outputs), dtype=SINGLE.values)

    def follow(self, place: _Place, ladder: Sequence[float], progress: Progress) -> None:
        """Go on to one strength after the other, each output as long as its loss falls."""
        for position, strength in enumerate(ladder):
            if not len(place.outputs):
                break
            before = place.gain
            place = self.step(place.outputs, strength, place)
            goes_on = place.gain > np.maximum(LEVELLING * before, 0)
            left = int(np.count_nonzero(~goes_on)) * (len(ladder) - position - 1)
            progress(len(place.outputs) + left)
            place = place.of(goes_on)

    def step(self, outputs: Indices, strength: float, place: _Place | None) -> _Place:
        """Fit some outputs at ``strength``, from where they stand."""
        everyone = len(outputs) == self.rows.n_outputs
        problems = self.rows.problems(None if everyone else outputs, SINGLE)
        terms = Terms(self.allowed[:, outputs], np.full(len(outputs), strength, dtype=SINGLE.values))
        whole = solve(
            problems,
            terms,
            start=None if place is None else Start(place.coef, place.intercept),
            effort=WHOLE,
            preconditioner=None if place is None else place.near.at(terms.strength),
        )
        fits = _FoldFits(problems, terms, Start(whole.coef, whole.intercept), FOLD)
        shift = fits.solve(None if place is None else place.shift, hold_out=True)
        loss = np.clip(np.nan_to_num(problems.held_out_losses(), nan=WORST), 1e-12, WORST)
        gain = np.log(self.loss[outputs]) - np.log(loss)
        better = gain > 0
        winners = outputs[better]
        self.strength[winners], self.loss[winners] = strength, loss[better]
        self.coef[:, winners], self.intercept[winners] = whole.coef[:, better], whole.intercept[better]
        self.shift[:, :, winners] = shift[:, :, better]
        gain = gain if place is not None else np.zeros(len(outputs))
        return _Place(outputs, whole.coef, whole.intercept, shift, fits.near, gain)


class _FoldFits:
    """Fits of some outputs on the rows outside each fold, all folds at once, from the fit on all rows.

    That fit has not quite converged. Its gradient is subtracted from the objective of the others, so
    that they do not continue where it stopped, and differ from it only because of the rows they did not see.
    ``near`` approximates the Hessians at the fit on all rows.
    """

    def __init__(self, problems: Problems, terms: Terms, whole: Start, effort: Effort) -> None:
        self.problems, self.terms, self.effort, self.rows = problems, terms, effort, problems.rows
        self.centre = self.rows.centre.astype(SINGLE.values)
        whole = Start(whole.coef.astype(SINGLE.values), whole.intercept.astype(SINGLE.values))
        self.whole = np.vstack([whole.coef, whole.intercept])
        self.slope, self.near = self._slope_and_approximation(whole)
        self.preconditioner = self.near.at(terms.strength)

    def solve(self, shift: Floats | None, hold_out: bool = False) -> Floats:
        """How far the fits lie from the fit on all rows, ``(n_columns + 1, n_folds, n_outputs)``.

        ``shift`` is where to start. With ``hold_out``, the margins of the rows by the fits that did not see
        them are left with ``problems``.
        """
        n_outputs = self.problems.n_problems
        result = np.empty((len(self.whole), self.rows.n_folds, n_outputs), dtype=SINGLE.values)
        together = self._outputs_together()
        for first in range(0, n_outputs, together):
            some = slice(first, min(first + together, n_outputs))
            part = self._solved(some, None if shift is None else shift[:, :, some])
            reached = np.vstack([part.coef, part.intercept.astype(SINGLE.values)])
            reached = reached.reshape(len(self.whole), self.rows.n_folds, -1)
            result[:, :, some] = reached - self.whole[:, None, some]
            if hold_out:
                self.problems.hold_out(some, *self._margins_of(part))
        return result

    def _slope_and_approximation(self, whole: Start) -> tuple[Floats, Approximation]:
        """The gradient of the fit on all rows, and an approximate Hessian there."""
        objective = Objective(self.problems.part(slice(0, self.problems.n_problems)), self.terms)
        _, slope = objective.evaluate(whole.parameters(self.centre, self.terms.allowed))
        return slope, approximate(objective.hessian())

    def _outputs_together(self) -> int:
        """How many outputs to fit at once."""
        layout, n_outputs = self.rows.layout, self.problems.n_problems
        size = np.dtype(SINGLE.values).itemsize * self.rows.n_folds * max(layout.n_rows, layout.n_columns)
        n_groups = -(-n_outputs * size // TOGETHER_BYTES)
        return -(-n_outputs // n_groups)

    def _margins_of(self, part: Solution) -> tuple[Floats, Floats]:
        """Coefficients and offsets of fits, in single precision."""
        parameters = np.vstack([part.coef, part.intercept + self.centre @ part.coef]).astype(SINGLE.values)
        return np.ascontiguousarray(parameters[:-1]), offset_of(parameters, self.centre)

    def _solved(self, some: slice, shift: Floats | None) -> Solution:
        """Every fold of some outputs."""
        n_folds = self.rows.n_folds
        every_fold = np.tile(np.arange(some.start, some.stop), n_folds)
        begin = np.repeat(self.whole[:, None, some], n_folds, axis=1)
        if shift is not None:
            begin += shift
        begin = begin.reshape(-1, len(every_fold))
        tilt = self.rows.pool.take(self.slope, every_fold)
        return solve(
            self.problems.outside_folds(some),
            Terms(self.terms.allowed[:, every_fold], self.terms.strength[every_fold], tilt),
            start=Start(begin[:-1], begin[-1]),
            effort=self.effort,
            preconditioner=self.preconditioner.take(every_fold),
        )
