"""Weightings: what a weight of the paper's scores is the inverse of.

A new weighting is one class here and one line in :mod:`amiss.scoring.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from amiss.arrays import Floats

SMALLEST_ERROR = 1e-9


class Weighting(Protocol):
    """From errors eps = 1 - rho to a weight: what is averaged, and how the mean is inverted."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def averaged(self, errors: Floats) -> Floats: ...

    def inverted(self, means: Floats) -> Floats: ...


def inverse(means: Floats) -> Floats:
    """1 / mean; a mean below ``SMALLEST_ERROR`` counts as that, so a weight is finite."""
    return 1.0 / np.maximum(means, SMALLEST_ERROR)


@dataclass(frozen=True)
class MeanError:
    """The paper's weight."""

    name: str = "error"
    description: str = "the mean error (the paper's)"

    def averaged(self, errors: Floats) -> Floats:
        return errors

    def inverted(self, means: Floats) -> Floats:
        return inverse(means)


@dataclass(frozen=True)
class SquareRoot(MeanError):
    """The square root of the paper's weight, which is gentler with rare outputs."""

    name: str = "sqrt"
    description: str = "the square root of the mean error"

    def inverted(self, means: Floats) -> Floats:
        return np.sqrt(inverse(means))


@dataclass(frozen=True)
class Brier:
    """The mean squared error, which the paper argues against."""

    name: str = "brier"
    description: str = "the mean squared error"

    def averaged(self, errors: Floats) -> Floats:
        return errors**2

    def inverted(self, means: Floats) -> Floats:
        return inverse(means)
