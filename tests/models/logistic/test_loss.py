"""Loss, slope and curvature agree with one another, and the compiled loop with the plain one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_expit

from amiss.models.logistic import loss
from amiss.models.logistic.compiled import slopes


def problem(seed, n_rows=30, n_columns=4, n_problems=3):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    signs = rng.choice([-1.0, 0.0, 1.0], size=(n_rows, n_problems), p=[0.5, 0.2, 0.3])
    return Z, Z.mean(axis=0), signs, rng.normal(size=(n_columns + 1, n_problems)), rng


def margins(Z, centre, parameters):
    return (Z - centre) @ parameters[:-1] + parameters[-1]


def value(Z, centre, signs, parameters):
    return loss.row_losses(margins(Z, centre, parameters), signs).sum(axis=0)


def gradient(Z, centre, signs, parameters):
    r = margins(Z, centre, parameters)
    loss.losses_and_residuals(r, signs, np.empty_like(r))
    return np.vstack([(Z - centre).T @ r, r.sum(axis=0)])


@given(st.integers(0, 10_000))
def test_loss_is_the_negative_log_likelihood_of_the_rows_that_count(seed):
    Z, centre, signs, parameters, _ = problem(seed)
    f = margins(Z, centre, parameters)
    expected = -(np.abs(signs) * log_expit(signs * f)).sum(axis=0)
    np.testing.assert_allclose(value(Z, centre, signs, parameters), expected, rtol=1e-12)
    np.testing.assert_allclose(loss.losses_and_residuals(f, signs, np.empty_like(f)), expected, rtol=1e-12)


@given(st.integers(0, 10_000))
def test_residuals_give_the_slope_of_the_loss(seed):
    Z, centre, signs, parameters, rng = problem(seed)
    step = 1e-6 * rng.normal(size=parameters.shape)
    rise = value(Z, centre, signs, parameters + step) - value(Z, centre, signs, parameters - step)
    predicted = 2 * (gradient(Z, centre, signs, parameters) * step).sum(axis=0)
    np.testing.assert_allclose(rise, predicted, rtol=1e-4, atol=1e-9)


@given(st.integers(0, 10_000))
def test_curvature_is_the_slope_of_the_gradient(seed):
    Z, centre, signs, parameters, rng = problem(seed)
    direction = rng.normal(size=parameters.shape)
    f = margins(Z, centre, parameters)
    curvature = np.empty_like(f)
    loss.losses_and_residuals(f, signs, curvature)
    along = curvature * margins(Z, centre, direction)
    product = np.vstack([(Z - centre).T @ along, along.sum(axis=0)])
    step = 1e-5
    ahead = gradient(Z, centre, signs, parameters + step * direction)
    behind = gradient(Z, centre, signs, parameters - step * direction)
    np.testing.assert_allclose((ahead - behind) / (2 * step), product, rtol=1e-5, atol=1e-6)


def test_signs_are_the_targets_of_the_rows_that_count():
    targets, counts = np.array([[1.0, 0.0, 1.0, 0.3]]), np.array([[True, True, False, False]])
    np.testing.assert_array_equal(loss.signs_of(targets, counts), [[1.0, -1.0, 0.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("margin", [0.0, 30.0, 800.0, 1e30])
def test_extreme_margins_stay_finite(margin, compiled, dtype):
    f = np.array([[margin], [-margin], [margin]], dtype=dtype)
    signs, curvature = np.array([[1], [1], [0]], dtype=dtype), np.empty((3, 1), dtype)
    expected = margin + 2 * np.log1p(np.exp(-margin))
    assert loss.row_losses(f, signs).sum() == pytest.approx(expected)
    assert slopes(compiled, dtype)(f, signs, curvature)[0] == pytest.approx(expected)
    assert np.isfinite(f).all()
    assert f[2, 0] == 0
    assert (curvature >= 0).all()


@given(st.integers(0, 10_000), st.integers(1, 150), st.sampled_from([0.1, 3.0, 100.0]))
def test_the_compiled_loop_is_the_plain_one(seed, n_rows, scale):
    rng = np.random.default_rng(seed)
    f = (scale * rng.normal(size=(n_rows, 11))).astype(np.float32)
    signs = rng.choice([-1, 0, 1], size=f.shape).astype(np.float32)
    exact, fast = f.astype(np.float64), f.copy()
    d_exact, d_fast = np.empty_like(exact), np.empty_like(fast)
    expected = loss.losses_and_residuals(exact, signs.astype(np.float64), d_exact)
    np.testing.assert_allclose(slopes(True, np.float32)(fast, signs, d_fast), expected, rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(fast, exact, atol=2e-6)
    np.testing.assert_allclose(d_fast, d_exact, atol=2e-6)
