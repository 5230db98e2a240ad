"""The model of one target: a centre and a spread for every row.

Two learners share the work: a forest on the target, and a linear model with a forest on its errors. A target that
tells nothing has neither, and its median is the centre of every row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.numbers.columns import dense_columns
from amiss.models.numbers.forest import Forest
from amiss.models.numbers.linear import Line

DENSE_ROWS = 1 << 14  # of the design that are made dense at a time


@dataclass(frozen=True, eq=False)
class NumberModel:
    """Predicts one number, or a count.

    Attributes
    ----------
    columns : (n_chosen,) the columns of the design that the learners see
    share : of the linear model with its forest in centre and spread: 0, 1/2 or 1
    plain : the forest on the target, unless its share is 0
    line : the linear model, unless its share is 0
    residual : the forest on its errors, unless its share is 0
    in_bag : (n_trees, n_rows) which trees saw which training row; those of both forests saw the same
    median : the median of the target, the centre where there is no learner
    usual_spread : the mean spread of the training rows out of bag
    least_spread : no spread is smaller; above 0
    whole : whether the target counts something, and cannot be negative
    """

    columns: Rows
    share: float
    plain: Forest | None
    line: Line | None
    residual: Forest | None
    in_bag: Mask
    median: float
    usual_spread: float
    least_spread: float
    whole: bool

    def __repr__(self) -> str:
        target = "count" if self.whole else "number"
        return f"<NumberModel of a {target}: {f'linear share {self.share:g}' if self.learns else 'no learner'}>"

    @property
    def learns(self) -> bool:
        """Whether there is any learner."""
        return self.plain is not None or self.line is not None

    def predict(self, Z: Matrix, rows: Rows | None = None, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        """The centre and the spread of every row, each ``(n_rows,)``.

        ``rows`` are the positions of the rows among the training rows. They are judged by the trees and the linear
        model that did not see them, also where ``Z`` differs from what was seen. Without ``rows``, all are new.
        """
        centre, spread = np.full(Z.shape[0], self.median), np.full(Z.shape[0], self.usual_spread)
        for block in _dense_blocks(Z.shape[0]) if self.learns else ():
            X = dense_columns(Z, self.columns, block)
            centre[block], spread[block] = self._judged(X, None if rows is None else rows[block], n_jobs)
        return centre, np.maximum(0.5 * spread + 0.5 * self.usual_spread, self.least_spread)

    def without_rows(self) -> NumberModel:
        """The same for new rows only."""
        line = None if self.line is None else self.line.without_rows()
        return replace(self, line=line, in_bag=self.in_bag[:, :0])

    def _judged(self, X: Floats, rows: Rows | None, n_jobs: int | None) -> tuple[Floats, Floats]:
        apart = None if rows is None else self.in_bag[:, rows]
        found = []
        if self.plain is not None:
            found.append(self.plain.distribution(X, apart, n_jobs))
        if self.line is not None and self.residual is not None:
            centre, spread = self.residual.distribution(X, apart, n_jobs)
            found.append((centre + self.line.predict(X, rows), spread))
        return mixed(found[0], found[-1], self.share, self.whole)


def mixed(
    plain: tuple[Floats, Floats], linear: tuple[Floats, Floats], share: float, whole: bool
) -> tuple[Floats, Floats]:
    """Centres and spreads of two learners as one, with the ``share`` of the second; no count is negative."""
    centre, spread = ((1 - share) * first + share * second for first, second in zip(plain, linear, strict=True))
    return np.maximum(centre, 0.0) if whole else centre, spread


def _dense_blocks(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, DENSE_ROWS):
        yield slice(start, min(start + DENSE_ROWS, n_rows))
