"""A column that nobody can read without a decision of the user's."""

from __future__ import annotations


class Contradiction(Exception):
    """The texts of a column cannot be read in one way.

    ``short`` says it in a list of columns, ``problem`` in a sentence that says what to do, too.
    """

    def __init__(self, short: str, problem: str) -> None:
        super().__init__(short)
        self.short, self.problem = short, problem
