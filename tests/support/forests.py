"""Small forests as arrays, and what scikit-learn and Shapley's definition say of them."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from amiss.models.boosting.fit import SETTINGS
from amiss.models.boosting.from_sklearn import trees_of
from amiss.threads import one_openmp_thread


def interacting(n_rows=300, n_inputs=4, seed=0):
    """Inputs, and a target that depends on a product of two of them; the last input plays no part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_inputs))
    target = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)
    return X, target


def scikit_learns(X, target, n_trees, **changed):
    """Their classifier with the project's settings, and our trees of it on the columns of X."""
    with one_openmp_thread():
        classifier = HistGradientBoostingClassifier(max_iter=n_trees, **{**SETTINGS, **changed}).fit(X, target)
    return classifier, trees_of(classifier, np.arange(X.shape[1]))


def no_outputs(n_rows):
    return np.empty((n_rows, 0))


def expectation(trees, root, row, known):
    """What a tree gives where only the ``known`` columns of a row are known: both ways, by their training rows."""
    column = int(trees.feature[root])
    if column < 0:
        return float(trees.value[root])
    left, right = int(trees.left[root]), int(trees.right[root])
    if column in known:
        return expectation(trees, left if row[column] <= trees.threshold[root] else right, row, known)
    return (
        trees.cover[left] * expectation(trees, left, row, known)
        + trees.cover[right] * expectation(trees, right, row, known)
    ) / trees.cover[root]


def shapleys_definition(trees, row):
    """Shapley's average over all subsets of the other columns of what a column adds, summed over the trees."""
    n = len(row)
    subsets = [frozenset(chosen) for size in range(n + 1) for chosen in combinations(range(n), size)]
    worth = {known: sum(expectation(trees, root, row, known) for root in trees.roots) for known in subsets}
    values = np.zeros(n)
    for known in subsets:
        share = factorial(len(known)) * factorial(n - len(known) - 1) / factorial(n) if len(known) < n else 0.0
        for column in set(range(n)) - known:
            values[column] += share * (worth[known | {column}] - worth[known])
    return values


def table_with_everything(n_rows=130, seed=0):
    """Inputs, three outputs (a product of inputs, a linear one with missing cells, one that follows the first),
    imperfect probabilities of these, and groups of one to three rows; rows 20 to 25 are copies.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    product = X[:, 0] * X[:, 1] > 0
    plain = X[:, 2] + 0.5 * rng.normal(size=n_rows) > 0
    Y = np.column_stack([product, plain, product ^ (rng.random(n_rows) < 0.15)]).astype(float)
    P = np.clip(0.15 + 0.7 * Y + 0.1 * rng.normal(size=Y.shape), 0.01, 0.99)
    wrong = rng.random(Y.shape) < 0.1
    P[wrong] = 1 - P[wrong]
    Y[3::9, 1] = np.nan
    X[20:26], Y[20:26], P[20:26] = X[20], Y[20], P[20]
    groups = np.where(np.arange(n_rows) < 60, np.arange(n_rows) // 3, np.arange(n_rows))
    return X, Y, P, groups
