"""Rarely travelled ways through the readers, each with what a user sees at the end of it."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.files import read_text, written

import amiss
from amiss import DataError
from amiss.readers import parquet as parquet_reader
from amiss.readers import source, svmlight


@pytest.fixture
def refused(tmp_path):
    """The text of the refusal to read what is written."""

    def refuse(content, name, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(DataError) as caught:
            amiss.read(path, **options)
        return str(caught.value).removeprefix(f"{tmp_path}/")

    return refuse


ARFF = "@relation r\n@attribute n {p,q}\n@attribute a numeric\n@attribute y {0,1}\n@data\n"


def test_arff_categories_that_are_numbers(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n1,1\n"
    assert read_text(tmp_path, text, ".arff", categorical="a").X.levels == {0: ("1", "2")}
    thin = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1}\n{1 1}\n"
    with pytest.raises(DataError, match=r"t\.arff, column 'a': texts in sparse rows are not supported"):
        read_text(tmp_path, thin, ".arff", categorical="a")


def test_arff_rows_between_tabs_and_with_weights(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1\t0\n"
    np.testing.assert_array_equal(read_text(tmp_path, text, ".arff").X.values, [[1.0]])
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n2,1,{1}\n5,0}\n"
    with pytest.raises(DataError, match="line 6"):
        read_text(tmp_path, text, ".arff")
    thin = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1, 1 1}, {1.0}\n{0 2}\n"
    np.testing.assert_array_equal(read_text(tmp_path, thin, ".arff").Y.values, [[1], [0]])


def test_arff_ids(tmp_path):
    dense = "@relation r\n@attribute n numeric\n@attribute a numeric\n@attribute y {0,1}\n@data\n 7 ,1,0\n8,2,1\n"
    assert read_text(tmp_path, dense, ".arff", id="n").ids == ("7", "8")
    assert read_text(tmp_path, ARFF + "{0 q, 1 5}\n{2 1}\n", ".arff", id="n").ids == ("q", "p")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("{0 'q', 1}\n", "line 6: a sparse row holds pairs"),
        ("{1 5, 1 x y}\n", "line 6: a sparse row holds pairs"),
        ("{1 5, 1 6}\n", "line 6: the attribute numbers of a sparse row must increase"),
        ("{7 1}\n", "line 6: an attribute number is too large; the 3 attributes"),
        ("{1 5\n", "line 6: the row is not closed"),
        ("q,5_0,1\n", "line 6, column 'a': this is not a number"),
        ("r,5,1\n", "line 6, column 'n': the value is not among those"),
        ("q,5,3\n", "line 6, column 'y': the value is not among those"),
    ],
)
def test_bad_arff_rows(refused, rows, message):
    assert message in refused(ARFF + rows, "t.arff", outputs="y")


def test_an_arff_attribute_with_an_open_quote(refused):
    text = "@relation r\n@attribute n {'p,q}\n@attribute y {0,1}\n@data\n"
    assert refused(text, "t.arff", outputs="y") == "t.arff, line 2, column 'n': a quote is not closed"


def test_formats_without_ids_or_pictures(refused, tmp_path):
    assert "only CSV, TSV and Parquet files" in refused(ARFF, "t.arff", outputs="y", pictures="n")
    assert "leave these options out" in refused("0 1:1\n", "t.svm", id="x")
    stream = io.BytesIO()
    np.savez(stream, X=np.ones((3, 2)), Y=np.ones((3, 1)), pictures=np.ones((3, 4)))
    assert "pictures must be an array" in refused(stream.getvalue(), "t.npz")
    assert "leave these options out" in refused(stream.getvalue(), "u.npz", id="x")


def test_an_archive_that_unpacks_to_far_too_much(tmp_path, refused, monkeypatch):
    monkeypatch.setattr(source, "ALWAYS_ALLOWED", 1000)
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.zeros((300, 300)), Y=np.zeros((300, 1)))
    assert "may be an attack" in refused(stream.getvalue(), "t.npz")


def test_other_files_that_unpack_to_far_too_much(refused, monkeypatch):
    monkeypatch.setattr(source, "ALWAYS_ALLOWED", 1000)
    assert "may be an attack" in refused(gzip.compress(bytes(3 << 20)), "t.npz.gz")
    monkeypatch.setattr(parquet_reader, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(parquet_reader, "MOST_COMPRESSION", 10)
    many = parquet({"a": np.zeros(20_000), "y": np.zeros(20_000)})
    assert "may be an attack" in refused(many, "t.parquet", outputs="y")
    monkeypatch.setattr(svmlight, "MOST_CELLS", 10)
    assert "4 labels in 4 rows, which is too many" in refused("0 1:1\n1 1:1\n2 1:1\n3 1:1\n", "t.svm")


def npy(shape, dtype="<f8", data=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize(
    "member", [npy("(10**9,)"), npy("(99999999999, 9)"), npy("(2,)", "|O"), b"\x93NUMPY\x07\x00"]
)
def test_arrays_that_promise_what_is_not_there(refused, member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", member)
    assert "not an npz file of plain arrays" in refused(stream.getvalue(), "t.npz")


def parquet(table, **options):
    stream = io.BytesIO()
    pq.write_table(pa.table(table), stream, **options)
    return stream.getvalue()


def test_parquet_columns(tmp_path, refused):
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet({"a": [3, 1, 3], "y": [0, 1, 1]}))
    assert amiss.read(path, outputs="y", categorical="a").X.levels == {0: ("1", "3")}
    assert "which columns are outputs?" in refused(parquet({"a": [1], "y": [0]}), "u.parquet")
    lists = parquet({"a": [[1, 2], [3]], "y": [0, 1]})
    assert "cannot be read as categories" in refused(lists, "v.parquet", outputs="y", categorical="a")
    assert "v2.parquet: " in refused(lists, "v2.parquet", outputs="y")
    text = parquet({"w": ["Zq7Xk", "Zq7Xl"], "y": [0, 1]}, compression="none", use_dictionary=False)
    damaged = text.replace(b"Zq7X", b"Z\xff\xfeX")
    assert refused(damaged, "w.parquet", outputs="y") == (
        "w.parquet, column 'w': the column is damaged; write the file again"
    )


def test_a_line_without_end(tmp_path, refused, monkeypatch):
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    content = gzip.compress(b"a,y\n" + b"1" * (1 << 21))
    assert refused(content, "t.csv.gz", outputs="y") == "t.csv.gz, line 2: the line is longer than 1 MB"


def test_damaged_gzip_of_a_binary_file(refused):
    content = gzip.compress(b"not an archive" * 50)
    assert "the gzip data is damaged" in refused(content[:-10], "t.npz.gz")
    assert "not an npz file" in refused(content, "u.npz.gz")


def test_nothing_left_and_nowhere_to_read(tmp_path, refused):
    assert refused("a,y\n1,0\n", "t.csv", outputs="y", drop="a") == (
        "t.csv: every column is an output; at least one must be an input"
    )
    assert (
        refused("0 1:1\n1 1:1\n", "t.svm", drop=["0", "1"])
        == "t.svm: there is no output column left; drop fewer columns"
    )
    empty = {"a": pa.array([], pa.float64()), "y": pa.array([], pa.int8())}
    assert "no rows" in refused(parquet(empty), "t.parquet", outputs="y")


def test_pictures_of_several_files(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "t.csv", "a,file,y\n1,x.png,0\n2,,1\n")
    data = amiss.read(tmp_path / "one/t.csv", tmp_path / "two/t.csv", outputs="y", pictures="file")
    assert data.pictures == (str(tmp_path / "one/x.png"), "", str(tmp_path / "two/x.png"), "")
