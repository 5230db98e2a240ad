"""Workbooks of Excel and LibreOffice, read by python-calamine.

Cells are what a person sees in the sheet: formulas have the values that were computed last, dates are dates,
errors such as #N/A are missing, and of merged cells the first has the value.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, NoReturn

from amiss.errors import DataError, MissingDependencyError, quoted, quoted_list
from amiss.readers.cell_rows import Rows, read_rows
from amiss.readers.format import Format
from amiss.readers.layout import NumberedRow, named_rows, notes_on
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source
from amiss.readers.typed_cells import as_text
from amiss.readers.workbook_files import DAMAGED, checked


def read_excel(source: Source, selection: Selection) -> Part:
    """The selected columns of one sheet."""
    if find_spec("python_calamine") is None:
        raise MissingDependencyError(
            "Excel files need python-calamine; install it with pip install 'amiss[excel]'"
        )
    sheet, notes = _chosen(_sheets(source), source, selection)
    return replace(sheet.part(selection), notes=notes + sheet.notes)


EXCEL = Format(
    "excel",
    (".xlsx", ".xlsm", ".xls", ".ods"),
    "a sheet of a workbook; needs the extra excel",
    read_excel,
    part="sheet",
)


@dataclass
class _Sheet:
    """A sheet with cells in it, of which the first rows have been looked at."""

    name: str
    source: Source
    names: list[str]
    rows: Rows
    notes: tuple[str, ...]

    @classmethod
    def of(cls, name: str, source: Source, cells: list[list[Any]]) -> _Sheet:
        source = replace(source, unit="sheet row")
        line, names, below, labels, n_above = named_rows(source, _rows_of_texts(cells))
        rows = Rows(names, below, line, typed=True, index=labels)
        return cls(name, source, names, rows, notes_on(n_above, labels, f"row {line}"))

    def part(self, selection: Selection) -> Part:
        return read_rows(self.source, selection, self.rows)


def _rows_of_texts(cells: list[list[Any]]) -> Iterator[NumberedRow]:
    """The rows that are not blank, with their numbers in the sheet."""
    for number, row in enumerate(cells, start=1):
        texts = [as_text(cell) for cell in row]
        if any(texts):
            yield number, texts


def _chosen(
    sheets: dict[str, list[list[Any]]], source: Source, selection: Selection
) -> tuple[_Sheet, tuple[str, ...]]:
    """The only sheet; else the first that has the columns the user names, unless others are just like it."""
    if not sheets:
        source.refuse("there are no cells in the workbook" if source.part is None else "the sheet is empty")
    if len(sheets) == 1:
        ((name, cells),) = sheets.items()
        return _Sheet.of(name, source, cells), ()
    found, problems = list[_Sheet](), dict[str, DataError]()
    for name, cells in sheets.items():
        try:
            found.append(_Sheet.of(name, source, cells))
            selection.roles(found[-1].names, found[-1].source, line=found[-1].rows.line)
        except DataError as error:  # a sheet of remarks, say
            problems[name] = error
    fitting = [sheet for sheet in found if sheet.name not in problems]
    if not fitting:
        widest = max(sheets, key=lambda name: max(map(len, sheets[name])))
        others = quoted_list([name for name in sheets if name != widest])
        raise DataError(f"{problems[widest]}; this is sheet {quoted(widest)}, others are {others} (--sheet)")
    alike = [sheet.name for sheet in fitting if sheet.names == fitting[0].names]
    if len(alike) > 1:
        source.refuse(
            f"the sheets {quoted_list(alike)} have the same columns; choose one (--sheet), or name each as "
            f"a file ({source.name}::{alike[0]} {source.name}::{alike[1]})"
        )
    others = quoted_list([name for name in sheets if name != fitting[0].name])
    return fitting[0], (f"Sheet {quoted(fitting[0].name)} was read, not {others}; --sheet reads another.",)


def _sheets(source: Source) -> dict[str, list[list[Any]]]:
    """The cells of the sheet that the user names, or of all visible ones that have any."""
    import python_calamine as calamine

    content = checked(source.bytes(), source)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        found = workbook.sheets_metadata
        plain = [each.name for each in found if each.typ == calamine.SheetTypeEnum.WorkSheet]
        hidden = {each.name for each in found if each.visible != calamine.SheetVisibleEnum.Visible}
        if source.part is not None and source.part not in plain:
            source.refuse(f"there is no sheet {quoted(source.part)}; there are {quoted_list(plain)}")
        wanted = [source.part] if source.part is not None else [name for name in plain if name not in hidden]
        cells = {name: workbook.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in wanted}
    except (DataError, KeyboardInterrupt, MemoryError):
        raise
    except calamine.PasswordError:
        source.refuse("the workbook is protected by a password; save it without one")
    except BaseException as error:  # a panic of Rust is no Exception
        _refuse_damaged(error, source)
    return {name: rows for name, rows in cells.items() if any(cell != "" for row in rows for cell in row)}


def _refuse_damaged(error: BaseException, source: Source) -> NoReturn:
    if isinstance(error, Exception) or type(error).__name__ == "PanicException":
        source.refuse(DAMAGED)
    raise error
