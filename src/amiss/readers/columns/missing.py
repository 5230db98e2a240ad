"""What stands for a missing cell in a column of numbers or dates, but may be a category elsewhere."""

from __future__ import annotations

import re

from amiss.readers.cells import MISSING

_MARKER = re.compile(
    r"\.[a-z_]?|-{1,3}|—|–|n\.\s?a\.?|missing", re.IGNORECASE
)  # SAS and Stata write . and .a to .z

_NO_ANSWERS = """
? k.a ka n.b nb n/a na n.a n.d nd n/d keineangabe unbekannt nichtbekannt unklar fehlt unknown notknown unk inconnu
desconocido sconosciuto onbekend okänd
"""
NO_ANSWERS = frozenset(_NO_ANSWERS.split())


def is_marker(text: str) -> bool:
    """
    >>> [is_marker(text) for text in (".", ".a", "--", "n.a.", "Missing", "unknown")]
    [True, True, True, True, True, False]
    """
    return _MARKER.fullmatch(text) is not None


def is_no_answer(text: str) -> bool:
    """Whether a text among yes and no says that nobody knows.

    >>> [is_no_answer(text) for text in ("k.A.", "n. b.", "Unbekannt", "n/a", "-", "nien")]
    [True, True, True, True, True, False]
    """
    return is_marker(text) or "".join(text.casefold().split()).rstrip(".") in NO_ANSWERS


def is_missing(text: str) -> bool:
    """Whether a cell is missing if the rest of its column is numbers or dates."""
    return text in MISSING or is_marker(text)
