"""Spaces: where rows are near one another.

A new space is one class here and one line in :mod:`amiss.scoring.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from amiss.arrays import Floats, Matrix
from amiss.encoding.joint import joint


class NeighborSpace(Protocol):
    """Gives the points whose distances count; ``description`` says in a sentence what rows are near in."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def has_outputs(self) -> bool:
        """Whether a row with another output is at another place."""

    def of(self, design: Matrix, filled: Floats, /) -> Matrix:
        """The points of rows, by their encoded inputs and their outputs."""


@dataclass(frozen=True)
class Joint:
    """Inputs and outputs."""

    name: str = "joint"
    description: str = "inputs and outputs"
    has_outputs: bool = True

    def of(self, design: Matrix, filled: Floats) -> Matrix:
        return joint(design, filled)


@dataclass(frozen=True)
class InputsAlone:
    """Inputs, whatever the outputs are."""

    name: str = "inputs"
    description: str = "its inputs"
    has_outputs: bool = False

    def of(self, design: Matrix, filled: Floats) -> Matrix:
        return design
