"""Models fitted once, and their rows scored in several ways: rules compare on the same models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.columns import Columns
from amiss.data.output_kinds import Asked
from amiss.data.predictions import given_columns
from amiss.data.row_roles import as_groups
from amiss.data.table import Table
from amiss.models.fitting import FitResult, fit_models
from amiss.scoring.neighborhood import Neighborhood
from amiss.scoring.registry import RULES
from amiss.scoring.settings import ScoringSettings
from amiss.scoring.training import ScoredFit, TrainingLogOdds, neighborhood_of, score_training_rows
from amiss.settings import Settings


@dataclass(frozen=True, eq=False)
class Subject:
    """A table to make errors in, with the inputs that are given log-odds and the rows that belong together.

    ``given`` and ``groups`` are as in :func:`amiss.models.fitting.fit_models`.
    """

    inputs: Table
    outputs: Table
    given: tuple[int, ...] = ()
    groups: Rows | None = None

    @classmethod
    def of(
        cls, X: Any, Y: Any, probabilities: Any = None, groups: Any = None, kinds: Asked | None = None
    ) -> Subject:
        """A table as a user gives it; ``kinds`` are what is said of outputs whose cells do not tell."""
        columns, inputs, outputs = Columns.of(X, Y, probabilities, kinds)
        return cls(inputs, outputs, columns.given, None if groups is None else as_groups(groups, len(outputs)))

    def __len__(self) -> int:
        return len(self.outputs)

    def take(self, rows: Rows) -> Subject:
        """Some of the rows."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        return replace(self, inputs=self.inputs.take(rows), outputs=self.outputs.take(rows), groups=groups)

    def select(self, inputs: Sequence[int], outputs: Sequence[int]) -> Subject:
        """Some of the columns; given log-odds go with their outputs."""
        given = self._given(outputs) if self.given else ()
        kept = [column for column in inputs if column not in self.given or column in given]
        places = tuple(kept.index(column) for column in given)
        chosen = self.inputs.select(kept), self.outputs.select(list(outputs))
        return Subject(*chosen, places, self.groups)

    def _given(self, outputs: Sequence[int]) -> tuple[int, ...]:
        if not self.outputs.kinds:
            return tuple(self.given[output] for output in outputs)
        chosen = given_columns(self.inputs.names, [self.outputs.kinds[output] for output in outputs])
        return tuple(dict.fromkeys(place for each in chosen for place in each))

    def with_outputs(self, values: Floats) -> Subject:
        """The same with other values of the outputs."""
        return replace(self, outputs=replace(self.outputs, values=values))


class OneFit:
    """The models of some settings on a table.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> table = (Table(X, ("a", "b")), Table((X > 0).astype(float), ("c", "d")))
    >>> one = OneFit(Settings.of(n_neighbors=20), Subject(*table))
    >>> [one.scored(rule=rule).rows.scores.shape for rule in RULES.values()]
    [(60,), (60,), (60,), (60,), (60,)]
    """

    def __init__(self, settings: Settings, subject: Subject) -> None:
        self.settings, self.outputs = settings, subject.outputs.names
        self.result: FitResult = fit_models(
            subject.inputs,
            subject.outputs,
            settings.models,
            seed=settings.seed,
            n_jobs=settings.n_jobs,
            given=subject.given,
            groups=subject.groups,
        )

    @cached_property
    def neighborhood(self) -> Neighborhood | None:
        """Who is near whom, if the settings want neighbours at all."""
        local: ScoringSettings = replace(self.settings.scoring, rule=RULES["lrw"])
        return neighborhood_of(self.result.models, local, self.settings.n_jobs, verbose=False)

    def scored(self, **changes: Any) -> ScoredFit:
        """The rows, with ``changes`` to the settings of scoring: another rule, weighting or share, say."""
        scoring: ScoringSettings = replace(self.settings.scoring, **changes)
        return score_training_rows(
            self.result.models,
            TrainingLogOdds.of(self.result, scoring),
            self.outputs,
            scoring,
            self.neighborhood if scoring.uses_neighbors else None,
            n_jobs=self.settings.n_jobs,
        )
