"""DuckDB databases, opened for reading only and without a way to other files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amiss.errors import DataError, MissingDependencyError
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.queries import read_answer, reason
from amiss.readers.select import Selection
from amiss.readers.source import Source

MAGIC, MAGIC_AT = b"DUCK", 8  # where the first bytes say what the file is
CLOSED: Any = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}
NAMES = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = current_schema() AND (table_type = 'VIEW') = ? ORDER BY table_name"
)


def read_duckdb(source: Source, selection: Selection) -> Part:
    """The selected columns of one table or of the answer to a query."""
    if find_spec("duckdb") is None:
        raise MissingDependencyError("DuckDB databases need duckdb; install it with pip install 'amiss[duckdb]'")
    import duckdb

    with source.open() as stream:
        start = stream.read(MAGIC_AT + len(MAGIC))
    if start[MAGIC_AT:] != MAGIC:
        source.refuse("this is no DuckDB database")
    if not source.is_plain:
        source.refuse("DuckDB opens only files, and no gzipped ones; unpack it first")
    try:
        connection = duckdb.connect(str(Path(source.path).absolute()), read_only=True, config=CLOSED)
        with closing(connection):
            return read_answer(_DuckDB(connection, source), source, selection)
    except DataError:
        raise
    except duckdb.Error:  # whose words may quote a cell
        source.refuse("the database cannot be read: it is damaged, or another program has it open")


DUCKDB = Format("duckdb", (".duckdb",), "the same of DuckDB; needs the extra duckdb", read_duckdb, part="table")


class _DuckDB:
    def __init__(self, connection: Any, source: Source) -> None:
        self._connection, self._source = connection, source

    def tables(self) -> Sequence[str]:
        return self._names(is_view=False)

    def views(self) -> Sequence[str]:
        return self._names(is_view=True)

    def answer(self, query: str) -> Any:
        import duckdb

        try:
            statements = duckdb.extract_statements(query)
            if len(statements) != 1:
                self._source.refuse("only one query is read; leave out what follows it")
            if statements[0].type != duckdb.StatementType.SELECT:
                self._source.refuse("only a SELECT is read; nothing else is run")
            return self._connection.execute(query)
        except duckdb.Error as error:
            of_query = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
            said = (
                reason(error) if isinstance(error, of_query) else type(error).__name__
            )  # others may quote a cell
            self._source.refuse(f"the query fails: {said}")

    def _names(self, is_view: bool) -> list[str]:
        return [str(name) for (name,) in self._connection.execute(NAMES, [is_view]).fetchall()]
