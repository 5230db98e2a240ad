"""Errors a person can act on: one line, what is wrong, where, what to do.

Cell values never enter a message, because tables may hold patients; names of
columns do, shortened and with control characters made visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

LONGEST_NAME = 60


class DataError(ValueError):
    """The data or the request is at fault, and the message says what to do about it."""


class MissingDependencyError(ImportError):
    """A feature needs an optional dependency that is not installed."""


def quoted(name: object) -> str:
    """A column's name as it may appear in a message: quoted, printable, not too long.

    >>> quoted("tag")
    "'tag'"
    >>> quoted("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'"
    """
    text = str(name)
    if len(text) > LONGEST_NAME:
        text = text[:LONGEST_NAME] + "…"
    return repr(text)


def quoted_list(names: Sequence[str], at_most: int = 5) -> str:
    """Several names for a message: the first few, and how many more.

    >>> quoted_list(["a", "b"])
    "'a', 'b'"
    >>> quoted_list(list("abcdefg"), at_most=2)
    "'a', 'b' and 5 more"
    """
    head = ", ".join(quoted(name) for name in names[:at_most])
    rest = len(names) - at_most
    return f"{head} and {rest} more" if rest > 0 else head


def refuse_duplicates(names: Sequence[str], where: str = "") -> None:
    """Two columns of one name cannot be told apart."""
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    raise DataError(f"{where}duplicate column name {quoted_list(twice)}; rename one of them")
