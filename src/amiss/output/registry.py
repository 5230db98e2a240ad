"""The formats of the ranked list, and the libraries of frames, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.output.frame_libraries import FrameLibrary
    from amiss.output.list_formats import ListFormat

LIST_FORMATS: Registry[ListFormat] = Registry(
    "output format",
    "amiss.output",
    {
        "csv": "list_formats.Csv",
        "parquet": "list_formats.Parquet",
        "jsonl": "list_formats.JsonLines",
        "xlsx": "excel_list.ExcelList",
    },
)
LIBRARIES: Registry[FrameLibrary] = Registry(
    "library", "amiss.output.frame_libraries", {"pandas": "Pandas", "polars": "Polars", "pyarrow": "PyArrow"}
)
