"""Statistics of columns are the same for dense and sparse matrices, and those that NumPy computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from amiss.encoding import column_statistics as statistics


def table(seed, missing):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    values[:, 0], values[:, 1] = 0, np.abs(values[:, 1]) + 1
    if missing:
        values[rng.random(values.shape) < 0.2] = np.nan
    return values


EXPECTED = {
    "missing_counts": lambda values: np.isnan(values).sum(axis=0),
    "means": lambda values: np.nanmean(values, axis=0),
    "lower_medians": lambda values: np.nanquantile(values, 0.5, axis=0, method="lower"),
    "extremes": lambda values: (np.nanmin(values, axis=0), np.nanmax(values, axis=0)),
    "largest_magnitudes": lambda values: np.nanmax(np.abs(values), axis=0),
    "nonzero_counts": lambda values: (values != 0).sum(axis=0),
    "total_nonzeros": lambda values: (values != 0).sum(),
}


@pytest.mark.parametrize("name", EXPECTED)
@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_statistics_are_those_of_numpy_in_every_container(name, seed):
    values = table(seed, missing=True)
    for container in (np.asarray, sparse.csr_array):
        found = getattr(statistics, name)(container(values))
        np.testing.assert_allclose(found, EXPECTED[name](values), atol=1e-12)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_moments_are_those_of_numpy_in_every_container(seed):
    values = table(seed, missing=False)
    for container in (np.asarray, sparse.csr_array):
        unit = statistics.largest_or_one(container(values))
        assert unit[0] == 1
        mean, deviation = statistics.moments(container(values), unit)
        np.testing.assert_allclose(mean * unit, values.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(deviation * unit, values.std(axis=0), atol=1e-12)
        lowest = statistics.lowest_or_zero(container(values))
        np.testing.assert_array_equal(lowest, np.minimum(values.min(axis=0), 0))


def test_columns_without_any_value_have_a_mean_and_a_median_of_zero_and_no_extremes():
    values = np.full((3, 2), np.nan)
    for container in (np.asarray, sparse.csr_array):
        np.testing.assert_array_equal(statistics.means(container(values)), 0)
        np.testing.assert_array_equal(statistics.lower_medians(container(values)), 0)
        assert np.isnan(statistics.extremes(container(values))).all()
