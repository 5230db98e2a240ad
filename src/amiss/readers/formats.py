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


def the_part(sheet: str | None, table: str | None) -> str | None:
    """The part of each file that is read, as the user names it."""
    if sheet is not None and table is not None:
        raise DataError("a sheet is part of a workbook and a table of a database; name only one of them")
    return table if sheet is None else sheet


def find_format(source: Source, name: str | None = None) -> Format:
    """The format called ``name``; without a name, what the suffix says. Standard input is CSV by default."""
    found = _format(source, name)
    if source.part is not None and found.part is None:
        source.refuse(f"a {found.name} file has no sheets or tables; leave out the name of one")
    return found


def _format(source: Source, name: str | None) -> Format:
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
