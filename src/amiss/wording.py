"""Names and numbers as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from unicodedata import bidirectional, category

LONGEST_NAME = 32
JOINERS = "\u200c\u200d"  # between letters of some scripts, and in emoji


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    """Text as it may be printed: no control characters, and not too long, cut in the middle.

    >>> printable("a\\u202eb\\n"), printable("abcdefgh", 6), printable("a\\u00a0b")
    ('a�b�', 'abc…gh', 'a b')
    """
    if len(text) <= longest:
        return _clean(text)
    tail = (longest - 1) // 2
    return _clean(text[: longest - 1 - tail]) + "…" + _clean(text[len(text) - tail :])


def _clean(text: str) -> str:
    return "".join(
        letter if letter.isprintable() or letter in JOINERS else " " if category(letter) == "Zs" else "�"
        for letter in text
    )


def isolated(text: str) -> str:
    """Text that does not turn the sentence around it, if it runs from right to left."""
    backward = any(bidirectional(letter) in ("R", "AL", "AN") for letter in text)
    return f"\u2068{text}\u2069" if backward else text


def probability(p: float) -> str:
    """Two digits that matter, never a flat zero.

    >>> probability(0.4), probability(0.012), probability(0.00001)
    ('0.40', '0.012', '<0.001')
    """
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def percent(p: float) -> str:
    """A probability or a share for a sentence: as many digits as matter, never a false 0 or 100.

    >>> [percent(p) for p in (0.0, 0.00001, 0.0042, 0.31, 0.9993, 1 - 1e-9, 1.0)]
    ['0%', 'under 0.1%', '0.4%', '31%', '99.9%', 'over 99.9%', '100%']
    """
    if p in (0.0, 1.0):
        return f"{p:.0%}"
    if p < 0.001:
        return "under 0.1%"
    if p > 0.9994:
        return "over 99.9%"
    return f"{p:.1%}" if p < 0.0995 or p >= 0.9905 else f"{p:.0%}"


def six_digits(number: float | None) -> float | None:
    """A number as JSON and lists have it: none that is missing or infinite.

    >>> six_digits(1 / 3), six_digits(float("nan")), six_digits(None)
    (0.333333, None, None)
    """
    return float(f"{number:.6g}") if number is not None and isfinite(number) else None


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "row"), count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def row_name(row: int, ids: Sequence[str] | None) -> str:
    """What a row is called in a sentence; rows are counted from 1.

    >>> row_name(16, None), row_name(16, ["x"] * 20)
    ('Row 17', 'Row 17 (x)')
    """
    return f"Row {row + 1}" + ("" if ids is None else f" ({isolated(printable(ids[row], 60))})")


def joined(items: Sequence[str]) -> str:
    """
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(items[:-1]), *items[-1:]] if len(items) > 1 else items)


def first_few(items: Sequence[str], most: int = 5) -> str:
    """
    >>> first_few(["a", "b"]), first_few(["a", "b", "c", "d"], 2)
    ('a and b', 'a and b and 2 more')
    """
    return joined(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")
