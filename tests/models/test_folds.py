"""Folds are stratified, and copies of a row get the same prediction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.models.folds import averaged_over_copies, stratified_folds


@given(st.integers(2, 10), st.integers(0, 1000))
def test_both_values_of_an_output_are_dealt_evenly(n_folds, seed):
    _, Y = make_table(97, 3, 5, seed)
    folds = stratified_folds(Y, n_folds)
    for i in range(5):
        for value in (0, 1):
            counts = np.bincount(folds[Y[:, i] == value, i], minlength=n_folds)
            assert counts.max() - counts.min() <= 1


def dealt_as_before_groups(Y, n_folds):
    """The folds of version 0.3, which knew no groups: each value of an output is dealt like cards."""
    folds = np.zeros(Y.shape, dtype=int)
    for output in range(Y.shape[1]):
        dealt = {0.0: 0, 1.0: 0}
        for row, value in enumerate(Y[:, output]):
            if value in dealt:
                place = dealt[value]
                folds[row, output] = (n_folds - 1 - place if value else place) % n_folds
                dealt[value] += 1
    return folds


@given(st.integers(2, 10), st.integers(0, 1000))
def test_without_groups_the_folds_are_what_they_always_were(n_folds, seed):
    _, Y = make_table(61, 3, 3, seed)
    Y[np.random.default_rng(seed).random(Y.shape) < 0.1] = np.nan
    expected = dealt_as_before_groups(Y, n_folds)
    np.testing.assert_array_equal(stratified_folds(Y, n_folds), expected)
    alone = np.random.default_rng(seed).permutation(61)  # everyone in a group of its own
    np.testing.assert_array_equal(stratified_folds(Y, n_folds, alone), expected)


@st.composite
def grouped(draw):
    """Outputs with missing cells, and groups of any size."""
    n_rows, n_groups = draw(st.integers(4, 60)), draw(st.integers(2, 20))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    Y = (rng.random((n_rows, 3)) < rng.random(3)).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Y, rng.integers(0, n_groups, n_rows) * 7 - 3


@given(grouped(), st.integers(2, 6))
def test_rows_of_a_group_share_a_fold_in_every_output(table, n_folds):
    Y, groups = table
    folds = stratified_folds(Y, n_folds, groups)
    assert folds.dtype == np.int8 and folds.min() >= 0 and folds.max() < n_folds
    for group in np.unique(groups):
        assert (folds[groups == group] == folds[groups == group][0]).all()


@given(grouped(), st.integers(2, 6))
def test_groups_with_a_one_and_groups_without_are_dealt_evenly(table, n_folds):
    Y, groups = table
    folds = stratified_folds(Y, n_folds, groups)
    for output in range(Y.shape[1]):
        ones = np.unique(groups[Y[:, output] == 1])
        zeros = np.setdiff1d(np.unique(groups[Y[:, output] == 0]), ones)
        for kind in (ones, zeros):
            of_groups = [folds[groups == group, output][0] for group in kind]
            counts = np.bincount(of_groups, minlength=n_folds)
            assert counts.max() - counts.min() <= 1
            assert len(kind) < n_folds or counts.min() >= 1  # every fold has ones, and rows without


def test_large_groups_are_spread_before_small_ones():
    groups = np.array([0] * 1 + [1] * 20 + [2] * 1 + [3] * 20 + [4] * 1 + [5] * 20)
    folds = stratified_folds(np.zeros((len(groups), 1)), 3, groups)[:, 0]
    assert np.bincount(folds).tolist() == [21, 21, 21]


@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_with_fewer_groups_than_folds_there_are_as_many_folds_as_groups(n_groups):
    X, Y = make_table(90)
    groups = np.arange(90) % n_groups
    detector = fitted(X, Y, cv=5, n_neighbors=5, strengths=(1.0,))
    detector.fit(X, Y, groups=groups)
    rows = detector.fitted_.models.training_rows
    folds = rows.fold_models.folds[rows.place]
    assert folds.max() < n_groups and np.isfinite(detector.decision_scores_).all()
    for group in range(n_groups):
        assert (folds[groups == group] == folds[groups == group][0]).all()


def test_a_row_is_judged_by_models_that_saw_none_of_its_group():
    """Rows come in pairs that agree, and nothing else is known of them: only a partner could tell its outputs."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 6)), 2, axis=0) + 1e-3 * rng.normal(size=(120, 6))
    Y = (rng.random((60, 2)) < 0.5).astype(float).repeat(2, axis=0)
    nearest = MCODE(model=KNeighborsClassifier(1), parents="none", crossfit=True, rule="prod")
    of_partners = nearest.fit(X, Y).probabilities_
    assert (of_partners > 0.5).mean() > 0.75
    pairs = np.arange(120) // 2
    for form in (pairs, pairs.astype(str)):
        apart = nearest.fit(X, Y, groups=form).probabilities_
        assert (apart > 0.5).mean() < 0.6
    rows = nearest.fitted_.models.training_rows
    together = rows.groups[rows.place]
    assert (together[0::2] == together[1::2]).all() and len(np.unique(together)) == 60


def test_copies_of_a_row_are_predicted_alike():
    content = np.array([7, 7, 8, 9, 9], dtype=np.uint64)
    log_odds = np.array([[1.0, 0], [3, 2], [5, 5], [0, 0], [4, 1]])
    expected = [[2, 1], [2, 1], [5, 5], [2, 0.5], [2, 0.5]]
    np.testing.assert_array_equal(averaged_over_copies(log_odds, content), expected)
