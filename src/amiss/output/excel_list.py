"""The ranked list as a workbook, to filter and sort in Excel or LibreOffice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from typing import IO, Any

from amiss.errors import MissingDependencyError
from amiss.output.list_columns import Columns, plain
from amiss.output.list_formats import in_blocks

MOST_ROWS = 1_048_576  # of a sheet, the names of the columns included
LONGEST_TEXT = 32_767  # characters of a cell
NARROWEST, WIDEST = 6, 40  # characters of a column
FOR_ARROW = 3  # characters that the button of the filter takes
MADE = datetime(2000, 1, 1)  # so that the same list is the same file


@dataclass(frozen=True)
class ExcelList:
    name: str = "xlsx"
    suffixes: tuple[str, ...] = (".xlsx",)
    most_lines: int | None = MOST_ROWS - 1

    def check(self) -> None:
        if find_spec("xlsxwriter") is None:
            raise MissingDependencyError(
                "a list as a workbook needs xlsxwriter; install it with pip install 'amiss[excel]'"
            )

    def write(self, stream: IO[bytes], blocks: Iterator[Columns]) -> None:
        import xlsxwriter

        # Rows go to a temporary file as they come, so that memory holds one at a time.
        with xlsxwriter.Workbook(stream, {"constant_memory": True}) as workbook:
            workbook.set_properties({"created": MADE})
            _write(workbook.add_worksheet("found"), blocks, workbook.add_format({"bold": True}))

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        self.write(stream, in_blocks(records))


def _write(sheet: Any, blocks: Iterator[Columns], bold: Any) -> None:
    names, widths, number = list[str](), list[int](), 0
    for columns in blocks:
        if not names:
            names = [*columns]
            widths = [len(name) + FOR_ARROW for name in names]
            for place, name in enumerate(names):
                sheet.write_string(0, place, name[:LONGEST_TEXT], bold)
        for row in zip(*map(plain, columns.values()), strict=True):
            number += 1
            for place, value in enumerate(row):
                widths[place] = max(widths[place], _write_cell(sheet, number, place, value))
    if names:
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, number, len(names) - 1)
    for place, width in enumerate(widths):
        sheet.set_column(place, place, min(WIDEST, max(NARROWEST, width + 1)))


def _write_cell(sheet: Any, row: int, place: int, value: Any) -> int:
    """Write one cell, and say how wide it is. A text is a text, whatever it begins with."""
    if value is None:
        return 0
    if isinstance(value, str):
        sheet.write_string(row, place, value[:LONGEST_TEXT])
        return len(value)
    sheet.write_number(row, place, value)
    return len(str(value))
