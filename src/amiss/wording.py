"""Names and numbers, formatted for a person.

Every name that is printed goes through one of three functions: :func:`printable` in tables and lists,
:func:`in_sentence` within a sentence, and :func:`amiss.errors.quoted` in an error message.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from unicodedata import bidirectional, category

LONGEST_NAME = 32
JOINERS = "\u200c\u200d"  # they join letters of some scripts, and parts of emoji


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """At most ``longest`` characters; a longer text is cut in the middle, so that its end stays visible.

    >>> shortened("abcdefgh", 6), shortened("abcdef", 6)
    ('abc…gh', 'abcdef')
    """
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    """Shortened text whose control characters are replaced, for tables and lists.

    >>> printable("a\\u202eb\\n"), printable("abcdefgh", 6), printable("a\\u00a0b")
    ('a�b�', 'abc…gh', 'a b')
    """
    return "".join(
        letter if letter.isprintable() or letter in JOINERS else " " if category(letter) == "Zs" else "�"
        for letter in shortened(text, longest)
    )


def in_sentence(text: str, longest: int = 80) -> str:
    """Printable text within a sentence; if it runs from right to left, it leaves the direction of the rest alone.

    >>> in_sentence("age"), in_sentence("\u05d0") == "\u2068\u05d0\u2069"
    ('age', True)
    """
    return _isolated(printable(text, longest))


def _isolated(text: str) -> str:
    """Text between Unicode's isolation marks if it runs from right to left, otherwise the text itself."""
    backward = any(bidirectional(letter) in ("R", "AL", "AN") for letter in text)
    return f"\u2068{text}\u2069" if backward else text


def probability(p: float) -> str:
    """Two significant digits, and never a plain zero.

    >>> probability(0.4), probability(0.012), probability(0.00001)
    ('0.40', '0.012', '<0.001')
    """
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def percent(p: float) -> str:
    """A probability or a share for a sentence, with the digits that matter; never a rounded 0% or 100%.

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
    """A number for JSON and lists; None if it is missing or infinite.

    >>> six_digits(1 / 3), six_digits(float("nan")), six_digits(None)
    (0.333333, None, None)
    """
    return float(f"{number:.6g}") if number is not None and isfinite(number) else None


def value_text(value: int | float | str | None) -> str:
    """A value of an output as a text; a whole number has no point.

    >>> value_text(15050.0), value_text(0.25), value_text(1), value_text("red")
    ('15050', '0.25', '1', 'red')
    """
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def row_name(row: int, ids: Sequence[str] | None) -> str:
    """The name of a row in a sentence: its number, counted from 1, and its id.

    >>> row_name(16, None), row_name(16, ["x"] * 20)
    ('Row 17', 'Row 17 (x)')
    """
    return f"Row {row + 1}" + ("" if ids is None else f" ({in_sentence(ids[row], 60)})")


def joined(items: Sequence[str]) -> str:
    """Several items as one phrase.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(items[:-1]), *items[-1:]] if len(items) > 1 else items)


def first_few(items: Sequence[str], most: int = 5) -> str:
    """The first items as one phrase, and how many more there are.

    >>> first_few(["a", "b"]), first_few(["a", "b", "c", "d"], 2)
    ('a and b', 'a, b and 2 more')
    """
    rest = [f"{len(items) - most} more"] if len(items) > most else []
    return joined([*items[:most], *rest])
