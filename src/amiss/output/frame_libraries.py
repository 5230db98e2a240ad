"""Libraries of data frames: how each makes a frame of columns whose cells may be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

Columns = Mapping[str, tuple[type, Sequence[Any]]]
"""By name: the type of the cells (str, int or float), and the cells; None is missing."""


class FrameLibrary(Protocol):
    """Makes frames of columns."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def install(self) -> str:
        """What pip has to install for it."""

    def frame(self, columns: Columns) -> Any: ...


def is_installed(library: FrameLibrary) -> bool:
    return find_spec(library.name) is not None


@dataclass(frozen=True)
class Pandas:
    name: str = "pandas"
    description: str = "a pandas DataFrame"
    install: str = "pandas"

    def frame(self, columns: Columns) -> Any:
        """Whole numbers of which some are missing are ``Int64``; pandas would make them floats."""
        import pandas as pd

        def series(kind: type, cells: Sequence[Any]) -> Any:
            whole = "Int64" if None in cells else "int64"
            return pd.Series(cells, dtype={str: "str", int: whole, float: "float64"}[kind])

        return pd.DataFrame({name: series(*column) for name, column in columns.items()})


@dataclass(frozen=True)
class Polars:
    name: str = "polars"
    description: str = "a polars DataFrame"
    install: str = "polars"

    def frame(self, columns: Columns) -> Any:
        import polars as pl

        types = {str: pl.String, int: pl.Int64, float: pl.Float64}
        return pl.DataFrame({name: pl.Series(name, cells, types[kind]) for name, (kind, cells) in columns.items()})


@dataclass(frozen=True)
class PyArrow:
    name: str = "pyarrow"
    description: str = "a pyarrow Table"
    install: str = "pyarrow"

    def frame(self, columns: Columns) -> Any:
        import pyarrow as pa

        types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
        return pa.table({name: pa.array(cells, types[kind]) for name, (kind, cells) in columns.items()})
