"""Kinds of model that a user can ask for by name.

A new kind is a :class:`~amiss.models.conditional.ConditionalModel`, a :class:`~amiss.models.learner.Learner` that
fits it, a class here, and one line in :mod:`amiss.models.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from amiss.models.boosting.fit import BoostingLearner
from amiss.models.choice import AutoLearner
from amiss.models.learner import Learner
from amiss.models.logistic.fit import LogisticLearner


class ModelKind(Protocol):
    """Gives the learner of one kind of model."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """A phrase for the help of --model."""

    def learner(self, linear: LogisticLearner, time_budget: float, /) -> Learner:
        """What fits such models; ``linear`` is what fits linear ones, as the other parameters ask for it."""


@dataclass(frozen=True)
class Linear:
    """Logistic regressions."""

    name: str = "linear"
    description: str = "logistic regressions"

    def learner(self, linear: LogisticLearner, time_budget: float) -> Learner:
        return linear


@dataclass(frozen=True)
class Boosting:
    """Gradient-boosted trees."""

    name: str = "boosting"
    description: str = "gradient-boosted trees"

    def learner(self, linear: LogisticLearner, time_budget: float) -> Learner:
        return BoostingLearner()


@dataclass(frozen=True)
class Auto:
    """Either, or an average of both, for each output by itself."""

    name: str = "auto"
    description: str = "for each output the one that predicts better, or an average of both"

    def learner(self, linear: LogisticLearner, time_budget: float) -> Learner:
        return AutoLearner(linear, time_budget)
