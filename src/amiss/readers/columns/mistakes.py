"""Columns in which most texts are of one kind and a few are not: most likely mistakes, or missing cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amiss.readers.cells import FEW_NUMBERS, MOSTLY, number_of
from amiss.readers.columns.contradiction import Contradiction
from amiss.readers.columns.dates import FORMATS, DateFormat
from amiss.readers.columns.durations import DurationFormat
from amiss.readers.columns.missing import is_marker, is_missing, is_no_answer
from amiss.readers.columns.numbers import NumberFormat
from amiss.readers.columns.texts import Texts, Trouble
from amiss.readers.columns.yes_no import CODINGS, YesNo
from amiss.wording import count

SAMPLE = 200  # texts that are looked at first, where all would take long
FEW_OTHERS = 0.05  # of the cells of a column of yes and no
WAYS = 'correct the cells, leave them empty, name them as missing (missing = ["..."] in columns.toml)'


def _not_of_kind(kind: str, n_others: int, n_of_kind: int) -> str:
    """
    >>> _not_of_kind("number", 3, 97).partition(";")[0]
    'this is not a number, but most of the column is (3 of 100 cells are not)'
    """
    are = f"{n_others:,} of {n_others + n_of_kind:,} cells {'is' if n_others == 1 else 'are'} not"
    ways = f"{WAYS}, or read the column as categories (--categorical)"
    return f"this is not a {kind}, but most of the column is ({are}); {ways}"


def stray_among_numbers(texts: Texts) -> Trouble | None:
    """A few texts among many plain numbers are most likely mistakes."""
    numbers = np.array([number_of(word) is not None for word in texts.words])
    n_numbers, n_texts = int(texts.counts[numbers].sum()), int(texts.counts[~numbers].sum())
    many = n_numbers > n_texts and np.count_nonzero(numbers) > FEW_NUMBERS
    if many or (n_numbers and n_numbers >= MOSTLY * (n_numbers + n_texts)):
        return Trouble("numbers and texts", _not_of_kind("number", n_texts, n_numbers), ~numbers)
    return None


def stray(texts: Texts, usual: str) -> Trouble | None:
    """The same, among dates, durations and numbers that are written otherwise, too."""
    among_numbers = stray_among_numbers(texts)
    if among_numbers is not None:
        return among_numbers
    for kind, reader in (("date", DateFormat), ("duration", DurationFormat), ("number", NumberFormat)):
        some = texts.words[:: len(texts.words) // SAMPLE + 1]
        if sum(_alone(reader, word) for word in some) < len(some) / 2:
            continue
        fitting = np.array([is_marker(word) or _alone(reader, word) for word in texts.words])
        present = [word for word, fits in zip(texts.words, fitting, strict=True) if fits and not is_marker(word)]
        if len(present) <= FEW_NUMBERS or texts.counts[fitting].sum() < MOSTLY * texts.counts.sum():
            continue
        try:
            told = reader.told(present, usual) if reader is NumberFormat else reader.told(present)
        except Contradiction:
            continue
        if told is not None:
            n_texts, n_fitting = int(texts.counts[~fitting].sum()), int(texts.counts[fitting].sum())
            problem = _not_of_kind(kind, n_texts, n_fitting)
            return Trouble(f"{kind}s and texts", problem, ~fitting)
    return None


def _alone(reader: type[DateFormat] | type[DurationFormat] | type[NumberFormat], word: str) -> bool:
    if reader is NumberFormat:
        return NumberFormat.may_be(word)
    try:
        return reader.told([word]) is not None
    except Contradiction:
        return True


def number_expected(trouble: Trouble, texts: Texts, kind: str) -> Trouble:
    """The same trouble, of an output that is said to be a number."""
    if trouble.words is None:
        return trouble
    n_texts, n_cells = int(texts.counts[trouble.words].sum()), int(texts.counts.sum())
    problem = f"a {kind} is expected, and this is none ({n_texts:,} of {n_cells:,} cells hold other texts); {WAYS}"
    return replace(trouble, problem=problem)


def nearly_yes_no(texts: Texts) -> YesNo | Trouble | None:
    """Yes and no beside a few other texts; these mean that a cell is missing, or are mistakes."""
    folded = [word.strip().casefold() for word in texts.words]
    known = np.array([not is_missing(word) for word in texts.words])
    n_cells = int(texts.counts[known].sum())
    for yes, no in CODINGS:
        is_yes, is_no = (np.array([each == answer for each in folded]) for answer in (yes, no))
        others = known & ~is_yes & ~is_no
        n_others = int(texts.counts[others].sum())
        if not (is_yes.any() and is_no.any() and n_others <= FEW_OTHERS * n_cells):
            continue
        stray = others & ~np.array([is_no_answer(word) for word in texts.words])
        if not stray.any():
            return YesNo((yes,), (no,))
        n_stray = int(texts.counts[stray].sum())
        are, answers = "is" if n_stray == 1 else "are", "0 nor 1" if yes == "1" else "yes nor no"
        return Trouble(
            f"yes, no and {count(n_stray, 'other text')}",
            f"this is neither {answers} ({n_stray:,} of {n_cells:,} cells {are} neither); {WAYS}, or say that the "
            "output is a class (--kinds NAME=class)",
            stray,
        )
    return None


def dates_and_texts(texts: Texts) -> Trouble | None:
    """Dates, of which some are written otherwise."""
    known = np.array([not is_missing(word) for word in texts.words])
    some = texts.words[:: len(texts.words) // SAMPLE + 1]
    usual = max(FORMATS, key=lambda name: sum(day is not None for day in DateFormat(name).read(some)))
    if 2 * sum(day is not None for day in DateFormat(usual).read(some)) < len(some):
        return None
    are_dates = np.array([day is not None for day in DateFormat(usual).read(texts.words)])
    others = known & ~are_dates
    n_dates, n_others = int(texts.counts[are_dates].sum()), int(texts.counts[others].sum())
    if not n_others or n_dates < n_others or np.count_nonzero(are_dates) <= FEW_NUMBERS:
        return None
    short = f"{count(n_dates, 'date')}, {count(n_others, 'text')} in another form"
    return Trouble(
        short,
        f"this is not a date of the form that most cells have ({short}; most are dates as {usual}); write all "
        "dates in one way, leave the cells empty, or leave the column out (--drop)",
        others,
    )
