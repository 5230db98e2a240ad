"""Ranks of values, found for many rows column by column and for few in all columns at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from amiss.encoding.ranks import FEW_ROWS, Ranks

ANY = st.floats(allow_nan=False, allow_infinity=False, width=64)


def plain(values, at, rank):
    """One value after the other."""
    found = []
    for value in values:
        reached = np.flatnonzero(at <= value)
        if not len(reached):
            found.append(rank[0])
        elif reached[-1] == len(at) - 1:
            found.append(rank[-1])
        else:
            low, high = at[reached[-1]], at[reached[-1] + 1]
            size = max(abs(low), abs(high))
            share = (value / size - low / size) / (high / size - low / size)
            found.append(rank[reached[-1]] + share * (rank[reached[-1] + 1] - rank[reached[-1]]))
    return found


@given(arrays(np.float64, st.tuples(st.integers(1, 50), st.just(3)), elements=ANY), st.integers(0, 10**6))
def test_ranks_are_those_of_a_plain_loop(X, seed):
    ranks = Ranks.of(X, np.array([True, False, True]))
    others = np.random.default_rng(seed).normal(size=(40, 3)) * (np.abs(X).max() / 9)
    new = np.concatenate([X, others])
    found = ranks(new)
    ends = np.cumsum(ranks.counts)
    for column, end in ((0, ends[0]), (2, ends[2])):
        knots = slice(end - ranks.counts[column], end)
        expected = plain(new[:, column], ranks.at[knots], ranks.rank[knots])
        np.testing.assert_allclose(found[:, column], expected, rtol=1e-12)
    np.testing.assert_array_equal(found[:, 1], new[:, 1])


@given(arrays(np.float64, st.tuples(st.integers(FEW_ROWS + 1, 300), st.integers(1, 4)), elements=ANY))
def test_a_row_alone_has_the_ranks_it_has_among_many(X):
    ranks = Ranks.of(X, np.ones(X.shape[1], dtype=bool))
    new = X[::-1] / 2 + X[0] / 2
    one_by_one = np.concatenate([ranks(new[row : row + 1]) for row in range(len(new))])
    np.testing.assert_array_equal(one_by_one, ranks(new))


def test_of_few_values_each_has_its_own_rank():
    X = np.random.default_rng(0).integers(0, 9, size=(100, 5)).astype(float)
    expected = (rankdata(X, axis=0) - 0.5) / 100
    np.testing.assert_allclose(Ranks.of(X, np.ones(5, dtype=bool))(X), expected, rtol=1e-12)


def test_without_ranked_columns_values_stay():
    X = np.arange(6.0).reshape(2, 3)
    assert Ranks.none(3)(X) is X
    assert Ranks.of(X, np.zeros(3, dtype=bool))(X) is X
