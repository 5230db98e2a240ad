"""Parquet files, read by pyarrow."""

from __future__ import annotations

import io
from typing import Any

from amiss.errors import DataError
from amiss.readers.arrow_tables import named_columns, needed_columns, part_of_table, require_pyarrow
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import BOMB, Source

ALWAYS_ALLOWED = 1 << 30  # bytes that any table may take
MOST_COMPRESSION = 2000  # ratio of cells to file for larger tables; constant columns take no space


def read_parquet(source: Source, selection: Selection) -> Part:
    """The selected columns of one Parquet file."""
    require_pyarrow()
    frame, names, roles = _read(source, selection)
    return part_of_table(frame, names, roles, source, selection)


PARQUET = Format("parquet", (".parquet", ".pq"), "Parquet; needs pyarrow", read_parquet, texts="strings")


def _read(source: Source, selection: Selection) -> tuple[Any, list[str], Roles]:
    """The columns that are needed, the names of all columns, and their roles."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = io.BytesIO(source.bytes())
    try:
        schema = pq.read_schema(content)
        names = named_columns(schema)
        roles = selection.roles(names, source)
        needed = needed_columns(names, roles)
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
