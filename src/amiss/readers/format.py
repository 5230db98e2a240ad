"""What a file format is to the rest of the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from amiss.readers.part import Part, Texts
from amiss.readers.select import Selection
from amiss.readers.source import Source


@dataclass(frozen=True)
class Format:
    """One file format, defined in the file that reads it and listed in :mod:`amiss.readers.registry`.

    Parameters
    ----------
    name : what a user writes (``format="csv"``, ``--format csv``)
    suffixes : file names that end so are read in this format
    description : one line for a help text
    reader : reads the selected columns of one file
    may_omit_columns : a file need not mention a column that is zero in all of its rows
    part : what a file of this format has several of, one of which is read: "sheet" or "table"
    texts : cells of a file that knows nothing but texts, strings beside numbers, or levels that the file declares
    """

    name: str
    suffixes: tuple[str, ...]
    description: str
    reader: Callable[[Source, Selection], Part]
    may_omit_columns: bool = False
    part: str | None = None
    texts: Texts = "cells"

    def read(self, source: Source, selection: Selection) -> Part:
        """The selected columns of one file."""
        return replace(self.reader(source, selection), may_omit_columns=self.may_omit_columns, texts=self.texts)
