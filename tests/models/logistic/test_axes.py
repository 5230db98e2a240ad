"""Inputs along their principal axes: nothing is lost, and nothing is kept that does not vary."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from amiss.models.logistic.axes import principal_axes


@pytest.mark.parametrize("shape", [(60, 8), (20, 50)])
def test_axes_are_orthonormal_and_hold_all_variation(shape):
    X = np.random.default_rng(0).normal(size=shape) + 3
    axes = principal_axes(X)
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-10)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(centred @ axes @ axes.T, centred, atol=1e-9)


def test_copies_and_constant_columns_take_no_room():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert principal_axes(np.hstack([X, X, np.ones((50, 4)), X.sum(axis=1, keepdims=True)])).shape == (11, 3)


def test_inputs_that_never_vary_have_no_axes():
    assert principal_axes(np.ones((5, 3))).shape == (3, 0)


def test_sparse_and_very_wide_and_long_inputs_stay_as_they_are():
    assert principal_axes(sparse.csr_array(np.eye(4))) is None
    assert principal_axes(np.zeros((0, 3))) is None
    assert principal_axes(np.zeros((2000, 1600))) is None
