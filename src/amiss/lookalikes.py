"""Rows that differ from a row of the fit by no more than rounding.

A table that was written with fewer digits, or in single precision, no longer has the fingerprints of its
rows; the models have seen them all the same. Rows with the same outputs are laid out along a random direction,
where those that differ little lie side by side, and only these are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.canonical import Fingerprints, fingerprints
from amiss.table import Floats, Mask, Matrix

ROUNDING = 1e-3  # of the standard deviation, on average over columns
WIDE = 4.0  # standard deviations of what a difference as large comes to along a random direction
SAMPLE = 500


@dataclass(frozen=True)
class Lookalikes:
    """Rows of a fit, ordered by their outputs and then along a ``direction``."""

    design: Matrix
    direction: Floats
    outputs: Fingerprints  # of each row in that order, rising
    along: Floats
    order: npt.NDArray[np.intp]
    tolerance: float

    @classmethod
    def of(cls, design: Matrix, Y: Floats) -> Lookalikes:
        n_columns = design.shape[1]
        direction = np.random.default_rng(0).normal(size=n_columns)
        outputs, along = fingerprints(Y, 0), np.asarray(design @ direction)
        order = np.lexsort((along, outputs))
        tolerance = ROUNDING * float(np.sqrt(_spread(design)))
        return cls(design, direction, outputs[order], along[order], order, tolerance)

    def among(self, design: Matrix, Y: Floats) -> Mask:
        """Which rows look like one of the fit."""
        outputs, along = fingerprints(Y, 0), np.asarray(design @ self.direction)
        rows = range(design.shape[0])
        return np.array([(self._apart(design[[row]], outputs[row], along[row]) >= 0).any() for row in rows], bool)

    def usual_share(self) -> float:
        """How many rows of the fit look like another that is no copy of theirs: they lie so near by nature."""
        n_rows = len(self.order)
        some = np.unique(np.linspace(0, n_rows - 1, min(SAMPLE, n_rows)).astype(np.intp))
        rows = ((self.design[[self.order[at]]], self.outputs[at], self.along[at]) for at in some)
        return float(np.mean([(self._apart(*row) > 0).any() for row in rows]))

    def _apart(self, row: Matrix, outputs: np.uint64, along: float) -> Floats:
        """How far the rows of the fit are that look like a row."""
        first, last = (np.searchsorted(self.outputs, outputs, side) for side in ("left", "right"))
        reach = WIDE * self.tolerance
        start, stop = np.searchsorted(self.along[first:last], [along - reach, along + reach])
        near = self.order[first + start : first + stop]
        if not len(near):
            return np.empty(0)
        apart = self.design[near] - (sparse.vstack([row] * len(near)) if sparse.issparse(row) else row)
        squares = apart.multiply(apart) if sparse.issparse(apart) else apart**2
        distance = np.sqrt(np.ravel(np.asarray(squares.sum(axis=1))))
        return distance[distance <= self.tolerance]


def _spread(design: Matrix) -> float:
    """The variances of all columns together."""
    n_rows = max(1, design.shape[0])
    mean = np.ravel(np.asarray(design.sum(axis=0))) / n_rows
    squares = (design.multiply(design) if sparse.issparse(design) else design**2).sum()
    return max(0.0, float(squares) / n_rows - float(mean @ mean))
