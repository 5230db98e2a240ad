"""svmlight, npz and Parquet."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from support.files import read_text, written
from support.tables import make_table

import amiss
from amiss.errors import DataError


def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path):
    text = "1,3 1:0.5 4:2\n 2:1\n3 1:1 # a comment\n# only a comment\n10 3:-1e3\n"
    data = read_text(tmp_path, text, ".svm", outputs=None)
    X, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True)
    np.testing.assert_array_equal(data.X.values.toarray(), X.toarray())
    assert data.input_names == ("x1", "x2", "x3", "x4")
    assert data.output_names == ("1", "3", "10")
    assert [tuple(float(data.output_names[i]) for i in np.flatnonzero(row)) for row in data.Y.values] == labels


def test_svmlight_from_zero_with_a_shape_and_in_several_files(tmp_path):
    one = written(tmp_path / "1.svm", "3 4 2\n0 0:1 3:2\n1 1:1\n")
    two = written(tmp_path / "2.svm", "2 3:1 5:7\n")
    data = amiss.read(one, two)
    assert data.input_names == ("x0", "x1", "x2", "x3", "x4", "x5")
    np.testing.assert_array_equal(data.X.values.toarray()[2], [0, 0, 0, 1, 0, 7])
    assert data.output_names == ("0", "1", "2")
    np.testing.assert_array_equal(data.Y.values, np.eye(3))


@pytest.mark.parametrize("text", ["1 a:1\n", "1 1:x\n", "1 -2:1\n", "1 3\n"])
def test_bad_svmlight_is_refused_by_line(tmp_path, text):
    with pytest.raises(DataError, match=r"t\.svm, line 2: inputs must be written"):
        read_text(tmp_path, "1 1:1\n" + text, ".svm", outputs=None)


def test_npz_dense_and_sparse(tmp_path):
    X, Y = make_table(20)
    np.savez(tmp_path / "t.npz", X=X, Y=Y.astype(int), output_names=list("abcd"), ids=np.arange(20))
    data = amiss.read(tmp_path / "t.npz")
    np.testing.assert_array_equal(data.X.values, X)
    assert data.output_names == tuple("abcd")
    assert data.ids == tuple(map(str, range(20)))
    thin = sparse.csr_array(np.maximum(X, 0))
    parts = {"X_data": thin.data, "X_indices": thin.indices, "X_indptr": thin.indptr, "X_shape": thin.shape}
    np.savez_compressed(tmp_path / "s.npz", Y=Y, **parts)
    np.testing.assert_array_equal(amiss.read(tmp_path / "s.npz").X.values.toarray(), thin.toarray())


def test_bad_npz_is_refused(tmp_path):
    X, Y = make_table(5)
    bad = {
        "objects": {"X": np.array([[{}]]), "Y": Y},
        "no Y": {"X": X},
        "lengths": {"X": X[:3], "Y": Y},
        "names": {"X": X, "Y": Y, "output_names": ["a"]},
        "texts": {"X": X.astype(str), "Y": Y},
        "vector": {"X": X[0], "Y": Y},
        "ids": {"X": X, "Y": Y, "ids": [1]},
        "csr": {"Y": Y, "X_data": [1.0], "X_indices": [99], "X_indptr": [0, 1], "X_shape": [5, 2]},
    }
    for name, arrays in bad.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(DataError, match=rf"{name}\.npz: "):
            amiss.read(tmp_path / f"{name}.npz")
    (tmp_path / "not.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DataError, match="not an npz file"):
        amiss.read(tmp_path / "not.npz")


def test_parquet(tmp_path, people):
    expected = amiss.read(people, outputs="tag_*", id="name")
    frame = pd.read_csv(people, dtype={"name": str}).astype({"tag_a": bool, "tag_b": "Int8"})
    frame.to_parquet(tmp_path / "t.parquet")
    data = amiss.read(tmp_path / "t.parquet", outputs="tag_*", id="name")
    assert data.ids == expected.ids
    assert data.X.levels == expected.X.levels
    np.testing.assert_array_equal(data.X.values, expected.X.values)
    np.testing.assert_array_equal(data.Y.values, expected.Y.values)


def test_parquet_leaves_out_a_pandas_index_and_names_file_and_row(tmp_path):
    frame = pd.DataFrame({"a": range(5), "y": [0, 1, 0, 1, 3]}).iloc[[0, 2, 4]]
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet, row 3, column 'y'"):
        amiss.read(tmp_path / "t.parquet", outputs="y")
    frame.assign(y=[0, 1, 0]).to_parquet(tmp_path / "t.parquet")
    assert amiss.read(tmp_path / "t.parquet", outputs="y").input_names == ("a",)


def test_bad_parquet_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match=r"t\.parquet: this is not a Parquet file"):
        amiss.read(tmp_path / "t.parquet", outputs="y")
    pd.DataFrame({"t": [pd.Timestamp("2020-01-01")], "y": [1]}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataError, match=r"d\.parquet: column 't' holds dates"):
        amiss.read(tmp_path / "d.parquet", outputs="y")
