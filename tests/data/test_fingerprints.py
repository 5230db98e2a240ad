"""Fingerprints depend on the content of a row alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from amiss.data.fingerprints import fingerprints


@given(st.integers(0, 1000))
def test_dense_and_sparse_rows_have_the_same_fingerprint_in_any_order(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.4)
    values[3, 2] = np.nan
    order = rng.permutation(40)
    dense = fingerprints(values, seed)
    np.testing.assert_array_equal(fingerprints(sparse.csr_array(values), seed), dense)
    np.testing.assert_array_equal(fingerprints(values[order], seed), dense[order])


def test_fingerprints_tell_rows_columns_and_seeds_apart():
    values = np.vstack([np.eye(50), 2 * np.eye(50), np.zeros(50)])
    assert len(set(fingerprints(values, 0).tolist())) == 101
    assert not set(fingerprints(values[:-1], 0).tolist()) & set(fingerprints(values[:-1], 1).tolist())


def test_minus_zero_is_zero():
    assert fingerprints(np.array([[-0.0, 1.0]]), 0) == fingerprints(np.array([[0.0, 1.0]]), 0)
