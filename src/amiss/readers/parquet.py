"""Parquet files, read by pyarrow."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any

from amiss.data.convert import as_table
from amiss.errors import DataError, MissingDependencyError
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import BOMB, Source

ALWAYS_ALLOWED = 1 << 30  # bytes that any table may take
MOST_COMPRESSION = 2000  # ratio of cells to file for larger tables; constant columns take no space


def require_pyarrow() -> None:
    """Say what to install if pyarrow is missing."""
    if find_spec("pyarrow") is None:
        raise MissingDependencyError("Parquet needs pyarrow; install it with pip install pyarrow")


def read_parquet(source: Source, selection: Selection) -> Part:
    """The selected columns of one Parquet file."""
    require_pyarrow()
    frame, names, roles = _read(source, selection)
    _refuse_damaged_columns(frame, source)

    def texts(position: int) -> list[str]:
        return ["" if cell is None else str(cell) for cell in frame.column(names[position]).to_pylist()]

    ids = None if roles.id is None else texts(roles.id)
    pictures = None if roles.pictures is None else [source.beside(name) for name in texts(roles.pictures)]
    kept = _with_categories(frame.select([names[position] for position in roles.kept]), source, selection)
    try:
        table = as_table(kept)
    except (DataError, TypeError) as error:
        source.refuse(str(error))
    return Part.of(source, table, roles, None, ids, pictures)


PARQUET = Format("parquet", (".parquet", ".pq"), "Parquet; needs pyarrow", read_parquet, texts="strings")


def _read(source: Source, selection: Selection) -> tuple[Any, list[str], Roles]:
    """The columns that are needed, the names of all columns, and their roles."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = io.BytesIO(source.bytes())
    try:
        schema = pq.read_schema(content)
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        names = [name for name in schema.names if name not in index or not name.startswith("__index_level_")]
        roles = selection.roles(names, source)
        aside = {position for position in (roles.id, roles.pictures) if position is not None}
        needed = [names[position] for position in sorted({*roles.kept, *aside})]
        content.seek(0)
        n_cells = pq.read_metadata(content).num_rows * len(needed)
        if n_cells * 8 > max(ALWAYS_ALLOWED, MOST_COMPRESSION * len(content.getvalue())):
            source.refuse(BOMB)
        content.seek(0)
        return pq.read_table(content, columns=needed), names, roles
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        source.refuse("this is not a Parquet file, or it is damaged")


def _refuse_damaged_columns(frame: Any, source: Source) -> None:
    import pyarrow as pa

    for name, column in zip(frame.column_names, frame.columns, strict=True):
        try:
            column.validate(full=True)  # invalid UTF-8, lists that end before they begin
        except pa.ArrowException:
            source.refuse("the column is damaged; write the file again", column=name)


def _with_categories(frame: Any, source: Source, selection: Selection) -> Any:
    """The frame, in which columns that the user calls categorical hold texts, and so do dates."""
    import pyarrow as pa

    for position, name in enumerate(frame.column_names):
        kind = frame.column(name).type
        if selection.is_categorical(name) or pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            try:
                frame = frame.set_column(position, name, frame.column(name).cast(pa.string()))
            except pa.ArrowException:
                source.refuse("this cannot be read as categories; leave it out of --categorical", column=name)
    return frame
