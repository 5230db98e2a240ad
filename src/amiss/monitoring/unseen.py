"""What new rows hold that no row of the fit held: categories, scales, missing values.

A number is off the scale of its column if it lies further beyond the fit's values than these lie
apart: not every new highest value is, but grams where there were kilograms are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Rows
from amiss.data.table import Table
from amiss.encoding.encoder import Encoder
from amiss.wording import count, printable

MOST_NAMED = 5
ROUNDING = 1e-3  # of what the fit's values lie apart


@dataclass(frozen=True)
class Novelty:
    """One thing about one input column that the fit has not seen, and the rows it is in, counted from 0."""

    column: str
    kind: str  # "category", "scale", "constant", "missing" or "present"
    rows: Rows

    def __str__(self) -> str:
        said = {
            "category": "of a category that the fit has not seen (taken for missing)",
            "scale": "far outside those of the fit (perhaps another unit)",
            "constant": "other than the one that all rows of the fit have",
            "missing": "missing, though in the fit none was",
            "present": "there, though in the fit all were missing",
        }[self.kind]
        return f"Input {printable(self.column)}: {count(len(self.rows), 'value')} {said}."


def novelties(encoding: Encoder, table: Table) -> list[Novelty]:
    """What is new in ``table``, whose columns are those of the fit."""
    found = _new_levels(encoding, table) + _off_scale(encoding, table)
    found += _newly_missing(encoding, table) + _newly_present(encoding, table)
    return sorted(found, key=lambda each: -len(each.rows))


def remarks(found: list[Novelty]) -> list[str]:
    """Sentences on the columns with most of it."""
    said = [str(each) for each in found[:MOST_NAMED]]
    if len(found) > MOST_NAMED:
        said.append(f"And {count(len(found) - MOST_NAMED, 'more finding')} of this kind.")
    return said


def familiar(encoding: Encoder, table: Table) -> Mask:
    """Rows all of whose values lie among those of the fit: the encoding hides how far others are off."""
    values = table.values
    with np.errstate(over="ignore", invalid="ignore"):
        slack = ROUNDING * (encoding.high - encoding.low)
        low, high = encoding.low - slack, encoding.high + slack
    result = np.ones(len(table), dtype=bool)
    if sparse.issparse(values):
        beyond = (values.data < low[values.indices]) | (values.data > high[values.indices])
        result[np.repeat(np.arange(len(table)), np.diff(values.indptr))[beyond]] = False
    else:
        result &= ~((values < low) | (values > high)).any(axis=1)
    for each in _new_levels(encoding, table):
        result[each.rows] = False
    return result


def _new_levels(encoding: Encoder, table: Table) -> list[Novelty]:
    result = []
    for column, levels in table.levels.items():
        known = set(encoding.levels.get(column, ()))
        new = [code for code, level in enumerate(levels) if level not in known]
        if new:
            rows = np.flatnonzero(np.isin(table.column(column), new))
            if len(rows):
                result.append(Novelty(table.names[column], "category", rows))
    return result


def _off_scale(encoding: Encoder, table: Table) -> list[Novelty]:
    with np.errstate(over="ignore", invalid="ignore"):
        spread = encoding.high - encoding.low
        lowest, highest = encoding.low - spread, encoding.high + spread
    found = []
    for column in _suspicious(table, lowest, highest):
        cells = table.column(column)
        rows = np.flatnonzero((cells < lowest[column]) | (cells > highest[column]))
        if len(rows) and column not in table.levels:
            found.append(Novelty(table.names[column], "scale" if spread[column] > 0 else "constant", rows))
    return found


def _suspicious(table: Table, lowest: Floats, highest: Floats) -> list[int]:
    """The columns worth a look; of a sparse table few are."""
    values = table.values
    if not sparse.issparse(values):
        return np.flatnonzero(((values < lowest) | (values > highest)).any(axis=0)).tolist()
    data, column_of = values.data, values.indices
    far = np.unique(column_of[(data < lowest[column_of]) | (data > highest[column_of])])
    return np.union1d(far, np.flatnonzero((lowest > 0) | (highest < 0))).tolist()


def _newly_missing(encoding: Encoder, table: Table) -> list[Novelty]:
    values = table.values
    if sparse.issparse(values):
        gone = np.unique(values.indices[np.isnan(values.data)])
    else:
        gone = np.flatnonzero(np.isnan(values).any(axis=0))
    return [
        Novelty(table.names[column], "missing", np.flatnonzero(np.isnan(table.column(column))))
        for column in gone.tolist()
        if column not in encoding.indicated
    ]


def _newly_present(encoding: Encoder, table: Table) -> list[Novelty]:
    found = []
    for column in np.flatnonzero(np.isnan(encoding.low)).tolist():
        if column not in encoding.levels and column not in table.levels:
            rows = np.flatnonzero(~np.isnan(table.column(column)))
            found += [Novelty(table.names[column], "present", rows)] * bool(len(rows))
    return found
