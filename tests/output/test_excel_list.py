"""The list as a workbook: what openpyxl reads of it is what the CSV list says, and nothing in it is a formula."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hostile import NAMES
from support.tables import ENVIRONMENT

from amiss.errors import DataError, MissingDependencyError
from amiss.output import excel_list
from amiss.output.excel_list import LONGEST_TEXT, MOST_ROWS, ExcelList
from amiss.output.lists import Target

OPTIONS = ("--outputs", "tag_*", "--id", "name", "-q")


def opened(content):
    return openpyxl.load_workbook(io.BytesIO(content)).active


def workbook(columns, block=3):
    """The bytes of a list with these columns, written some rows at a time."""
    stream, n_rows = io.BytesIO(), len(next(iter(columns.values())))
    blocks = ({name: values[i : i + block] for name, values in columns.items()} for i in range(0, n_rows, block))
    ExcelList().write(stream, blocks)
    return stream.getvalue()


@pytest.mark.parametrize("cells", [(), ("--cells",)], ids=["rows", "cells"])
def test_workbook_in_and_workbook_out(amiss, records, tmp_path, cells):
    records.to_excel(tmp_path / "records.xlsx", index=False)
    done = amiss("find", "records.xlsx", *OPTIONS, *cells, "-o", "found.xlsx")
    assert done.code == 0, done.err
    amiss("find", "records.xlsx", *OPTIONS, *cells, "-o", "found.csv")
    expected = pd.read_csv(tmp_path / "found.csv")
    pd.testing.assert_frame_equal(
        pd.read_excel(tmp_path / "found.xlsx", engine="openpyxl"), expected, check_dtype=False
    )
    sheet = openpyxl.load_workbook(tmp_path / "found.xlsx").active
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == sheet.dimensions
    assert all(6 <= sheet.column_dimensions[cell.column_letter].width <= 42 for cell in sheet[1])
    kinds = {cell.value: sheet.cell(2, cell.column).data_type for cell in sheet[1]}
    assert kinds["score"] == kinds["row"] == "n" and kinds["id"] == "s"


def test_the_same_list_is_the_same_file(amiss, records, tmp_path):
    for name in ("a.xlsx", "b.xlsx"):
        assert amiss("find", "records.csv", *OPTIONS, "-o", name).code == 0
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    command = [sys.executable, "-c", "from amiss.cli import main; main()", "find", "records.csv", *OPTIONS]
    piped = subprocess.check_output(
        [*command, "-o", "-", "--output-format", "xlsx"], cwd=tmp_path, env=ENVIRONMENT
    )
    assert opened(piped).dimensions == opened((tmp_path / "a.xlsx").read_bytes()).dimensions


def test_new_rows_are_listed_too(amiss, records, tmp_path):
    records.round(6).to_csv(tmp_path / "records.csv", index=False)  # Excel keeps 15 digits
    records.round(6).to_excel(tmp_path / "new.xlsx", index=False)
    amiss("fit", "records.csv", *OPTIONS, "-o", "m.amiss", "--no-calibration")
    assert amiss("score", "m.amiss", "new.xlsx", "-q", "-o", "found.xlsx").code == 0
    amiss("score", "m.amiss", "records.csv", "-q", "-o", "found.csv")
    found, expected = (
        pd.read_excel(tmp_path / "found.xlsx", engine="openpyxl"),
        pd.read_csv(tmp_path / "found.csv"),
    )
    assert list(found["id"]) == list(expected["id"]) and list(found.columns) == list(expected.columns)


def test_no_cell_is_a_formula_or_a_link(amiss, records, tmp_path):
    texts = [*NAMES[:24], "http://example.invalid", "mailto:a@example.invalid", "{=1+1}", "=1+1", "", "'quoted"]
    table = records.assign(name=[texts[i % len(texts)] for i in range(len(records))])
    table.to_csv(tmp_path / "hostile.csv", index=False)
    assert amiss("find", "hostile.csv", *OPTIONS, "-o", "found.xlsx").code == 0
    book = openpyxl.load_workbook(tmp_path / "found.xlsx")
    cells = [cell for row in book.active.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert not any(cell.hyperlink for cell in cells)
    ids = {cell.value for cell in book.active["D"]}
    assert {"=1+1", "http://example.invalid", NAMES[21]} <= ids


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1, max_size=30)
VALUES = st.one_of(
    st.none(), st.integers(-(2**50), 2**50), st.floats(-1e12, 1e12).map(lambda x: float(f"{x:.6g}")), TEXTS
)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=12))
@settings(max_examples=40)
def test_any_values_come_back(rows):
    columns = {"observed_1": [a for a, _ in rows], "suggested": [b for _, b in rows]}
    sheet = opened(workbook(columns))
    found = [[cell.value for cell in column][1:] for column in sheet.iter_cols(max_col=2, max_row=len(rows) + 1)]
    for values, back in zip(columns.values(), found, strict=True):
        for value, cell in zip(values, back, strict=True):
            if isinstance(value, float):
                assert cell == pytest.approx(value, rel=1e-14)
            else:
                assert unescaped(cell) == value


def unescaped(cell):
    """openpyxl leaves the escapes of control characters as they stand in the file."""
    return openpyxl.utils.escape.unescape(cell) if isinstance(cell, str) else cell


def test_a_text_longer_than_a_cell_is_cut():
    sheet = opened(workbook({"id": ["x" * 40_000, "y"]}))
    assert len(sheet["A2"].value) == LONGEST_TEXT and sheet["A3"].value == "y"


def test_an_empty_list_opens():
    stream = io.BytesIO()
    ExcelList().write_records(stream, iter([]))
    assert opened(stream.getvalue()).max_row <= 1


def test_more_rows_than_a_sheet_has_are_refused_before_the_work(amiss, tmp_path):
    target = Target.of(str(tmp_path / "found.xlsx"))
    target.check_size(MOST_ROWS - 1)
    with pytest.raises(
        DataError, match=r"found\.xlsx: 1,048,576 lines, but a sheet holds 1,048,575; name the list"
    ):
        target.check_size(MOST_ROWS)
    Target.of(str(tmp_path / "found.csv")).check_size(MOST_ROWS)
    (tmp_path / "long.csv").write_text("a,b,y\n" + "1,2,0\n3,4,1\n" * (MOST_ROWS // 2))
    done = amiss("find", "long.csv", "--outputs", "y", "-o", "found.xlsx")
    assert done.code == 2 and done.err.count("\n") == 1 and "a sheet holds 1,048,575" in done.err
    assert not (tmp_path / "found.xlsx").exists()


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(excel_list, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'amiss\[excel\]'"):
        Target.of(str(tmp_path / "found.xlsx"))


def test_libreoffice_opens_it(amiss, records, tmp_path):
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("LibreOffice is not on this machine")
    amiss("find", "records.csv", *OPTIONS, "-o", "found.xlsx")
    home, kind = f"-env:UserInstallation=file://{tmp_path}/home", "csv:Text - txt - csv (StarCalc):44,34,76"
    command = [office, "--headless", home, "--convert-to", kind, "--outdir", str(tmp_path / "out"), "found.xlsx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    amiss("find", "records.csv", *OPTIONS, "-o", "found.csv")
    found, expected = pd.read_csv(tmp_path / "out" / "found.csv"), pd.read_csv(tmp_path / "found.csv")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-4)
