"""A forest as arrays walks as scikit-learn does, and judges a row by the trees that did not see it."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.tree

from amiss.models.numbers import forest as module
from amiss.models.numbers.forest import MOST_ROWS, N_TREES, Forest, grow, single

N_ROWS = 90


def table(n_rows=N_ROWS, n_columns=3, seed=0):
    """Inputs, and a target that depends on a product of two of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows)


def grown_with_scikit_learns(X, y, units, monkeypatch):
    """A forest, the bags, and the trees of scikit-learn that it was made of."""
    trees = []

    class Recorded(sklearn.tree.ExtraTreeRegressor):
        def __init__(self, **settings):
            super().__init__(**settings)
            trees.append(self)

    monkeypatch.setattr("sklearn.tree.ExtraTreeRegressor", Recorded)
    forest, bags = grow(X, y, units, 5)
    monkeypatch.undo()
    return forest, bags, trees


def same(first: Forest, second: Forest):
    names = ("roots", "feature", "threshold", "left", "right", "leaf", "values")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def slow_leaf(forest, tree, row):
    """The number of the leaf that a row in single precision falls into."""
    node = forest.roots[tree]
    while forest.feature[node] >= 0:
        goes_left = float(row[forest.feature[node]]) <= forest.threshold[node]
        node = forest.left[node] if goes_left else forest.right[node]
    return forest.leaf[node]


def at_thresholds(forest, X):
    """Rows that lie on a threshold, and just above one, as far as single precision can say."""
    splits = np.flatnonzero(forest.feature >= 0)[::7]
    rows = np.repeat(X[:1], len(splits), axis=0)
    rows[np.arange(len(splits)), forest.feature[splits]] = forest.threshold[splits]
    return np.vstack([rows, np.nextafter(single(rows), np.float32(np.inf))])


def test_each_row_falls_into_the_leaf_that_scikit_learn_says(monkeypatch):
    X, y = table()
    forest, _, trees = grown_with_scikit_learns(X, y, np.arange(N_ROWS), monkeypatch)
    rows = np.vstack([X, np.random.default_rng(1).normal(size=(20, 3)) * 3, at_thresholds(forest, X)[:200]])
    for number in range(0, N_TREES, 9):
        end = forest.roots[number + 1] if number + 1 < N_TREES else len(forest.feature)
        leaf_of_node = forest.leaf[forest.roots[number] : end]
        theirs = leaf_of_node[trees[number].tree_.apply(single(rows))]
        np.testing.assert_array_equal([slow_leaf(forest, number, row) for row in single(rows)], theirs)


@pytest.mark.parametrize("with_bags", [True, False])
def test_centre_and_spread_are_the_median_and_mean_deviation_of_the_pooled_values(monkeypatch, with_bags):
    X, y = table()
    forest, bags, trees = grown_with_scikit_learns(X, y, np.arange(N_ROWS) // 2, monkeypatch)
    centre, spread = forest.distribution(X, bags if with_bags else None)
    leaves = [tree.tree_.apply(single(X)) for tree in trees]
    for row in range(N_ROWS):
        pooled = []
        for leaf, bag in zip(leaves, bags, strict=True):
            if not (with_bags and bag[row]):
                values = np.sort(y[bag & (leaf == leaf[row])])
                pooled += [values[int(len(values) * share)] for share in (1 / 8, 3 / 8, 5 / 8, 7 / 8)]
        assert centre[row] == np.median(pooled)
        assert spread[row] == pytest.approx(np.mean(np.abs(np.array(pooled) - np.median(pooled))), rel=1e-12)


def test_the_walk_agrees_with_a_slow_one_on_rows_at_thresholds():
    X, y = table()
    forest, _ = grow(X, y, np.arange(N_ROWS), 5)
    rows = at_thresholds(forest, X)[::11]
    centre, _ = forest.distribution(rows)
    for row, found in zip(single(rows), centre, strict=True):
        leaves = [slow_leaf(forest, tree, row) for tree in range(N_TREES)]
        assert found == np.median(forest.values[leaves])


def test_children_have_higher_numbers_and_leaves_point_to_themselves():
    X, y = table()
    forest, _ = grow(X, y, np.arange(N_ROWS), 0)
    own, is_leaf = np.arange(len(forest.feature)), forest.feature < 0
    assert len(forest.roots) == N_TREES
    for side in (forest.left, forest.right):
        np.testing.assert_array_equal(side[is_leaf], own[is_leaf])
        assert (side[~is_leaf] > own[~is_leaf]).all()
    np.testing.assert_array_equal(forest.leaf[is_leaf], np.arange(len(forest.values)))
    assert (forest.leaf[~is_leaf] == -1).all()
    assert (np.diff(forest.values, axis=1) >= 0).all()
    assert forest.values.shape == (is_leaf.sum(), 4)


def test_the_forest_depends_on_the_seed_and_not_on_the_number_of_threads():
    X, y = table()
    units = np.arange(N_ROWS)
    one, bags = grow(X, y, units, 3, n_jobs=1)
    for n_jobs in (None, 3):
        other, other_bags = grow(X, y, units, 3, n_jobs=n_jobs)
        assert same(one, other)
        np.testing.assert_array_equal(bags, other_bags)
    assert not same(one, grow(X, y, units, 4)[0])


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_of_rows_give_the_same_bits_as_all_rows(block, monkeypatch):
    X, y = table(1100)
    forest, bags = grow(X, y, np.arange(len(X)), 0)
    X, bags = X[:80], bags[:, :80]
    whole = forest.distribution(X, bags)
    monkeypatch.setattr("amiss.threads.BLOCK_ROWS", block)
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(forest.distribution(X, bags, n_jobs), whole)


def test_a_row_alone_has_the_bits_that_it_has_among_others():
    X, y = table()
    forest, bags = grow(X, y, np.arange(N_ROWS), 0)
    whole = forest.distribution(X, bags)
    for row in range(0, N_ROWS, 17):
        alone = forest.distribution(X[[row]], bags[:, [row]])
        np.testing.assert_array_equal(np.ravel(alone), [each[row] for each in whole])


def test_the_rows_of_a_unit_are_in_the_same_bags_and_about_two_thirds_of_units_are_drawn():
    X, y = table()
    units = np.random.default_rng(2).integers(0, 25, N_ROWS) * 10 - 7
    _, bags = grow(X, y, units, 0)
    shares = []
    for unit in np.unique(units):
        rows = bags[:, units == unit]
        np.testing.assert_array_equal(rows, np.repeat(rows[:, :1], rows.shape[1], axis=1))
        shares.append(rows[:, 0])
    np.testing.assert_array_equal(np.sum(shares, axis=0), round(0.632 * len(np.unique(units))))


def test_a_tree_leaves_out_at_least_one_of_two_units():
    X, y = table()
    _, bags = grow(X, y, np.arange(N_ROWS) % 2, 0)
    assert (bags.sum(axis=1) == N_ROWS // 2).all()
    assert bags.any(axis=0).all() and (~bags).any(axis=0).all()


def test_a_tree_sees_few_rows_of_a_large_table_and_counts_as_having_seen_their_units(monkeypatch):
    assert MOST_ROWS == 20_000
    X, y = table()
    units = np.arange(N_ROWS) // 10
    monkeypatch.setattr(module, "MOST_ROWS", 35)
    sizes = []

    class Recorded(sklearn.tree.ExtraTreeRegressor):
        def fit(self, X, y, **settings):
            sizes.append(len(X))
            return super().fit(X, y, **settings)

    monkeypatch.setattr("sklearn.tree.ExtraTreeRegressor", Recorded)
    _, bags = grow(X, y, units, 0)
    assert set(sizes) == {35}
    assert (bags.sum(axis=1) == 40).all()  # three units, and half of a fourth


def test_the_target_of_a_unit_has_no_effect_on_how_its_rows_are_judged():
    X, y = table()
    units = np.arange(N_ROWS) // 6
    forest, bags = grow(X, y, units, 0)
    changed = y.copy()
    inside = np.flatnonzero(units == 4)
    changed[inside] = y[inside[::-1]]
    other, other_bags = grow(X, changed, units, 0)
    np.testing.assert_array_equal(bags, other_bags)
    assert not same(forest, other)
    for found, expected in zip(
        other.distribution(X[inside], bags[:, inside]),
        forest.distribution(X[inside], bags[:, inside]),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)


def test_a_row_that_every_tree_saw_is_judged_by_all():
    X, y = table()
    forest, bags = grow(X, y, np.arange(N_ROWS), 0)
    bags[:, 5] = True
    centre, spread = forest.distribution(X, bags)
    expected = forest.distribution(X)
    assert (centre[5], spread[5]) == (expected[0][5], expected[1][5])


@pytest.mark.parametrize("factor", [2.0**-80, 2.0**80])
def test_the_size_of_the_target_changes_nothing_but_the_size_of_the_values(factor):
    X, y = table()
    units = np.arange(N_ROWS)
    forest, _ = grow(X, y, units, 0)
    scaled, _ = grow(X, y * factor, units, 0)
    np.testing.assert_array_equal(scaled.threshold, forest.threshold)
    np.testing.assert_array_equal(scaled.values, forest.values * factor)


def test_inputs_beyond_single_precision_are_clipped():
    X, y = table()
    X[3, 0], X[4, 1] = 1e200, -1e200
    forest, bags = grow(X, y, np.arange(N_ROWS), 0)
    assert np.isfinite(forest.distribution(X, bags)).all()


def test_no_rows_have_no_centres():
    X, y = table()
    forest, bags = grow(X, y, np.arange(N_ROWS), 0)
    centre, spread = forest.distribution(X[:0], bags[:, :0])
    assert centre.shape == spread.shape == (0,)
    assert repr(forest).startswith("<Forest: 100 trees, ")
