"""What a report is made from: the rows of a fit, or a batch of new rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from amiss.data.table import Table
from amiss.decisions.decision import Decision
from amiss.explanations.explanation import Explanation
from amiss.fitted import FittedDetector
from amiss.monitoring.batch import ScoredBatch
from amiss.output.report.pictures import Picture
from amiss.scoring.rows import ScoredRows

DETAILED_ROWS = 200


@dataclass(frozen=True)
class Material:
    """A fit, its rows as they came, and what they are called; or the same of a ``batch``.

    ``shown`` are columns of the table that stand beside each row: by name, a text per row.
    """

    fitted: FittedDetector
    X: Table
    ids: tuple[str, ...] | None = None
    pictures: Sequence[Picture] | None = None
    n_details: int = DETAILED_ROWS
    batch: ScoredBatch | None = None
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def rows(self) -> ScoredRows:
        return self.fitted.training_rows if self.batch is None else self.batch.rows

    @property
    def decision(self) -> Decision:
        return self.fitted.decision if self.batch is None else self.batch.decision

    def explanations(self, numbers: list[int]) -> Iterator[Explanation]:
        """Why these rows have their scores."""
        if self.batch is None:
            yield from self.fitted.explainer.training_rows(numbers)
            return
        batch, fitted = self.batch, self.fitted
        explained = fitted.explainer.new_rows(batch.encoded, batch.rows, numbers)
        for number, explanation in zip(numbers, explained, strict=True):
            is_new, p_value = bool(batch.rows.is_new[number]), None
            judged = is_new or batch.decision.level is None  # a level judges new rows only
            if is_new and fitted.calibration is not None:
                p_value = float(fitted.calibration.p_values(batch.scores[[number]])[0])
            yield replace(
                explanation,
                threshold=batch.threshold if judged else fitted.decision.threshold,
                flagged=bool(np.asarray(batch.flagged)[number]),
                p_value=p_value,
            )

    def suspects(self, numbers: list[int]) -> Iterator[list[int]]:
        """The suspicious outputs of these rows, in the order of their explanations."""
        if self.batch is None:
            return self.fitted.explainer.suspects_of_training(numbers)
        return self.fitted.explainer.suspects_of_new(self.batch.encoded, self.batch.rows, numbers)
