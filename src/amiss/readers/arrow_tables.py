"""Tables of pyarrow, as the readers of its files get them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from amiss.data.convert import as_table
from amiss.errors import DataError, MissingDependencyError
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import Source


def require_pyarrow() -> None:
    """Say what to install if pyarrow is missing."""
    if find_spec("pyarrow") is None:
        raise MissingDependencyError("Parquet needs pyarrow; install it with pip install pyarrow")


def named_columns(schema: Any) -> list[str]:
    """The names of the columns, without an index that pandas has added."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index or not name.startswith("__index_level_")]


def needed_columns(names: Sequence[str], roles: Roles) -> list[str]:
    """The columns that have a role."""
    aside = {position for position in (roles.id, roles.pictures) if position is not None}
    return [names[position] for position in sorted({*roles.kept, *aside})]


def part_of_table(frame: Any, names: Sequence[str], roles: Roles, source: Source, selection: Selection) -> Part:
    """The part that a table of pyarrow holds; ``names`` are of all columns of the file, to which roles refer."""
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
