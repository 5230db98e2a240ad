"""Names that a user may write, each found in one place; from there on they are objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar


class Named(Protocol):
    """Whatever a user can ask for by name."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


Entry = TypeVar("Entry", bound=Named)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """The entries of one parameter by name, in the order in which help texts list them.

    >>> from amiss.scoring.weightings import WEIGHTINGS
    >>> list(WEIGHTINGS)
    ['sqrt', 'error', 'brier']
    >>> WEIGHTINGS.named("cubic")
    Traceback (most recent call last):
    ValueError: weighting must be one of 'sqrt', 'error', 'brier'; got 'cubic'
    """

    def __init__(self, parameter: str, *entries: Entry) -> None:
        self.parameter = parameter
        self._entries = {entry.name: entry for entry in entries}

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def named(self, name: Any, *others: str) -> Entry:
        """The entry of that name; ``others`` are further values the parameter may have, for the message."""
        if not isinstance(name, str) or name not in self._entries:
            choices = ", ".join(map(repr, [*self._entries, *others]))
            raise ValueError(f"{self.parameter} must be one of {choices}; got {name!r}")
        return self._entries[name]
