"""Which other outputs the model of an output sees: its parents beside the inputs.

A new kind of parents is one class here and one line in :mod:`amiss.models.registry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.ties import NO_TIES, Ties, find_ties


class Parents(Protocol):
    """Says which outputs each model may see."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def ordered(self) -> bool:
        """Whether an order of the outputs says who sees whom."""

    def ties(self, Y: Floats) -> Ties:
        """The outputs whose ties are minded, in the outputs of a table."""

    def visible(self, n_outputs: int, order: Sequence[int] | None, ties: Ties = NO_TIES) -> Mask:
        """``[j, i]`` says whether the model of output i may see output j."""


class Heedless:
    """Minds no ties: what the paper does."""

    def ties(self, Y: Floats) -> Ties:
        return NO_TIES


@dataclass(frozen=True)
class Untied:
    """Every model sees all other outputs but those of its class: a one-hot column gives the others away."""

    name: str = "untied"
    description: str = "all other outputs, but not those of the same class (one-hot columns)"
    ordered: bool = False

    def ties(self, Y: Floats) -> Ties:
        return find_ties(Y)

    def visible(self, n_outputs: int, order: Sequence[int] | None, ties: Ties = NO_TIES) -> Mask:
        return ties.visible(n_outputs)


@dataclass(frozen=True)
class Others(Heedless):
    """Every model sees all other outputs."""

    name: str = "others"
    description: str = "all other outputs"
    ordered: bool = False

    def visible(self, n_outputs: int, order: Sequence[int] | None, ties: Ties = NO_TIES) -> Mask:
        return ~np.eye(n_outputs, dtype=bool)


@dataclass(frozen=True)
class Chain(Heedless):
    """The model of an output sees those before it in an order.

    >>> Chain().visible(3, [2, 0, 1]).astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]])
    """

    name: str = "chain"
    description: str = "those before it in the order"
    ordered: bool = True

    def visible(self, n_outputs: int, order: Sequence[int] | None, ties: Ties = NO_TIES) -> Mask:
        place = np.argsort(np.arange(n_outputs) if order is None else np.asarray(order))
        return place[:, None] < place[None, :]


@dataclass(frozen=True)
class InputsOnly(Heedless):
    """No model sees another output."""

    name: str = "none"
    description: str = "none"
    ordered: bool = False

    def visible(self, n_outputs: int, order: Sequence[int] | None, ties: Ties = NO_TIES) -> Mask:
        return np.zeros((n_outputs, n_outputs), dtype=bool)
