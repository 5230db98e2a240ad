"""Folds are stratified, and copies of a row get the same prediction."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.tables import make_table

from amiss.models.folds import averaged_over_copies, stratified_folds


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
