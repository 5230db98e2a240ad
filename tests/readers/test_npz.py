"""NumPy archives, dense and sparse."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
from scipy import sparse
from support.tables import make_table

import amiss
from amiss.errors import DataError
from amiss.readers import source


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


def test_ids_and_pictures_of_an_archive_are_arrays(refused):
    stream = io.BytesIO()
    np.savez(stream, X=np.ones((3, 2)), Y=np.ones((3, 1)), pictures=np.ones((3, 4)))
    assert "pictures must be an array" in refused(stream.getvalue(), "t.npz")
    assert "leave these options out" in refused(stream.getvalue(), "u.npz", id="x")


def test_an_archive_that_unpacks_to_far_too_much(refused, monkeypatch):
    monkeypatch.setattr(source, "ALWAYS_ALLOWED", 1000)
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.zeros((300, 300)), Y=np.zeros((300, 1)))
    assert "may be an attack" in refused(stream.getvalue(), "t.npz")


def test_a_gzipped_archive_that_unpacks_to_far_too_much(refused, monkeypatch):
    monkeypatch.setattr(source, "ALWAYS_ALLOWED", 1000)
    assert "may be an attack" in refused(gzip.compress(bytes(3 << 20)), "t.npz.gz")


def npy(shape, dtype="<f8", data=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize(
    "member", [npy("(10**9,)"), npy("(99999999999, 9)"), npy("(2,)", "|O"), b"\x93NUMPY\x07\x00"]
)
def test_arrays_that_announce_what_is_not_there(refused, member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("X.npy", member)
    assert "not an npz file of plain arrays" in refused(stream.getvalue(), "t.npz")


def test_damaged_gzip_of_a_binary_file(refused):
    content = gzip.compress(b"not an archive" * 50)
    assert "the gzip data is damaged" in refused(content[:-10], "t.npz.gz")
    assert "not an npz file" in refused(content, "u.npz.gz")
