"""CSV and TSV: what is read as what, and bad files by line and column."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.files import read_text

import amiss
from amiss.errors import DataError


def test_csv(people):
    data = amiss.read(people, outputs="tag_*", id="name")
    assert data.ids == ("007", "008", "009")
    assert data.input_names == ("age", "ward")
    assert data.output_names == ("tag_a", "tag_b")
    np.testing.assert_array_equal(data.X.values[:, 0], [34, np.nan, 51.5])
    assert list(np.asarray(data.X)[:2, 1]) == ["eyes", "surgery, minor"]
    np.testing.assert_array_equal(data.Y.values, [[0, 1], [1, 0], [1, np.nan]])
    assert repr(data) == "Dataset(3 rows, 2 inputs, 2 outputs)"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_line_ends_and_byte_order_marks(tmp_path, separator, ending, mark):
    text = mark + ending.join(["a,b,y", "1,2,0", "", "3,4,1", ""]).replace(",", separator)
    (tmp_path / "t.csv").write_bytes(text.encode())
    data = amiss.read(tmp_path / "t.csv", outputs="y")
    np.testing.assert_array_equal(data.X.values, [[1, 2], [3, 4]])
    assert data.input_names == ("a", "b")


def test_tsv_and_gzip(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\ty\nb,c\t0\nd,e\t1\n"))
    data = amiss.read(tmp_path / "t.tsv.gz", outputs="y")
    assert data.X.levels == {0: ("b,c", "d,e")}


def test_cells_over_several_lines_keep_the_count_of_lines(tmp_path):
    with pytest.raises(DataError, match=r"t\.csv, line 5, column 'y'"):
        read_text(tmp_path, 'a,y\n"x\ny",1\nb,0\nb,2\n')


@given(st.integers(1, 5000), st.integers(0, 100))
@settings(max_examples=8, deadline=None)
def test_numbers_are_read_as_pandas_reads_them(tmp_path_factory, n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)) * [1e-9, 1, 1e12], columns=["a", "b", "c"])
    frame["few"] = rng.integers(0, 4, n_rows)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame["y"] = rng.integers(0, 2, n_rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    frame.to_csv(path, index=False)
    data = amiss.read(path, outputs="y")
    np.testing.assert_array_equal(data.X.values, frame.drop(columns="y").to_numpy())
    assert not data.X.levels


def test_numbers_may_be_read_as_categories(tmp_path):
    data = read_text(tmp_path, "ward,y\n10,0\n2,1\n10,1\n", categorical="ward")
    assert data.X.levels == {0: ("10", "2")}


def test_true_and_false_are_outputs_too(tmp_path):
    np.testing.assert_array_equal(read_text(tmp_path, "a,y\n1,True\n2,false\n3,\n").Y.values[:2, 0], [1, 0])


def test_decimal_commas_between_semicolons(tmp_path):
    data = read_text(tmp_path, "a;b;y\n0,5;1.5;0\n-1,25;2;1\n")
    np.testing.assert_array_equal(data.X.values, [[0.5, 1.5], [-1.25, 2]])


@pytest.mark.parametrize("cell", ["1_1", "１２", "63 kg"])
def test_what_python_but_nobody_else_takes_for_a_number_is_a_text(tmp_path, cell):
    assert read_text(tmp_path, f"a,y\n{cell},0\nb,1\n").X.levels


def test_half_numbers_half_texts_are_refused_where_there_are_many_numbers(tmp_path):
    rows = [f"{'unknown' if i % 3 == 0 else i},{i % 2}" for i in range(90)]
    with pytest.raises(DataError, match=r"line 2, column 'age': this is not a number"):
        read_text(tmp_path, "age,y\n" + "\n".join(rows))
    few = [f"{'other' if i % 3 == 0 else i % 7},{i % 2}" for i in range(90)]
    assert read_text(tmp_path, "kind,y\n" + "\n".join(few)).X.levels


def test_old_macintosh_line_ends(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\r1,0\r2,1\r")
    np.testing.assert_array_equal(amiss.read(tmp_path / "t.csv", outputs="y").X.values, [[1], [2]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"t\.csv: the file is empty"),
        (b"\n\na,y\n1,0\n1,2\n", r"t\.csv, line 5, column 'y'"),
        (b"34,2,1\n35,3,0\n", r"t\.csv, line 1: .* it holds only numbers"),
        (b"PK\x03\x04\x14\x00", r"t\.csv, line 1: this is a zip or Excel file"),
        (b"PAR1\x15", r"t\.csv, line 1: this is a Parquet file"),
        (b"\n\n", r"t\.csv: the file is empty"),
        (b"a,y\n", r"t\.csv, line 1: there are column names but no rows"),
        (b"a,y\n1,0\n1\n", r"t\.csv, line 3: the row has 1 cell, but 2 columns are named"),
        (b"a,y\n1,0\n1,0,0\n", r"t\.csv, line 3: the row has 3 cells, but 2"),
        (b"a,y\n1,0\n2,maybe\n", r"t\.csv, line 3, column 'y': an output must be 0 or 1"),
        (b"a,y\n1,0\n2,0.5\n", r"t\.csv, line 3, column 'y': an output must be"),
        (b"a,a,y\n1,1,0\n", r"t\.csv, line 1: duplicate column name 'a'"),
        (b"a,,y\n1,1,0\n", r"t\.csv, line 1: column 2 has no name"),
        (b"0.5,1.5,1\n0.1,0.2,0\n", r"t\.csv, line 1: the first line must name the columns"),
        (b"a,y\n1,0\n\xe9t\xe9,1\n", r"t\.csv, line 3: byte 1 of the line is not UTF-8"),
        (b'a,y\n"1,0\n2,1\n', r"t\.csv, line 3: a quote is not closed"),
        (b"a,y\n1,0\ninf,1\n", r"t\.csv, line 3, column 'a': the value is infinite"),
        (b"\x1f\x8b\x08\x00nothing", r"t\.csv, line 1: the gzip data is damaged"),
    ],
)
def test_bad_csv_is_refused_by_line_and_column(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        amiss.read(tmp_path / "t.csv", outputs="last:1")


@pytest.mark.parametrize("n_rows", [50, 9000])
def test_a_stray_text_among_numbers_is_refused_by_line_without_being_quoted(tmp_path, n_rows):
    rows = [f"{i}.5,{i % 2}" for i in range(n_rows)]
    rows[-3] = "12o,1"
    with pytest.raises(DataError, match=rf"line {n_rows - 1}, column 'a': this is not a number") as refused:
        read_text(tmp_path, "a,y\n" + "\n".join(rows))
    assert "12o" not in str(refused.value)
