"""Which columns are outputs, which is the id, which are dropped.

Outputs are named by a Mulan XML file, by names or globs (``tag_*``) separated by commas, or by
place (``last:14``, ``first:3``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from amiss.dataset import differences, refuse_duplicates
from amiss.errors import DataError, listed, shown
from amiss.readers.mulan import label_names
from amiss.readers.source import Source


@dataclass(frozen=True)
class Roles:
    """What the columns of one file are, by position; dropped ones are in neither."""

    kept: list[int]
    outputs: frozenset[str]
    id: int | None


@dataclass(frozen=True)
class Selection:
    """What the user asked for, before any file is open."""

    outputs: tuple[str, ...] | None
    id: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        outputs: str | Sequence[str] | None,
        id: str | None = None,
        drop: str | Sequence[str] = (),
        categorical: str | Sequence[str] = (),
    ) -> Selection:
        return cls(None if outputs is None else _items(outputs), id, _items(drop), _items(categorical))

    def roles(self, names: Sequence[str], source: Source, known: Sequence[str] | None = None) -> Roles:
        """The role of every column of a file; ``known`` are outputs the format itself marks."""
        refuse_duplicates(names, where=f"{source.name}: ")
        if self.id is not None and self.id not in names:
            source.refuse(
                f"there is no column {shown(self.id)} to be the id; there are {listed(list(names))}"
            )
        dropped = {name for item in self.drop for name in _matching(item, names, source)}
        gone = dropped | ({self.id} if self.id is not None else set())
        left = [name for name in names if name not in gone]
        if self.outputs is not None:
            outputs = {name for item in self.outputs for name in self._named(item, left, source)}
        elif known is not None:
            outputs = set(known) - gone
        else:
            raise DataError(
                f"{source.name}: which columns are outputs? Name them (--outputs 'tag_*'), "
                "count them (--outputs last:14) or give a Mulan XML file"
            )
        if not outputs:
            source.refuse("there is no output column left")
        if len(outputs) == len(left):
            source.refuse("every column is an output; at least one must be an input")
        return Roles(
            kept=[position for position, name in enumerate(names) if name not in gone],
            outputs=frozenset(outputs),
            id=None if self.id is None else list(names).index(self.id),
        )

    def is_categorical(self, name: str) -> bool:
        return any(name == item or fnmatchcase(name, item) for item in self.categorical)

    @staticmethod
    def _named(item: str, names: list[str], source: Source) -> list[str]:
        if item in names:
            return [item]
        if item.lower().endswith(".xml"):
            labels = label_names(Source(item))
            missing, _ = differences(names, labels)
            if missing:
                source.refuse(f"label {listed(missing)} of {item} is not among its columns")
            return labels
        place, _, count = item.partition(":")
        if place in ("first", "last") and count:
            return _by_place(place, count, names, source)
        return _matching(item, names, source)


def _by_place(place: str, count: str, names: list[str], source: Source) -> list[str]:
    if not count.isdecimal() or int(count) == 0:
        raise DataError(f"outputs {shown(place + ':' + count)}: give a number of columns, as in last:14")
    if int(count) >= len(names):
        source.refuse(f"there are {len(names)} columns, so {place}:{count} leaves no input")
    return names[: int(count)] if place == "first" else names[-int(count) :]


def _matching(item: str, names: Sequence[str], source: Source) -> list[str]:
    found = [item] if item in names else [name for name in names if fnmatchcase(name, item)]
    if not found:
        source.refuse(f"no column is named or matches {shown(item)}; there are {listed(list(names))}")
    return found


def _items(request: str | Sequence[str]) -> tuple[str, ...]:
    """Comma-separated text, or a list of names that are taken as they are."""
    if isinstance(request, str):
        return tuple(item.strip() for item in request.split(",") if item.strip())
    return tuple(request)
