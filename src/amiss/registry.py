"""Registries: the names that a user may write, each found in one place; from there on they are objects.

A registry knows where its entries are and imports one when it is first looked up, so that the command line
can list all names at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")


class Registry(Mapping[str, Entry], Generic[Entry]):
    """The choices of one parameter by name, in the order in which help texts list them.

    ``entries`` maps a name to where its object or class is in ``package``, as in "rules.flip.Flip".

    >>> from amiss.scoring.registry import WEIGHTINGS
    >>> list(WEIGHTINGS)
    ['sqrt', 'error', 'brier']
    >>> WEIGHTINGS.named("cubic")
    Traceback (most recent call last):
    ValueError: weighting must be one of 'sqrt', 'error', 'brier'; got 'cubic'
    """

    def __init__(self, parameter: str, package: str, entries: Mapping[str, str]) -> None:
        self.parameter, self._package, self._homes = parameter, package, dict(entries)
        self._imported: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        if name not in self._imported:
            module, _, attribute = f"{self._package}.{self._homes[name]}".rpartition(".")
            found = getattr(import_module(module), attribute)
            self._imported[name] = found() if isinstance(found, type) else found
        return self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def named(self, name: Any, *others: str) -> Entry:
        """The entry of that name; ``others`` are further values the parameter may have, for the message."""
        if not isinstance(name, str) or name not in self._homes:
            choices = ", ".join(map(repr, [*self._homes, *others]))
            raise ValueError(f"{self.parameter} must be one of {choices}; got {name!r}")
        return self[name]
