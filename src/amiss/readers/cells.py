"""Columns of a text file become numbers or texts while the file is read.

A column holds numbers if all of its cells that are not missing are numbers as programs write them; otherwise it
holds texts, and :mod:`amiss.readers.columns` finds out what these are. As long as a column has few distinct
texts, its cells are kept as codes of these texts. Once it has many, and all are numbers, it is a column of
numbers. If a text comes later, the file has to be read again, with the texts of that column
(:class:`NeedsTexts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.errors import DataError, quoted
from amiss.readers.columns.numbers import is_grouped
from amiss.readers.source import Source

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "None", "null", "NULL"})
MANY = 1000  # distinct texts after which a column that held only numbers is decided
MOSTLY = 0.9  # share of numbers above which texts are mistakes
FEW_NUMBERS = 20  # distinct numbers that categories may have among them
STRAY = (
    "this is not a number, but most of the column is; correct the cell, leave it empty, "
    "or read the column as categories (--categorical)"
)


class CellColumn:
    """One column, built chunk by chunk.

    If it has ``thousands_points``, numbers whose points may all stand between thousands are kept as texts.
    """

    def __init__(
        self,
        source: Source,
        name: str,
        *,
        categorical: bool,
        output: bool,
        decimal_comma: bool = False,
        thousands_points: bool = False,
    ) -> None:
        self.source, self.name, self.categorical, self.output = source, name, categorical, output
        self.decimal_comma, self.thousands_points = decimal_comma, thousands_points
        self._codes: dict[str, int] = {}
        self._chunks: list[Floats] = []
        self._marks = set[str]()
        self._numeric, self._undecided = False, not categorical

    def extend(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Add stripped cells and their line numbers."""
        if self._numeric:
            self._chunks.append(self._numbers(cells, lines))
            return
        codes = self._codes
        self._chunks.append(np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype=float))
        if self._undecided and len(codes) > MANY:
            self._undecided = False
            if not self._read(codes)[1].any() and not self._has_both_marks(codes) and not self._is_grouped():
                self._become_numeric()

    def finish(self) -> tuple[Floats, tuple[str, ...] | None]:
        """The values and, if they are texts, the levels."""
        if not self._numeric:
            is_text = self.categorical or self._read(self._codes)[1].any() or self._has_both_marks(self._codes)
            if is_text or (self._is_grouped() and any("." in cell for cell in self._codes)):
                return self._texts()
            self._become_numeric()
        return np.concatenate(self._chunks), None

    @property
    def keeps_texts(self) -> bool:
        """Whether the texts of the cells are still known."""
        return not self._numeric

    @property
    def decimal(self) -> str:
        """The mark that decimals of a column of numbers have, if the column shows it."""
        return "".join(self._marks) if self._numeric and len(self._marks) == 1 else ""

    def _is_grouped(self) -> bool:
        """Whether no number shows that a point stands before decimals."""
        return self.thousands_points and all(is_grouped(cell) or cell in MISSING for cell in self._codes)

    def _become_numeric(self) -> None:
        value, _ = self._read(self._codes)
        self._chunks = [value[chunk.astype(np.intp)] for chunk in self._chunks]
        self._numeric = True

    def _read(self, cells: Iterable[str]) -> tuple[Floats, Mask]:
        """Each cell as a number, NaN if it is missing or a text; and whether it is a text."""
        numbers = [number_of(cell, self.decimal_comma) for cell in cells]
        is_text = np.array([number is None for number in numbers], dtype=bool)
        return np.array([np.nan if number is None else number for number in numbers]), is_text

    def _texts(self) -> tuple[Floats, tuple[str, ...]]:
        codes = np.concatenate(self._chunks).astype(np.intp)
        words = list(self._codes)
        levels = tuple(sorted(word for word in words if word not in MISSING))
        place = {level: float(position) for position, level in enumerate(levels)}
        return np.array([place.get(word, np.nan) for word in words])[codes], levels

    def _has_both_marks(self, cells: Iterable[str]) -> bool:
        """Whether points and commas stand in the numbers: then one of them may stand between thousands."""
        if self.decimal_comma:
            written = " ".join(cells)
            self._marks |= {mark for mark in ".," if mark in written}
        return len(self._marks) > 1

    def _numbers(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        if not self._has_both_marks(cells):
            try:
                if "_" not in "".join(cells):
                    return np.array(list(map(float, cells)))
            except ValueError:
                pass
            value, is_text = self._read(cells)
            if not is_text.any():
                return value
        else:
            is_text = np.array([any(mark in cell for mark in self._marks) for cell in cells])
        line = lines[int(np.argmax(is_text))]
        raise NeedsTexts(f"{self.source.name}, line {line}, column {quoted(self.name)}: {STRAY}", self.name)


class NeedsTexts(DataError):
    """A text came late in a column of numbers; it may be a number that is written otherwise.

    A file can be read again, with the texts of the ``column``. For standard input this is the error that it is.
    """

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


def is_number(text: str) -> bool:
    """Whether a cell that is not missing holds a number."""
    return text not in MISSING and number_of(text) is not None


def number_of(text: str, decimal_comma: bool = False) -> float | None:
    """A cell as a number: NaN if it is missing, None if it is a text.

    >>> number_of("1.5"), number_of("1,5", decimal_comma=True), number_of("1_5"), number_of("NA")
    (1.5, 1.5, None, nan)
    """
    if text in MISSING:
        return np.nan
    if "_" in text or not text.isascii():  # float() accepts 1_000 and digits of other scripts
        return None
    try:
        return float(text)
    except ValueError:
        return number_of(text.replace(",", ".")) if decimal_comma and text.count(",") == 1 else None
