"""Columns of text cells become numbers or categories, as they come.

A column is a column of numbers if all its present cells are numbers, else a column of
categories. Cells are kept as codes of distinct texts while there are few; a column that has shown
many distinct numbers is taken for numbers, and a text in it is an error by its line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amiss.dataset import Floats, Mask, Rows
from amiss.readers.source import Source

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})
MANY = 1000
MOSTLY = 0.9


class CellColumn:
    """One column, filled chunk by chunk."""

    def __init__(self, source: Source, name: str, *, categorical: bool, output: bool) -> None:
        self.source, self.name, self.categorical, self.output = source, name, categorical, output
        self._codes: dict[str, int] = {}
        self._chunks: list[Floats] = []
        self._lines: list[Sequence[int]] = []
        self._numeric, self._undecided = False, not categorical

    def extend(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Add stripped cells, and the lines they stand in."""
        if self._numeric:
            self._chunks.append(self._numbers(cells, lines))
            return
        codes = self._codes
        self._chunks.append(np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype=float))
        self._lines.append(lines)
        if self._undecided and len(codes) > MANY:
            self._undecided = False
            if not np.isinf(self._meaning()).any():
                self._become_numeric()

    def finish(self) -> tuple[Floats, tuple[str, ...] | None]:
        """The values, and the levels if they are categories."""
        if not self._numeric:
            meaning = self._meaning()
            texts = np.isinf(meaning) & ~self._infinite()
            if not self.categorical and not texts.any():
                self._become_numeric()
            else:
                return self._categories(meaning, texts)
        return np.concatenate(self._chunks), None

    def _become_numeric(self) -> None:
        value = np.array([_number(text) for text in self._codes])
        self._chunks = [value[chunk.astype(np.intp)] for chunk in self._chunks]
        self._numeric, self._lines = True, []

    def _meaning(self) -> Floats:
        """The number each distinct text stands for; NaN if missing, infinite if it is none."""
        return np.array([_number(text) for text in self._codes])

    def _infinite(self) -> Mask:
        return np.array([_is_infinity(text) for text in self._codes], dtype=bool)

    def _categories(self, meaning: Floats, texts: Mask) -> tuple[Floats, tuple[str, ...]]:
        codes = np.concatenate(self._chunks).astype(np.intp)
        if not self.categorical and not self.output:
            self._refuse_stray_texts(codes, meaning, texts)
        words = list(self._codes)
        levels = tuple(sorted(word for word in words if word not in MISSING))
        place = {level: float(position) for position, level in enumerate(levels)}
        value = np.array([place.get(word, np.nan) for word in words])
        return value[codes], levels

    def _refuse_stray_texts(self, codes: Rows, meaning: Floats, texts: Mask) -> None:
        is_text = texts[codes]
        present = int((~np.isnan(meaning[codes])).sum())
        if present - is_text.sum() < MOSTLY * present:
            return
        lines = np.concatenate([np.asarray(chunk) for chunk in self._lines])
        self._refuse_text(int(lines[np.argmax(is_text)]))

    def _refuse_text(self, line: int) -> None:
        self.source.refuse(
            "this is not a number, though most of the column is; correct it, leave it empty, "
            "or read the column as categories (--categorical)",
            line=line,
            column=self.name,
        )

    def _numbers(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        try:
            return np.array(list(map(float, cells)))
        except ValueError:
            numbers = np.array([_number(cell) for cell in cells])
        for cell, number, line in zip(cells, numbers, lines, strict=True):
            if np.isinf(number) and not _is_infinity(cell):
                self._refuse_text(line)
        return numbers


def _number(text: str) -> float:
    """The number a cell stands for; NaN if it is missing, infinity if it is a text."""
    if text in MISSING:
        return np.nan
    try:
        return float(text)
    except ValueError:
        return np.inf


def _is_infinity(text: str) -> bool:
    return text.lstrip("+-").lower() in ("inf", "infinity")
