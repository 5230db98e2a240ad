"""Each output's strength, chosen by cross-validated log-loss, and the fits outside the folds there.

At a strength, all outputs are fitted on all rows, started from the strength before, and then on
the rows outside each fold, all folds at once, started from the fit on all rows.

The loss, seen over the logarithm of the strength, falls and then rises, with one valley. So the
search begins at a strength above most optima, goes to weaker ones while the loss falls, and to
stronger ones for the outputs whose loss rose at the first step. An output stops before the loss has
turned if it will turn next: when log-loss gained less than ``LEVELLING`` of what it gained by the
step before. (If the valley were a parabola, it would be a half. Logarithms, because where an output
can be predicted almost surely the loss falls by a factor with every step.)

All this only has to tell strengths apart, so it is done in single precision, and a fit goes as
far as that takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.folds import Folds
from amiss.models.logistic.blocks import SharedRows, Sums
from amiss.models.logistic.loss import row_losses
from amiss.models.logistic.newton import Effort, Solution, slope_and_curvature, solve
from amiss.models.logistic.preconditioner import Columns, Curvatures, approximate
from amiss.progress import Progress

WHOLE = Effort(tolerance=1e-3, newton_steps=20, conjugate_steps=15, confirmed=False)
FOLD = Effort(tolerance=3e-3, newton_steps=2, residual=0.15, conjugate_steps=12, confirmed=False)
FINAL_FOLD = Effort(tolerance=3e-4, newton_steps=2, residual=0.1, conjugate_steps=12, confirmed=False)

LEVELLING = 0.4
WORST = 1e300  # a loss that is no number
TOGETHER_BYTES = 64 << 20  # of the sides of all folds of the outputs that are fitted at once


@dataclass(frozen=True)
class Choice:
    """The strength of each output, the fit on all rows there, and how far the fits outside each fold lie
    from it, ``(n_columns + 1, n_folds, n_outputs)`` with the intercepts last."""

    strength: Floats
    coef: Floats
    intercept: Floats
    shift: Floats


def choose_strengths(
    rows: SharedRows,
    side: Floats,
    allowed: Mask,
    strengths: Sequence[float],
    folds: Folds,
    progress: Progress = lambda steps=1: None,
) -> Choice:
    """Follow the path for all outputs at once."""
    ladder = sorted(strengths, reverse=True)
    first = len(ladder) // 3
    with rows.at_work():
        search = _Search(rows, side.astype(rows.dtype, copy=False), allowed, folds)
        begin = search.step(np.arange(side.shape[1]), ladder[first], None)
        progress(len(begin.outputs))
        search.follow(begin, ladder[first + 1 :], progress)
        upward = begin.of(search.strength == ladder[first])
        progress((len(begin.outputs) - len(upward.outputs)) * first)
        search.follow(upward, ladder[:first][::-1], progress)
    return Choice(search.strength, search.coef, search.intercept, search.shift)


def outside_folds(
    rows: SharedRows, side: Floats, allowed: Mask, folds: Folds, choice: Choice, coef: Floats, intercept: Floats
) -> Floats:
    """How far the fits on the rows outside each fold lie from the fit on all rows, at the chosen strengths.

    ``coef`` and ``intercept`` are that fit, from which the others are finished; the result is
    ``(n_columns + 1, n_folds, n_outputs)``, with the intercepts last.
    """
    side = side.astype(rows.dtype, copy=False)
    strengths = choice.strength.astype(rows.dtype)
    with rows.at_work():
        whole = coef.astype(rows.dtype), intercept.astype(rows.dtype)
        n_folds = choice.shift.shape[1]
        return _outside_folds(
            rows, side, allowed, strengths, folds, n_folds, whole, choice.shift, FINAL_FOLD
        ).shift


@dataclass(frozen=True)
class _Place:
    """Where some outputs stand on the path: their fits at the last strength, and what they gained by it."""

    outputs: Columns
    coef: Floats
    intercept: Floats
    shift: Floats  # (n_columns + 1, n_folds, n_outputs): how far the fits outside a fold lie from it
    near: Curvatures
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

    def __init__(self, rows: SharedRows, side: Floats, allowed: Mask, folds: Folds) -> None:
        n_outputs = side.shape[1]
        self.rows, self.side, self.allowed, self.folds = rows, side, allowed, folds
        self.coef = np.zeros((rows.n_columns, n_outputs), dtype=rows.dtype)
        self.intercept = np.zeros(n_outputs)
        self.strength = np.full(n_outputs, np.nan)
        self.loss = np.full(n_outputs, np.inf)  # above the worst, so that the first strength is always taken
        self.n_folds = int(folds.max()) + 1
        self.shift = np.zeros((rows.n_columns + 1, self.n_folds, n_outputs), dtype=rows.dtype)

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

    def step(self, outputs: Columns, strength: float, place: _Place | None) -> _Place:
        """Fit some outputs at ``strength``, from where they stand."""
        everyone = len(outputs) == self.side.shape[1]
        side = self.side if everyone else self.rows.taken(self.side, outputs)
        folds = self.folds if everyone else self.rows.taken(self.folds, outputs)
        whole = self._on_all_rows(outputs, side, strength, place)
        outside = _outside_folds(
            self.rows,
            side,
            self.allowed[:, outputs],
            np.full(len(outputs), strength, dtype=self.rows.dtype),
            folds,
            self.n_folds,
            (whole.coef, whole.intercept.astype(self.rows.dtype)),
            None if place is None else place.shift,
            FOLD,
        )
        loss = row_losses(outside.log_odds, side).sum(axis=0, dtype=np.float64)
        loss = np.clip(np.nan_to_num(loss, nan=WORST), 1e-12, WORST)
        gain = np.log(self.loss[outputs]) - np.log(loss)
        better = gain > 0
        winners = outputs[better]
        self.strength[winners], self.loss[winners] = strength, loss[better]
        self.coef[:, winners], self.intercept[winners] = whole.coef[:, better], whole.intercept[better]
        self.shift[:, :, winners] = outside.shift[:, :, better]
        gain = gain if place is not None else np.zeros(len(outputs))
        return _Place(outputs, whole.coef, whole.intercept, outside.shift, outside.near, gain)

    def _on_all_rows(self, outputs: Columns, side: Floats, strength: float, place: _Place | None) -> Solution:
        strengths = np.full(len(outputs), strength, dtype=self.rows.dtype)
        return solve(
            self.rows,
            side,
            self.allowed[:, outputs],
            strengths,
            start=None if place is None else (place.coef, place.intercept),
            effort=WHOLE,
            precondition=None if place is None else place.near.at(strengths),
        )


@dataclass(frozen=True)
class _Outside:
    """The fits outside the folds: their log-odds for the rows within, how far they lie from the fit on
    all rows, and the curvatures there."""

    log_odds: Floats
    shift: Floats
    near: Curvatures


def _outside_folds(
    rows: SharedRows,
    side: Floats,
    allowed: Mask,
    strengths: Floats,
    folds: Folds,
    n_folds: int,
    whole: tuple[Floats, Floats],
    shift: Floats | None,
    effort: Effort,
) -> _Outside:
    """Fit every output on the rows outside each fold, all folds at once, from the fit on all rows.

    That fit has not quite converged. Its gradient is taken off the objective of the others, so
    that they do not go on where it stopped, and differ from it only by what they did not see.
    """
    n_outputs = side.shape[1]
    slope, curvature = slope_and_curvature(rows, side, allowed, strengths, *whole)
    near = approximate(rows, curvature, allowed)
    precondition = near.at(strengths)
    all_rows = np.vstack(whole)
    log_odds = np.empty(folds.shape, dtype=rows.dtype)
    moved = np.empty((len(all_rows), n_folds, n_outputs), dtype=rows.dtype)
    size = rows.dtype.itemsize * n_folds * max(rows.n_rows, rows.n_columns)
    n_groups = -(-n_outputs * size // TOGETHER_BYTES)
    together = -(-n_outputs // n_groups)
    for first in range(0, n_outputs, together):
        some = slice(first, min(first + together, n_outputs))
        every_fold = np.tile(np.arange(some.start, some.stop), n_folds)
        begin = np.repeat(all_rows[:, None, some], n_folds, axis=1)
        if shift is not None:
            begin += shift[:, :, some]
        begin = begin.reshape(-1, len(every_fold))
        part = solve(
            rows,
            _sides_outside(rows, side[:, some], folds[:, some], n_folds),
            allowed[:, every_fold],
            strengths[every_fold],
            start=(begin[:-1], begin[-1]),
            effort=effort,
            precondition=precondition.take(every_fold),
            tilt=rows.taken(slope, every_fold),
        )
        reached = np.vstack([part.coef, part.intercept.astype(rows.dtype)]).reshape(
            -1, n_folds, some.stop - some.start
        )
        moved[:, :, some] = reached - all_rows[:, None, some]
        log_odds[:, some] = _by_the_others(rows, part, folds[:, some], n_folds)
    return _Outside(log_odds, moved, near)


def _sides_outside(rows: SharedRows, side: Floats, folds: Folds, n_folds: int) -> Floats:
    """Sides for every fold and output, 0 within the fold."""
    n_rows, n_outputs = side.shape
    result = np.empty((n_rows, n_folds, n_outputs), dtype=side.dtype)

    def work(some: slice) -> Sums:
        for fold in range(n_folds):
            np.multiply(side[some], folds[some] != fold, out=result[some, fold])
        return ()

    rows.sweep(n_rows, n_folds * n_outputs, work)
    return result.reshape(n_rows, -1)


def _by_the_others(rows: SharedRows, part: Solution, folds: Folds, n_folds: int) -> Floats:
    """For each row and output, the log-odds by the fit outside the row's fold."""
    result = np.empty(folds.shape, dtype=rows.dtype)

    def pick(some: slice, f: Floats) -> Sums:
        own = folds[some].astype(np.intp)[:, None, :]
        result[some] = np.take_along_axis(f.reshape(len(f), n_folds, -1), own, axis=1)[:, 0]
        return ()

    parameters = np.vstack([part.coef, part.intercept + rows.centre @ part.coef]).astype(rows.dtype)
    rows.there(parameters, pick)
    return result
