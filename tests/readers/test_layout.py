"""Titles above a table, columns without a name, labels of rows, sep= lines and encodings of text files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.files import read_text

import amiss
from amiss.readers import fast_delimited
from amiss.readers.source import Source

TABLE = "age,ward,y\n34,eyes,0\n51.5,ear,1\n,eyes,1\n"


def same(found, expected):
    np.testing.assert_array_equal(found.X.values, expected.X.values)
    np.testing.assert_array_equal(found.Y.values, expected.Y.values)
    return (found.X.names, found.X.levels) == (expected.X.names, expected.X.levels)


@pytest.fixture(params=[0, 1 << 20], ids=["any size", "small"])
def worth_it(request, monkeypatch):
    """Whether the fast reader has a look at a small file first."""
    monkeypatch.setattr(fast_delimited, "WORTH_IT", request.param)


@pytest.mark.usefixtures("worth_it")
@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Wards in May\n", 3),
        ("Wards in May\n\n\n", 5),
        ("Wards in May,,\n,,\n", 4),
        ("Wards in May\nas of 2024-03-01\nmade by us\n", 5),
        (",,\nWards,,\n", 4),
        ("sep=,\n", 3),
        ("sep=,\nWards in May\n", 4),
    ],
)
def test_what_stands_above_the_names_is_left_out(tmp_path, above, line):
    found = read_text(tmp_path, above + TABLE, outputs="y")
    assert same(found, read_text(tmp_path, TABLE, ".txt", outputs="y"))
    assert found.X.where(0).endswith(f"line {line}")
    assert bool(found.notes) == ("May" in above or "Wards" in above)


@pytest.mark.usefixtures("worth_it")
def test_the_delimiter_of_a_table_below_a_title(tmp_path):
    title = "Wards, as of May, 2024\n" + TABLE.replace(",", ";")
    assert same(read_text(tmp_path, title, outputs="y"), read_text(tmp_path, TABLE, ".txt", outputs="y"))


def test_texts_with_commas_do_not_change_the_delimiter(tmp_path):
    text = "kind;y\n" + '"a, b, c, d";0\n"a, b";1\n"a, b, c, d";1\n' * 5
    assert read_text(tmp_path, text, outputs="y").X.levels == {0: ("a, b", "a, b, c, d")}


@pytest.mark.usefixtures("worth_it")
def test_columns_without_name_and_cells(tmp_path):
    rows = "\n".join(line + ",," for line in TABLE.splitlines())
    assert same(read_text(tmp_path, rows, outputs="y"), read_text(tmp_path, TABLE, ".txt", outputs="y"))
    inside = TABLE.replace(",y", ",,y").replace(",0", ",,0").replace(",1", ",,1")
    assert same(read_text(tmp_path, inside, outputs="y"), read_text(tmp_path, TABLE, ".txt", outputs="y"))


def test_a_cell_in_a_column_without_name_is_told_wherever_it_is(tmp_path, refused):
    rows = [f"{i},{i % 2},," for i in range(600)]
    rows[450] = "450,0,x,"
    assert refused("\n".join(["a,y,,", *rows]), "t.csv", outputs="y").startswith("t.csv, line 452: ")
    rows[450], rows[50] = "450,0,,", "50,0,x,"
    found = refused("\n".join(["a,y,,", *rows]), "t.csv", outputs="y")
    assert found == "t.csv, line 1: column 3 has no name; the first line must name the columns"


@pytest.mark.usefixtures("worth_it")
@given(st.lists(st.integers(), min_size=2, max_size=30, unique=True), st.booleans())
@settings(max_examples=15)
def test_the_index_of_pandas_is_no_input(tmp_path_factory, index, is_text):
    labels = [f"r{label}" for label in index] if is_text else index
    frame = pd.DataFrame({"a": range(len(index)), "y": [i % 2 for i in range(len(index))]}, index=labels)
    path = tmp_path_factory.mktemp("index") / "t.csv"
    frame.to_csv(path)
    data = amiss.read(path, outputs="y")
    assert data.input_names == ("a",) and data.ids == tuple(map(str, labels))
    np.testing.assert_array_equal(data.X.values[:, 0], frame["a"])


def test_labels_that_do_not_tell_rows_apart_are_no_ids(tmp_path, refused):
    rows = [f"r{i},{i},{i % 2}" for i in range(300)]
    rows[290] = "r3,290,0"
    data = read_text(tmp_path, "\n".join([",a,y", *rows]), outputs="y")
    assert data.ids is None and data.input_names == ("a",)
    assert "column 1 has no name" in refused(",a,y\nu,1,0\nu,2,1\n", "t.csv", outputs="y")


def test_files_with_and_without_an_index_are_joined_without_ids(tmp_path):
    (tmp_path / "a.csv").write_text(",a,y\n5,1,0\n6,2,1\n")
    (tmp_path / "b.csv").write_text("a,y\n3,0\n4,1\n")
    data = amiss.read(tmp_path / "a.csv", tmp_path / "b.csv", outputs="y")
    assert data.ids is None and len(data) == 4
    assert data.notes == (
        f"{tmp_path / 'a.csv'}: The column without a name labels the rows, so it is not an input.",
    )


@pytest.mark.usefixtures("worth_it")
def test_row_names_of_r(tmp_path):
    text = '"age","ward","y"\n"one",34,"eyes",0\n"two",51.5,"ear",1\n"three",NA,"eyes",1\n'
    data = read_text(tmp_path, text, outputs="y")
    assert same(data, read_text(tmp_path, TABLE, ".txt", outputs="y"))
    assert data.ids == ("one", "two", "three")


def test_a_row_that_is_too_wide_is_still_refused(refused):
    assert "line 3: the row has 3 cells, but 2 columns" in refused("a,y\n1,0\n1,0,0\n", "t.csv", outputs="y")
    assert "line 2: the row has 3 cells, but 2 columns" in refused("a,y\n1,0,0\n1,0,0\n", "t.csv", outputs="y")
    assert "line 3: the row has 4 cells, but 3 columns" in refused("a,b,y\n1,2,0\n,1,2,\n", "t.csv", outputs="y")


def test_rows_that_all_end_in_a_delimiter(tmp_path):
    data = read_text(tmp_path, "a,y\n1,0,\n2,1,\n")
    np.testing.assert_array_equal(data.X.values, [[1], [2]])


def test_names_without_a_delimiter_between_them_are_no_row_names(refused):
    found = refused("name,ageward,y\nann,34,eyes,0\nbob,35,ear,1\n", "t.csv", outputs="y")
    assert found == "t.csv, line 2: the row has 4 cells, but 3 columns are named"


@given(st.lists(st.tuples(st.integers(), st.text("ab", min_size=1), st.integers(0, 1)), min_size=1, max_size=20))
@settings(max_examples=30)
def test_the_first_line_of_a_full_table_names_its_columns(tmp_path_factory, rows):
    """Whatever stands below: no table that was read before is read otherwise."""
    path = tmp_path_factory.mktemp("plain") / "t.csv"
    path.write_text("n,word,y\n" + "".join(f"{n},{word},{y}\n" for n, word, y in rows))
    data = amiss.read(path, outputs="y", categorical="word")
    assert len(data) == len(rows) and data.notes == () and data.ids is None


@pytest.mark.usefixtures("worth_it")
@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp932"]
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_encodings(tmp_path, encoding, ending):
    text = TABLE if encoding == "cp932" else TABLE.replace("eyes", "yeux é")
    (tmp_path / "t.csv").write_bytes(text.replace("\n", ending).encode(encoding))
    expected = read_text(tmp_path, text, ".txt", outputs="y")
    found = amiss.read(tmp_path / "t.csv", outputs="y", encoding=encoding)
    assert same(found, expected) and found.X.where(1).endswith("line 3")
    if encoding in ("utf-16", "utf-8-sig"):  # the first bytes say so
        assert same(amiss.read(tmp_path / "t.csv", outputs="y"), expected)


def test_encodings_that_are_wrong_are_told(refused):
    table = "a,y\n1,0\né,1\n"
    assert "--encoding latin-1" in refused(table.encode("latin-1"), "t.csv", outputs="y")
    assert "there is no encoding 'latin-99'" in refused(table, "t.csv", outputs="y", encoding="latin-99")
    assert "there is no encoding 'hex'" in refused(table, "t.csv", outputs="y", encoding="hex")
    found = refused(table.encode("latin-1"), "t.csv", outputs="y", encoding="ascii")
    assert found == "t.csv, line 3: there are bytes that are not ascii; name another --encoding"
    found = refused("a,y\n1,0\n".encode("utf-16") + b"\x00\xd8\n", "t.csv", outputs="y")
    assert found.startswith("t.csv, line 3: there are bytes that are not utf-16")


def test_a_command_with_an_encoding(amiss, records, tmp_path):
    text = records.rename(columns={"tag_0": "tag_é"}).to_csv(index=False)
    (tmp_path / "l.csv").write_bytes(text.encode("latin-1"))
    done = amiss("find", "l.csv", "--outputs", "tag_*", "--id", "name")
    assert done.code == 2 and "--encoding latin-1" in done.err and done.err.count("\n") == 1
    done = amiss("find", "l.csv", "--encoding", "latin-1", "--outputs", "tag_*", "--id", "name")
    assert done.code == 0 and "tag_é" in done.out


def test_a_part_of_a_file_is_told_from_a_file_of_that_name(tmp_path):
    (tmp_path / "a::b.csv").write_text(TABLE)
    assert Source.of(str(tmp_path / "a::b.csv")).part is None
    assert len(amiss.read(tmp_path / "a::b.csv", outputs="y")) == 3
