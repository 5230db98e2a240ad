"""Frames of a library: from columns of numbers and texts, lazy ones, and what they call their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

LIBRARIES = ("pandas", "polars")


def library_of(values: Any) -> str | None:
    """The library that a frame comes from, if it is one that :func:`frame_of` can make frames of."""
    name = type(values).__module__.partition(".")[0]
    return name if name in LIBRARIES else None


def collected(values: Any) -> Any:
    """A lazy frame of polars with its rows; anything else as it is."""
    is_lazy = type(values).__module__.partition(".")[0] == "polars" and type(values).__name__ == "LazyFrame"
    return values.collect() if is_lazy else values


def index_of(values: Any) -> tuple[Any, ...] | None:
    """What pandas calls the rows, unless it only counts them."""
    if not hasattr(values, "iloc") or type(values.index).__name__ == "RangeIndex":
        return None
    return tuple(values.index.tolist())


def frame_of(columns: Mapping[str, npt.NDArray[Any]], library: str) -> Any:
    """A frame; columns of objects hold texts, or None where one is missing, and become categories."""
    texts = [name for name, column in columns.items() if column.dtype == object]
    if library == "polars":
        import polars

        frame = polars.DataFrame({name: column.tolist() for name, column in columns.items()})
        return frame.with_columns(polars.col(texts).cast(polars.Categorical)) if texts else frame
    import pandas

    return pandas.DataFrame(dict(columns)).astype(dict.fromkeys(texts, "category"))
