"""How outputs of several kinds become columns: one per tag, one per level of a class, one per number.

Logistic models are fitted to the *choices*, the columns of 0 and 1 (tags, and levels of classes). *Amounts*, the
columns of counts and numbers, have models of their own. Either may help to predict the other, so both are columns
that models may see: U has them side by side, in the order of the outputs.

Rare levels are pooled into one column (:mod:`amiss.data.output_levels`). A value that the fit has not seen has no
column, and its probability is that of a value seen half a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.data.output_kinds import BINARY, OutputColumn
from amiss.data.output_levels import level_columns
from amiss.models.ties import Ties

FARTHEST = 50.0
MOST_APART = 4.0  # usual deviations; an amount beyond is seen by the models of others as if it were so far
OF_AMOUNTS = 0.5  # as parents they count like other outputs, whose coefficients are held back by as much again


def coded(Y: Floats, columns: Sequence[OutputColumn]) -> Floats:
    """Outputs as the scores see them: 1 where the log-odds are of what was observed, as of any output but a tag.

    >>> from amiss.data.output_kinds import NUMBER
    >>> coded(np.array([[0.0, 2.5], [1.0, np.nan]]), [OutputColumn("a"), OutputColumn("b", NUMBER)])
    array([[ 0.,  1.],
           [ 1., nan]])
    """
    tags = np.array([column.kind is BINARY for column in columns])
    return Y if tags.all() else np.where(np.isnan(Y) | tags, Y, 1.0)


@dataclass(frozen=True, eq=False)
class OutputLayout:
    """The columns of some outputs.

    ``level_column[i]`` gives the column of each level of output i within its span, -1 for one that has none; the
    last entry is for values that the fit has not seen. It is empty for outputs without levels. ``centre`` and
    ``scale`` are of each output, for amounts; ``n_rows`` are those of the fit.
    """

    columns: tuple[OutputColumn, ...]
    level_column: tuple[Rows, ...]
    centre: Floats
    scale: Floats
    n_rows: int

    @classmethod
    def of(cls, columns: tuple[OutputColumn, ...], Y: Floats) -> OutputLayout:
        """The layout for a table with these outputs."""
        places = tuple(
            level_columns(Y[:, i], len(column.levels)) if column.kind.has_levels else np.empty(0, dtype=np.intp)
            for i, column in enumerate(columns)
        )
        centre, scale = np.zeros(len(columns)), np.ones(len(columns))
        for i, column in enumerate(columns):
            seen = Y[~np.isnan(Y[:, i]), i]
            if column.kind.is_numeric and len(seen):
                centre[i] = np.median(seen)
                scale[i] = np.abs(seen - centre[i]).mean() or 1.0
        return cls(columns, places, centre, scale, len(Y))

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """The columns of U of each output."""
        sizes = [int(place.max()) + 1 if len(place) else 1 for place in self.level_column]
        ends = np.cumsum([0, *sizes]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def output_of(self) -> Rows:
        """The output of each column of U."""
        return np.repeat(np.arange(len(self.columns)), [span.stop - span.start for span in self.spans])

    @cached_property
    def is_amount(self) -> Mask:
        """Which columns of U are amounts; the others are choices."""
        return np.array([self.columns[i].kind.is_numeric for i in self.output_of], dtype=bool)

    @cached_property
    def amounts(self) -> tuple[int, ...]:
        """The outputs that are amounts."""
        return tuple(i for i, column in enumerate(self.columns) if column.kind.is_numeric)

    @cached_property
    def choice_span(self) -> dict[int, slice]:
        """The choices of each output that is none of the amounts, among all choices."""
        place = np.cumsum(~self.is_amount) - 1
        return {
            i: slice(int(place[span.start]), int(place[span.start]) + span.stop - span.start)
            for i, span in enumerate(self.spans)
            if i not in self.amounts
        }

    @property
    def choice_names(self) -> list[str]:
        """The outputs' names, for messages."""
        return [self.columns[i].name for i in self.output_of[~self.is_amount]]

    def expanded(self, Y: Floats) -> Floats:
        """U, with NaN where an output is missing."""
        result = np.empty((len(Y), len(self.output_of)))
        for i, span in enumerate(self.spans):
            values = Y[:, i]
            if not len(self.level_column[i]):
                result[:, span.start] = values
                continue
            missing = np.isnan(values)
            column = self.level_column[i][np.where(missing, 0, values).astype(np.intp)]
            one_hot = column[:, None] == np.arange(span.stop - span.start)
            result[:, span] = np.where(missing[:, None], np.nan, one_hot)
        return result

    def choices(self, U: Floats) -> Floats:
        return U[:, ~self.is_amount]

    def amounts_seen(self, U: Floats) -> Floats:
        """Amounts as the models of other outputs see them: scaled, and not further out than ``MOST_APART``."""
        which = list(self.amounts)
        apart = (U[:, self.is_amount] - self.centre[which]) / self.scale[which]
        return OF_AMOUNTS * np.clip(apart, -MOST_APART, MOST_APART)

    def scaled(self, U: Floats) -> Floats:
        """U with amounts in usual deviations, as the models of other amounts see them."""
        which, result = list(self.amounts), U.copy()
        apart = (U[:, self.is_amount] - self.centre[which]) / self.scale[which]
        result[:, self.is_amount] = np.clip(apart, -FARTHEST, FARTHEST)
        return result

    def points(self, U: Floats) -> Floats:
        """Where outputs lie among neighbours: amounts count about as much as choices."""
        result = U.copy()
        result[:, self.is_amount] = self.amounts_seen(U)
        return result

    def visible(self, by_output: Mask) -> Mask:
        """``[j, i]`` says whether the model of choice i may see choice j; ``by_output`` says it of outputs."""
        of = self.output_of[~self.is_amount]
        return np.asarray(by_output[np.ix_(of, of)] & (of[:, None] != of[None, :]))

    def ties(self, of_outputs: Ties) -> Ties:
        """The ties of the choices: those among tags, and the levels of each class."""
        of = {i: span.start for i, span in self.choice_span.items()}
        levels = [
            tuple(range(span.start, span.stop))
            for i, span in self.choice_span.items()
            if len(self.level_column[i]) and span.stop - span.start > 1
        ]
        return Ties(
            classes=(*(tuple(of[i] for i in group) for group in of_outputs.classes), *levels),
            copies=tuple((of[i], of[j]) for i, j in of_outputs.copies),
            opposites=tuple(of[i] for i in of_outputs.opposites),
            implications=tuple((of[i], of[j]) for i, j in of_outputs.implications),
        )
