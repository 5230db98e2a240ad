"""Frames of a library from columns of numbers and texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

LIBRARIES = ("pandas", "polars")


def library_of(values: Any) -> str | None:
    """The library that a frame comes from, if it is one that :func:`frame_of` can make frames of."""
    name = type(values).__module__.partition(".")[0]
    return name if name in LIBRARIES else None


def frame_of(columns: Mapping[str, npt.NDArray[Any]], library: str) -> Any:
    """A frame; columns of objects hold texts, or None where one is missing, and become categories."""
    texts = [name for name, column in columns.items() if column.dtype == object]
    if library == "polars":
        import polars

        frame = polars.DataFrame({name: column.tolist() for name, column in columns.items()})
        return frame.with_columns(polars.col(texts).cast(polars.Categorical)) if texts else frame
    import pandas

    return pandas.DataFrame(dict(columns)).astype(dict.fromkeys(texts, "category"))
