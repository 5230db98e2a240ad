"""What new rows hold that no row of the fit held: categories, scales, missing values.

A number is off the scale of its column if its distance from the fit's values is larger than their range. So a
new highest value is usually not off the scale, but grams where there were kilograms are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Rows
from amiss.data.output_kinds import NewLevels
from amiss.data.table import Table
from amiss.encoding.encoder import Encoder
from amiss.wording import count, first_few, in_sentence, printable

MOST_NAMED = 5
ROUNDING = 1e-3  # of what the fit's values lie apart


@dataclass(frozen=True, eq=False)
class Unseen:
    """One thing about one input column that the fit has not seen, and the rows it is in, counted from 0."""

    column: str
    kind: str  # "category", "scale", "constant", "missing" or "present"
    rows: Rows

    def __repr__(self) -> str:
        return f"<Unseen: {self.kind}, column {self.column!r}, {count(len(self.rows), 'row')}>"

    @property
    def finding(self) -> str:
        """What is new, without the name of the column."""
        said = {
            "category": "of a category that the fit has not seen (treated as missing)",
            "scale": "far outside those of the fit (perhaps another unit)",
            "constant": "different from the one that all rows of the fit have",
            "missing": "missing, though none was missing in the fit",
            "present": "present, though all were missing in the fit",
        }[self.kind]
        return f"{count(len(self.rows), 'value')} {said}"

    def __str__(self) -> str:
        return f"Input {printable(self.column)}: {self.finding}."


def unseen_values(encoder: Encoder, table: Table) -> list[Unseen]:
    """What is new in ``table``, whose columns are those of the fit."""
    found = _new_levels(encoder, table) + _off_scale(encoder, table)
    found += _newly_missing(encoder, table) + _newly_present(encoder, table)
    return sorted(found, key=lambda each: -len(each.rows))


def first_values(rates: Floats, Y: Floats, names: tuple[str, ...]) -> dict[str, int]:
    """Outputs that were the same in every row of a fit with these base ``rates``, and how many rows now differ."""
    differ = ((rates == 0) & (Y == 1)) | ((rates == 1) & (Y == 0))
    return {names[i]: int(differ[:, i].sum()) for i in np.flatnonzero(differ.any(axis=0))}


def remarks_on_outputs(found: Mapping[str, int]) -> list[str]:
    """A sentence on outputs whose value the fit had not seen."""
    named = [f"{printable(name)} ({count(n_rows, 'row')})" for name, n_rows in found.items()]
    if not named:
        return []
    return [f"Outputs with a value that no row of the fit had, of which nothing is known: {first_few(named)}."]


def remarks_on_levels(found: NewLevels, names: tuple[str, ...]) -> list[str]:
    """Sentences on outputs with levels that the fit had not, which are named.

    >>> remarks_on_levels({0: {3: "pink", 8: "pink", 9: "teal"}}, ("colour",))
    ['Output colour: 3 values of a level that the fit has not seen: pink (2 rows) and teal (1 row).']
    """
    said = []
    for output, of_rows in sorted(found.items(), key=lambda each: -len(each[1])):
        levels = Counter(of_rows.values()).most_common()
        named = first_few([f"{in_sentence(level, 40)} ({count(n_rows, 'row')})" for level, n_rows in levels])
        values = count(len(of_rows), "value")
        said.append(f"Output {printable(names[output])}: {values} of a level that the fit has not seen: {named}.")
    if len(said) > MOST_NAMED:
        return [*said[:MOST_NAMED], f"And new levels of {count(len(said) - MOST_NAMED, 'more output')}."]
    return said


def remarks(found: list[Unseen]) -> list[str]:
    """Sentences on the columns with most of it."""
    said = [str(each) for each in found[:MOST_NAMED]]
    if len(found) > MOST_NAMED:
        said.append(f"And {count(len(found) - MOST_NAMED, 'more finding')} of this kind.")
    return said


def familiar(encoder: Encoder, table: Table) -> Mask:
    """Rows whose values all lie in the range of the fit; of others the encoding hides how far off they are."""
    values = table.values
    with np.errstate(over="ignore", invalid="ignore"):
        slack = ROUNDING * (encoder.high - encoder.low)
        low, high = encoder.low - slack, encoder.high + slack
    result = np.ones(len(table), dtype=bool)
    if sparse.issparse(values):
        beyond = (values.data < low[values.indices]) | (values.data > high[values.indices])
        result[np.repeat(np.arange(len(table)), np.diff(values.indptr))[beyond]] = False
    else:
        result &= ~((values < low) | (values > high)).any(axis=1)
    for each in _new_levels(encoder, table):
        result[each.rows] = False
    return result


def _new_levels(encoder: Encoder, table: Table) -> list[Unseen]:
    result = []
    for column, levels in table.levels.items():
        known = set(encoder.levels.get(column, ()))
        new = [code for code, level in enumerate(levels) if level not in known]
        if new:
            rows = np.flatnonzero(np.isin(table.column(column), new))
            if len(rows):
                result.append(Unseen(table.names[column], "category", rows))
    return result


def _off_scale(encoder: Encoder, table: Table) -> list[Unseen]:
    with np.errstate(over="ignore", invalid="ignore"):
        spread = encoder.high - encoder.low
        lowest, highest = encoder.low - spread, encoder.high + spread
    found = []
    for column in _suspicious(table, lowest, highest):
        cells = table.column(column)
        rows = np.flatnonzero((cells < lowest[column]) | (cells > highest[column]))
        if len(rows) and column not in table.levels:
            found.append(Unseen(table.names[column], "scale" if spread[column] > 0 else "constant", rows))
    return found


def _suspicious(table: Table, lowest: Floats, highest: Floats) -> list[int]:
    """The columns worth a look; of a sparse table few are."""
    values = table.values
    if not sparse.issparse(values):
        return np.flatnonzero(((values < lowest) | (values > highest)).any(axis=0)).tolist()
    data, column_of = values.data, values.indices
    far = np.unique(column_of[(data < lowest[column_of]) | (data > highest[column_of])])
    return np.union1d(far, np.flatnonzero((lowest > 0) | (highest < 0))).tolist()


def _newly_missing(encoder: Encoder, table: Table) -> list[Unseen]:
    values = table.values
    if sparse.issparse(values):
        gone = np.unique(values.indices[np.isnan(values.data)])
    else:
        gone = np.flatnonzero(np.isnan(values).any(axis=0))
    return [
        Unseen(table.names[column], "missing", np.flatnonzero(np.isnan(table.column(column))))
        for column in gone.tolist()
        if column not in encoder.indicated
    ]


def _newly_present(encoder: Encoder, table: Table) -> list[Unseen]:
    found = []
    for column in np.flatnonzero(np.isnan(encoder.low)).tolist():
        if column not in encoder.levels and column not in table.levels:
            rows = np.flatnonzero(~np.isnan(table.column(column)))
            found += [Unseen(table.names[column], "present", rows)] * bool(len(rows))
    return found
