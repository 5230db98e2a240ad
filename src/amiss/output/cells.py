"""Cells: the single outputs of rows, those first that are most likely wrong. That is what a curator corrects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.models.projection import rho
from amiss.scoring.rows import ScoredRows


@dataclass(frozen=True)
class Cell:
    """One output of one row.

    Attributes
    ----------
    row : the number of the row, from 0
    output : the name of the output
    observed : the value that stands there
    suggested : the value that it should have if it is wrong
    probability : of what was observed, by the model that finds it less likely (that of the inputs and the other
        outputs, or that of the inputs alone)
    score : how suspicious it is, from 0 to 1; the order of cells is by this. By other rules than "mixture" it is
    what the
        output adds to the row's score.
    """

    row: int
    output: str
    observed: int
    suggested: int
    probability: float
    score: float


def suspicious_cells(rows: ScoredRows, n: int | None = None) -> Iterator[Cell]:
    """The ``n`` cells that are most likely wrong, most suspicious first; ties stay in the order of the table."""
    if n is not None and (not isinstance(n, Integral) or n < 0):
        raise ValueError(f"n must be a whole number, at least 0, or None; got {n!r}")
    score = cell_scores(rows)
    order = ranked_cells(score, rows, n)
    least = rows.probabilities
    if rows.views is not None:
        least = np.fmin(least, rho(rows.views.by_inputs, rows.Y))
    for place in order.tolist():
        row, output = divmod(place, rows.Y.shape[1])
        observed = int(rows.Y[row, output])
        yield Cell(
            row=row,
            output=rows.output_names[output],
            observed=observed,
            suggested=1 - observed,
            probability=float(least[row, output]),
            score=float(score[row, output]),
        )


def cell_scores(rows: ScoredRows) -> Floats:
    """How likely each output is wrong, ``(n_rows, n_outputs)``, or what it adds to the score."""
    return rows.contributions if rows.wrong is None else rows.wrong


def ranked_cells(score: Floats, rows: ScoredRows, n: int | None) -> Rows:
    """Places of cells in the flattened table, most suspicious first; those that do not count are left out."""
    counted = np.flatnonzero(rows.counted.ravel())
    values = score.ravel()[counted]
    if n is not None and n < len(values):  # sort only those that are asked for, and whoever ties with them
        least = np.partition(values, len(values) - n)[len(values) - n] if n else np.inf
        some = np.flatnonzero(values >= least)
        counted, values = counted[some], values[some]
    return counted[np.argsort(-values, kind="stable")][:n]
