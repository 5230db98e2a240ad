"""Arrow's own files, which are called Feather too: for random access, or as a stream."""

from __future__ import annotations

import io
from typing import Any

from amiss.errors import DataError
from amiss.readers.arrow_tables import named_columns, needed_columns, part_of_table, require_pyarrow
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import Source

OLD_FEATHER = b"FEA1"
RANDOM_ACCESS = b"ARROW1"


def read_arrow(source: Source, selection: Selection) -> Part:
    """The selected columns of one file."""
    require_pyarrow()
    frame, names, roles = _read(source, selection)
    return part_of_table(frame, names, roles, source, selection)


ARROW = Format("arrow", (".feather", ".arrow"), "Arrow or Feather; needs pyarrow", read_arrow, texts="strings")


def _read(source: Source, selection: Selection) -> tuple[Any, list[str], Roles]:
    """The columns that are needed, the names of all columns, and their roles."""
    import pyarrow as pa

    content = source.bytes()
    if content.startswith(OLD_FEATHER):
        source.refuse("this is Feather of version 1; write it again as version 2")
    opened = pa.ipc.open_file if content.startswith(RANDOM_ACCESS) else pa.ipc.open_stream
    try:
        schema = opened(io.BytesIO(content)).schema
        names = named_columns(schema)
        roles = selection.roles(names, source)
        wanted = [schema.get_field_index(name) for name in needed_columns(names, roles)]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        return opened(io.BytesIO(content), options=options).read_all(), names, roles
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError):
        source.refuse("this is not an Arrow or Feather file, or it is damaged")
