"""Inputs that give an output away: one column by itself tells nearly every value of it.

Of a tag, and of each level of a class, the AUC of the single column says so; of a count or a number, the rank
correlation. A sample shows which columns to look at, and all rows decide. With few rows and many columns some
column tells any output by chance, so an output has to show both values often enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from amiss.arrays import Floats, Mask, Rows, average_ranks
from amiss.data.table import Table, output_columns
from amiss.remarks.probes import Probe, probes_of

TELLS = 0.98  # 2 AUC - 1, or the rank correlation
WORTH_A_LOOK = 0.95  # the same in the sample
FEWEST = 10  # rows with each value of an output
CHANCE = 1e-6  # that any of the columns tells any of the outputs


@dataclass(frozen=True)
class Target:
    """What a column may tell: whether an output has a value, or the rank of an amount.

    ``values`` are 0 and 1, or amounts, of all rows; NaN is missing.
    """

    output: int
    values: Floats
    is_amount: bool

    def told_by(self, ranks: Floats, rows: Rows) -> float:
        """How well ranks of some rows tell it, from 0 to 1."""
        y = self.values[rows]
        seen = ~np.isnan(y)
        if not seen.all():
            ranks, y = average_ranks(ranks[seen]), y[seen]
        if self.is_amount:
            return abs(_correlation(ranks, average_ranks(y)))
        n_ones = int(y.sum())
        if n_ones in (0, len(y)):
            return 0.0
        apart = ranks[y == 1].mean() - ranks[y == 0].mean()
        return float(2 * abs(apart) / len(y))


def targets(outputs: Table, n_columns: int) -> list[Target]:
    """What single columns are asked to tell, where chance would not tell it."""
    found: list[Target] = []
    for i, column in enumerate(output_columns(outputs)):
        y = np.asarray(outputs.values[:, i], dtype=np.float64)
        if column.kind.is_numeric:
            if len(np.unique(y[~np.isnan(y)])) > FEWEST:
                found.append(Target(i, y, True))
            continue
        levels = range(len(column.levels)) if column.kind.has_levels else (1,)
        of_output = [Target(i, np.where(np.isnan(y), np.nan, y == level), False) for level in levels]
        found += [target for target in of_output if _is_telling(target.values, n_columns * outputs.shape[1])]
    return found


def _is_telling(y: Floats, n_pairs: int) -> bool:
    """Whether it is unlikely that a column orders these values right by chance."""
    n_ones, n_seen = int(np.nansum(y)), int((~np.isnan(y)).sum())
    if min(n_ones, n_seen - n_ones) < FEWEST:
        return False
    orders = lgamma(n_seen + 1) - lgamma(n_ones + 1) - lgamma(n_seen - n_ones + 1)
    return orders > log(max(1, n_pairs) / CHANCE)


def rare_values(asked: list[Target]) -> Iterator[Mask]:
    """Rows that show each value of what may be told."""
    for target in asked:
        if not target.is_amount:
            yield target.values == 1
            yield target.values == 0


class LeakSearch:
    """Looks at the probes of one input after the other, and remembers the best for each target."""

    def __init__(self, asked: list[Target], rows: Rows, n_inputs: int) -> None:
        self.asked, self.rows = asked, rows
        self.told = np.zeros((n_inputs, len(asked)))
        tags = [target for target in asked if not target.is_amount]
        y = np.array([target.values[rows] for target in tags]).reshape(len(tags), len(rows)).T
        ones, zeros = (y == 1).astype(np.float64), (y == 0).astype(np.float64)
        counts = np.maximum(ones.sum(axis=0), 1), np.maximum(zeros.sum(axis=0), 1)
        self._tags = np.flatnonzero([not target.is_amount for target in asked])
        # Where outputs are missing this is not exact; all rows decide later, exactly.
        self._apart = (ones / counts[0] - zeros / counts[1]) * (2 / max(1, len(rows)))

    def look(self, some: list[Probe]) -> None:
        """Some probes, at once."""
        if not some or not self.asked:
            return
        ranks, places = np.array([probe.ranks for probe in some]), [probe.column for probe in some]
        told = np.zeros((len(some), len(self.asked)))
        told[:, self._tags] = np.abs(ranks @ self._apart)
        for place, target in enumerate(self.asked):
            if target.is_amount:
                told[:, place] = [target.told_by(probe.ranks, self.rows) for probe in some]
        np.maximum.at(self.told, places, told)

    def found(self, inputs: Table, n_outputs: int) -> dict[int, int]:
        """Outputs that one input gives away, each with this input."""
        result: dict[int, int] = {}
        for output in range(n_outputs):
            mine = [place for place, target in enumerate(self.asked) if target.output == output]
            if not mine:
                continue
            together = self.told[:, mine].min(axis=1)  # a class is told if each of its levels is
            best = int(together.argmax())
            if together[best] >= WORTH_A_LOOK and self._tells(inputs, best, mine):
                result[output] = best
        return result

    def _tells(self, inputs: Table, column: int, mine: list[int]) -> bool:
        """The same by all rows."""
        all_rows = np.arange(len(inputs))
        ways = list(probes_of(column, inputs.column(column).astype(np.float64), column in inputs.levels))
        best = (max((self.asked[place].told_by(way.ranks, all_rows) for way in ways), default=0) for place in mine)
        return min(best) >= TELLS


def _correlation(one: Floats, other: Floats) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size > 0 else 0.0
