"""Remarks: what would mislead a reader of the results, each with a stable code for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

WRITTEN = re.compile(r"\[([a-z-]+)\] (.*)", re.DOTALL)


class Code(StrEnum):
    """What a remark is about. Programs may rely on these names."""

    LEAK = "leak"
    COPIED_INPUT = "copied-input"
    IDENTIFIER = "identifier"
    FEW_ROWS = "few-rows"
    COPIED_ROWS = "copied-rows"
    NEAR_COPIES = "near-copies"
    REPEATED_IDS = "repeated-ids"
    CONSTANT_OUTPUT = "constant-output"
    NO_SKILL = "no-skill"
    ONE_OUTPUT = "one-output"
    TIES = "ties"
    NOT_CONVERGED = "not-converged"
    PREDICTIONS = "predictions"
    MODELS = "models"
    RULE = "rule"
    LEVEL = "level"
    NEIGHBORS = "neighbors"
    SORTED = "sorted"
    DRIFTED_LEVEL = "drifted-level"
    BATCH = "batch"
    READING = "reading"
    NOTE = "note"


@dataclass(frozen=True)
class Remark:
    """One line for a person, and a code for a program.

    >>> str(Remark(Code.LEAK, "Input a tells output y."))
    'Input a tells output y.'
    """

    code: str
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def written(self) -> str:
        """The remark as a model file keeps it: a text, as before there were codes."""
        return f"[{self.code}] {self.text}"

    @classmethod
    def read(cls, written: str) -> Remark:
        """From a model file; a text of an older one has no code.

        >>> str(Remark.read("[leak] Input a tells y.").code), str(Remark.read("Boosted trees help.").code)
        ('leak', 'note')
        """
        found = WRITTEN.fullmatch(written)
        return cls(Code.NOTE, written) if found is None else cls(found[1], found[2])


def coded(code: Code, texts: Iterable[str]) -> tuple[Remark, ...]:
    """Texts about the same thing as remarks."""
    return tuple(Remark(code, text) for text in texts)
