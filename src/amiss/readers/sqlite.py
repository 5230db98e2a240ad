"""SQLite databases, read by Python's own library. They are opened for reading only, and can run no other files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from amiss.errors import DataError
from amiss.readers.duckdb import MAGIC as DUCKDB_MAGIC
from amiss.readers.duckdb import MAGIC_AT, read_duckdb
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.queries import read_answer, reason
from amiss.readers.select import Selection
from amiss.readers.source import LONGEST_LINE, Source

MAGIC = b"SQLite format 3\0"
HEADER = 100  # bytes
VERSIONS = slice(18, 20)  # in the header: 2 for a database with a log of its own beside it, 1 for one without
ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
STEPS = 1_000_000  # of a query, after each of which Ctrl-C is noticed
NAMES = "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
DAMAGED = "the database is damaged, or this is no SQLite database"


def read_sqlite(source: Source, selection: Selection) -> Part:
    """The selected columns of one table or of the answer to a query."""
    with source.open() as stream:
        start = stream.read(HEADER)
    if not start:
        source.refuse("the file is empty")
    if start[MAGIC_AT:].startswith(DUCKDB_MAGIC):
        return read_duckdb(source, selection)
    if not start.startswith(MAGIC):
        source.refuse("this is no SQLite database")
    with _refusing(source), closing(_connected(source, start)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
        connection.set_authorizer(_authorized)
        connection.set_progress_handler(lambda: 0, STEPS)
        return read_answer(_SQLite(connection, source), source, selection)


SQLITE = Format(
    "sqlite", (".sqlite", ".sqlite3", ".db"), "a table of a SQLite database, or a query", read_sqlite, part="table"
)


class _SQLite:
    def __init__(self, connection: sqlite3.Connection, source: Source) -> None:
        self._connection, self._source = connection, source

    def tables(self) -> Sequence[str]:
        return self._names("table")

    def views(self) -> Sequence[str]:
        return self._names("view")

    def answer(self, query: str) -> Any:
        try:
            return self._connection.execute(query)
        except sqlite3.ProgrammingError:
            self._source.refuse("only one query is read; leave out what follows it")
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise
            self._source.refuse(f"the query fails: {reason(error)}")
        except sqlite3.DatabaseError as error:
            if "not authorized" not in str(error):
                raise
            self._source.refuse("only a SELECT is read; nothing else is run")

    def _names(self, kind: str) -> list[str]:
        return [str(name) for (name,) in self._connection.execute(NAMES, (kind,))]


def _connected(source: Source, start: bytes) -> sqlite3.Connection:
    """A file itself; what is gzipped or comes through a pipe, in memory."""
    path = Path(source.path)
    if source.is_plain:
        # A log beside the file may hold the newest rows. Without one, nothing need be written to read the file.
        has_log = path.with_name(path.name + "-wal").exists()
        alone = start[VERSIONS] == b"\2\2" and not has_log
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' * alone}", uri=True)
    content = bytearray(source.bytes())
    content[VERSIONS] = b"\1\1"
    connection = sqlite3.connect(":memory:")
    connection.deserialize(bytes(content))
    return connection


def _authorized(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


@contextmanager
def _refusing(source: Source) -> Iterator[None]:
    """Whatever SQLite raises while rows are read becomes one refusal; its own words may quote a cell."""
    try:
        yield
    except DataError:
        raise
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            raise KeyboardInterrupt from None
        if "decode" in str(error):
            source.refuse("there is a text that is not UTF-8; leave its column out of the query")
        if "locked" in str(error):
            source.refuse("another program is writing to the database; try again later")
        source.refuse(DAMAGED)
    except (sqlite3.Error, UnicodeDecodeError, ValueError, OverflowError):
        source.refuse(DAMAGED)
    except MemoryError:
        if not source.is_plain or Path(source.path).stat().st_size > LONGEST_LINE:
            raise
        source.refuse(DAMAGED)  # a small file that asks for more memory than there is
