"""What a user says of a column, in columns.toml or in Python, and what a model keeps of how a column was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from amiss.data.output_kinds import OUTPUT_KINDS
from amiss.errors import DataError, quoted
from amiss.readers.columns.dates import FORMATS as DATES
from amiss.readers.columns.durations import FORMATS as DURATIONS

ROLES = ("input", "output", "id", "show", "drop", "group", "text")
KINDS = ("number", "category", "date", "duration", "percentage", "yes_no", "text")
PARTS = ("month", "weekday")
DECIMALS, THOUSANDS = (".", ","), (".", ",", " ", "'")
MOST_TEXTS, LONGEST_TEXT = 10_000, 10_000


@dataclass(frozen=True)
class ColumnSpec:
    """One column: its role, its kind, and how its cells are written; what is empty was not said.

    ``words`` and ``parts`` are what a fit found: the words of a text, and which parts of a date are inputs, too.
    ``told`` marks what was told from the cells. It holds for them alone, not for what a cell may leave out.
    """

    role: str = ""
    kind: str = ""
    unit: str = ""
    decimal: str = ""
    thousands: str = ""
    format: str = ""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    output: str = ""
    levels: tuple[str, ...] = ()
    words: tuple[str, ...] | None = None
    parts: tuple[str, ...] | None = None
    bare: bool = True
    blank_is_no: bool = False

    @classmethod
    def of(cls, name: str, said: Any, where: str = "columns") -> ColumnSpec:
        """What columns.toml, a dictionary or a model says of a column; what is no such thing is refused.

        >>> ColumnSpec.of("age", {"role": "input", "missing": ["-9"]}).missing
        ('-9',)
        >>> ColumnSpec.of("age", {"rolle": "input"})
        Traceback (most recent call last):
        amiss.errors.DataError: columns, column 'age': there is no key 'rolle'; did you mean 'role'?
        """
        place = f"{where}, column {quoted(name)}"
        if isinstance(said, ColumnSpec):
            return said
        if not isinstance(said, Mapping):
            raise DataError(f'{place}: write a table of keys and values, as in role = "drop"')
        known = {field.name: field.default for field in fields(cls)}
        found: dict[str, Any] = {}
        for key, value in said.items():
            if key not in known:
                raise DataError(f"{place}: there is no key {quoted(key)}; {nearest(key, list(known))}")
            found[key] = _checked(value, known[key], f"{place}: {key}")
        for key, choices in _CHOICES.items():
            if found.get(key) and found[key] not in choices:
                raise DataError(f"{place}: {key} is one of {', '.join(map(quoted, choices))}")
        return cls(**found)._checked_together(place)

    def _checked_together(self, place: str) -> ColumnSpec:
        formats = {"date": DATES, "duration": DURATIONS}.get(self.kind, {})
        if self.format and self.format not in formats:
            choices = ", ".join(map(quoted, formats))
            raise DataError(
                f"{place}: format is one of {choices}"
                if formats
                else f'{place}: format is for a column of kind = "date" or kind = "duration"; say its kind'
            )
        if self.decimal and self.decimal == self.thousands:
            raise DataError(f"{place}: decimal and thousands are the same mark")
        if {*self.true} & {*self.false}:
            raise DataError(f"{place}: a value is in true and in false")
        if set(self.parts or ()) - set(PARTS):
            raise DataError(f"{place}: parts are month and weekday")
        if self.levels and (len(set(self.levels)) < len(self.levels) or len(self.levels) < 2):
            raise DataError(f"{place}: levels are at least two different texts in their order")
        return self

    def to_dict(self) -> dict[str, Any]:
        """What is said, in types that JSON and TOML have.

        >>> ColumnSpec(kind="number", unit="kg").to_dict()
        {'kind': 'number', 'unit': 'kg'}
        """
        said = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, (value, default) in said.items()
            if value != default
        }

    @property
    def says_form(self) -> bool:
        """Whether this says how cells are written, so that nothing is left to be told from them."""
        return bool(self.kind or self.unit or self.decimal or self.thousands or self.true or self.false)

    @property
    def needs_texts(self) -> bool:
        """Whether the texts of the cells matter, so that no reader may make numbers of them on its own."""
        plain = self.kind in ("", "number") and not (self.unit or self.decimal or self.thousands)
        return self.role == "text" or bool(self.true or self.false or self.missing) or not plain


_CHOICES: dict[str, tuple[str, ...]] = {
    "role": ROLES,
    "kind": KINDS,
    "decimal": DECIMALS,
    "thousands": THOUSANDS,
    "output": tuple(OUTPUT_KINDS),
}


def _checked(value: Any, default: Any, place: str) -> Any:
    """A value of the type of its default; a list is a tuple, and a number among texts is one."""
    if isinstance(default, bool):
        if type(value) is not bool:
            raise DataError(f"{place} is true or false")
        return value
    if isinstance(default, str):
        if type(value) is not str or len(value) > LONGEST_TEXT:
            raise DataError(f"{place} is a text in quotes")
        return value
    texts = [value] if isinstance(value, (str, int, float)) else value
    if not isinstance(texts, (list, tuple)) or len(texts) > MOST_TEXTS:
        raise DataError(f'{place} is a list of texts, as in ["-9", "999"]')
    if not all(isinstance(text, (str, int, float)) and not isinstance(text, bool) for text in texts):
        raise DataError(f'{place} is a list of texts, as in ["-9", "999"]')
    return tuple(str(text) for text in texts)


def nearest(wanted: object, names: list[str]) -> str:
    """A hint at the name that was meant, or at all of them."""
    close = get_close_matches(str(wanted), names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {quoted(close[0])}?"
    return f"choose one of {', '.join(map(quoted, names[:12]))}"
