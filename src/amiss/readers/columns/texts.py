"""The texts of one column, and what may be found of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.readers.columns.spec import ColumnSpec

MANY_LEVELS = 20  # an identifier or a free text has more different texts than this


@dataclass(frozen=True)
class Texts:
    """The different texts of a column, in how many rows each stands, and how many cells are empty.

    Those among ``numbers`` are numbers in the file, which need no unit and whose decimals follow a point.
    """

    words: Sequence[str]
    counts: Rows
    n_blank: int = 0
    numbers: frozenset[str] = frozenset()

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum()) + self.n_blank

    @property
    def some_blank(self) -> bool:
        return self.n_blank > 0 or "" in self.words

    @property
    def look_like_names(self) -> bool:
        """Whether nearly all texts are different."""
        n_words = int(np.count_nonzero(self.counts))
        return n_words > MANY_LEVELS and 2 * n_words > self.n_rows


@dataclass(frozen=True)
class Told:
    """How a column is read: the value of each of its texts, how to read such a column again, and that in words."""

    values: Floats
    spec: ColumnSpec
    what: str = ""


@dataclass(frozen=True)
class Trouble:
    """Why a column cannot be read: in a few words, in a sentence, and which of its texts are to blame, if any."""

    short: str
    problem: str
    words: Mask | None = None
