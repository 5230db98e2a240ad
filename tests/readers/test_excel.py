"""Workbooks: cells as openpyxl writes them, the header under titles, several sheets, and what is refused."""

from __future__ import annotations

import datetime
import gzip
import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amiss
from amiss.errors import DataError, MissingDependencyError
from amiss.readers import excel

TABLE = [["age", "ward", "y"], [34, "eyes", 0], [51.5, None, 1], [None, "ear", 1]]


DAY = datetime.date(2024, 3, 1)


def workbook(path, *sheets, names=()):
    """A file with these sheets, each a list of rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(names[number] if names else f"Sheet{number + 1}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def read(tmp_path, *sheets, names=(), **options):
    return amiss.read(workbook(tmp_path / "t.xlsx", *sheets, names=names), **{"outputs": "y", **options})


def refusal(tmp_path, *sheets, **options):
    with pytest.raises(DataError) as caught:
        read(tmp_path, *sheets, **options)
    return str(caught.value).removeprefix(f"{tmp_path}/")


def test_cells_are_numbers_texts_and_missing(tmp_path):
    data = read(tmp_path, TABLE)
    np.testing.assert_array_equal(data.X.values[:, 0], [34, 51.5, np.nan])
    assert data.X.levels == {1: ("ear", "eyes")} and data.notes == ()
    np.testing.assert_array_equal(data.Y.values[:, 0], [0, 1, 1])


NUMBERS = st.one_of(
    st.floats(-1e15, 1e15).map(lambda number: float(f"{number:.15g}")), st.integers(-(2**50), 2**50), st.none()
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 1)), min_size=2, max_size=30))
@settings(max_examples=25)
def test_numbers_are_what_pandas_reads(tmp_path_factory, rows):
    path = workbook(tmp_path_factory.mktemp("xlsx") / "t.xlsx", [["a", "b", "y"], *rows])
    expected = pd.read_excel(path, engine="openpyxl")[["a", "b"]].to_numpy(dtype=float)
    np.testing.assert_array_equal(amiss.read(path, outputs="y").X.values, expected)


def test_booleans_dates_times_and_errors(tmp_path):
    rows = [
        ["flag", "day", "moment", "length", "clock", "code", "y"],
        [True, DAY, datetime.datetime(2024, 3, 1, 12, 30), datetime.timedelta(hours=30), None, 7, 0],
        [False, None, None, None, datetime.time(8, 5), "#N/A", 1],
    ]
    data = read(tmp_path, rows, categorical="day,moment,length,clock")
    np.testing.assert_array_equal(data.X.values[:, 0], [1, 0])
    levels = [data.X.levels[column] for column in (1, 2, 3, 4)]
    assert levels == [("2024-03-01",), ("2024-03-01T12:30:00",), ("30:00:00",), ("08:05:00",)]
    np.testing.assert_array_equal(data.X.values[:, 5], [7, np.nan])


def test_titles_blank_rows_and_columns_and_what_stands_behind_the_table(tmp_path):
    rows = [
        ["Wards in May"],
        [],
        [None, "as of", DAY],
        [None, None, *TABLE[0]],
        [None, None, *TABLE[1]],
        [],
        *([None, None, *row, None, " "] for row in TABLE[2:]),
        [None, None, None],
        [""],
    ]
    data = read(tmp_path, rows)
    assert data.input_names == ("age", "ward") and len(data) == 3
    assert [data.X.where(row).partition(", ")[2] for row in range(3)] == ["row 5", "row 7", "row 8"]
    assert data.notes == ("The names of the columns stand in row 4; what is above them was left out.",)


def test_a_wrong_cell_is_named_by_its_row_in_the_sheet(tmp_path):
    rows = [["Title"], ["a", "y"], *([i, i % 2] for i in range(40)), [1, "maybe"]]
    assert refusal(tmp_path, rows).startswith("t.xlsx, row 43, column 'y': this is neither 0 nor 1")
    rows = [["a", "y"], *([i, i % 2] for i in range(40)), ["some", 1]]
    assert refusal(tmp_path, rows).startswith("t.xlsx, row 42, column 'a': this is not a number")


def test_merged_cells_have_their_value_once(tmp_path):
    book = openpyxl.load_workbook(workbook(tmp_path / "t.xlsx", TABLE))
    book.active.merge_cells("B2:B3")
    book.save(tmp_path / "t.xlsx")
    assert np.isnan(amiss.read(tmp_path / "t.xlsx", outputs="y").X.values[1, 1])


def test_a_sheet_by_name_and_as_part_of_the_file(tmp_path):
    other = [["age", "y"], [1, 0], [2, 1]]
    data = read(tmp_path, TABLE, other, names=("one", "two"), sheet="two")
    assert data.input_names == ("age",)
    again = amiss.read(f"{tmp_path}/t.xlsx::two", outputs="y")
    np.testing.assert_array_equal(again.X.values, data.X.values)
    with pytest.raises(DataError, match=r"there is no sheet 'three'; there are 'one', 'two'"):
        amiss.read(f"{tmp_path}/t.xlsx::three", outputs="y")
    with pytest.raises(DataError, match="named twice"):
        amiss.read(f"{tmp_path}/t.xlsx::two", outputs="y", sheet="one")
    joined = amiss.read(f"{tmp_path}/t.xlsx::two", f"{tmp_path}/t.xlsx::two", outputs="y")
    assert len(joined) == 4


def test_the_sheet_with_the_outputs_is_read_and_the_others_are_named(tmp_path):
    remarks = [["made by us"], [12], [None, "see below"]]
    data = read(tmp_path, remarks, TABLE, [[1.5, 2.5], [3.5, 4.5]], [], names=("Read me", "Data", "Sums", "Empty"))
    assert data.notes == ("Sheet 'Data' was read, not 'Read me', 'Sums'; --sheet reads another.",)
    assert len(data) == 3


def test_sheets_that_are_alike_are_not_guessed_about(tmp_path):
    message = refusal(tmp_path, TABLE, TABLE, names=("2023", "2024"))
    assert "the sheets '2023', '2024' have the same columns; choose one (--sheet)" in message
    message = refusal(tmp_path, [["x"]], TABLE, names=("a", "b"), outputs="tag_*")
    assert message.startswith("t.xlsx: no column matches 'tag_*'")
    assert message.endswith("; this is sheet 'b', others are 'a' (--sheet)")


def test_a_hidden_sheet_is_read_only_by_name(tmp_path):
    path = workbook(tmp_path / "t.xlsx", TABLE, TABLE, names=("a", "b"))
    book = openpyxl.load_workbook(path)
    book["b"].sheet_state = "hidden"
    book.save(path)
    assert amiss.read(path, outputs="y").notes == ()
    assert len(amiss.read(path, outputs="y", sheet="b")) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04 and nothing", "this is not a workbook, or it is damaged"),
        (b"a,y\n1,0\n", "this is not a workbook, or it is damaged"),
    ],
)
def test_what_is_no_workbook(refused, content, message):
    assert message in refused(content, "t.xlsx", outputs="y")


def test_empty_sheets(tmp_path):
    assert refusal(tmp_path, []) == "t.xlsx: there are no cells in the workbook"
    assert "the sheet is empty" in refusal(tmp_path, TABLE, [], names=("a", "b"), sheet="b")
    assert refusal(tmp_path, TABLE[:1]) == "t.xlsx, row 1: there are column names but no rows"


def test_a_cell_far_away_is_refused_before_it_takes_memory(tmp_path):
    path = workbook(tmp_path / "t.xlsx", TABLE)
    book = openpyxl.load_workbook(path)
    book.active["XFD1048576"] = "here"
    book.save(path)
    with pytest.raises(
        DataError, match=r"reaches row 1,048,576 and column 16,384, but most cells are empty; delete"
    ):
        amiss.read(path, outputs="y")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'r="B2"', b'r="XFE2"'),
        (b'r="B2"', b'r="B1048577"'),
        (b'r="B2"', b'r="B&#50;&#50;&#50;&#50;&#50;&#50;&#50;&#50;"'),
        (b"<worksheet", b"<!DOCTYPE x [<!ENTITY y '9'>]><worksheet"),
        (b"</sheetData>", b""),
    ],
)
def test_sheets_that_no_program_writes(tmp_path, old, new):
    path = workbook(tmp_path / "t.xlsx", TABLE)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert old in files["xl/worksheets/sheet1.xml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content.replace(old, new) if "sheet1" in name else content)
    with pytest.raises(DataError, match="this is not a workbook, or it is damaged"):
        amiss.read(path, outputs="y")


def test_a_binary_workbook_is_called_so(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    with pytest.raises(DataError, match=r"save it as \.xlsx"):
        amiss.read(tmp_path / "t.xlsx", outputs="y")


def test_an_archive_that_unpacks_to_far_too_much(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", TABLE)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/picture.bin", b"\0" * 5_000_000)
    monkeypatch.setattr("amiss.readers.source.ALWAYS_ALLOWED", 1_000_000)
    with pytest.raises(DataError, match="may be an attack"):
        amiss.read(path, outputs="y")


def test_gzipped_and_piped(tmp_path, amiss, records):
    table = records.round(6)  # Excel keeps 15 digits
    table.to_csv(tmp_path / "records.csv", index=False)
    table.to_excel(tmp_path / "records.xlsx", index=False)
    content = (tmp_path / "records.xlsx").read_bytes()
    (tmp_path / "records.xlsx.gz").write_bytes(gzip.compress(content))
    plain = amiss("find", "records.csv", "--outputs", "tag_*", "--id", "name", "-q", "-o", "-")
    for file, stdin in (("records.xlsx", None), ("records.xlsx.gz", None), ("-", content)):
        done = amiss(
            "find", file, "--format", "excel", "--outputs", "tag_*", "--id", "name", "-q", "-o", "-", stdin=stdin
        )
        assert done.code == 0 and done.raw == plain.raw, done.err  # a line is a row of the sheet


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", TABLE)
    monkeypatch.setattr(excel, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'amiss\[excel\]'"):
        amiss.read(path, outputs="y")


def test_a_csv_file_has_no_sheets(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(DataError, match=r"t\.csv::x: a csv file has no sheets or tables"):
        amiss.read(tmp_path / "t.csv", outputs="y", sheet="x")
    with pytest.raises(DataError, match="name only one of them"):
        amiss.read(tmp_path / "t.csv", outputs="y", sheet="x", table="y")


def test_a_workbook_called_csv_says_what_it_is(tmp_path, refused):
    stream = io.BytesIO()
    workbook(stream, TABLE)
    assert "name a workbook .xlsx" in refused(stream.getvalue(), "t.csv", outputs="y")
