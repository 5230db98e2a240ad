"""Parquet files, through pyarrow (``pip install amiss[io]``)."""

from __future__ import annotations

import io

import numpy as np

from amiss.dataset import as_table
from amiss.errors import DataError, MissingDependencyError
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source


def read_parquet(source: Source, selection: Selection) -> Part:
    """The kept columns of one Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError(
            "Parquet needs pyarrow; install it with pip install 'amiss[io]'"
        ) from None
    content = io.BytesIO(source.bytes())
    try:
        names = pq.read_schema(content).names
        roles = selection.roles(names, source)
        content.seek(0)
        wanted = [
            names[position] for position in sorted({*roles.kept, *([] if roles.id is None else [roles.id])})
        ]
        frame = pq.read_table(content, columns=wanted)
    except (pa.ArrowException, OSError):
        source.refuse("this is not a Parquet file, or it is damaged")
    ids = None
    if roles.id is not None:
        ids = ["" if cell is None else str(cell) for cell in frame.column(names[roles.id]).to_pylist()]
    kept = frame.select([names[position] for position in roles.kept])
    for position, name in enumerate(kept.column_names):
        if selection.is_categorical(name):
            kept = kept.set_column(position, name, kept.column(name).cast(pa.string()))
    try:
        table = as_table(kept)
    except (DataError, TypeError) as error:
        source.refuse(str(error))
    return Part.of(source, table, roles, np.zeros(0, dtype=np.intp), ids)
