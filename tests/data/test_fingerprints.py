"""Fingerprints depend on content alone; folds are stratified, and copies of a row predicted alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.tables import make_table

from amiss.data.fingerprints import fingerprints
from amiss.models.folds import averaged_over_copies, stratified_folds


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


@given(st.integers(2, 10), st.integers(0, 1000))
def test_both_values_of_an_output_are_dealt_evenly(n_folds, seed):
    _, Y = make_table(97, 3, 5, seed)
    folds = stratified_folds(Y, n_folds)
    for i in range(5):
        for value in (0, 1):
            counts = np.bincount(folds[Y[:, i] == value, i], minlength=n_folds)
            assert counts.max() - counts.min() <= 1


def test_copies_of_a_row_are_predicted_alike():
    content = np.array([7, 7, 8, 9, 9], dtype=np.uint64)
    log_odds = np.array([[1.0, 0], [3, 2], [5, 5], [0, 0], [4, 1]])
    expected = [[2, 1], [2, 1], [5, 5], [2, 0.5], [2, 0.5]]
    np.testing.assert_array_equal(averaged_over_copies(log_odds, content), expected)
