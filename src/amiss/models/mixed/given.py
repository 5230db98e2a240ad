"""Predictions of the user's among the inputs of a table whose outputs are of several kinds.

Those of choices are calibrated as ever (:mod:`amiss.models.given`). Of an amount, one model sees the prediction
and, if it may, the other outputs, but none of the inputs; another sees everything but predictions. The one that
errs less in rows that it has not seen is taken. No model sees predictions and inputs together, for the same reason
as there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.predictions import Given
from amiss.encoding.encoder import Encoder
from amiss.models.given import GivenLearner, given_learner
from amiss.models.learner import Learner
from amiss.models.mixed.layout import OutputLayout
from amiss.models.numbers.fit import fit_number
from amiss.models.numbers.model import NumberModel
from amiss.models.settings import ModelSettings


@dataclass(frozen=True, eq=False)
class GivenPredictions:
    """Which inputs predict which output, and the encoded columns they are in.

    ``inputs`` has one entry for each output: the input that predicts it, or one for each of its levels.
    """

    encoder: Encoder
    inputs: Given

    def learner(self, learner: Learner, settings: ModelSettings, layout: OutputLayout) -> GivenLearner:
        """What calibrates the predictions of choices."""
        given: list[int] = []
        for i in layout.choice_span:
            given += self._of_choices(layout, i)
        classes = [
            tuple(range(span.start, span.stop))
            for i, span in layout.choice_span.items()
            if len(layout.level_column[i]) and span.stop - span.start > 1
        ]
        others = [self.inputs[i][0] for i in layout.amounts]
        return given_learner(learner, settings, self.encoder, given, tuple(classes), others)

    def _of_choices(self, layout: OutputLayout, output: int) -> list[int]:
        """The input of each choice of an output.

        In a part of a table more levels may be rare than in the whole. Then the first of them speaks for all.
        """
        places, inputs = layout.level_column[output], self.inputs[output]
        if not len(places):
            return [inputs[0]]
        first: dict[int, int] = {}
        for level, place in enumerate(places[:-1].tolist()):
            shared = inputs.count(inputs[level]) > 1  # that of all rare levels
            if place not in first or shared:
                first[place] = inputs[level]
        return [first[place] for place in sorted(first)]

    def fit_amount(self, Z: Matrix, y: Floats, output: int, **how: Any) -> NumberModel:
        """The better of two models of an amount, whose design begins with the encoded inputs."""
        predictions = {self.encoder.column_of(place) for each in self.inputs for place in each}
        inputs = [column for column in range(self.encoder.n_columns) if column not in predictions]
        outputs = [*range(self.encoder.n_columns, Z.shape[1])]
        own = self.encoder.column_of(self.inputs[output][0])
        models = [_fit_on(Z, y, [own, *outputs], **how), _fit_on(Z, y, [*inputs, *outputs], **how)]
        rows = np.flatnonzero(~np.isnan(y))
        errors = [np.abs(model.predict(Z[rows], rows)[0] - y[rows]).mean() for model in models]
        return models[int(np.argmin(errors))]


def _fit_on(Z: Matrix, y: Floats, columns: list[int], units: Rows, **how: Any) -> NumberModel:
    """The model of an amount that sees some columns of the design."""
    observed: Mask = ~np.isnan(y)
    model = fit_number(Z[:, columns], y, observed, units, **how)
    return replace(model, columns=np.array(columns, dtype=np.intp)[model.columns])
