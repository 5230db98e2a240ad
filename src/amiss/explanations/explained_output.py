"""What is said about one output of an explained row, and the grounds of its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from amiss.arrays import Floats
from amiss.data.output_kinds import BINARY, OutputColumn, Value

Direction = Literal["commission", "omission", "other", "high", "low"]

MOST_TERMS = 10


@dataclass(frozen=True)
class Term:
    """What one column adds to the log-odds of an output being 1, against the average row."""

    name: str
    kind: Literal["input", "output"]
    log_odds: float


@dataclass(frozen=True, eq=False)
class Grounds:
    """The log-odds of an output being 1, taken apart: ``average + sum(inputs) + sum(outputs)``.

    ``average`` is what the average training row has; ``inputs`` and ``outputs`` are what each column
    of the row adds to it, in the order of the names. (The levels of a category, and whether a cell is
    missing, count as one column.)
    """

    log_odds: float
    average: float
    inputs: Floats = field(repr=False)
    outputs: Floats = field(repr=False)
    input_names: tuple[str, ...] = field(repr=False)
    output_names: tuple[str, ...] = field(repr=False)

    def largest(self, at_most: int | None = None) -> tuple[Term, ...]:
        """The columns that add or take most, largest first; those that add nothing are left out."""
        terms = np.concatenate([self.inputs, self.outputs])
        chosen = np.argsort(-np.abs(terms), kind="stable")[:at_most]
        return tuple(self._term(int(column), float(terms[column])) for column in chosen if terms[column] != 0)

    def _term(self, column: int, log_odds: float) -> Term:
        n_inputs = len(self.input_names)
        if column < n_inputs:
            return Term(self.input_names[column], "input", log_odds)
        return Term(self.output_names[column - n_inputs], "output", log_odds)

    def to_dict(self, n_terms: int = MOST_TERMS) -> dict[str, Any]:
        return {
            "log_odds": self.log_odds,
            "average": self.average,
            "inputs": float(self.inputs.sum()),
            "outputs": float(self.outputs.sum()),
            "largest": [
                {"name": term.name, "kind": term.kind, "log_odds": term.log_odds} for term in self.largest(n_terms)
            ],
        }


@dataclass(frozen=True, eq=False)
class ExplainedOutput:
    """One output of an explained row.

    Attributes
    ----------
    observed : the value that stands there
    probability : the model's probability of that value; of a number, of one as far out
    chance_of_one : the model's probability of a 1; None for outputs of other kinds
    direction : "commission" if it is 1 and unexpected, "omission" if it is 0 and 1 is expected, "other" for a
        class where another one is expected, "high" or "low" for a number or a grade; None if it is not unlikely
    expected : the more probable value
    kind : the kind of the output
    instead : the value it should have if the observed one is wrong
    interval : between which values a number is expected; None for outputs of other kinds
    chances : the probability of each level, of the likeliest and the observed one, likeliest first; empty for
        outputs without levels. The models take rare levels as one, so the level that stands for these has the
        probability of them all
    contribution : what the output adds to the score; the contributions of all outputs add up to it
    share_of_score : the same as a share of the score
    weight : its weight in the score
    score_if_changed : the row's score if this output had the value ``instead``; None where that is not known,
        or the contribution is small
    probability_if_first_changed : the probability of the observed value if the first suspect had its other
        value; None for that one, and where it is not known
    neighbors_alike, neighbors_known : of the neighbours that show this output, how many have the same value
    predictable : whether the models say more of this output than how common it is
    grounds : why the model expects what it expects; None where that is not known, or the contribution is small
    """

    output: str
    observed: Value
    probability: float
    chance_of_one: float | None
    direction: Direction | None
    expected: Value
    contribution: float
    share_of_score: float
    weight: float
    score_if_changed: float | None = None
    probability_if_first_changed: float | None = None
    neighbors_alike: int | None = None
    neighbors_known: int | None = None
    grounds: Grounds | None = None
    predictable: bool = True
    kind: str = BINARY.name
    instead: Value = None
    interval: tuple[float, float] | None = None
    chances: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_tag(self) -> bool:
        return self.kind == BINARY.name

    def to_dict(self, n_terms: int = MOST_TERMS) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "grounds"}
        return plain | {
            "chances": dict(self.chances),
            "grounds": None if self.grounds is None else self.grounds.to_dict(n_terms),
        }


def direction_of(column: OutputColumn, value: float, instead: float) -> Direction:
    """In which way a value is off, if another should stand there."""
    if column.kind is BINARY:
        return "commission" if value else "omission"
    if column.kind.has_levels and not column.kind.ordered:
        return "other"
    return "high" if value > instead else "low"
