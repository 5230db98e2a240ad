"""The rank of a number among the values of its column: stored at some values (knots), interpolated between them.

A rank is the share of the column's values that are lower, with equal values counted half, so it lies
between 0 and 1. The knots of all columns are stored in one array, so that a single row is looked up in
all columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask

MOST_KNOTS = 256  # per column
FEW_ROWS = 32  # up to this many rows, searching all columns at once is faster than column by column

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranks:
    """The knots of the columns of a matrix, column after column; a column without knots is not ranked."""

    at: Floats  # (n_knots,), the values, ascending within a column
    rank: Floats  # (n_knots,), the rank of each
    counts: Places  # (n_columns,), how many knots each column has

    def __call__(self, values: Floats) -> Floats:
        """``values``, ``(n_rows, n_columns)``, with each value of a ranked column replaced by its rank.

        A value outside the knots gets the rank of the nearest knot. Columns without knots stay as they are.

        >>> Ranks.of(np.array([[7.0, 1.0], [5.0, 2.0], [5.0, 3.0], [9.0, 4.0]]), np.array([True, False]))(
        ...     np.array([[6.0, -1.0], [0.0, 8.0]])
        ... )
        array([[ 0.4375, -1.    ],
               [ 0.25  ,  8.    ]])
        """
        ranked = np.flatnonzero(self.counts)
        if len(ranked) == 0:
            return values
        result = np.array(values)
        last = np.cumsum(self.counts)[ranked] - 1
        first = last - self.counts[ranked] + 1
        if len(values) <= FEW_ROWS:
            result[:, ranked] = self._interpolated(values[:, ranked], first, last)
        else:
            for column, start, end in zip(ranked, first, last, strict=True):
                result[:, column] = self._interpolated(values[:, column], start, end)
        return result

    def _interpolated(self, values: Floats, first: Places, last: Places) -> Floats:
        """Like ``np.interp``, but safe for knots of any magnitude: no slope overflows."""
        values = np.clip(values, self.at[first], self.at[last])
        below = np.maximum(np.minimum(self._reached(values, first, last), last - 1), first)
        above = np.minimum(below + 1, last)
        low, high = self.at[below], self.at[above]
        size = np.maximum(np.abs(low), np.abs(high))
        size = np.where(size > 0, size, 1.0)
        width = high / size - low / size
        share = (values / size - low / size) / np.where(width > 0, width, 1.0)
        return np.asarray(self.rank[below] + share * (self.rank[above] - self.rank[below]))

    def _reached(self, values: Floats, first: Places, last: Places) -> Places:
        """The last knot at or below each value; a matrix is searched by bisection, all columns at once."""
        if values.ndim == 1:
            return first - 1 + np.searchsorted(self.at[first : last + 1], values, "right")
        low, high = np.broadcast_to(first, values.shape), np.broadcast_to(last, values.shape)
        for _ in range(int((last - first).max()).bit_length()):
            middle = (low + high + 1) // 2
            reached = self.at[middle] <= values
            low, high = np.where(reached, middle, low), np.where(reached, high, middle - 1)
        return low

    def of_columns(self, some: slice, single: bool) -> Ranks:
        """The ranks of neighbouring columns, whose values perhaps came in ``single`` precision."""
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        knots = slice(ends[some.start], ends[some.stop])
        kind = SingleRanks if single else Ranks
        return kind(self.at[knots], self.rank[knots], self.counts[some])

    @classmethod
    def none(cls, n_columns: int) -> Ranks:
        """No column is ranked."""
        return cls(np.empty(0), np.empty(0), np.zeros(n_columns, dtype=np.int64))

    @classmethod
    def of(cls, values: Floats, where: Mask) -> Ranks:
        """The ranks of the columns ``where`` of ``values``, ``(n_rows, n_columns)``; nothing may be missing."""
        knots = [
            _knots(column) if wanted else (np.empty(0),) * 2
            for column, wanted in zip(values.T, where, strict=True)
        ]
        at, rank = (np.concatenate([np.empty(0), *parts]) for parts in zip(*knots, strict=True))
        return cls(at, rank, np.array([len(each) for each, _ in knots], dtype=np.int64))


class SingleRanks(Ranks):
    """The same for values that came in single precision: in double precision no slope between them overflows."""

    def _interpolated(self, values: Floats, first: Places, last: Places) -> Floats:
        if values.ndim > 1:
            return super()._interpolated(values, first, last)
        knots, order = slice(first, last + 1), np.argsort(values)
        result = np.empty_like(values)
        result[order] = np.interp(values[order], self.at[knots], self.rank[knots])  # in order it is far faster
        return result


def _knots(values: Floats) -> tuple[Floats, Floats]:
    """Some values of a column, evenly spaced in its sorted order, and the rank of each.

    >>> [array.tolist() for array in _knots(np.array([7.0, 5.0, 5.0, 9.0]))]
    [[5.0, 7.0, 9.0], [0.25, 0.625, 0.875]]
    """
    ordered = np.sort(values)
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), MOST_KNOTS)).round().astype(np.intp)
    knots = np.unique(ordered[places])
    below, upto = (np.searchsorted(ordered, knots, side) for side in ("left", "right"))
    return knots, (below + upto) / (2 * len(ordered))
