"""Cells: the single outputs of rows, those first that are most likely wrong. That is what a curator corrects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.output_kinds import Value
from amiss.scoring.hypotheses import judged_by_inputs
from amiss.scoring.rows import ScoredRows

CELLS = 8192  # of a block


@dataclass(frozen=True)
class Cell:
    """One output of one row.

    Attributes
    ----------
    row : the number of the row, from 0
    output : the name of the output
    observed : the value that stands there
    suggested : the value that it should have if it is wrong
    low, high : between which values a number is expected; None for outputs of other kinds
    probability : of what was observed, by the models that see the row's kind of error, as lists and explanations
        give it
    score : how suspicious it is, from 0 to 1; the order of cells is by this. By other rules than "mixture" it is
    what the
        output adds to the row's score.
    """

    row: int
    output: str
    observed: Value
    suggested: Value
    probability: float
    score: float
    low: float | None = None
    high: float | None = None


def suspicious_cells(rows: ScoredRows, n: int | None = None) -> Iterator[Cell]:
    """The ``n`` cells that are most likely wrong, most suspicious first; ties stay in the order of the table."""
    if n is not None and (not isinstance(n, Integral) or n < 0):
        raise ValueError(f"n must be a whole number, at least 0, or None; got {n!r}")
    score = cell_scores(rows)
    order = ranked_cells(score, rows, n)
    n_outputs = rows.Y.shape[1]
    for start in range(0, len(order), CELLS):
        some = order[start : start + CELLS]
        different, place = np.unique(some // n_outputs, return_inverse=True)
        probability = rows.judged_probabilities_of(different)[place, some % n_outputs]
        yield from _cells(rows, some, score, probability)


def _cells(rows: ScoredRows, places: Rows, score: Floats, probability: Floats) -> Iterator[Cell]:
    """The cells at some places of the flattened table."""
    for place, chance in zip(places.tolist(), probability.tolist(), strict=True):
        row, output = divmod(place, rows.Y.shape[1])
        yield Cell(
            row=row,
            output=rows.output_names[output],
            observed=rows.observed_value(row, output),
            probability=chance,
            score=float(score[row, output]),
            **_suggestion(rows, row, output),
        )


def _suggestion(rows: ScoredRows, row: int, output: int) -> dict[str, Any]:
    """What should stand in a cell by the view that gives its probability, and for a number in which interval."""
    observed, forecast = float(rows.Y[row, output]), rows.forecast
    if forecast is None:
        return {"suggested": int(1 - observed)}
    by_inputs = rows.odds is not None and bool(judged_by_inputs(rows.odds[row]))
    column = rows.columns[output]
    found: dict[str, Any] = {"suggested": column.plain(forecast.expected(row, output, observed, by_inputs))}
    if column.kind.is_numeric:
        found["low"], found["high"] = forecast.interval(row, output, by_inputs)
    return found


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
