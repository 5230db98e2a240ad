"""Models fitted once, and their rows scored in several ways: rules compare on the same models."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from amiss.data.table import Table
from amiss.models.fitting import FitResult, fit_models
from amiss.scoring.neighborhood import Neighborhood
from amiss.scoring.registry import RULES
from amiss.scoring.settings import ScoringSettings
from amiss.scoring.training import ScoredFit, TrainingLogOdds, neighborhood_of, score_training_rows
from amiss.settings import Settings


class OneFit:
    """The models of some settings on a table.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> table = (Table(X, ("a", "b")), Table((X > 0).astype(float), ("c", "d")))
    >>> one = OneFit(Settings.of(n_neighbors=20), *table)
    >>> [one.scored(rule=rule).rows.scores.shape for rule in RULES.values()]
    [(60,), (60,), (60,), (60,), (60,)]
    """

    def __init__(self, settings: Settings, inputs: Table, outputs: Table) -> None:
        self.settings, self.outputs = settings, outputs.names
        self.result: FitResult = fit_models(
            inputs, outputs, settings.models, seed=settings.seed, n_jobs=settings.n_jobs
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
