"""Frames of columns: which library makes them, what their columns hold, and what the rows are called."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from amiss.errors import DataError, MissingDependencyError
from amiss.output.frame_libraries import FrameLibrary, is_installed
from amiss.output.list_columns import Lists
from amiss.output.list_formats import column_type, of_one_type
from amiss.output.registry import LIBRARIES


def library_named(name: str | None) -> FrameLibrary:
    if name is None:
        for library in LIBRARIES.values():
            if is_installed(library):
                return library
        raise MissingDependencyError("a frame needs pandas, polars or pyarrow; pip install one of them")
    library = LIBRARIES.named(name)
    if not is_installed(library):
        raise MissingDependencyError(
            f"{library.description} needs {name}; install it with pip install {library.install}"
        )
    return library


def checked_ids(ids: Sequence[Any] | None, n_rows: int) -> list[Any] | None:
    """Numbers as they are, so that the frame can be joined to another by them; anything else as texts."""
    if ids is None:
        return None
    given = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if len(given) != n_rows:
        raise DataError(f"there are {len(given)} ids and {n_rows} rows; give one id per row")
    if all(isinstance(each, Integral) and not isinstance(each, bool) for each in given):
        return [int(each) for each in given]
    return [None if each is None else str(each) for each in given]


def _column(name: str, values: list[Any]) -> tuple[type, list[Any]]:
    """What a column holds, and its values."""
    return (str if any(isinstance(each, str) for each in values) else column_type(name)), values


def frame_of_columns(library: FrameLibrary, listed: Lists, ids: list[Any] | None) -> Any:
    columns = {name: _column(name, values) for name, values in of_one_type(listed).items()}
    if ids is not None:
        kind = int if all(isinstance(each, int) for each in ids) else str
        named = {"id": (kind, [ids[row - 1] for row in listed["row"]])}
        columns = {"rank": columns["rank"], "row": columns["row"]} | named | columns
    return library.frame(columns)
