"""Libraries of data frames by name; the first that is installed is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.bridges.libraries import FrameLibrary

LIBRARIES: Registry[FrameLibrary] = Registry(
    "library",
    "amiss.bridges.libraries",
    {"pandas": "Pandas", "polars": "Polars", "pyarrow": "PyArrow"},
)
