"""Error types, and names in their messages."""

from __future__ import annotations

import pytest

from amiss.errors import DataError, MissingDependencyError, quoted, quoted_list, refuse_duplicates


def test_names_in_messages_are_printable_and_short():
    assert quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert len(quoted("x" * 10_000)) < 70
    assert quoted_list(["a", "b", "c"], at_most=2) == "'a', 'b' and 1 more"


def test_errors_of_the_package_are_also_pythons():
    """Whoever catches ValueError or ImportError catches them too."""
    assert issubclass(DataError, ValueError) and issubclass(MissingDependencyError, ImportError)


def test_names_that_stand_twice_are_refused_by_name():
    refuse_duplicates(["a", "b"])
    with pytest.raises(DataError, match=r"t\.csv: duplicate column name 'b'; rename one of them"):
        refuse_duplicates(["a", "b", "c", "b"], "t.csv: ")
