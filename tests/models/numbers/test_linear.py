"""The robust linear model is where its equations say, and its predictions out of fold are honest."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from amiss.models.numbers import linear as module
from amiss.models.numbers.linear import HUBER, STEPS, STRENGTHS, fit_linear

N_ROWS = 120


def table(seed=0, n_rows=N_ROWS):
    """Inputs on different scales, a linear target, and folds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) * [1.0, 50.0, 0.01] + [0.0, 300.0, 5.0]
    y = 2.0 + X @ [1.5, -0.04, 80.0] + 0.4 * rng.normal(size=n_rows)
    return X, y, rng.permutation(n_rows).astype(np.int8) % 5


def slow_solution(X, y, strength):
    """scikit-learn's ridge regression on a common scale of all inputs, reweighted; predictions for all inputs."""
    weight = np.ones(len(y))
    for _ in range(STEPS):
        ridge = Ridge(alpha=strength, solver="cholesky").fit(X, y, sample_weight=weight)
        errors = np.abs(y - ridge.predict(X))
        weight = np.minimum(1, HUBER * np.median(errors) / errors)
    return ridge


def slow_out_of_fold(X, y, folds, strength):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    found = np.empty(len(y))
    for fold in range(5):
        inside = folds == fold
        found[inside] = slow_solution(scaled[~inside], y[~inside], strength).predict(scaled[inside])
    return found


def test_predictions_out_of_fold_are_those_of_reweighted_ridge_regressions():
    X, y, folds = table()
    y[::15] += 30.0
    _, held_out = fit_linear(X, y, folds)
    every = [slow_out_of_fold(X, y, folds, strength) for strength in STRENGTHS]
    best = every[int(np.argmin([np.abs(y - found).mean() for found in every]))]
    np.testing.assert_allclose(held_out, best, rtol=1e-7)


def test_the_model_of_all_rows_is_a_reweighted_ridge_regression(monkeypatch):
    X, y, folds = table(1)
    monkeypatch.setattr(module, "STRENGTHS", (10.0,))
    line, _ = fit_linear(X, y, folds)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    ridge = slow_solution(scaled, y, 10.0)
    np.testing.assert_allclose(line.coef, ridge.coef_ / X.std(axis=0), rtol=1e-7)
    np.testing.assert_allclose(line.predict(X), ridge.predict(scaled), rtol=1e-7)


def test_a_few_large_errors_hardly_move_the_line():
    X, y, folds = table(2)
    before, _ = fit_linear(X, y, folds)
    y[:6] += 1000.0
    after, _ = fit_linear(X, y, folds)
    assert np.abs(after.predict(X) - before.predict(X)).max() < 0.5
    assert np.abs(Ridge(alpha=1.0).fit(X, y).predict(X) - before.predict(X)).max() > 10


def test_a_row_has_no_effect_on_its_own_prediction_out_of_fold(monkeypatch):
    X, y, folds = table(3)
    monkeypatch.setattr(module, "STRENGTHS", (1.0,))
    line, held_out = fit_linear(X, y, folds)
    inside = np.flatnonzero(folds == 2)
    changed = y.copy()
    changed[inside] = y[inside[::-1]]
    other, other_held_out = fit_linear(X, changed, folds)
    np.testing.assert_array_equal(other_held_out[inside], held_out[inside])
    assert (other.fold_coef[2] == line.fold_coef[2]).all() and (other.coef != line.coef).any()


def test_training_rows_are_judged_by_the_model_without_their_fold():
    X, y, folds = table()
    line, held_out = fit_linear(X, y, folds)
    np.testing.assert_array_equal(line.predict(X, np.arange(N_ROWS)), held_out)
    some, elsewhere = np.array([5, 3, 60]), X[:3] * 1.1
    expected = [
        line.fold_coef[folds[row]] @ z + line.fold_intercept[folds[row]]
        for row, z in zip(some, elsewhere, strict=True)
    ]
    np.testing.assert_allclose(line.predict(elsewhere, some), expected, rtol=1e-12)


def test_new_rows_are_judged_by_the_model_of_all_rows_also_without_training_rows():
    X, y, folds = table()
    line, _ = fit_linear(X, y, folds)
    np.testing.assert_allclose(line.predict(X), X @ line.coef + line.intercept, rtol=1e-12)
    np.testing.assert_array_equal(line.without_rows().predict(X), line.predict(X))
    assert line.without_rows().folds.size == line.without_rows().fold_coef.size == 0


@pytest.mark.parametrize("block", [1, 50])
def test_blocks_of_rows_give_the_same_model_as_all_rows(block, monkeypatch):
    X, y, folds = table()
    whole, held_out = fit_linear(X, y, folds)
    monkeypatch.setattr("amiss.arrays.BLOCK_ROWS", block)
    np.testing.assert_array_equal(whole.predict(X, np.arange(N_ROWS)), held_out)
    line, other = fit_linear(X, y, folds)
    np.testing.assert_allclose(line.coef, whole.coef, rtol=1e-9)
    np.testing.assert_allclose(other, held_out, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_predictions_have_the_scale_of_the_target(factor):
    X, y, folds = table()
    _, held_out = fit_linear(X, y, folds)
    _, scaled = fit_linear(X, y * factor, folds)
    np.testing.assert_allclose(scaled, held_out * factor, rtol=1e-7)


def test_a_constant_column_has_no_coefficient():
    X, y, folds = table()
    X[:, 1] = 0.1 + 0.2
    line, held_out = fit_linear(X, y, folds)
    assert line.coef[1] == 0 and (line.fold_coef[:, 1] == 0).all()
    assert np.isfinite(held_out).all()


def test_more_columns_than_rows_are_no_trouble():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), rng.normal(size=12)
    _, held_out = fit_linear(X, y, (np.arange(12) % 5).astype(np.int8))
    assert np.isfinite(held_out).all()
