"""The models of outputs of several kinds as one: log-odds of what was observed.

    tag      the log-odds of a 1, as ever
    class    log P / (1 - P),  P the probability of the observed class among its levels
    grade    the same, P the probability of a grade at least as far out, on its side of the expected one
    number   -2 log(z / ``USUAL_APART``),  z = |y - m| / s, with a centre m and a local scale s of the model

So a number has rho = 1 / (1 + (z / c)²): a half where it is c scales away, and falling slowly. Beyond the z that a
tenth of the rows exceed it falls as fast as their z do, but not more slowly: of an output whose right values never
lie far off, one that does is less likely. Of all outputs but tags these are log-odds of the value in that row;
scores take them for those of a 1 that was observed (:func:`amiss.models.mixed.layout.coded`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from amiss.arrays import Floats, Matrix, Rows
from amiss.models.conditional import Attribution, ConditionalModel, FoldModels, LinearModel
from amiss.models.folds import Folds
from amiss.models.mixed.layout import OutputLayout
from amiss.models.numbers.model import NumberModel
from amiss.models.ties import Ties

USUAL_APART, EXPONENT, STEEPEST = 2.0, 2.0, 6.0
TAIL = (0.9, 0.98)  # quantiles of z
N_QUANTILES = 201
MOST_LOG_ODDS = 30.0


@dataclass(frozen=True, eq=False)
class Predicted:
    """What models say of some rows whatever was observed there.

    ``choices`` are log-odds (n_rows, n_choices), those of a class as of one choice; ``centre`` and ``spread`` are
    (n_rows, n_amounts). ``tails`` say of each amount from which z on, and how fast, its probability falls
    (:func:`tails_of`).
    """

    choices: Floats
    centre: Floats
    spread: Floats
    tails: Floats

    def amount_log_odds(self, place: int, values: Floats) -> Floats:
        """Log-odds of values of one of the amounts, ``(n_rows,)``."""
        apart = np.abs(values - self.centre[:, place]) / self.spread[:, place]
        return apart_log_odds(apart, *self.tails[place])

    def take(self, rows: Rows | slice) -> Predicted:
        return Predicted(self.choices[rows], self.centre[rows], self.spread[rows], self.tails)


@dataclass(frozen=True, eq=False)
class MixedModel:
    """Log-odds of all outputs, given the inputs and, if it ``sees`` them, the other outputs.

    ``choices`` sees [inputs, amounts | choices]; ``amounts[k]`` sees [inputs, U] without its own column. For a row
    of the fit, ``row`` is its place there: then numbers are judged by models that did not see it. ``residuals``
    are quantiles of (y - m) / s in the rows of the fit, ``(n_amounts, N_QUANTILES)``.
    """

    layout: OutputLayout
    choices: ConditionalModel
    amounts: tuple[NumberModel, ...]
    ties: Ties
    sees: bool
    residuals: Floats
    row: int | None = None

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        """Of what ``outputs`` (U) say was observed, ``(n_rows, n_outputs)``."""
        return observed_log_odds(self.layout, outputs, self.predicted(inputs, outputs))

    def predicted(self, inputs: Matrix, outputs: Floats) -> Predicted:
        """What is expected of each output."""
        seen = self.shown(inputs, outputs), self.layout.choices(outputs)
        choices = self.ties.normalised(self.choices.log_odds(*seen))
        of_row = None if self.row is None else np.full(len(outputs), self.row, dtype=np.intp)
        return Predicted(choices, *self.predicted_amounts(inputs, outputs, of_row), tails_of(self.residuals))

    def predicted_amounts(self, inputs: Matrix, outputs: Floats, rows: Rows | None) -> tuple[Floats, Floats]:
        """Centres and spreads, ``(n_rows, n_amounts)``; ``rows`` are places of rows of the fit."""
        shape = len(outputs), len(self.amounts)
        centre, spread = np.empty(shape), np.empty(shape)
        for place, (i, model) in enumerate(zip(self.layout.amounts, self.amounts, strict=True)):
            Z = seen_by_amount(self.layout, inputs, outputs, i) if self.sees else inputs
            centre[:, place], spread[:, place] = model.predict(Z, rows)
        return centre, spread

    def shown(self, inputs: Matrix, outputs: Floats) -> Matrix:
        """The inputs of the models of choices: those of the table and, if these see other outputs, amounts."""
        return with_columns(inputs, self.layout.amounts_seen(outputs)) if self.sees else inputs

    def as_linear(self, n_inputs: int) -> LinearModel | None:
        return None

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats) -> Attribution | None:
        """What inputs and outputs add to the log-odds of a choice; of a class, of the level that was observed.

        The models of amounts are forests, which do not tell.
        """
        layout = self.layout
        if output in layout.amounts:
            return None
        span = layout.choice_span[output]
        here = layout.choices(outputs)[0, span]
        if len(layout.level_column[output]) and not here.any():  # a level that the fit has not seen
            return None
        choice = span.start + int(np.argmax(here))
        n_inputs, shown = inputs.shape[1], self.shown(inputs, outputs)
        usual = average[n_inputs:][None]
        mean = np.concatenate([average[:n_inputs], *self._usual_amounts(usual), layout.choices(usual)[0]])
        found = self.choices.attribution(shown, layout.choices(outputs), choice, mean)
        if found is None:
            return None
        of_outputs = np.zeros(len(layout.columns))
        np.add.at(of_outputs, layout.output_of[~layout.is_amount], found.columns[shown.shape[1] :])
        if self.sees:
            of_outputs[list(layout.amounts)] += found.columns[n_inputs : shown.shape[1]]
        return Attribution(found.average, np.concatenate([found.columns[:n_inputs], of_outputs]))

    def _usual_amounts(self, usual: Floats) -> list[Floats]:
        return [self.layout.amounts_seen(usual)[0]] if self.sees else []


@dataclass(frozen=True, eq=False)
class MixedFolds:
    """Models of choices that were fitted without a fold; those of amounts know by themselves what they saw."""

    choices: FoldModels | None
    layout: OutputLayout

    @property
    def folds(self) -> Folds:
        assert self.choices is not None
        return self.choices.folds

    def of_row(self, whole: ConditionalModel, copies: Rows, share: float) -> MixedModel | None:
        assert isinstance(whole, MixedModel)
        if self.choices is None:
            return replace(whole, row=int(copies[0]))
        choices = self.choices.of_row(whole.choices, copies, share)
        return None if choices is None else replace(whole, choices=choices, row=int(copies[0]))


def observed_log_odds(layout: OutputLayout, U: Floats, found: Predicted) -> Floats:
    """Log-odds of the values in U, ``(n_rows, n_outputs)``; of a tag, of a 1."""
    result = np.empty((len(U), len(layout.columns)))
    choices = layout.choices(U)
    for i, span in layout.choice_span.items():
        mine = found.choices[:, span]
        if not len(layout.level_column[i]):
            result[:, i] = mine[:, 0]
        else:
            at = np.argmax(choices[:, span], axis=1)
            result[:, i] = level_log_odds(at, mine, layout.columns[i].kind.ordered)
        if len(layout.level_column[i]):
            result[choices[:, span].sum(axis=1) == 0, i] = -np.log(2.0 * layout.n_rows + 1.0)
    for place, i in enumerate(layout.amounts):
        result[:, i] = found.amount_log_odds(place, U[:, layout.spans[i].start])
    return result


def usual_log_odds(layout: OutputLayout, usual: Floats, U: Floats) -> Floats:
    """Log-odds of the values in U by what is usual in the table, ``usual`` being the mean of each column."""
    shape = len(U), len(layout.amounts)
    share = (usual[~layout.is_amount] * layout.n_rows + 0.5) / (layout.n_rows + 1.0)
    which = list(layout.amounts)
    found = Predicted(
        choices=np.broadcast_to(np.log(share) - np.log1p(-share), (len(U), len(share))),
        centre=np.broadcast_to(layout.centre[which], shape),
        spread=np.broadcast_to(layout.scale[which], shape),
        tails=np.full((len(which), 2), USUAL_APART),
    )
    return observed_log_odds(layout, U, found)


def residual_quantiles(values: Floats, centre: Floats, spread: Floats) -> Floats:
    """Quantiles of how far amounts lie from their centres, in spreads, ``(n_amounts, N_QUANTILES)``."""
    result = np.zeros((values.shape[1], N_QUANTILES))
    for place in range(len(result)):
        seen = ~np.isnan(values[:, place])
        if seen.any():
            apart = (values[seen, place] - centre[seen, place]) / spread[seen, place]
            result[place] = np.quantile(apart, np.linspace(0, 1, N_QUANTILES))
    return result


def tails_of(residuals: Floats) -> Floats:
    """From which z on the tail of each amount begins, and its exponent, ``(n_amounts, 2)``.

    The exponent is that by which the share of rows beyond falls from ``TAIL[0]`` to ``TAIL[1]``; within bounds, so
    that few values or many equal ones do not make a value impossible.
    """
    rest = 1 - np.array(TAIL)
    result = np.empty((len(residuals), 2))
    for place, apart in enumerate(np.abs(residuals)):
        near, far = np.quantile(apart, TAIL)
        steep = np.log(rest[0] / rest[1]) / np.log(max(far / max(near, 1e-9), 1.05))
        result[place] = max(near, USUAL_APART), np.clip(steep, EXPONENT, STEEPEST)
    return result


def apart_log_odds(apart: Floats, begin: float, exponent: float) -> Floats:
    """-2 log(z / c) up to where the tail begins, and then falling by its exponent.

    >>> apart_log_odds(np.array([3.0, 4.0, 40.0]), 4.0, 2.0).round(2)
    array([-0.81, -1.39, -5.99])
    """
    with np.errstate(divide="ignore"):
        found = -EXPONENT * np.log(np.minimum(apart, begin) / USUAL_APART)
    found = found - exponent * np.log(np.maximum(apart, begin) / begin)
    return np.clip(found, -MOST_LOG_ODDS, MOST_LOG_ODDS)


def level_log_odds(level: Rows, log_odds: Floats, ordered: bool) -> Floats:
    """Log-odds of a level of each row; of a grade, of one as far out or further, on its side."""
    if not ordered:
        return np.take_along_axis(log_odds, level[:, None], axis=1)[:, 0]
    chance = probabilities(log_odds)
    at_least = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
    tail = np.minimum(at_least, np.cumsum(chance, axis=1))
    mine = np.clip(np.take_along_axis(tail, level[:, None], axis=1)[:, 0], 1e-13, 1 - 1e-13)
    return np.log(mine) - np.log1p(-mine)


def probabilities(log_odds: Floats) -> Floats:
    """Of the levels of a class, which add up to 1."""
    chance = expit(log_odds)
    total = chance.sum(axis=1, keepdims=True)
    return np.asarray(chance / np.where(total > 0, total, 1.0))


def seen_by_amount(layout: OutputLayout, inputs: Matrix, U: Floats, i: int) -> Matrix:
    """What the model of an amount sees: inputs and U, in which its own column says nothing."""
    others = layout.scaled(U)
    others[:, layout.spans[i]] = 0.0
    return with_columns(inputs, others)


def with_columns(inputs: Matrix, more: Floats) -> Matrix:
    """Inputs with further columns."""
    if sparse.issparse(inputs):
        return sparse.hstack([inputs, sparse.csr_array(more)], format="csr")
    return np.hstack([inputs, more])
