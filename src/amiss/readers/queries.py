"""One table of a database, or what one query answers: the rows of any database of Python's common interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from amiss.errors import quoted_list
from amiss.readers.cell_rows import Rows, read_rows
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source
from amiss.readers.typed_cells import texts_in
from amiss.wording import shortened

IS_QUERY = re.compile(r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|from)\b", re.IGNORECASE | re.DOTALL)
FETCHED = 4096  # rows at a time
LONGEST_REASON = 200


class Database(Protocol):
    """An open database that nobody can write to."""

    def tables(self) -> Sequence[str]:
        """The names of its tables."""

    def views(self) -> Sequence[str]:
        """The names of its views."""

    def answer(self, query: str) -> Any:
        """A cursor with the answer of one query; it is refused if there is none."""


def read_answer(database: Database, source: Source, selection: Selection) -> Part:
    """The selected columns of the table or the query that the user names; rows count from 1."""
    cursor = database.answer(_query(database, source))
    source = replace(source, unit="row")
    names = [str(column[0]).strip() for column in cursor.description]
    if "" in names:
        source.refuse(f"column {names.index('') + 1} has no name; write AS and a name in the query")
    return read_rows(source, selection, Rows(names, _numbered(cursor), texts=texts_in(source)))


def reason(error: Exception) -> str:
    """What a database says of a query, in one line."""
    return shortened(" ".join(str(error).partition("\nLINE ")[0].split()), LONGEST_REASON)


def _numbered(cursor: Any) -> Iterator[tuple[int, Sequence[Any]]]:
    done = 0
    while rows := cursor.fetchmany(FETCHED):
        yield from enumerate(rows, start=done + 1)
        done += len(rows)


def _query(database: Database, source: Source) -> str:
    """The query that the user writes, or that reads the table they mean."""
    tables, views = database.tables(), database.views()
    if source.part is None:
        known = tables or views
        if len(known) == 1:
            return _all_of(known[0])
        if not known:
            source.refuse("the database has no tables")
        source.refuse(
            f"there are {len(known)} tables: {quoted_list(known)}; choose one (--table), or write a query "
            "(FILE::SELECT …)"
        )
    named = {name.casefold(): name for name in (*views, *tables)} | {name: name for name in (*views, *tables)}
    name = named.get(source.part) or named.get(source.part.casefold())
    if name is not None:
        return _all_of(name)
    if IS_QUERY.match(source.part):
        return source.part
    found = f"there are {quoted_list([*tables, *views])}" if named else "the database has no tables"
    source.refuse(f"there is no such table, and this is no SELECT; {found}")


def _all_of(table: str) -> str:
    escaped = table.replace('"', '""')
    return f'SELECT * FROM "{escaped}"'
