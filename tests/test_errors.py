"""Names in error messages."""

from __future__ import annotations

from amiss.errors import quoted, quoted_list


def test_names_in_messages_are_printable_and_short():
    assert quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert len(quoted("x" * 10_000)) < 70
    assert quoted_list(["a", "b", "c"], at_most=2) == "'a', 'b' and 1 more"
