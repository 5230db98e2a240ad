"""Near copies: rows that differ from a row of the fit by no more than rounding.

A table that was written with fewer digits, or in single precision, no longer has the fingerprints of its
rows; the models have seen them all the same. Rows with the same outputs are laid out along a random direction,
where those that differ little lie side by side, and only these are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, is_single, product, row_blocks
from amiss.data.fingerprints import Fingerprints, fingerprints
from amiss.encoding.encoded_rows import EncodedRows

ROUNDING = 1e-3  # of the standard deviation, on average over columns
WIDE = 4.0  # how far apart near copies may lie along the direction, in standard deviations
SAMPLE = 5000
TOO_NEAR = 0.01  # below this probability, the number of near rows is not put down to chance
MOST_COMPARED = 2000  # rows of a batch
MOST_NEAR = 50  # rows along the direction that a row is compared with


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Rows of a fit, each at a ``key``: the number of its outputs' group, and how far it lies along a direction.

    Keys rise, and the direction takes up less than half of the room between two groups.
    """

    design: Matrix
    direction: Floats
    groups: Fingerprints
    start: float
    unit: float
    keys: Floats
    order: npt.NDArray[np.intp]
    tolerance: float

    @classmethod
    def of(cls, design: Matrix, Y: Floats) -> NearCopies:
        direction = np.random.default_rng(0).normal(size=design.shape[1])
        along = product(design, direction)
        groups, number = np.unique(fingerprints(Y, 0), return_inverse=True)
        start, unit = float(along.min()), float(np.ptp(along)) * 2.5 or 1.0
        keys = number + (along - start) / unit
        order = np.argsort(keys, kind="stable")
        tolerance = ROUNDING * float(np.sqrt(_spread(design)))
        return cls(design, direction, groups, start, unit, keys[order], order, tolerance)

    def among(self, design: Matrix, Y: Floats) -> Mask:
        """Which rows look like one of the fit."""
        along, outputs = product(design, self.direction), fingerprints(Y, 0)
        number = np.minimum(np.searchsorted(self.groups, outputs), len(self.groups) - 1)
        keys = number + np.clip((along - self.start) / self.unit, -0.2, 0.6)
        known = self.groups[number] == outputs
        found = np.zeros(len(keys), dtype=bool)
        for row, near in self._near(np.where(known, keys, np.inf)):
            found[row] = (self._apart(near, design[[row]]) <= self.tolerance).any()
        return found

    def estimated(self, rows: EncodedRows, new: npt.NDArray[np.intp]) -> int:
        """How many of the ``new`` rows differ from one of the fit by rounding; 0 if as many may by chance."""
        if not len(new):
            return 0
        some = new[np.unique(np.linspace(0, len(new) - 1, min(MOST_COMPARED, len(new))).astype(np.intp))]
        alike = int(self.among(rows.design[some], rows.Y[some]).sum())
        if not alike:
            return 0
        from scipy.stats import betabinom  # takes half a second to import

        by_nature, compared = self.by_nature
        # As many near rows may occur in any such table; how often they do is estimated from rows of the fit.
        if betabinom.sf(alike - 1, len(some), by_nature + 0.5, compared - by_nature + 0.5) > TOO_NEAR:
            return 0
        return round(alike * len(new) / len(some))

    @cached_property
    def by_nature(self) -> tuple[int, int]:
        """In a sample of training rows, how many lie within rounding of a different row; and the sample's size."""
        n_rows = len(self.order)
        some = np.unique(np.linspace(0, n_rows - 1, min(SAMPLE, n_rows)).astype(np.intp))
        alike = 0
        for number, near in self._near(self.keys[some]):
            apart = self._apart(near, self.design[[self.order[some[number]]]])
            alike += bool(((apart > 0) & (apart <= self.tolerance)).any())
        return alike, len(some)

    def _near(self, keys: Floats) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
        """Each of ``keys`` that has rows of the fit beside it, with these; of many, the nearest."""
        reach = WIDE * self.tolerance / self.unit
        first, last = np.searchsorted(self.keys, keys - reach), np.searchsorted(self.keys, keys + reach)
        here = np.searchsorted(self.keys, keys)
        first, last = np.maximum(first, here - MOST_NEAR // 2), np.minimum(last, here + MOST_NEAR // 2)
        for row in np.flatnonzero(last > first):
            yield int(row), self.order[first[row] : last[row]]

    def _apart(self, near: npt.NDArray[np.intp], row: Matrix) -> Floats:
        """How far rows of the fit are from a row."""
        rows = self.design[near]
        if not sparse.issparse(rows):
            return np.sqrt(((rows - row) ** 2).sum(axis=1))
        squares = np.ravel(rows.multiply(rows).sum(axis=1)) + row.multiply(row).sum()
        return np.sqrt(np.maximum(squares - 2 * np.ravel((rows @ row.T).toarray()), 0.0))


def _spread(design: Matrix) -> float:
    """The variances of all columns together."""
    n_rows = max(1, design.shape[0])
    mean = np.ravel(np.asarray(design.sum(axis=0, dtype=np.float64))) / n_rows
    if is_single(design):
        squares = sum(float(np.square(design[rows], dtype=np.float64).sum()) for rows in row_blocks(n_rows))
    else:
        cells = design.data if sparse.issparse(design) else np.ravel(design)
        squares = float(cells @ cells)
    return max(0.0, squares / n_rows - float(mean @ mean))
