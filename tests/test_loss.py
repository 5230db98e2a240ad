"""Loss, gradient and curvature agree with one another, and blocks with the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_expit

from amiss import loss


def problem(seed, n_rows=30, n_columns=4, n_problems=3):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.5)
    y = (rng.random((n_rows, n_problems)) < 0.4).astype(float)
    w = (rng.random((n_rows, n_problems)) < 0.8).astype(float)
    parameters = rng.normal(size=(n_columns + 1, n_problems))
    return Z, Z.mean(axis=0), y, w, parameters, rng


def value(Z, centre, y, w, parameters):
    return loss.losses(loss.margins(Z, parameters[:-1], parameters[-1] - centre @ parameters[:-1]), y, w)


def centred(product, total, centre):
    return np.vstack([product - np.outer(centre, total), total])


def gradient(Z, centre, y, w, parameters):
    f = loss.margins(Z, parameters[:-1], parameters[-1] - centre @ parameters[:-1])
    return centred(*loss.pull_back(Z, loss.residuals(f, y, w, np.empty_like(f))), centre)


@given(st.integers(0, 10_000))
def test_loss_is_the_weighted_negative_log_likelihood(seed):
    Z, centre, y, w, parameters, _ = problem(seed)
    f = (Z - centre) @ parameters[:-1] + parameters[-1]
    expected = -(w * log_expit(np.where(y == 1, f, -f))).sum(axis=0)
    np.testing.assert_allclose(value(Z, centre, y, w, parameters), expected, rtol=1e-12)


@given(st.integers(0, 10_000))
def test_gradient_is_the_slope_of_the_loss(seed):
    Z, centre, y, w, parameters, rng = problem(seed)
    step = 1e-6 * rng.normal(size=parameters.shape)
    rise = value(Z, centre, y, w, parameters + step) - value(Z, centre, y, w, parameters - step)
    predicted = 2 * (gradient(Z, centre, y, w, parameters) * step).sum(axis=0)
    np.testing.assert_allclose(rise, predicted, rtol=1e-4, atol=1e-9)


@given(st.integers(0, 10_000))
def test_curvature_is_the_slope_of_the_gradient(seed):
    Z, centre, y, w, parameters, rng = problem(seed)
    direction = rng.normal(size=parameters.shape)
    f = (Z - centre) @ parameters[:-1] + parameters[-1]
    curvature = np.empty_like(f)
    loss.residuals(f, y, w, curvature)
    offset = direction[-1] - centre @ direction[:-1]
    product = centred(*loss.curvature_product(Z, curvature, direction[:-1], offset), centre)
    step = 1e-5
    ahead = gradient(Z, centre, y, w, parameters + step * direction)
    behind = gradient(Z, centre, y, w, parameters - step * direction)
    np.testing.assert_allclose((ahead - behind) / (2 * step), product, rtol=1e-5, atol=1e-6)


def test_blocks_add_up_to_the_whole_and_sparse_is_dense():
    Z, centre, y, w, parameters, _ = problem(0, n_rows=50)
    whole = gradient(Z, centre, y, w, parameters)
    parts = [slice(0, 13), slice(13, 14), slice(14, 50)]
    blocks = sum(gradient(Z[p], centre, y[p], w[p], parameters) for p in parts)
    in_sparse = gradient(sparse.csr_array(Z), centre, y, w, parameters)
    np.testing.assert_allclose(blocks, whole, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(in_sparse, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("margin", [0.0, 30.0, 800.0, 1e30])
def test_extreme_margins_stay_finite(margin, dtype):
    f = np.array([[margin], [-margin]], dtype=dtype)
    y, w, curvature = np.ones((2, 1), dtype), np.ones((2, 1), dtype), np.empty((2, 1), dtype)
    assert loss.losses(f, y, w)[0] == pytest.approx(margin + 2 * np.log1p(np.exp(-margin)))
    assert np.isfinite(loss.residuals(f, y, w, curvature)).all()
    assert (curvature >= 0).all()
