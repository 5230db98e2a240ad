"""What each column adds is Shapley's value of it, by his definition."""

from __future__ import annotations

import numpy as np
import pytest
from support.forests import expectation, interacting, no_outputs, scikit_learns, shapleys_definition

from amiss.models.boosting.trees import BoostedTrees


@pytest.fixture(scope="module", params=[(4, 8, 0), (6, 8, 1), (3, 2, 2), (5, 31, 3)], ids=str)
def forest(request):
    """Rows and a few trees with up to 2, 8 or 31 leaves."""
    n_inputs, leaves, seed = request.param
    X, target = interacting(250, n_inputs, seed)
    return X, scikit_learns(X, target, 6, max_leaf_nodes=leaves, min_samples_leaf=5)[1]


def attribution(trees, row):
    return trees.attribution(row[None], no_outputs(1), 0, np.zeros(len(row)))


def test_the_values_are_those_of_shapleys_definition(forest):
    X, trees = forest
    for row in (X[0], X[7], 4 * X[11], np.zeros(X.shape[1])):
        found = attribution(trees, row).columns
        np.testing.assert_allclose(found, shapleys_definition(trees, row), rtol=0, atol=1e-12)


def test_they_add_up_to_the_log_odds(forest):
    X, trees = forest
    log_odds = trees.log_odds(X, no_outputs(len(X)))[:, 0]
    for row in range(0, len(X), 11):
        found = attribution(trees, X[row])
        assert found.average + found.columns.sum() == pytest.approx(log_odds[row], rel=0, abs=1e-10)


def test_the_average_is_that_of_the_training_rows(forest):
    X, trees = forest
    average = attribution(trees, X[0]).average
    assert average == pytest.approx(trees.log_odds(X, no_outputs(len(X))).mean(), rel=0, abs=1e-10)
    nothing_known = trees.base[0] + sum(expectation(trees, root, X[0], frozenset()) for root in trees.roots)
    assert average == pytest.approx(nothing_known, rel=0, abs=1e-12)


def test_a_column_that_no_tree_splits_adds_nothing():
    X, target = interacting(200, 4)
    X[:, 3] = 1.0  # nothing to split
    trees = scikit_learns(X, target, 5)[1]
    assert 3 not in trees.feature
    for row in X[:20]:
        assert attribution(trees, row).columns[3] == 0


def test_of_one_split_the_value_is_known_by_hand():
    """30 of 40 rows go left: the mean is 0.75 * 2 - 0.25 * 6 = 0, and either side is that far from it."""
    trees = BoostedTrees(
        base=np.array([0.5]), first_trees=np.array([0, 1]), roots=np.array([0]), feature=np.array([1, -1, -1]),
        threshold=np.array([0.0, np.inf, np.inf]), left=np.array([1, 1, 2]), right=np.array([2, 1, 2]),
        value=np.array([0.0, 2.0, -6.0]), cover=np.array([40.0, 30.0, 10.0]),
    )  # fmt: skip
    for at, added in ((0.0, 2.0), (1.0, -6.0)):
        found = attribution(trees, np.array([5.0, at]))
        assert found.average == 0.5 and found.columns.tolist() == [0.0, added]
