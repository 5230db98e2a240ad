"""Expected values for missing outputs of several kinds, where they serve as parents of others.

As for tags (:mod:`amiss.models.missing`): what replaces a missing value comes from the inputs alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from amiss.arrays import Floats, Matrix
from amiss.data.output_kinds import BINARY
from amiss.models.missing import base_rates
from amiss.models.mixed.layout import OutputLayout
from amiss.models.mixed.model import MixedModel, probabilities


@dataclass(frozen=True, eq=False)
class MixedExpectations:
    """U with what is missing filled in: by a model of the inputs alone, or by ``usual`` values, ``(n_columns,)``.

    ``rates`` are the shares of ones of tags; those of other outputs are a half.
    """

    layout: OutputLayout
    usual: Floats
    rates: Floats
    given_inputs: MixedModel | None = None

    @classmethod
    def of(cls, layout: OutputLayout, Y: Floats) -> MixedExpectations:
        """By what is usual in a table."""
        usual = base_rates(layout.expanded(Y))
        usual[layout.is_amount] = layout.centre[list(layout.amounts)]
        tags = np.array([column.kind is BINARY for column in layout.columns])
        return cls(layout, usual, np.where(tags, base_rates(Y), 0.5))

    def filled(self, inputs: Matrix, Y: Floats) -> Floats:
        """U, with each missing value replaced by its expected one."""
        U = self.layout.expanded(Y)
        gone = np.isnan(U)
        rows = np.flatnonzero(gone.any(axis=1))
        if not len(rows):
            return U
        U = np.where(gone, self.usual, U)
        if self.given_inputs is not None:
            U[rows] = np.where(gone[rows], self._expected(self.given_inputs, inputs[rows], U[rows]), U[rows])
        return U

    def _expected(self, model: MixedModel, inputs: Matrix, U: Floats) -> Floats:
        found, layout = model.predicted(inputs, U), self.layout
        expected, chance = np.empty_like(U), expit(found.choices)
        for i, span in layout.choice_span.items():
            if len(layout.level_column[i]):
                chance[:, span] = probabilities(found.choices[:, span])
        expected[:, ~layout.is_amount], expected[:, layout.is_amount] = chance, found.centre
        return expected
