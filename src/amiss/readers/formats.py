"""Which format a file has."""

from __future__ import annotations

from pathlib import Path

from amiss.errors import DataError, quoted
from amiss.readers.conversions import conversion
from amiss.readers.format import Format
from amiss.readers.registry import FORMATS
from amiss.readers.source import Source


def formats_by_suffix() -> dict[str, Format]:
    """Each suffix with its format.

    >>> formats_by_suffix()[".tab"].name
    'tsv'
    """
    return {suffix: format for format in FORMATS.values() for suffix in format.suffixes}


def find_format(source: Source, name: str | None = None) -> Format:
    """The format called ``name``; without a name, what the suffix says. Standard input is CSV by default."""
    if name is not None:
        if name not in FORMATS:
            raise DataError(f"there is no format {quoted(name)}; choose one of {', '.join(FORMATS)}")
        return FORMATS[name]
    if source.path == "-":
        return FORMATS["csv"]
    if Path(source.path).is_dir():
        source.refuse("this is a folder; give a file in it")
    known = formats_by_suffix()
    if source.suffix not in known:
        source.refuse(
            f"unknown suffix; use one of {', '.join(sorted(known))}, or give the format (--format)"
            + conversion(source.suffix)
        )
    return known[source.suffix]
