"""Inputs from NumPy files beside a table: what is in the file, and how precise it stays."""

from __future__ import annotations

import errno
import gzip
import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from support.files import written

import amiss
from amiss.errors import DataError
from amiss.readers import source

TAGS = "tag_a,tag_b\n0,1\n1,0\n1,1\n"
X = np.array([[0.5, 1.25], [2.5, np.nan], [-1.0, 4.0]])


@pytest.fixture
def labels(tmp_path):
    return written(tmp_path / "labels.csv", TAGS)


@pytest.fixture
def refused_inputs(labels, tmp_path):
    """The text of the refusal to read these arrays, or these bytes, as inputs."""

    def refuse(content, name="e.npy", **options):
        path = tmp_path / name
        if isinstance(content, dict):
            np.savez(path, **content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            np.save(path, content)
        with pytest.raises(DataError) as caught:
            amiss.read(labels, outputs="tag_*", inputs=path, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return refuse


def test_a_matrix_gives_the_inputs_of_a_table_that_has_none(labels, tmp_path):
    np.save(tmp_path / "e.npy", X)
    data = amiss.read(labels, outputs="tag_*", inputs=tmp_path / "e.npy")
    assert data.input_names == ("e0", "e1") and data.output_names == ("tag_a", "tag_b")
    np.testing.assert_array_equal(data.X.values, X)
    np.testing.assert_array_equal(data.Y.values, [[0, 1], [1, 0], [1, 1]])
    assert data.X.where(1).endswith("labels.csv, line 3")


@pytest.mark.parametrize("outputs", ["last:2", "first:2", "*"])
def test_all_columns_may_be_outputs(labels, tmp_path, outputs):
    np.save(tmp_path / "e.npy", X)
    assert len(amiss.read(labels, outputs=outputs, inputs=[tmp_path / "e.npy"]).output_names) == 2
    with pytest.raises(DataError, match="there are 2 columns, so last:3 is too many"):
        amiss.read(labels, outputs="last:3", inputs=tmp_path / "e.npy")


def test_the_columns_follow_the_inputs_of_the_table(tmp_path):
    table = written(tmp_path / "t.csv", "age,ward,y\n30,eyes,0\n,nose,1\n50,eyes,1\n")
    np.savez(tmp_path / "e.npz", X=X, input_names=["one", "two"])
    data = amiss.read(table, outputs="y", inputs=str(tmp_path / "e.npz"))
    assert data.input_names == ("age", "ward", "one", "two")
    assert data.X.levels == {1: ("eyes", "nose")}
    np.testing.assert_array_equal(data.X.values[:, 0], [30, np.nan, 50])
    np.testing.assert_array_equal(data.X.values[:, 2:], X)


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": X},
        {"embeddings": X},
        {"vectors": X, "model": np.array("clip"), "mean": np.ones(2)},
        {"X": X, "Y": np.ones((3, 1))},
        {"embeddings": X, "other": X + 1},
        {"other": X, "names": np.array([["a", "b"]])},
    ],
)
def test_an_archive_has_the_matrix_under_a_known_name_or_as_its_only_one(labels, tmp_path, arrays):
    np.savez(tmp_path / "e.npz", **arrays)
    np.testing.assert_array_equal(amiss.read(labels, outputs="tag_*", inputs=tmp_path / "e.npz").X.values, X)


def test_what_else_is_in_an_archive_is_not_read(labels, tmp_path):
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
        with archive.open("vectors.npy", "w") as stream:
            np.save(stream, X)
    np.testing.assert_array_equal(amiss.read(labels, outputs="tag_*", inputs=tmp_path / "e.npz").X.values, X)


@pytest.mark.parametrize("name", ["e.npy.gz", "e.npz.gz"])
def test_files_may_be_gzipped(labels, tmp_path, name):
    stream = io.BytesIO()
    np.save(stream, X) if "npy" in name else np.savez(stream, X=X)
    (tmp_path / name).write_bytes(gzip.compress(stream.getvalue()))
    np.testing.assert_array_equal(amiss.read(labels, outputs="tag_*", inputs=tmp_path / name).X.values, X)


@pytest.mark.parametrize(
    ("matrix", "dtype"),
    [
        (X.astype("float16"), "float32"),
        (X.astype("float32"), "float32"),
        (X.astype(">f4"), "float32"),
        (np.asfortranarray(X, dtype="float32"), "float32"),
        (X, "float64"),
        (X.astype(">f8"), "float64"),
        (X.astype("longdouble"), "float64"),
        (np.array([[1, -128]] * 3, dtype="int8"), "float32"),
        (np.array([[True, False]] * 3), "float32"),
        (np.array([[2**24, -(2**24)]] * 3), "float32"),
        (np.array([[2**24 + 1, 0]] * 3), "float64"),
        (np.array([[-(2**24) - 1, 0]] * 3), "float64"),
        (np.array([[2**63, 0]] * 3, dtype="uint64"), "float64"),
    ],
)
def test_values_keep_their_precision_and_no_more(labels, tmp_path, matrix, dtype):
    np.save(tmp_path / "e.npy", matrix)
    found = amiss.read(labels, outputs="tag_*", inputs=tmp_path / "e.npy").X.values
    assert found.dtype == np.dtype(dtype) and found.dtype.isnative
    np.testing.assert_array_equal(found, matrix.astype("float64"))


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [(("1", "", "-0.5"), "float32"), (("a", "b", "a"), "float32"), (("0.1", "1", "2"), "float64")],
)
def test_a_table_with_other_inputs_is_single_only_if_nothing_is_lost(tmp_path, cells, dtype):
    table = written(tmp_path / "t.csv", "x,y\n" + "".join(f"{cell},{n % 2}\n" for n, cell in enumerate(cells)))
    np.save(tmp_path / "e.npy", X.astype("float32"))
    alone = amiss.read(table, outputs="y")
    both = amiss.read(table, outputs="y", inputs=tmp_path / "e.npy")
    assert both.X.values.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(both.X.values[:, :1], alone.X.values)
    np.testing.assert_array_equal(both.X.values[:, 1:], X)
    np.save(tmp_path / "e.npy", X)
    assert amiss.read(table, outputs="y", inputs=tmp_path / "e.npy").X.values.dtype == np.float64


def test_a_large_matrix_is_in_memory_once(tmp_path):
    n_rows, n_columns = 20_000, 200
    matrix = np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype("float32")
    np.save(tmp_path / "e.npy", matrix)
    np.savez(tmp_path / "e.npz", X=matrix)
    size = matrix.nbytes
    table = written(tmp_path / "t.csv", "y\n" + "0\n1\n" * (n_rows // 2))
    for name in ("e.npy", "e.npz"):
        tracemalloc.start()
        try:
            data = amiss.read(table, outputs="y", inputs=tmp_path / name)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        np.testing.assert_array_equal(data.X.values, matrix)
        assert peak < 1.6 * size  # a quarter is the mask of infinite values


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.ones(3), "e.npy: this must be a matrix of numbers, one row per row of the table"),
        (np.ones((3, 2, 2)), "e.npy: this must be a matrix of numbers"),
        (np.array([["a"], ["b"], ["c"]]), "e.npy: this must be a matrix of numbers"),
        (np.ones((3, 1), dtype=complex), "e.npy: this must be a matrix of numbers"),
        (np.ones((3, 1), dtype=[("a", float)]), "e.npy: this must be a matrix of numbers"),
        (
            np.array([[{}], [1], [2]], dtype=object),
            "e.npy: this is not an npy file of numbers; write it with numpy",
        ),
        (np.ones((3, 0)), "e.npy: the matrix is empty"),
        (np.ones((0, 3)), "e.npy: the matrix is empty"),
        (np.ones((4, 2)), "e.npy: there are 4 rows, but 3 in labels.csv; give the same rows in the same order"),
        (np.ones((1, 2)), "e.npy: there is 1 row, but 3 in labels.csv"),
        (np.array([[1.0], [np.inf], [0.0]]), "e.npy, row 2, column 'e0': the value is infinite"),
        (np.array([[1], [2], ["1e4000"]], dtype="longdouble"), "e.npy, row 3, column 'e0': the value is infinite"),
        (b"", "e.npy: the file is empty"),
        (b"tag\n1\n", "e.npy: this is not an npy file of numbers; write it with numpy.save(file, X)"),
    ],
)
def test_a_file_without_a_matrix_for_these_rows_is_refused(refused_inputs, content, message):
    assert refused_inputs(content).startswith(message)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": X, "b": X}, "there are 2 matrices of numbers; the file needs one, called X or embeddings"),
        ({"X": X, "embeddings": X}, "there are 2 matrices of numbers"),
        ({"a": np.ones(3)}, "there is no matrix of numbers; the file needs one"),
        ({"X": np.ones(3), "other": X}, "this must be a matrix of numbers"),
        (
            {"X": np.array([[{}]], dtype=object)},
            "this is not an npz file of plain arrays; write it with numpy.savez",
        ),
        ({"X": X, "ids": np.array(["a", {}, "b"], dtype=object)}, "this is not an npz file of plain arrays"),
        ({"X": X, "ids": ["a"]}, "ids must hold one entry per row"),
        ({"X": X, "input_names": ["a"]}, "input_names has 1 names, but there are 2 columns"),
        ({"X": X, "input_names": ["a", "a"]}, "duplicate column name 'a'"),
        ({"X": X, "input_names": ["a", "tag_a"]}, "column 'tag_a' is also in the table"),
    ],
)
def test_an_archive_without_a_matrix_for_these_rows_is_refused(refused_inputs, arrays, message):
    assert refused_inputs(arrays, "e.npz").startswith(f"e.npz: {message}")


def test_files_of_another_kind_are_refused(refused_inputs, labels, tmp_path):
    assert refused_inputs(b"1,2\n", "e.csv").startswith(
        "e.csv: inputs beside a table are read from a .npy or .npz"
    )
    with pytest.raises(DataError, match="there is no such file"):
        amiss.read(labels, outputs="tag_*", inputs=tmp_path / "no.npy")
    with pytest.raises(DataError, match="standard input: inputs beside a table are read from"):
        amiss.read(labels, outputs="tag_*", inputs="-")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(DataError, match="this is a folder"):
        amiss.read(labels, outputs="tag_*", inputs=tmp_path / "folder.npz")


def npy(shape, dtype="<f4", data=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize(
    "content",
    [
        *(npy("(10**9, 9)"), npy("(99999999999, 9)"), npy("(-1, 3)"), npy("(3, 2)", data=bytes(20))),
        *(npy("(3, 1)", "|O", bytes(24)), npy("(99999999999, 9)", "<U0"), b"\x93NUMPY\x07\x00"),
    ],
)
def test_arrays_that_announce_what_is_not_there(refused_inputs, content):
    assert "this is not an npy file of numbers" in refused_inputs(content)
    assert "this is not an npy file of numbers" in refused_inputs(gzip.compress(content), "e.npy.gz")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", content)
    assert "this is not an npz file of plain arrays" in refused_inputs(stream.getvalue(), "e.npz")


def test_files_that_unpack_to_far_too_much(refused_inputs, monkeypatch):
    monkeypatch.setattr(source, "ALWAYS_ALLOWED", 1000)
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.zeros((300, 300)))
    assert "may be an attack" in refused_inputs(stream.getvalue(), "e.npz")
    content = gzip.compress(npy("(1024, 1024)", data=bytes(4 << 20)))
    assert "may be an attack" in refused_inputs(content, "e.npy.gz")


def test_an_archive_that_lies_about_what_it_takes_itself(refused_inputs, monkeypatch):
    """The directory says how large a member is, packed and unpacked; the file itself cannot lie about its size."""
    monkeypatch.setattr(source, "ALWAYS_ALLOWED", 1000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy("(20000, 1000)"))
    content = bytearray(stream.getvalue())
    sizes = content.rindex(b"PK\x01\x02") + 20
    content[sizes : sizes + 8] = struct.pack("<II", 10_000_000, 80_000_200)
    assert "may be an attack" in refused_inputs(bytes(content), "e.npz")


@pytest.mark.parametrize("name", ["e.npy", "e.npz"])
def test_a_disk_that_fails_is_not_blamed_on_the_file(labels, tmp_path, monkeypatch, name):
    def fail(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    np.save(tmp_path / "e.npy", X)
    np.savez(tmp_path / "e.npz", X=X)
    monkeypatch.setattr(np.lib.format, "read_array", fail)
    with pytest.raises(OSError, match=f"Input/output error.*{name}"):
        amiss.read(labels, outputs="tag_*", inputs=tmp_path / name)


def test_a_cut_off_file_is_refused(refused_inputs):
    stream = io.BytesIO()
    np.save(stream, X)
    assert "this is not an npy file" in refused_inputs(stream.getvalue()[:-1])
    assert "the gzip data is damaged" in refused_inputs(gzip.compress(stream.getvalue())[:-9], "e.npy.gz")
    stream = io.BytesIO()
    np.savez(stream, X=X)
    assert "this is not an npz file" in refused_inputs(stream.getvalue()[:-30], "e.npz")
