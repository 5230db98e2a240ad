"""What stands for a missing cell in a column of numbers or dates, but may be a category elsewhere."""

from __future__ import annotations

import re

from amiss.readers.cells import MISSING

_MARKER = re.compile(
    r"\.[a-z_]?|-{1,3}|—|–|n\.\s?a\.?|missing", re.IGNORECASE
)  # SAS and Stata write . and .a to .z


def is_marker(text: str) -> bool:
    """
    >>> [is_marker(text) for text in (".", ".a", "--", "n.a.", "Missing", "unknown")]
    [True, True, True, True, True, False]
    """
    return _MARKER.fullmatch(text) is not None


def is_missing(text: str) -> bool:
    """Whether a cell is missing if the rest of its column is numbers or dates."""
    return text in MISSING or is_marker(text)
