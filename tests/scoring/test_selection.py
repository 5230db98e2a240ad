"""The smallest distances are those that sorting finds, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amiss.scoring import selection
from amiss.scoring.selection import gathered, smallest


@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 70), st.integers(30, 400)),
    k=st.integers(1, 30),
    n_values=st.sampled_from([1, 2, 7, 1000]),
)
@settings(max_examples=60, deadline=None)
def test_they_are_those_of_sorting(seed, shape, k, n_values):
    rng = np.random.default_rng(seed)
    distances = (rng.integers(n_values, size=shape) * rng.choice([-1.0, 1.0], size=shape)).astype(np.float32)
    distances[0] = np.sort(distances[0])  # the sample then bounds nothing well
    expected = np.argsort(distances, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(smallest(distances, k), expected)


@pytest.mark.parametrize("width", [1, 20, 200])
def test_the_compiled_loop_writes_the_same_keys(width):
    rng = np.random.default_rng(0)
    distances = rng.normal(size=(50, 300)).astype(np.float32)
    distances[:, ::7] = np.float32(-0.0)
    bound = np.linspace(-3, 3, 50).astype(np.float32)
    plain, compiled = np.empty((2, 50, width), dtype=np.uint64)
    selection.gather.cache_clear()
    counts = gathered(distances, bound, plain), selection.gather(True)(distances, bound, compiled)
    np.testing.assert_array_equal(*counts)
    np.testing.assert_array_equal(plain, compiled)


def test_without_numba_the_same_is_found(monkeypatch):
    distances = np.random.default_rng(1).normal(size=(20, 500)).astype(np.float32)
    compiled = smallest(distances, 40)
    selection.gather.cache_clear()
    monkeypatch.setattr(selection, "find_spec", lambda name: None)
    np.testing.assert_array_equal(smallest(distances, 40), compiled)
    selection.gather.cache_clear()
