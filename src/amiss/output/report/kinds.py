"""What the page shows of outputs of several kinds: ways to be off, what was expected, how far to trust that.

A page of a table whose outputs are all 0 or 1 carries none of this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.data.output_kinds import BINARY, OutputColumn
from amiss.explanations.explained_output import Direction, ExplainedOutput, direction_of
from amiss.models.mixed.layout import OutputLayout
from amiss.models.mixed.model import N_QUANTILES, probabilities
from amiss.output.report.measures import CALIBRATION_BINS, calibration, probability_of_one
from amiss.output.report.short import numbers, short, shown
from amiss.scoring.forecast import WITHIN, Forecast
from amiss.scoring.hypotheses import judged_by_inputs
from amiss.scoring.rows import ScoredRows

NEAR = 0.1  # of the rows: those whose value lies nearest to some value
MIDDLE = (0.1, 0.9)  # quantiles
OBSERVED, RARE = 1, 2  # marks of a level


def directions(scored: ScoredRows, rows: Rows, outputs: Rows) -> list[Direction | None]:
    """In which way an output of each row is off; None where its value is not improbable."""
    found: list[Direction | None] = []
    probable = scored.judged_probabilities_of(rows)
    for place, (row, i) in enumerate(zip(rows.tolist(), outputs.tolist(), strict=True)):
        value, column = float(scored.Y[row, i]), scored.columns[i]
        if not probable[place, i] < 0.5:
            found.append(None)
            continue
        assert scored.forecast is not None
        by_inputs = scored.odds is not None and bool(judged_by_inputs(scored.odds[row]))
        instead = scored.forecast.expected(row, i, value, by_inputs)
        found.append(direction_of(column, value, instead))
    return found


def expectation(output: ExplainedOutput, layout: OutputLayout, i: int, in_full: bool) -> list[Any] | None:
    """What was expected of an output of a row, for its picture.

    Of an amount the lower end, the centre and the upper end; of any other output its levels, each with its chance
    and its marks, or without ``in_full`` the likeliest alone.
    """
    column = layout.columns[i]
    if column.kind.is_numeric:
        ends = output.interval or (np.nan, np.nan)
        told = [short(value, 6) for value in (ends[0], _number(output.instead), ends[1])]
        return None if None in told else told
    if column.kind is BINARY:
        chance = output.chance_of_one or 0.0
        levels: list[tuple[str, float, int]] = [
            ("1", chance, int(output.observed == 1)),
            ("0", 1 - chance, int(output.observed == 0)),
        ]
    else:
        levels = [
            (level, chance, OBSERVED * (level == output.observed) + RARE * _is_pooled(layout, i, level))
            for level, chance in output.chances.items()
        ]
    if not in_full:
        levels = [max(levels, key=lambda level: level[1])]
    elif column.kind.ordered:
        levels.sort(key=lambda level: column.levels.index(level[0]))
    return [[shown(level), short(chance, 3), marks] for level, chance, marks in levels]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else np.nan


def _is_pooled(layout: OutputLayout, i: int, level: str) -> bool:
    """Whether the models take a level and others as one."""
    known = layout.level_column[i][:-1]
    return int((known == known[layout.columns[i].levels.index(level)]).sum()) > 1


def alike(column: OutputColumn, values: Floats, value: float) -> Mask:
    """Rows with this value; of an amount the tenth of the rows that is nearest to it, and what ties with them.

    >>> from amiss.data.output_kinds import NUMBER
    >>> alike(OutputColumn("dose", NUMBER), np.array([1.0, 2.0, np.nan, 9.0]), 8.0)
    array([False, False, False,  True])
    """
    if not column.kind.is_numeric:
        return np.asarray(values == value)
    with np.errstate(over="ignore"):
        apart = np.abs(values - value)
    seen = np.sort(apart[~np.isnan(apart)])
    if not len(seen):
        return np.zeros(len(values), dtype=bool)
    return np.asarray(apart <= seen[int(np.ceil(NEAR * len(seen))) - 1])


def reliability(scored: ScoredRows, i: int) -> list[list[Any]]:
    """Of tenths of the rows what was expected and what was observed, and how many rows there are.

    Of a tag this is the chance of a 1 and the share of ones; of levels the chance of the likeliest one, and the
    share of rows that have it; of amounts see :func:`_of_amount`.
    """
    forecast, y = scored.forecast, scored.Y[:, i]
    assert forecast is not None
    if i in forecast.layout.amounts:
        return _of_amount(forecast, i, y)
    levels = forecast.layout.level_column[i]
    if len(levels):
        chance = probabilities(forecast.by_all.choices[:, forecast.layout.choice_span[i]])
        seen = ~np.isnan(y)
        place = levels[np.where(seen, y, 0).astype(np.intp)]
        curve = calibration(chance.max(axis=1), np.where(seen, place == chance.argmax(axis=1), np.nan))
    else:
        curve = calibration(probability_of_one(scored.probabilities[:, i], y), y)
    return [numbers(curve.expected, 3), numbers(curve.observed, 3), curve.count.tolist()]


def _of_amount(forecast: Forecast, i: int, y: Floats) -> list[list[Any]]:
    """Of tenths of the rows, by what was expected of them: its median, the median of the values, their number, the
    middle 80% of the values, and the share of values in the interval that was expected."""
    place, rows = forecast.layout.amounts.index(i), np.flatnonzero(~np.isnan(y))
    centre, spread, y = forecast.by_all.centre[rows, place], forecast.by_all.spread[rows, place], y[rows]
    at = np.linspace(0, 1, N_QUANTILES)
    ends = np.interp([(1 - WITHIN) / 2, (1 + WITHIN) / 2], at, forecast.residuals[place])
    low, high = centre + ends[0] * spread, centre + ends[1] * spread
    if forecast.layout.columns[i].kind.whole:
        low, high = np.maximum(0, np.floor(low)), np.maximum(0, np.ceil(high))
    inside = (y >= low) & (y <= high)
    order = np.argsort(centre, kind="stable")
    bins = [part for part in np.array_split(order, CALIBRATION_BINS) if len(part)]
    return [
        numbers(np.array([np.median(centre[part]) for part in bins])),
        numbers(np.array([np.median(y[part]) for part in bins])),
        [len(part) for part in bins],
        *(numbers(np.array([np.quantile(y[part], end) for part in bins])) for end in MIDDLE),
        numbers(np.array([inside[part].mean() for part in bins]), 3),
    ]
