"""What the user asked of the models."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from amiss.encoding.scalings.base import Scaling
from amiss.errors import DataError, quoted
from amiss.models.classifiers import ClassifierLearner
from amiss.models.kinds import ModelKind
from amiss.models.learner import Learner
from amiss.models.logistic.fit import LogisticLearner
from amiss.models.parents import Parents

UNSCALED = "none"
STRENGTHS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01)


@dataclass(frozen=True)
class ModelSettings:
    """How inputs are encoded and the models of the outputs are fitted; checked when it is made.

    ``scaling`` is None where it is to be chosen by log-loss. ``model`` is a kind of model, or a classifier of the
    user's that takes its place; ``time_budget`` is for the kind that tries others.
    ``out_of_fold`` says whether log-odds by models that did not see a row are needed, ``inputs_alone`` whether
    those given the inputs alone are.
    """

    scaling: Scaling | None
    parents: Parents
    order: tuple[str | int, ...] | None
    strengths: tuple[float, ...]
    parent_penalty: float
    cv: int
    model: ModelKind | Any
    time_budget: float
    out_of_fold: bool
    inputs_alone: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.cv, Integral) or not 2 <= self.cv <= 100:
            got, instead = repr(self.cv), ""
            if hasattr(self.cv, "split") or isinstance(self.cv, Iterable):
                got = type(self.cv).__name__  # folds may be long lists of rows
                instead = (
                    "; folds are dealt for each output by itself, so they cannot be given: name the rows that "
                    "belong together instead (fit(X, Y, groups=…))"
                )
            raise ValueError(f"cv must be a whole number between 2 and 100; got {got}{instead}")
        if self.order is not None and not self.parents.ordered:
            raise ValueError(f"order is for parents='chain'; parents is {self.parents.name!r}")
        if self.order is not None:
            object.__setattr__(self, "order", listed_outputs(self.order, "order"))
        object.__setattr__(self, "strengths", _checked_strengths(self.strengths))
        if not (isinstance(self.parent_penalty, Real) and 1e-6 <= self.parent_penalty <= 1e6):
            raise ValueError(f"parent_penalty must be between 1e-6 and 1e6; got {self.parent_penalty!r}")
        if not (isinstance(self.time_budget, Real) and 0 <= self.time_budget <= 1e9):
            raise ValueError(f"time_budget must be a number of seconds, at least 0; got {self.time_budget!r}")

    @property
    def learner(self) -> Learner:
        """What fits the models, of the kind that is asked for."""
        if self.is_estimator:
            return ClassifierLearner(self.model, self.linear)
        return self.model.learner(self.linear, self.time_budget)

    @property
    def linear(self) -> LogisticLearner:
        """What fits linear models."""
        return LogisticLearner(self.strengths, self.parent_penalty)

    @property
    def is_estimator(self) -> bool:
        """Whether the user brings a classifier."""
        return hasattr(self.model, "predict_proba")

    @property
    def shows_as_given(self) -> bool:
        """Whether a classifier of the user's is shown the inputs as they came."""
        return self.is_estimator and (self.scaling is None or self.scaling.name == UNSCALED)

    @property
    def needs_folds(self) -> bool:
        """Folds give out-of-fold log-odds, and choose between several strengths."""
        return self.out_of_fold or self.learner.needs_folds

    def output_order(self, names: tuple[str, ...]) -> list[int] | None:
        """The chain's order as positions of outputs."""
        if self.order is None:
            return None
        positions = positions_of(self.order, names, "order")
        if sorted(positions) != list(range(len(names))):
            raise DataError(f"order must name each of the {len(names)} outputs once")
        return positions


def _checked_strengths(strengths: Any) -> tuple[float, ...]:
    found = tuple(strengths) if isinstance(strengths, Iterable) else ()
    if not found or not all(isinstance(each, Real) and 1e-30 <= float(each) <= 1e30 for each in found):
        raise ValueError(
            f"strengths must be a list of numbers between 1e-30 and 1e30, at least one; got {strengths!r}"
        )
    return found


def listed_outputs(chosen: Any, parameter: str) -> tuple[str | int, ...]:
    """The outputs that a user lists, each by its name or its number."""
    try:
        if not isinstance(chosen, str):
            return tuple(item if isinstance(item, str) else operator.index(item) for item in chosen)
    except TypeError:
        pass
    raise ValueError(f"{parameter} must be a list of output names or numbers; got {chosen!r}")


def positions_of(chosen: Sequence[str | int], names: tuple[str, ...], parameter: str) -> list[int]:
    """Positions of the outputs that ``chosen`` lists by name or number."""
    place = {name: position for position, name in enumerate(names)}
    result = []
    for item in chosen:
        position = place.get(item, -1) if isinstance(item, str) else item
        if not 0 <= position < len(names):
            raise DataError(f"{parameter} names {quoted(item)}, which is not an output")
        result.append(position)
    return result
