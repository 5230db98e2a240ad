"""What models expect of each output of some rows: what should stand there, in which interval, and draws of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from amiss.arrays import Floats, Rows
from amiss.models.mixed.layout import OutputLayout
from amiss.models.mixed.model import N_QUANTILES, Predicted, level_log_odds, probabilities

WITHIN = 0.8  # of values of rows of the fit lie in their intervals


@dataclass(frozen=True, eq=False)
class Forecast:
    """Expectations of outputs of several kinds, by models given inputs and other outputs, and given inputs alone.

    ``residuals`` are quantiles of how far amounts lie from their centres, by the former (``(n_amounts, n)``).
    """

    layout: OutputLayout
    by_all: Predicted
    by_inputs: Predicted
    residuals: Floats

    def take(self, rows: Rows | slice) -> Forecast:
        return Forecast(self.layout, self.by_all.take(rows), self.by_inputs.take(rows), self.residuals)

    def expected(self, row: int, output: int, observed: float, by_inputs: bool = False) -> float:
        """The value that is most likely if the observed one is wrong.

        Of a grade it is the median, of an amount the centre, whole if it is a count.
        """
        found, layout = self.by_inputs if by_inputs else self.by_all, self.layout
        column = layout.columns[output]
        if column.kind.is_numeric:
            centre = float(found.centre[row, layout.amounts.index(output)])
            return float(max(0.0, np.round(centre))) if column.kind.whole else centre
        levels = layout.level_column[output]
        if not len(levels):
            return 1.0 - observed
        chance = self.chances(row, output, by_inputs)
        here = int(levels[int(observed)]) if not np.isnan(observed) and observed < len(levels) - 1 else -1
        best = int(np.argmax(chance))
        if column.kind.ordered:
            best = int(np.searchsorted(np.cumsum(chance), 0.5))
        if best == here:
            best = int(np.argmax(np.where(np.arange(len(chance)) == here, -1.0, chance)))
        return float(np.argmax(levels[:-1] == best))

    def chances(self, row: int, output: int, by_inputs: bool = False) -> Floats:
        """The probability of each level, or pooled levels, of an output that has some."""
        found = self.by_inputs if by_inputs else self.by_all
        return probabilities(found.choices[[row], self.layout.choice_span[output]])[0]

    def interval(self, row: int, output: int, by_inputs: bool = False) -> tuple[float, float]:
        """Between which values an amount is expected; no count is negative."""
        found, place = self.by_inputs if by_inputs else self.by_all, self.layout.amounts.index(output)
        at = np.linspace(0, 1, N_QUANTILES)
        low, high = np.interp([(1 - WITHIN) / 2, (1 + WITHIN) / 2], at, self.residuals[place])
        centre, spread = found.centre[row, place], found.spread[row, place]
        ends = centre + low * spread, centre + high * spread
        if self.layout.columns[output].kind.whole:
            return float(max(0.0, np.floor(ends[0]))), float(max(0.0, np.ceil(ends[1])))
        return float(ends[0]), float(ends[1])

    def drawn(self, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Log-odds of drawn values by both views, and coded outputs, ``(n_rows, n_outputs)``.

        Levels are drawn by their probabilities given the inputs and the other outputs, amounts by the residuals.
        """
        layout, shape = self.layout, (len(self.by_all.choices), len(self.layout.columns))
        found, found_x, Y = np.empty(shape), np.empty(shape), np.ones(shape)
        for i, span in layout.choice_span.items():
            mine, mine_x = self.by_all.choices[:, span], self.by_inputs.choices[:, span]
            if not len(layout.level_column[i]):
                found[:, i], found_x[:, i] = mine[:, 0], mine_x[:, 0]
                Y[:, i] = rng.random(shape[0]) < expit(mine[:, 0])
                continue
            chance = np.cumsum(probabilities(mine), axis=1)
            level = (rng.random((shape[0], 1)) * chance[:, -1:] > chance).sum(axis=1)
            ordered = layout.columns[i].kind.ordered
            found[:, i] = level_log_odds(level, mine, ordered)
            found_x[:, i] = level_log_odds(level, mine_x, ordered)
        at = np.linspace(0, 1, N_QUANTILES)
        for place, i in enumerate(layout.amounts):
            apart = np.interp(rng.random(shape[0]), at, self.residuals[place])
            value = self.by_all.centre[:, place] + apart * self.by_all.spread[:, place]
            found[:, i] = self.by_all.amount_log_odds(place, value)
            found_x[:, i] = self.by_inputs.amount_log_odds(place, value)
        return found, found_x, Y
