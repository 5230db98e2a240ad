"""Trees as arrays give scikit-learn's log-odds, however many rows are asked for at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.forests import interacting, no_outputs, scikit_learns

from amiss.models.boosting.fit import View, boosted
from amiss.models.boosting.trees import constant, joined

N_TREES = 12


@pytest.fixture(scope="module")
def forest():
    """Rows, the classifier of scikit-learn that was fitted to them, and our arrays of it."""
    X, target = interacting()
    return X, *scikit_learns(X, target, N_TREES)


def test_the_arrays_give_scikit_learns_log_odds(forest):
    X, classifier, trees = forest
    new = np.random.default_rng(1).normal(size=(200, 4)) * 3
    for rows in (X, new):
        found = trees.log_odds(rows, no_outputs(len(rows)))
        np.testing.assert_allclose(found[:, 0], classifier.decision_function(rows), rtol=0, atol=1e-12)


def test_a_row_at_a_threshold_goes_the_way_that_scikit_learn_sends_it(forest):
    X, classifier, trees = forest
    splits = np.flatnonzero(trees.feature >= 0)
    rows = np.repeat(X[:1], len(splits), axis=0)
    rows[np.arange(len(splits)), trees.feature[splits]] = trees.threshold[splits]
    above = rows.copy()
    above[np.arange(len(splits)), trees.feature[splits]] = np.nextafter(trees.threshold[splits], np.inf)
    for some in (rows, above):
        found = trees.log_odds(some, no_outputs(len(some)))[:, 0]
        np.testing.assert_allclose(found, classifier.decision_function(some), rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_outputs_are_the_columns_after_the_inputs(forest, form):
    X, classifier, trees = forest
    found = trees.log_odds(form(X[:, :2]), X[:, 2:])[:, 0]
    np.testing.assert_allclose(found, classifier.decision_function(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cells", [1, 25, 1000])
def test_blocks_of_rows_give_the_same_bits_as_all_rows(forest, cells, monkeypatch):
    X, _, trees = forest
    both, nothing = joined([trees, trees.first(3), constant(0.5)]), no_outputs(len(X))
    whole, stages = both.log_odds(X, nothing), trees.stages(X, nothing)
    monkeypatch.setattr("amiss.models.boosting.trees.BLOCK_CELLS", cells)
    np.testing.assert_array_equal(both.log_odds(X, nothing), whole)
    np.testing.assert_array_equal(trees.stages(X, nothing), stages)


def test_a_row_alone_has_the_bits_that_it_has_among_others(forest):
    X, _, trees = forest
    whole = trees.log_odds(X, no_outputs(len(X)))
    for row in range(0, len(X), 17):
        np.testing.assert_array_equal(trees.log_odds(X[[row]], no_outputs(1)), whole[[row]])


def test_the_last_stage_is_the_log_odds_and_the_first_is_the_base(forest):
    X, classifier, trees = forest
    stages = trees.stages(X, no_outputs(len(X)))
    assert stages.shape == (N_TREES + 1, len(X))
    np.testing.assert_array_equal(stages[0], np.full(len(X), trees.base[0]))
    np.testing.assert_array_equal(stages[-1], trees.log_odds(X, no_outputs(len(X)))[:, 0])
    staged = [found.ravel() for found in classifier.staged_decision_function(X)]
    np.testing.assert_allclose(stages[1:], staged, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_trees", [0, 1, 5, N_TREES, N_TREES + 3])
def test_the_first_trees_are_those_of_a_fit_with_as_many(forest, n_trees):
    X, _, trees = forest
    first, nothing = trees.first(n_trees), no_outputs(len(X))
    kept = min(n_trees, N_TREES)
    assert len(first.roots) == kept
    np.testing.assert_array_equal(first.log_odds(X, nothing)[:, 0], trees.stages(X, nothing)[kept])
    if 0 < n_trees <= N_TREES:
        _, fewer = scikit_learns(*interacting(), n_trees)
        for name in ("base", "roots", "feature", "threshold", "left", "right", "value", "cover"):
            np.testing.assert_array_equal(getattr(first, name), getattr(fewer, name), err_msg=name)


@given(st.lists(st.integers(0, N_TREES), min_size=1, max_size=4))
def test_joined_trees_give_each_output_what_its_own_trees_give(sizes):
    X, trees = _shared()
    parts = [trees.first(size) if size else constant(-0.25 * place) for place, size in enumerate(sizes)]
    whole = joined(parts)
    assert whole.first_trees.tolist() == np.cumsum([0, *sizes]).tolist()
    expected = np.hstack([part.log_odds(X, no_outputs(len(X))) for part in parts])
    np.testing.assert_array_equal(whole.log_odds(X, no_outputs(len(X))), expected)
    for output, part in enumerate(parts):
        mine = whole.attribution(X[:1], no_outputs(1), output, np.zeros(4))
        alone = part.attribution(X[:1], no_outputs(1), 0, np.zeros(4))
        assert mine.average == alone.average
        np.testing.assert_array_equal(mine.columns, alone.columns)


SHARED: list = []


def _shared():
    if not SHARED:
        X, target = interacting()
        SHARED.append((X[:20], scikit_learns(X, target, N_TREES)[1]))
    return SHARED[0]


def test_a_constant_has_no_tree_and_says_the_same_of_every_row():
    trees = constant(-1.5)
    assert trees.log_odds(np.zeros((3, 2)), np.zeros((3, 1))).tolist() == [[-1.5]] * 3
    assert trees.stages(np.zeros((3, 2)), np.zeros((3, 1))).tolist() == [[-1.5] * 3]
    assert trees.depth == 0 and trees.as_linear(2) is None and repr(trees) == "<BoostedTrees: 0 trees of 1 output>"
    found = trees.attribution(np.zeros((1, 2)), np.zeros((1, 1)), 0, np.zeros(3))
    assert found.average == -1.5 and found.columns.tolist() == [0.0] * 3


def test_every_node_holds_the_mean_and_the_number_of_the_rows_that_pass_it(forest):
    X, _, trees = forest
    passed = {int(root): np.arange(len(X)) for root in trees.roots}
    for node in range(len(trees.feature)):
        rows = passed[node]
        assert trees.cover[node] == len(rows)
        if trees.feature[node] >= 0:
            below = X[rows, trees.feature[node]] <= trees.threshold[node]
            left, right = int(trees.left[node]), int(trees.right[node])
            passed[left], passed[right] = rows[below], rows[~below]
            mean = (trees.value[left] * below.sum() + trees.value[right] * (~below).sum()) / len(rows)
            assert trees.value[node] == pytest.approx(mean, rel=1e-12, abs=1e-15)


def test_trees_that_scikit_learn_would_not_recognise_are_refused(monkeypatch):
    """If a version of scikit-learn stores its trees in another way, nobody gets wrong numbers."""
    X, target = interacting(100)
    monkeypatch.setattr("amiss.models.boosting.from_sklearn.BASE", lambda fitted: np.array([0.5]))
    with pytest.raises(RuntimeError, match="stores its trees in another way"):
        boosted(View(X, np.arange(4)), target.astype(float), np.ones(100, dtype=bool), 2)
