"""Outputs by which the rows of a batch are sorted, and outputs that have one value in a whole batch.

Drift, levels and numbers of alerts are about a batch as a whole. A piece of a sorted file is no fair sample of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log

import numpy as np

from amiss.arrays import Floats
from amiss.data.output_kinds import BINARY, OutputColumn
from amiss.wording import first_few, percent, printable

CHANCE = 1e-6  # of calling any of the outputs sorted, in rows in random order


def sorted_outputs(Y: Floats, columns: Sequence[OutputColumn]) -> list[str]:
    """The outputs whose values stand in one block each, or in order."""
    return [
        f"by {printable(column.name)}"
        for i, column in enumerate(columns)
        if _is_sorted(Y[:, i], column, len(columns))
    ]


def one_valued_outputs(Y: Floats, columns: Sequence[OutputColumn], rates: Floats) -> list[str]:
    """The tags with one value in all rows, though the fit had both; ``rates`` are its shares of ones."""
    return [
        f"{printable(column.name)} = {value} in all rows ({percent(usual)} of the fit)"
        for i, column in enumerate(columns)
        if column.kind is BINARY
        for value, usual in ((1, float(rates[i])), (0, 1 - float(rates[i])))
        if _is_all(Y[:, i], value, usual, len(columns))
    ]


def remarks_on_order(Y: Floats, columns: Sequence[OutputColumn], rates: Floats) -> list[str]:
    """A sentence on what is sorted, and one on what has one value."""
    by, single = sorted_outputs(Y, columns), one_valued_outputs(Y, columns, rates)
    advice = "shuffle the file before you cut it: drift and levels are about the batch as a whole."
    found = []
    if by:
        found.append(f"The rows are sorted {first_few(by, 3)}. If they are a piece of a longer file, {advice}")
    if single:
        found.append(
            f"Only one value occurs: {first_few(single, 3)}. If the rows are a piece of a sorted file, {advice}"
        )
    return found


def _is_sorted(cells: Floats, column: OutputColumn, n_outputs: int) -> bool:
    cells = cells[~np.isnan(cells)]
    values, counts = np.unique(cells, return_counts=True)
    if len(values) < 2:
        return False
    steps = np.diff(cells)
    # Of so many orders of these values, that many would look sorted.
    orders = lgamma(len(cells) + 1) - sum(lgamma(count + 1) for count in counts.tolist())
    if column.kind.is_numeric:
        looks, n_sorted = bool((steps >= 0).all() or (steps <= 0).all()), log(2)
    else:
        looks, n_sorted = int((steps != 0).sum()) == len(values) - 1, lgamma(len(values) + 1)
    return looks and n_sorted - orders < log(CHANCE / n_outputs)


def _is_all(cells: Floats, value: int, usual: float, n_outputs: int) -> bool:
    cells = cells[~np.isnan(cells)]
    is_common = 0 < usual < 1
    return is_common and bool((cells == value).all()) and len(cells) * log(usual) < log(CHANCE / n_outputs)
