"""Kinds of outputs: yes or no, a class, a grade, a count, a number.

A kind says how the cells of a column are kept (:attr:`OutputColumn.levels`) and how a value is written for a
person. What it means to a model stands in :mod:`amiss.models.output_columns`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from amiss.arrays import Floats
from amiss.errors import DataError, quoted

MISSING = "missing"
UNSEEN = "a value that the fit had not"


@dataclass(frozen=True)
class OutputKind:
    """What the values of an output are.

    ``has_levels`` says that a value is one of some levels, ``ordered`` that these have an order, ``whole`` that
    values are whole numbers from 0 on.
    """

    name: str
    description: str
    has_levels: bool = False
    ordered: bool = False
    whole: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether values are amounts, of which any may be more likely than another."""
        return not self.has_levels and self is not BINARY


BINARY = OutputKind("binary", "0 or 1")
CLASS = OutputKind("class", "one of several classes", has_levels=True)
ORDINAL = OutputKind("ordinal", "one of several levels in an order", has_levels=True, ordered=True)
COUNT = OutputKind("count", "a whole number from 0 on", whole=True)
NUMBER = OutputKind("number", "any number")
OUTPUT_KINDS: Mapping[str, OutputKind] = {kind.name: kind for kind in (BINARY, CLASS, ORDINAL, COUNT, NUMBER)}

Value = int | float | str | None
"""A value of an output, for a program."""

NewLevels = Mapping[int, Mapping[int, str]]
"""Levels that the fit had not: of each output, by place, the rows that have one, and what stands there."""

Asked = Mapping[str, Any]
"""What a user says of outputs by name: the name of a kind, or the levels of an ordinal one in their order."""


@dataclass(frozen=True)
class OutputColumn:
    """An output: its name, its kind, and the levels that its codes stand for."""

    name: str
    kind: OutputKind = BINARY
    levels: tuple[str, ...] = field(default=(), repr=False)

    def text(self, value: float) -> str:
        """A value, formatted for a person.

        >>> OutputColumn("dose", NUMBER).text(0.25), OutputColumn("grade", CLASS, ("low", "high")).text(1.0)
        ('0.25', 'high')
        """
        if np.isnan(value):
            return MISSING
        if self.kind.has_levels:
            return self.levels[int(value)] if value < len(self.levels) else UNSEEN
        return f"{value:.6g}" if self.kind is NUMBER else f"{value:.0f}"

    def plain(self, value: float) -> Value:
        """A value for a program: a whole number, a number or a text; None if it is missing."""
        if np.isnan(value):
            return None
        if self.kind.has_levels:
            return self.text(value)
        return float(f"{value:.6g}") if self.kind is NUMBER else int(value)


def all_binary(columns: Sequence[OutputColumn]) -> bool:
    return all(column.kind is BINARY for column in columns)


def checked_kinds(asked: Any) -> dict[str, str | tuple[str, ...]]:
    """What a user says of the kinds of outputs; refused if it is no kind.

    >>> checked_kinds({"dose": "number", "grade": ["low", "high"]})
    {'dose': 'number', 'grade': ('low', 'high')}
    """
    if asked is None:
        return {}
    if not isinstance(asked, Mapping):
        raise ValueError(f"output_kinds must be a dictionary of outputs and kinds; got {type(asked).__name__}")
    found: dict[str, str | tuple[str, ...]] = {}
    for name, kind in asked.items():
        if isinstance(kind, str) and kind in OUTPUT_KINDS:
            found[str(name)] = kind
        elif (
            not isinstance(kind, str) and isinstance(kind, Sequence) and len(set(map(str, kind))) == len(kind) > 1
        ):
            found[str(name)] = tuple(map(str, kind))
        else:
            choices = ", ".join(OUTPUT_KINDS)
            raise ValueError(
                f"output_kinds: {quoted(name)} must be one of {choices}, or a list of levels in their order"
            )
    return found


def refuse_unknown_outputs(asked: Asked, names: Sequence[str]) -> None:
    """Refuse kinds of outputs that are not there."""
    for name in asked:
        if name not in names:
            raise DataError(f"output_kinds (--kinds) names {quoted(name)}, which is not an output")


def coded_as(levels: tuple[str, ...], codes: Floats, known: tuple[str, ...]) -> Floats:
    """Codes of ``levels`` as codes of the ``known`` ones; any other level has the number after the last."""
    place = {level: float(code) for code, level in enumerate(known)}
    translation = np.array([place.get(level, float(len(known))) for level in levels] + [np.nan])
    return np.asarray(translation[np.where(np.isnan(codes), len(levels), codes).astype(np.intp)])
