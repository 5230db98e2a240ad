"""Columns of a text file become numbers or categories while the file is read.

A column holds numbers if all of its cells that are not missing are numbers; otherwise it holds
categories. As long as a column has few distinct texts, its cells are kept as codes of these texts. Once
it has many, and all are numbers, it is a column of numbers, and a later text is an error with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.readers.source import Source

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "None", "null", "NULL"})
MANY = 1000  # distinct texts after which a column that held only numbers is decided
MOSTLY = 0.9  # share of numbers above which texts are mistakes
FEW_NUMBERS = 20  # distinct numbers that categories may have among them


class CellColumn:
    """One column, built chunk by chunk."""

    def __init__(
        self, source: Source, name: str, *, categorical: bool, output: bool, decimal_comma: bool = False
    ) -> None:
        self.source, self.name, self.categorical, self.output = source, name, categorical, output
        self.decimal_comma = decimal_comma
        self._codes: dict[str, int] = {}
        self._chunks: list[Floats] = []
        self._lines: list[Sequence[int]] = []
        self._numeric, self._undecided = False, not categorical

    def extend(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Add stripped cells and their line numbers."""
        if self._numeric:
            self._chunks.append(self._numbers(cells, lines))
            return
        codes = self._codes
        self._chunks.append(np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype=float))
        self._lines.append(lines)
        if self._undecided and len(codes) > MANY:
            self._undecided = False
            if not self._read(codes)[1].any():
                self._become_numeric()

    def finish(self) -> tuple[Floats, tuple[str, ...] | None]:
        """The values and, if they are categories, the levels."""
        if not self._numeric:
            value, is_text = self._read(self._codes)
            if self.categorical or is_text.any():
                return self._categories(value, is_text)
            self._become_numeric()
        return np.concatenate(self._chunks), None

    def _become_numeric(self) -> None:
        value, _ = self._read(self._codes)
        self._chunks = [value[chunk.astype(np.intp)] for chunk in self._chunks]
        self._numeric, self._lines = True, []

    def _read(self, cells: Iterable[str]) -> tuple[Floats, Mask]:
        """Each cell as a number, NaN if it is missing or a text; and whether it is a text."""
        numbers = [_number(cell, self.decimal_comma) for cell in cells]
        is_text = np.array([number is None for number in numbers], dtype=bool)
        return np.array([np.nan if number is None else number for number in numbers]), is_text

    def _categories(self, value: Floats, is_text: Mask) -> tuple[Floats, tuple[str, ...]]:
        codes = np.concatenate(self._chunks).astype(np.intp)
        if not self.categorical and not self.output:
            self._refuse_stray_texts(codes, value, is_text)
        words = list(self._codes)
        levels = tuple(sorted(word for word in words if word not in MISSING))
        place = {level: float(position) for position, level in enumerate(levels)}
        return np.array([place.get(word, np.nan) for word in words])[codes], levels

    def _refuse_stray_texts(self, codes: Rows, value: Floats, is_text: Mask) -> None:
        """Refuse a column that holds a few texts among many numbers: the texts are most likely mistakes."""
        texts = is_text[codes]
        n_numbers, n_texts = int((~np.isnan(value[codes])).sum()), int(texts.sum())
        many = n_numbers > n_texts and np.count_nonzero(~np.isnan(value)) > FEW_NUMBERS
        if many or n_numbers >= MOSTLY * (n_numbers + n_texts):
            lines = np.concatenate([np.asarray(chunk) for chunk in self._lines])
            self._refuse_text(int(lines[np.argmax(texts)]))

    def _refuse_text(self, line: int) -> None:
        self.source.refuse(
            "this is not a number, but most of the column is; correct the cell, leave it empty, "
            "or read the column as categories (--categorical)",
            line=line,
            column=self.name,
        )

    def _numbers(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        try:
            if "_" not in "".join(cells):
                return np.array(list(map(float, cells)))
        except ValueError:
            pass
        value, is_text = self._read(cells)
        if is_text.any():
            self._refuse_text(lines[int(np.argmax(is_text))])
        return value


def is_number(text: str) -> bool:
    """Whether a cell that is not missing holds a number."""
    return text not in MISSING and _number(text) is not None


def _number(text: str, decimal_comma: bool = False) -> float | None:
    """A cell as a number: NaN if it is missing, None if it is a text.

    >>> _number("1.5"), _number("1,5", decimal_comma=True), _number("1_5"), _number("NA")
    (1.5, 1.5, None, nan)
    """
    if text in MISSING:
        return np.nan
    if "_" in text or not text.isascii():  # float() accepts 1_000 and digits of other scripts
        return None
    try:
        return float(text)
    except ValueError:
        return _number(text.replace(",", ".")) if decimal_comma and text.count(",") == 1 else None
