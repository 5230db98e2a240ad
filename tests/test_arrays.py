"""Sparse matrices from arrays somebody else made: right ones are taken, others refused, none crashes Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from amiss import DataError, read
from amiss.arrays import checked_csr_array

DATA, INDICES, INDPTR = np.ones(3), np.array([0, 2, 1], dtype=np.int32), np.array([0, 2, 2, 3], dtype=np.int32)


def test_a_right_one():
    matrix = checked_csr_array(DATA, INDICES, INDPTR, (3, 4))
    np.testing.assert_array_equal(matrix.toarray(), [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    longer = checked_csr_array(np.ones(5), np.array([0, 2, 1, 3, 3]), INDPTR, (3, 4))  # the rest is not used
    np.testing.assert_array_equal(longer.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    ("indices", "indptr", "shape"),
    [
        (INDICES, [0, 2, 2_130_706_499, 0], (3, 4)),  # scipy's check lets it pass, and hstack then crashes
        (INDICES, [0, 2_147_483_647, -2, 3], (3, 4)),  # the differences overflow to what rises
        (INDICES, [1, 2, 2, 3], (3, 4)),
        (INDICES, [0, 2, 2, 4], (3, 4)),
        (INDICES, [0, 2, 3], (3, 4)),
        (INDICES, [0, 2, 2, 3], (3, 2)),
        ([0, -1, 1], [0, 2, 2, 3], (3, 4)),
        ([0, 1], [0, 2, 2, 2], (3, 4)),
        ([0.0, 1.0, 2.0], [0, 2, 2, 3], (3, 4)),
        (INDICES, [0, 2, 2, 3], (3,)),
        ([[0, 1, 2]], [0, 2, 2, 3], (3, 4)),
    ],
)
def test_wrong_ones(tmp_path, indices, indptr, shape):
    arrays = {"indices": np.asarray(indices), "indptr": np.asarray(indptr, dtype=np.int32)}
    with pytest.raises(ValueError, match="do not form a CSR matrix"):
        checked_csr_array(DATA, *arrays.values(), shape)
    np.savez(
        tmp_path / "t.npz",
        X_data=DATA,
        X_shape=np.array(shape),
        Y=np.eye(3),
        **{f"X_{k}": v for k, v in arrays.items()},
    )
    with pytest.raises(DataError, match="do not form a CSR matrix"):
        read(tmp_path / "t.npz")


@given(st.lists(st.integers(-3, 6), min_size=4, max_size=4), st.lists(st.integers(-2, 5), min_size=0, max_size=5))
def test_what_is_taken_can_be_used(indptr, indices):
    try:
        matrix = checked_csr_array(
            np.ones(len(indices)), np.array(indices, dtype=np.int32), np.array(indptr), (3, 4)
        )
    except ValueError:
        return
    joined = sparse.hstack([matrix, sparse.csr_array(np.eye(3))], format="csr")
    assert joined.shape == (3, 7) and matrix.sum() == indptr[-1]
