"""Which columns are outputs, which one is the id, and which are dropped.

Outputs are selected by a Mulan XML file, by names or globs (``tag_*``) separated by commas, or by
position (``last:14``, ``first:3``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from amiss.data.alignment import missing_and_extra
from amiss.errors import DataError, quoted, quoted_list, refuse_duplicates
from amiss.readers.mulan import label_names
from amiss.readers.source import Source


@dataclass(frozen=True)
class Roles:
    """The roles of one file's columns, by position; ``outputs`` are names."""

    kept: list[int]
    outputs: frozenset[str]
    id: int | None
    pictures: int | None


@dataclass(frozen=True)
class Selection:
    """What the user asked for, before any file is opened.

    With ``strict``, names may be patterns and must exist. Otherwise they are the exact names of a fit, and the
    columns are compared with them later. Columns of ``may_drop`` need not exist. With ``inputs_elsewhere``, there
    need not be any inputs here. Columns to ``show`` are read as texts, and set aside when all files are read.
    Readers hand out the ``texts`` of columns as they are. Columns that are ``described`` must be there.
    """

    outputs: tuple[str, ...] | None
    id: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    pictures: str | None = None
    may_drop: tuple[str, ...] = ()
    strict: bool = True
    inputs_elsewhere: bool = False
    show: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    described: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        outputs: str | Sequence[str] | None,
        id: str | None = None,
        drop: str | Sequence[str] = (),
        categorical: str | Sequence[str] = (),
        pictures: str | None = None,
        may_drop: str | Sequence[str] = (),
        show: str | Sequence[str] = (),
    ) -> Selection:
        asked = None if outputs is None else as_items(outputs)
        ours, aside = as_items(drop), as_items(may_drop)
        return cls(asked, id, ours, as_items(categorical), pictures, aside, show=as_items(show))

    def roles(
        self, names: Sequence[str], source: Source, known: Sequence[str] | None = None, line: int | None = None
    ) -> Roles:
        """The roles of a file's columns; ``known`` are outputs that the file itself marks."""
        where = source.name if line is None else f"{source.name}, line {line}"
        refuse_duplicates(names, where=f"{where}: ")
        aside = {"be the id": self.id, "name pictures": self.pictures}
        for purpose, column in aside.items():
            if column is not None and column not in set(names):
                without = "" if self.strict else "; pass --id '' if the rows have no id"
                source.refuse(
                    f"there is no column {quoted(column)} to {purpose}; {_nearest(column, names)}{without}"
                )
        dropped = {name for item in self.drop for name in matching_columns(item, names, source.name)}
        dropped |= {name for item in self.may_drop for name in _matching(item, names)}
        for item in (*self.categorical, *self.described) if self.strict else ():
            matching_columns(item, names, source.name)
        gone = dropped | {column for column in aside.values() if column is not None}
        shown = {name for item in self.show for name in matching_columns(item, names, source.name)}
        shown -= {column for column in aside.values() if column is not None}  # the id is shown anyway
        gone -= shown
        left = [name for name in names if name not in gone | shown]
        self._refuse_shown_outputs(shown, source)
        if self.outputs is not None:
            outputs = self._named_outputs(left, source)
        elif known is not None:
            outputs = set(known) - gone - shown
        else:
            source.refuse(
                "which columns are outputs? Name them (--outputs 'tag_*'), count them "
                "(--outputs last:14) or give a Mulan XML file"
            )
        if not outputs:
            source.refuse("there is no output column left; drop fewer columns")
        if len(outputs) == len(left) and not self.inputs_elsewhere:
            source.refuse(
                "every column is an output; at least one must be an input, "
                "or give a NumPy file with the inputs (--inputs)"
            )
        return Roles(
            kept=[position for position, name in enumerate(names) if name not in gone],
            outputs=frozenset(outputs),
            id=None if self.id is None else list(names).index(self.id),
            pictures=None if self.pictures is None else list(names).index(self.pictures),
        )

    def _named_outputs(self, names: list[str], source: Source) -> set[str]:
        if not self.strict:
            return set(self.outputs or ()) & set(names)
        most = len(names) - (not self.inputs_elsewhere)
        return {name for item in self.outputs or () for name in _outputs(item, names, most, source)}

    def _refuse_shown_outputs(self, shown: set[str], source: Source) -> None:
        named = [name for name in self.outputs or () if name in shown] if self.strict else []
        if named:
            source.refuse(f"{quoted_list(named)} cannot be shown and be an output; leave it out of --show")

    def is_categorical(self, name: str) -> bool:
        """Whether a reader keeps the texts of a column, and makes no numbers of them."""
        return self.is_said_categorical(name) or is_named(name, self.texts) or self.is_shown(name)

    def is_shown(self, name: str) -> bool:
        """Whether a column is only shown."""
        return any(name in _matching(item, [name]) for item in self.show)

    def is_said_categorical(self, name: str) -> bool:
        """Whether the user, or a fit, calls a column categorical."""
        if not self.strict:
            return name in self.categorical
        return any(name in _matching(item, [name]) for item in self.categorical)


@dataclass(frozen=True)
class AllColumns(Selection):
    """A request for every column of a file, whatever its role."""

    def roles(
        self, names: Sequence[str], source: Source, known: Sequence[str] | None = None, line: int | None = None
    ) -> Roles:
        """All columns; outputs are those that are named, or that the file marks."""
        where = source.name if line is None else f"{source.name}, line {line}"
        refuse_duplicates(names, where=f"{where}: ")
        for item in (*self.categorical, *self.described):
            matching_columns(item, names, source.name)
        outputs = self._named_outputs(list(names), source) if self.outputs is not None else set(known or ())
        return Roles([*range(len(names))], frozenset(outputs), None, None)


def matching_columns(item: str, names: Sequence[str], where: str) -> list[str]:
    """The names that ``item`` selects: a name, or globs separated by commas; ``where`` begins the message."""
    if item in set(names):
        return [item]
    found: list[str] = []
    for pattern in filter(None, map(str.strip, item.split(","))):
        matching = _matching(pattern, names)
        if not matching:
            raise DataError(f"{where}: no column matches {quoted(pattern)}; {_nearest(pattern, names)}")
        found += matching
    return found


def shown_columns(items: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that are to be shown, in the order in which the user asks for them."""
    parts = [part.strip() for item in items for part in ([item] if item in names else item.split(","))]
    return list(dict.fromkeys(name for part in parts for name in _matching(part, names)))


def _matching(item: str, names: Sequence[str]) -> list[str]:
    if item in names:
        return [item]
    return [name for name in names for pattern in item.split(",") if fnmatchcase(name, pattern.strip())]


def _nearest(wanted: str, names: Sequence[str]) -> str:
    """A hint with similar names only, because the first line of a file may hold data instead of names."""
    close = get_close_matches(wanted, names, n=3, cutoff=0.6)
    close = close or [name for name in names if name.lower().startswith(wanted.lower().rstrip("*"))][:3]
    return f"did you mean {quoted_list(close)}?" if close else f"there are {len(names)} columns"


def _outputs(item: str, names: list[str], most: int, source: Source) -> list[str]:
    """The outputs that ``item`` selects; at most ``most`` if it counts them."""
    if item not in names and item.lower().endswith(".xml"):
        labels = label_names(Source(item))
        missing, _ = missing_and_extra(names, labels)
        if missing:
            source.refuse(f"label {quoted_list(missing)} of {item} is not among its columns")
        return labels
    place, _, count = item.partition(":")
    if item not in names and place in ("first", "last") and count:
        return _by_position(place, count, names, most, source)
    return matching_columns(item, names, source.name)


def _by_position(place: str, count: str, names: list[str], most: int, source: Source) -> list[str]:
    if not count.isdecimal() or int(count) == 0:
        raise DataError(f"outputs {quoted(place + ':' + count)}: give a number of columns, as in last:14")
    if int(count) > most:
        problem = "leaves no input" if most < len(names) else "is too many"
        source.refuse(f"there are {len(names)} columns, so {place}:{count} {problem}")
    return names[: int(count)] if place == "first" else names[-int(count) :]


def as_items(request: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names and globs as a tuple."""
    if request is None:
        return ()
    return (request,) if isinstance(request, str) else tuple(request)


def is_named(name: str, items: Sequence[str]) -> bool:
    """Whether one of the names and globs selects a column."""
    return any(name in _matching(item, [name]) for item in items)
