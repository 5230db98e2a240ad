"""What a workbook is packed in: a zip archive of XML files, which is looked at before another library reads it.

That library keeps the used area of a sheet in memory, empty cells too, and ends the process if memory runs out. So
a sheet with one cell far away is refused here, and only files that were looked at are handed on.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from xml.parsers import expat

from amiss.errors import DataError
from amiss.readers.source import BOMB, Source, is_decompression_bomb

DAMAGED = "this is not a workbook, or it is damaged; open and save it again"
READ = (".xml", ".rels")  # pictures and macros are left out
PLACE = re.compile(r"([A-Z]{0,3})([0-9]{1,7})")
LAST_ROW, LAST_COLUMN = 1 << 20, 1 << 14
ALWAYS_ALLOWED, EMPTY_PER_CELL = 5_000_000, 50  # cells of the used area, in all or for each that is there


def checked(content: bytes, source: Source) -> bytes:
    """The same workbook, of files that can be read safely; what is no zip archive stays as it is."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {member.filename: member for member in archive.infolist()}
            if is_decompression_bomb(sum(member.file_size for member in members.values()), len(content)):
                source.refuse(BOMB)
            if "xl/workbook.bin" in members:
                source.refuse("this is a binary workbook (.xlsb); save it as .xlsx")
            if "content.xml" in members:  # an OpenDocument, whose areas are repeated and not spread out
                return content
            files = {name: archive.read(member) for name, member in members.items() if name.lower().endswith(READ)}
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OSError):
        source.refuse(DAMAGED)
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w") as archive:
        for name, file in files.items():
            _Area.of(file, source).check(name, source)
            archive.writestr(name, file)
    return result.getvalue()


class _Area:
    """How far the cells of a sheet reach, and how many there are."""

    def __init__(self) -> None:
        self.n_cells, self.last_row, self.last_column = 0, 1, 1
        self.is_sheet: bool | None = None

    @classmethod
    def of(cls, file: bytes, source: Source) -> _Area:
        """Of one XML file; all but a sheet have none."""
        area = cls()
        parser = expat.ParserCreate()
        parser.StartElementHandler = area.add
        parser.StartDoctypeDeclHandler = area.refuse_entities
        try:
            parser.Parse(file, True)
        except (expat.ExpatError, ValueError, LookupError):
            source.refuse(DAMAGED)
        return area

    def add(self, tag: str, attributes: dict[str, str]) -> None:
        """One element."""
        if tag[-1:] not in ("c", "w", "C", "W"):  # neither c nor row, which is nearly every other element
            return
        tag = tag.rpartition(":")[2]
        if tag not in ("c", "row"):
            return
        self.n_cells += 1
        place = attributes.get("r")
        if place is None:
            self.last_column += tag == "c"
            return
        found = PLACE.fullmatch(place)
        if found is None:
            raise ValueError("this is no cell")
        column = column_number(found.group(1))
        row = int(found.group(2))
        if row > LAST_ROW or column > LAST_COLUMN:
            raise ValueError("this cell is outside of any sheet")
        self.last_row, self.last_column = max(self.last_row, row), max(self.last_column, column)

    def refuse_entities(self, *_: object) -> None:
        raise ValueError("a workbook declares no entities")

    def check(self, name: str, source: Source) -> None:
        if self.last_row * self.last_column > max(ALWAYS_ALLOWED, EMPTY_PER_CELL * self.n_cells):
            source.refuse(
                f"a sheet ({name}) reaches row {self.last_row:,} and column {self.last_column:,}, but most "
                "cells are empty; delete what is far away from the table, or save it as CSV"
            )


def column_number(letters: str) -> int:
    """
    >>> column_number("A"), column_number("AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
