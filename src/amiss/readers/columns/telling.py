"""What the texts of one column are: told from them, or read as the user or a model says."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from amiss.readers.cells import number_of
from amiss.readers.columns.contradiction import Contradiction
from amiss.readers.columns.dates import DateFormat, spans
from amiss.readers.columns.durations import DurationFormat
from amiss.readers.columns.missing import is_marker, is_missing, is_no_answer
from amiss.readers.columns.mistakes import dates_and_texts, nearly_yes_no, stray, stray_among_numbers
from amiss.readers.columns.numbers import NumberFormat, is_grouped, two_ways
from amiss.readers.columns.spec import ColumnSpec
from amiss.readers.columns.texts import Texts, Told, Trouble
from amiss.readers.columns.words import is_prose
from amiss.readers.columns.yes_no import YesNo, same

FEWEST_GROUPED = 5  # cells such as 1.345 in a column, below which the point is taken as that of decimals
Decimals = Set[str] | None
"""The marks that the decimals of other columns have; None if a point stands before decimals in any case."""
NOUNS = {"date": "date", "duration": "duration", "percentage": "percentage"}


class Reader(Protocol):
    def read(self, texts: Sequence[str]) -> list[float | None]: ...


@dataclass(frozen=True)
class _TypedToo:
    """Numbers that a column writes in its own form, beside those that the file holds as numbers."""

    written: NumberFormat
    numbers: Set[str]

    def read(self, texts: Sequence[str]) -> list[float | None]:
        found = self.written.read(texts)
        pairs = zip(texts, found, strict=True)
        return [number_of(text) if text in self.numbers else value for text, value in pairs]


def tell(
    texts: Texts, *, output: bool, typed: bool, usual: str = "", shown: Decimals = None
) -> Told | Trouble | None:
    """What a column is by its texts; None if they are categories, as far as anybody can see.

    ``typed`` says that a format with numbers of its own has kept them as texts, ``shown`` that a point
    may stand between thousands.
    """
    grouped = _grouped_numbers(texts, shown)
    if grouped is not None:
        return grouped
    plain = _plain_numbers(texts)
    if plain is not None:
        return None if typed and not plain.what else plain
    present = [word for word in texts.words if not is_missing(word)]
    if not present:
        return None
    try:
        reader = _told(present, usual)
    except Contradiction as found:
        among_numbers = stray_among_numbers(texts)  # one cell of 7y in a column of ages is a slip, and no unit
        if among_numbers is None:
            return _trouble(found, texts)
        return None if output else among_numbers
    if reader is None and output:
        reader = YesNo.told(present, some_blank=texts.some_blank)
    if reader is not None:
        return _read(reader, texts.words, spec_of(reader))
    if output:
        nearly = nearly_yes_no(texts)
        return _read(nearly, texts.words, spec_of(nearly)) if isinstance(nearly, YesNo) else nearly
    return (None if typed else stray(texts, usual)) or dates_and_texts(texts)


def read_as(spec: ColumnSpec, texts: Texts, usual: str = "", shown: Decimals = None) -> Told | Trouble:
    """The column as ``spec`` says; a text that does not fit is trouble."""
    if spec.kind == "number" and not (spec.unit or spec.decimal or spec.thousands):
        grouped = _grouped_numbers(texts, shown)
        if isinstance(grouped, Told):
            return replace(grouped, spec=replace(grouped.spec, missing=spec.missing))
        if grouped is not None:
            return grouped
    present = [word for word in texts.words if not is_missing(word)]
    written = [word for word in present if word not in texts.numbers]
    try:
        reader = _said(spec, written or present, texts, usual)
    except Contradiction as found:
        return _trouble(found, texts)
    kept = replace(spec_of(reader), missing=spec.missing)
    if isinstance(reader, NumberFormat) and texts.numbers and (reader.bare or not reader.unit):
        return _read(_TypedToo(reader, texts.numbers), texts.words, kept)
    return _read(reader, texts.words, kept)


def _trouble(found: Contradiction, texts: Texts) -> Trouble:
    words = np.isin(texts.words, found.texts) if found.texts else None
    return Trouble(found.short, found.problem, words)


def _grouped_numbers(texts: Texts, shown: Decimals) -> Told | Trouble | None:
    """Numbers such as 1.345 in a file where the point may stand between thousands; other columns decide."""
    if shown is None or not any("." in word for word in texts.words):
        return None
    numbers = np.array([not is_missing(word) for word in texts.words])
    present = [word for word in texts.words if not is_missing(word)]
    points = np.array(["." in word for word in texts.words]) & numbers
    if not points.any() or not all(map(is_grouped, present)):
        return None
    if shown == {","}:
        return _read(NumberFormat(",", "."), texts.words, ColumnSpec(kind="number", decimal=",", thousands="."))
    if shown == {"."} or texts.counts[points].sum() < FEWEST_GROUPED:
        return None
    return _trouble(two_ways("."), texts)


def _plain_numbers(texts: Texts) -> Told | None:
    """Numbers as programs write them, beside marks of missing cells."""
    values = [np.nan if is_marker(word) else number_of(word) for word in texts.words]
    if None in values or np.isnan(np.array(values, dtype=float)).all():
        return None
    spec = ColumnSpec(kind="number", bare=False)
    return Told(np.array(values, dtype=float), spec, _what(spec, texts.words))


def _told(words: Sequence[str], usual: str) -> Reader | None:
    trouble = None
    for tell_kind in (lambda: NumberFormat.told(words, usual), lambda: DateFormat.told(words)):
        try:
            found: Reader | None = tell_kind()
        except Contradiction as contradiction:
            trouble = trouble or contradiction
            continue
        if found is not None:
            return found
    try:
        found = DurationFormat.told(words)  # 2 h beside 30 min are no numbers with several units
    except Contradiction as contradiction:
        trouble = trouble or contradiction
        found = None
    if found is None and trouble is not None:
        raise trouble
    return found


def _said(spec: ColumnSpec, words: Sequence[str], texts: Texts, usual: str) -> Reader:
    """How to read a column of a kind that was said; what was not said of it is told from its texts."""
    if spec.kind == "date":
        return DateFormat(spec.format) if spec.format else DateFormat.told(words) or DateFormat()
    if spec.kind == "duration":
        return DurationFormat(spec.format) if spec.format else DurationFormat.told(words) or DurationFormat()
    if spec.kind == "yes_no" or spec.true or spec.false:
        if spec.true or spec.false:
            rest = tuple(sorted({same(word) for word in words} - {same(each) for each in spec.true + spec.false}))
            one = rest if len(rest) == 1 else ()
            return YesNo(spec.true or one, spec.false or one, spec.blank_is_no)
        return YesNo.told(words, some_blank=texts.some_blank) or YesNo(("yes",), ("no",))
    unit = "%" if spec.kind == "percentage" and not spec.unit else spec.unit
    if not (spec.decimal or spec.thousands):
        told = NumberFormat.told(words, usual, unit if unit or not spec.bare else None)
        return (
            NumberFormat("", "", unit, spec.bare) if told is None else replace(told, bare=spec.bare and bool(unit))
        )
    return NumberFormat(*_marks(spec, words, unit), unit, spec.bare)


def _marks(spec: ColumnSpec, words: Sequence[str], unit: str) -> tuple[str, str]:
    """The marks that were said; of the other, the first with which all texts are numbers."""
    decimals = [spec.decimal] if spec.decimal else [each for each in ".," if each != spec.thousands]
    thousands = [spec.thousands] if spec.thousands else ["", ".", ",", " ", "'"]
    pairs = [(each, other) for each in decimals for other in thousands if each != other]
    return next((each for each in pairs if None not in NumberFormat(*each, unit, True).read(words)), pairs[0])


def _read(reader: Reader, words: Sequence[str], spec: ColumnSpec) -> Told | Trouble:
    """The value of each text, or which of them have none."""
    is_gone = [is_missing(word) or (spec.kind == "yes_no" and is_no_answer(word)) for word in words]
    found = iter(reader.read([word for word, missing in zip(words, is_gone, strict=True) if not missing]))
    blank = 0.0 if spec.blank_is_no else np.nan
    values = [
        (np.nan if word else blank) if missing else next(found)
        for word, missing in zip(words, is_gone, strict=True)
    ]
    if None in values:
        is_yes_no = spec.kind == "yes_no"
        noun = "neither yes nor no" if is_yes_no else f"no {NOUNS.get(spec.kind, 'number')}"
        detail = f" of the form expected here ({described(spec)})" if described(spec) and not is_yes_no else ""
        return Trouble(
            "cells of another kind than said",
            f"this is {noun}{detail}; correct the cell or leave it empty",
            np.array([value is None for value in values]),
        )
    numbers = np.array(values, dtype=float)
    if spec.kind == "date":
        spec = replace(spec, parts=spans(numbers[~np.isnan(numbers)].tolist()))
    return Told(numbers, spec, _what(spec, words))


def _what(spec: ColumnSpec, words: Sequence[str]) -> str:
    """How a column was read, and which marks of missing cells it has."""
    form, marks = described(spec), [word for word in words if _marks_missing(word, spec)]
    if not marks:
        return form
    shown = ", ".join(f'"{mark}"' for mark in marks[:3]) + (" …" if len(marks) > 3 else "")
    return f"{form}, {shown} missing" if form else f"{shown} {'is' if len(marks) == 1 else 'are'} missing"


def _marks_missing(word: str, spec: ColumnSpec) -> bool:
    return is_marker(word) or (spec.kind == "yes_no" and is_no_answer(word))


def spec_of(reader: Reader) -> ColumnSpec:
    """What a model keeps of how a column was read."""
    if isinstance(reader, DateFormat):
        return ColumnSpec(kind="date", format=reader.format)
    if isinstance(reader, DurationFormat):
        return ColumnSpec(kind="duration", format=reader.format)
    if isinstance(reader, YesNo):
        return ColumnSpec(kind="yes_no", true=reader.true, false=reader.false, blank_is_no=reader.blank_is_no)
    assert isinstance(reader, NumberFormat)
    kind = "percentage" if reader.unit == "%" else "number"
    return ColumnSpec(
        kind=kind, unit=reader.unit, decimal=reader.decimal, thousands=reader.thousands, bare=reader.bare
    )


def described(spec: ColumnSpec) -> str:
    """How a column is written, in a few words.

    >>> described(ColumnSpec(kind="number", unit="kg", decimal=","))
    'numbers in kg, decimal comma'
    """
    if spec.kind in ("number", "percentage"):
        first = "percentages" if spec.kind == "percentage" else f"numbers in {spec.unit}" if spec.unit else ""
        marks = {",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
        comma = "decimal comma" if spec.decimal == "," else ""
        thousands = f"thousands {marks[spec.thousands]}" if spec.thousands else ""
        return ", ".join(filter(None, (first, comma, thousands)))
    if spec.kind == "yes_no":
        return "yes or no"
    words = {"date": "dates", "duration": "durations in seconds"}[spec.kind]
    return f"{words}{f' as {spec.format}' if spec.format and spec.kind == 'date' else ''}"


def is_free_text(texts: Texts) -> bool:
    """Whether nearly all texts are different, and have several words."""
    return texts.look_like_names and is_prose(texts.words)
