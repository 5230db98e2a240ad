"""Which other outputs the model of an output sees: its parents beside the inputs.

A new kind of parents is one class here and one line in :mod:`amiss.models.registry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from amiss.arrays import Mask


class Parents(Protocol):
    """Says which outputs each model may see."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def ordered(self) -> bool:
        """Whether an order of the outputs says who sees whom."""

    def visible(self, n_outputs: int, order: Sequence[int] | None) -> Mask:
        """``[j, i]`` says whether the model of output i may see output j."""


@dataclass(frozen=True)
class Others:
    """Every model sees all other outputs."""

    name: str = "others"
    description: str = "all other outputs"
    ordered: bool = False

    def visible(self, n_outputs: int, order: Sequence[int] | None) -> Mask:
        return ~np.eye(n_outputs, dtype=bool)


@dataclass(frozen=True)
class Chain:
    """The model of an output sees those before it in an order.

    >>> Chain().visible(3, [2, 0, 1]).astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]])
    """

    name: str = "chain"
    description: str = "those before it in the order"
    ordered: bool = True

    def visible(self, n_outputs: int, order: Sequence[int] | None) -> Mask:
        place = np.argsort(np.arange(n_outputs) if order is None else np.asarray(order))
        return place[:, None] < place[None, :]


@dataclass(frozen=True)
class InputsOnly:
    """No model sees another output."""

    name: str = "none"
    description: str = "none"
    ordered: bool = False

    def visible(self, n_outputs: int, order: Sequence[int] | None) -> Mask:
        return np.zeros((n_outputs, n_outputs), dtype=bool)
