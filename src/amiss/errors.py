"""Errors a person can act on: one line that says what is wrong, where, and what to do.

A message never quotes the value of a cell, because tables may hold patients' data. It does quote
names of columns, shortened and with control characters made visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from amiss.wording import shortened

LONGEST_NAME = 60


class DataError(ValueError):
    """Something is wrong with the data or the request; the message says what to do about it."""


class MissingDependencyError(ImportError):
    """A feature needs an optional dependency that is not installed."""


def quoted(name: object) -> str:
    """A name for a message: in quotes, control characters escaped, and a long name cut in the middle.

    >>> quoted("tag")
    "'tag'"
    >>> quoted("a" * 50 + "b" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…bbbbbbbbbbbbbbbbbbbbbbbbbbbbb'"
    """
    return repr(shortened(str(name), LONGEST_NAME))


def quoted_list(names: Sequence[str], at_most: int = 5) -> str:
    """Several names for a message: the first few in quotes, and how many more there are.

    >>> quoted_list(["a", "b"])
    "'a', 'b'"
    >>> quoted_list(list("abcdefg"), at_most=2)
    "'a', 'b' and 5 more"
    """
    head = ", ".join(quoted(name) for name in names[:at_most])
    rest = len(names) - at_most
    return f"{head} and {rest} more" if rest > 0 else head


def refuse_duplicates(names: Sequence[str], where: str = "") -> None:
    """Refuse two columns with the same name; ``where`` begins the message."""
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    raise DataError(f"{where}duplicate column name {quoted_list(twice)}; rename one of them")
