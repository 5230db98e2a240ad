"""Cases: rows to be explained, each with what scored it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from amiss.arrays import Floats, Matrix, Rows
from amiss.encoding.encoded_rows import EncodedRows
from amiss.models.conditional import ConditionalModel
from amiss.models.fitting import FittedModels
from amiss.models.mixed.layout import coded
from amiss.models.projection import rho
from amiss.scoring.forecast import Forecast
from amiss.scoring.hypotheses import KINDS, Kind
from amiss.scoring.rows import ScoredRows
from amiss.scoring.scorer import Scorer
from amiss.scoring.views import Views

SMALL_SHARE = 0.05  # of the score: outputs below it are not looked into
MOST_SUSPECTS = 10
FEWEST_TOGETHER, MOST_TOGETHER, CELLS_TOGETHER = 64, 1024, 1 << 16  # rows and cells explained at once


@dataclass(frozen=True)
class Case:
    """A row to be explained, with what scored it.

    ``number`` is the user's number of a training row, ``position`` its place among them; both are None for a
    new row. ``model`` is None where the models that scored the row were not kept. ``views`` are other
    log-odds, those of doubts by ``doubting_model`` and ``inputs_model``, and ``odds`` are those of each kind of
    error; None where the rule weighs no hypotheses. ``is_unrelated`` says whether the outputs look like another
    row's. ``forecast`` is what models expect of outputs of several kinds; None if every output is 0 or 1.
    ``new_levels`` are the outputs whose level the fit had not, and these levels.
    """

    number: int | None
    position: int | None
    design: Matrix
    Y: Floats
    filled: Floats
    probabilities: Floats
    contributions: Floats
    weights: Floats
    neighbors: Rows | None
    model: ConditionalModel | None
    views: Views | None = None
    doubting_model: ConditionalModel | None = None
    inputs_model: ConditionalModel | None = None
    odds: Floats | None = None
    is_unrelated: bool = False
    forecast: Forecast | None = None
    new_levels: Mapping[int, str] = field(default_factory=dict)

    @property
    def coded(self) -> Floats:
        """The outputs as log-odds mean them."""
        return self.Y if self.forecast is None else coded(self.Y[None], self.forecast.layout.columns)[0]

    def instead(self, i: int) -> float:
        """The value that an output should have if the observed one is wrong."""
        if self.forecast is None:
            return 1.0 - float(self.Y[i])
        return self.forecast.expected(0, i, float(self.Y[i]), self.judged_by_inputs)

    @property
    def kind(self) -> Kind | None:
        """The kind of error that the row looks like most; None where the rule weighs no hypotheses.

        Whether some outputs do not fit the inputs or all of them belong to another row is a matter of degree: the
        latter is said where it is likelier than that the row is right.
        """
        if self.odds is None:
            return None
        kind = KINDS[int(np.argmax(self.odds))]
        return "unrelated" if kind == "inputs" and self.is_unrelated else kind

    @property
    def judged_by_inputs(self) -> bool:
        """Whether that is a kind which the models of the inputs alone see."""
        return self.kind is not None and self.kind != "contradiction"

    @property
    def judged_probabilities(self) -> Floats:
        """The probability of each observed value by the models that see this kind of error."""
        if not self.judged_by_inputs or self.views is None:
            return self.probabilities
        return np.asarray(np.where(np.isnan(self.Y), np.nan, rho(self.views.by_inputs[0], self.coded)))

    @property
    def judging_model(self) -> ConditionalModel | None:
        """The models that see this kind of error."""
        return self.inputs_model if self.judged_by_inputs else self.model

    @property
    def suspects(self) -> Rows:
        """Outputs with a telling contribution, largest first."""
        added = self.contributions
        largest = np.argsort(-added, kind="stable")[:MOST_SUSPECTS]
        return largest[(added[largest] > 0) & (added[largest] >= SMALL_SHARE * added.sum())]


@dataclass(frozen=True)
class Cases:
    """Makes cases of training rows and of new rows, a few at a time."""

    models: FittedModels
    scorer: Scorer
    training: ScoredRows | None

    @property
    def _together(self) -> int:
        """How many rows make a block: neighbours of many are found faster than of few at a time."""
        n_columns = self.models.encoder.n_columns + len(self.scorer.included)
        return int(np.clip(CELLS_TOGETHER // n_columns, FEWEST_TOGETHER, MOST_TOGETHER))

    def of_training(self, numbers: Sequence[int], *, with_neighbors: bool = True) -> Iterator[list[Case]]:
        """Training rows by the user's numbers; ``with_neighbors`` if these are known, or have to be shown."""
        for start in range(0, len(numbers), self._together):
            yield self._training_cases(numbers[start : start + self._together], with_neighbors)

    def of_batch(self, encoded: EncodedRows, scored: ScoredRows, numbers: Sequence[int]) -> Iterator[list[Case]]:
        """Some rows of a batch; one that was in the fit is the case it was there, without its number."""
        for start in range(0, len(numbers), self._together):
            some = np.asarray(numbers[start : start + self._together], dtype=np.intp)
            match = scored.training_match[some]
            new = self._new_cases(encoded, scored, some[scored.is_new[some]])
            known = iter(self._training_cases(match[match >= 0].tolist()))
            yield [next(new) if place < 0 else replace(next(known), number=None) for place in match]

    def _new_cases(self, encoded: EncodedRows, scored: ScoredRows, numbers: Rows) -> Iterator[Case]:
        design, Y = encoded.design[numbers], encoded.Y[numbers]
        filled = self.models.expectations.filled(design, Y)
        near = self.scorer.neighbors(design, filled) if len(numbers) else None
        for place, number in enumerate(numbers):
            yield Case(
                number=None,
                position=None,
                design=design[[place]],
                Y=Y[place],
                filled=filled[place],
                probabilities=scored.probabilities_of(int(number)),
                contributions=scored.contributions[number],
                weights=scored.weights_of(int(number)),
                neighbors=None if near is None else near[place],
                model=self.models.model,
                views=None if scored.views is None else scored.views.take(np.array([number])),
                doubting_model=self.models.model,
                inputs_model=self.models.inputs_model,
                odds=None if scored.odds is None else scored.odds[number],
                is_unrelated=self._is_unrelated(scored, int(number)),
                forecast=None if scored.forecast is None else scored.forecast.take(np.array([number])),
                new_levels={i: of[number] for i, of in scored.new_levels.items() if number in of},
            )

    def _training_cases(self, numbers: Sequence[int], with_neighbors: bool = True) -> list[Case]:
        local, near = self.scorer.local, None
        if local is not None and len(numbers) and (with_neighbors or local.neighborhood.neighbors is not None):
            positions = self.models.training_rows.place[np.asarray(numbers, dtype=np.intp)]
            near = local.neighborhood.of_rows(positions, self.scorer.n_jobs)
        return [
            self._training_case(number, None if near is None else near[place])
            for place, number in enumerate(numbers)
        ]

    def _training_case(self, number: int, near: Rows | None) -> Case:
        training, rows = self.training, self.models.training_rows
        assert training is not None
        position = int(rows.place[number])
        design, Y = rows.design[[position]], rows.Y[[position]]
        alone, views, forecast = self.models.inputs_model, training.views, training.forecast
        doubt = self.scorer.doubt_share if forecast is None else self.scorer.share
        return Case(
            number=number,
            position=position,
            design=design,
            Y=Y[0],
            filled=self.models.expectations.filled(design, Y)[0],
            probabilities=training.probabilities_of(number),
            contributions=training.contributions[number],
            weights=training.weights_of(number),
            neighbors=near,
            model=rows.model_of(position, self.models.model, self.scorer.share),
            views=None if views is None else views.take(np.array([number])),
            doubting_model=rows.model_of(position, self.models.model, doubt),
            inputs_model=None if alone is None else rows.inputs_model_of(position, alone, doubt),
            odds=None if training.odds is None else training.odds[number],
            is_unrelated=self._is_unrelated(training, number),
            forecast=None if forecast is None else forecast.take(np.array([number])),
        )

    def _is_unrelated(self, scored: ScoredRows, number: int) -> bool:
        hypotheses = self.scorer.hypotheses
        return hypotheses is not None and scored.odds is not None and hypotheses.is_unrelated(scored.odds[number])
