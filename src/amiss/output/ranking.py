"""The ranked list: rows from most to least unusual, each with the outputs that make its score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.data.dataset import Dataset
from amiss.data.output_kinds import Value
from amiss.data.table import Origin
from amiss.fitted import FittedDetector
from amiss.monitoring.batch import ScoredBatch
from amiss.scoring.rows import ScoredRows

EXPLAINED = 1000  # flagged rows whose suspects are found; beyond, the largest contributions have to do

Suspects = Mapping[int, list[int]]
"""Rows, each with its suspicious outputs in the order of its explanation."""


@dataclass(frozen=True)
class Reason:
    """One output's part in a row's score."""

    output: str
    observed: Value
    probability: float
    contribution: float
    p_value: float | None = None  # of a new row's output: how often it adds as much in rows held out of the fit


@dataclass(frozen=True)
class RankedRow:
    """One row of the list; ``row`` counts from 1, and the contributions of all outputs add up to the score.

    ``place`` is where the row stands in a file: its name if there are several, and its line if it has
    lines.
    """

    rank: int
    row: int
    id: str | None
    place: dict[str, Any]
    score: float
    flagged: bool
    reasons: tuple[Reason, ...]
    p_value: float | None = None
    is_new: bool = False  # scored by a model, not fitted to
    in_fit: bool | None = None  # whether the model has seen it all the same, if that is known
    shown: Mapping[str, str] = field(default_factory=dict)  # columns of the table that the user wants beside it


@dataclass(frozen=True)
class RankedList:
    """Rows in the order of their scores, ties in row order; what each names is found once.

    ``output_p_values`` and ``in_fit`` are known of new rows only.
    """

    rows: ScoredRows
    flagged: Mask
    p_values: Floats | None
    data: Dataset
    order: Rows
    suspects: Suspects
    is_new: bool = False
    in_fit: Mask | None = None
    output_p_values: Floats | None = None

    @classmethod
    def of_fit(cls, fitted: FittedDetector, data: Dataset, n_rows: int | None = None) -> RankedList:
        """The first ``n_rows`` rows of a fit; ``data`` is what was fitted to."""
        rows, decision, explainer = fitted.training_rows, fitted.decision, fitted.explainer
        order = ranked_order(rows.scores)[:n_rows]
        suspects = flagged_suspects(order, decision.flagged, explainer.suspects_of_training)
        return cls(rows, decision.flagged, decision.p_values, data, order, suspects)

    @classmethod
    def of_batch(
        cls, fitted: FittedDetector, batch: ScoredBatch, data: Dataset, n_rows: int | None = None
    ) -> RankedList:
        """The same for new rows; ``data`` is what was scored."""
        order = ranked_order(batch.scores)[:n_rows]

        def suspects(numbers: list[int]) -> Iterator[list[int]]:
            return fitted.explainer.suspects_of_new(batch.encoded, batch.rows, numbers)

        return cls(
            rows=batch.rows,
            flagged=batch.flagged,
            p_values=batch.p_values,
            data=data,
            order=order,
            suspects=flagged_suspects(order, batch.flagged, suspects),
            is_new=True,
            in_fit=~batch.rows.is_new if batch.knows_fit else None,
            output_p_values=batch.output_p_values,
        )

    def ranked(self, n_reasons: int = 3, n_rows: int | None = None) -> Iterator[RankedRow]:
        """The rows, each with at most ``n_reasons`` outputs: in flagged rows the suspects, then what adds most."""
        order = self.order[:n_rows]
        outputs, named = self.largest(order, n_reasons)
        for rank, row in enumerate(order.tolist(), start=1):
            yield self._row(rank, row, outputs[rank - 1][named[rank - 1]].tolist())

    def largest(self, rows: Rows, n_reasons: int) -> tuple[Rows, Mask]:
        """Outputs that each row names, ``(n_rows, n_reasons)``, and whether it names as many."""
        added = self.rows.contributions[rows]
        n_reasons = min(n_reasons, added.shape[1])
        outputs = np.argsort(-added, axis=1, kind="stable")[:, :n_reasons]
        for place, row in enumerate(rows.tolist() if self.suspects else ()):
            if first := self.suspects.get(row):
                order = np.argsort(-added[place], kind="stable").tolist()
                outputs[place] = [*first, *(i for i in order if i not in first)][:n_reasons]
        return outputs, np.take_along_axis(added, outputs, axis=1) > 0

    def _row(self, rank: int, row: int, outputs: list[int]) -> RankedRow:
        data, rows = self.data, self.rows
        probabilities = rows.judged_probabilities_of(row)
        return RankedRow(
            rank=rank,
            row=row + 1,
            id=None if data.ids is None else data.ids[row],
            place={} if data.Y.origin is None else place_of(data.Y.origin, row),
            score=float(rows.scores[row]),
            flagged=bool(self.flagged[row]),
            reasons=tuple(
                Reason(
                    output=rows.output_names[i],
                    observed=rows.observed_value(row, i),
                    probability=float(probabilities[i]),
                    contribution=float(rows.contributions[row, i]),
                    p_value=_known(self.output_p_values, (row, i)),
                )
                for i in outputs
            ),
            p_value=_known(self.p_values, row),
            is_new=self.is_new,
            in_fit=None if self.in_fit is None else bool(self.in_fit[row]),
            shown={name: texts[row] for name, texts in data.shown.items()},
        )


def ranked_order(scores: Floats) -> Rows:
    """Rows from most to least unusual; ties stay in row order."""
    return np.argsort(-scores, kind="stable")


def flagged_suspects(
    order: Rows, flagged: Mask, suspects: Callable[[list[int]], Iterator[list[int]]]
) -> dict[int, list[int]]:
    """The suspects of the flagged rows among ``order``, of the first ``EXPLAINED`` of them."""
    some = [int(row) for row in order[:EXPLAINED] if flagged[row]]
    return dict(zip(some, suspects(some), strict=True)) if some else {}


def _known(p_values: Floats | None, place: Any) -> float | None:
    """A row that was in the fit has no p-value."""
    return None if p_values is None or np.isnan(p_values[place]) else float(p_values[place])


def place_of(origin: Origin, row: int) -> dict[str, Any]:
    """Where a row stands: its file if there are several, its line (or row of a sheet) if the file has lines."""
    file = origin.file_of_row[row]
    place: dict[str, Any] = {"file": origin.files[file]} if len(origin.files) > 1 else {}
    if origin.has_lines:
        place["line"] = origin.line(row)
    return place
