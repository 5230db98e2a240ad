"""One table as other programs write it (tests/tables) is read as one table."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import amiss
from amiss.readers.registry import FORMATS

TABLES = Path(__file__).parents[1] / "tables"
ENCODINGS = {"excel-de-de.csv": "cp1252", "excel-en-us.csv": "cp1252", "excel-ja-jp.csv": "cp932"}
FILES = sorted(
    path.name for path in TABLES.iterdir() if path.suffix not in (".py", ".md", ".pyc") and path.is_file()
)


def made():
    """make.py as a module."""
    spec = importlib.util.spec_from_file_location("make_tables", TABLES / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = made()
EXPECTED = pd.DataFrame(MAKE.ROWS, columns=MAKE.NAMES)


def read(name, **options):
    return amiss.read(
        TABLES / name, **{"outputs": "tag_*", "id": "patient", "encoding": ENCODINGS.get(name), **options}
    )


@pytest.mark.parametrize(
    "name",
    FILES,
)
def test_the_table_is_the_same_whatever_wrote_it(name):
    data = read(name, drop="seen")
    ward = EXPECTED["ward"].replace("café", "眼科") if "ja-jp.csv" in name else EXPECTED["ward"]
    np.testing.assert_array_equal(data.X.values[:, 0], EXPECTED["age"])
    assert data.input_names == ("age", "ward") and set(data.X.levels) == {1}
    assert data.X.levels[1] == tuple(sorted(ward.dropna().unique()))
    found = [None if np.isnan(code) else data.X.levels[1][int(code)] for code in data.X.values[:, 1]]
    assert found == [None if pd.isna(each) else each for each in ward]
    np.testing.assert_array_equal(data.Y.values, EXPECTED[["tag_a", "tag_b"]])
    assert data.ids == tuple(EXPECTED["patient"])


def test_text_files_are_what_make_writes():
    for name, content in MAKE.text_files().items():
        assert (TABLES / name).read_bytes() == content, name


def test_every_file_is_explained():
    page = (TABLES / "README.md").read_text()
    assert [name for name in FILES if f"`{name}`" not in page and not name.endswith(".xlsx")] == []
    assert {Path(name).suffix for name in FILES} <= {
        suffix for each in FORMATS.values() for suffix in each.suffixes
    }


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("excel-title.csv", "The names of the columns stand in line 3"),
        ("excel-de-de.xlsx", "The names of the columns stand in row 4"),
        ("excel-de-de.xlsx", "Sheet 'Data' was read, not 'Info'"),
        ("r-write-table.csv", "The column without a name labels the rows"),
        ("pandas-index.csv", "The column without a name labels the rows"),
    ],
)
def test_a_note_says_what_was_left_out(name, note):
    assert any(each.startswith(note) for each in read(name).notes)


def test_plain_tables_need_no_note():
    for name in ("polars.csv", "clinic.sqlite", "clinic.xls"):
        assert read(name, drop="seen").notes == ()


@pytest.mark.parametrize("name", ["pandas-index.csv", "r-write-table.csv", "r-write-csv.csv"])
def test_labels_of_rows_are_ids_unless_another_column_is(name):
    first = 0 if name == "pandas-index.csv" else 1
    data = read(name, id=None, drop="patient,seen")
    assert data.ids == tuple(str(first + i) for i in range(12))
    assert data.input_names == ("age", "ward")


@pytest.mark.parametrize(
    "name", ["excel-de-de.xlsx", "libreoffice.ods", "clinic.xls", "clinic.duckdb", "clinic.sqlite"]
)
def test_dates_read_as_in_a_text_file(name):
    dates, expected = (read(each, drop="age,ward").X for each in (name, "polars.csv"))
    np.testing.assert_array_equal(dates.values, expected.values)
    assert dates.levels == expected.levels


@pytest.mark.parametrize(("name", "place"), [("excel-de-de.xlsx", "row 7"), ("excel-title.csv", "line 6")])
def test_rows_are_named_as_a_person_finds_them(name, place):
    assert read(name).X.where(2).endswith(place)
