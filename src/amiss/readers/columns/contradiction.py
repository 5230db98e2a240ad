"""A column that nobody can read without a decision of the user's."""

from __future__ import annotations

from collections.abc import Sequence


class Contradiction(Exception):
    """The texts of a column cannot be read in one way.

    ``short`` says it in a list of columns, ``problem`` in a sentence that says what to do, too. ``texts`` are
    those that do not go with most of the others, where some do not.
    """

    def __init__(self, short: str, problem: str, texts: Sequence[str] = ()) -> None:
        super().__init__(short)
        self.short, self.problem, self.texts = short, problem, texts
