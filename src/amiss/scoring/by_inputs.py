"""What the models of the inputs alone say of some rows: the second view of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Rows


@dataclass(frozen=True, eq=False)
class ByInputs:
    """Log-odds given the inputs alone, ``(n_rows, n_outputs)``, and the weights of the outputs by them.

    ``log_odds`` are mixed as the settings say from models that saw a row and models that did not; ``held_out``
    are by the latter alone. For new rows they are the same. ``weights`` is ``(n_outputs,)``, or
    ``(n_rows, n_outputs)`` where weights come from each row's neighbourhood.
    """

    log_odds: Floats
    held_out: Floats
    weights: Floats

    def take(self, rows: Rows | slice) -> ByInputs:
        """The same for some of the rows."""
        weights = self.weights if self.weights.ndim == 1 else self.weights[rows]
        return ByInputs(self.log_odds[rows], self.held_out[rows], weights)

    def repeated(self, times: int) -> ByInputs:
        """The rows one after another, several times."""
        weights = self.weights if self.weights.ndim == 1 else np.tile(self.weights, (times, 1))
        return ByInputs(np.tile(self.log_odds, (times, 1)), np.tile(self.held_out, (times, 1)), weights)

    def with_rows(self, rows: Rows, others: ByInputs) -> ByInputs:
        """The same with some rows replaced."""
        log_odds, held_out, weights = self.log_odds.copy(), self.held_out.copy(), self.weights
        log_odds[rows], held_out[rows] = others.log_odds, others.held_out
        if weights.ndim == 2:
            weights = weights.copy()
            weights[rows] = others.weights
        return ByInputs(log_odds, held_out, weights)
