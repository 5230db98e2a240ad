"""All file formats by name. A new format is one file with a ``Format`` in it, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.readers.format import Format

FORMATS: Registry[Format] = Registry(
    "format",
    "amiss.readers",
    {
        "csv": "delimited.CSV",
        "tsv": "delimited.TSV",
        "excel": "excel.EXCEL",
        "arff": "arff.ARFF",
        "svmlight": "svmlight.SVMLIGHT",
        "npz": "npz.NPZ",
        "parquet": "parquet.PARQUET",
        "arrow": "arrow.ARROW",
        "jsonl": "json_lines.JSON_LINES",
        "json": "json_lines.JSON_ARRAY",
        "sqlite": "sqlite.SQLITE",
        "duckdb": "duckdb.DUCKDB",
    },
)
