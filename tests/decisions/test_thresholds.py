"""Thresholds for a share, a number of alerts or a level, and p-values, against what they are by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amiss.decisions.p_values import discoveries, p_values
from amiss.decisions.thresholds import (
    just_below,
    rounded_share,
    threshold_below,
    threshold_for_count,
    threshold_for_new,
    threshold_for_share,
)

SMALL_NUMBERS = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)


@given(SMALL_NUMBERS, st.floats(0.001, 1))
def test_a_share_flags_that_many_rows_or_fewer_where_they_tie(scores, share):
    found = np.array(scores)
    flagged = found > threshold_for_share(found, share)
    most = min(rounded_share(share, len(found)), len(found) - 1)
    assert flagged.sum() <= most
    without_ties = np.random.default_rng(0).permutation(len(found)).astype(float)
    assert (without_ties > threshold_for_share(without_ties, share)).sum() == most


@given(SMALL_NUMBERS, st.integers(1, 40))
def test_a_number_of_alerts(scores, count):
    found = np.array(scores)
    flagged = found > threshold_for_count(found, count)
    if count >= len(found):
        assert flagged.all()
    else:
        assert flagged.sum() <= count
        assert found[flagged].min(initial=np.inf) > np.sort(found)[::-1][count]


@given(SMALL_NUMBERS, SMALL_NUMBERS)
def test_p_values_count_what_is_as_high(found, usual):
    p = p_values(np.array(found), np.sort(usual))
    by_hand = [(1 + sum(each >= score for each in usual)) / (1 + len(usual)) for score in found]
    assert p.tolist() == by_hand


@given(st.lists(st.integers(1, 50).map(lambda n: n / 50), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_discoveries_are_those_of_benjamini_and_hochberg(p, level):
    ordered = sorted(p)
    # Where a quotient is the level but for rounding, either answer is right.
    assume(all(abs(value * len(p) / rank - level) > 1e-12 for rank, value in enumerate(ordered, start=1)))
    passing = [rank for rank, value in enumerate(ordered, start=1) if value * len(p) / rank <= level]
    largest = ordered[passing[-1] - 1] if passing else -1.0
    assert discoveries(np.array(p), level).tolist() == [value <= largest for value in p]


def test_no_rows_no_discoveries_and_the_level_itself_passes():
    assert discoveries(np.empty(0), 0.1).tolist() == []
    assert discoveries(np.array([0.1]), 0.1).tolist() == [True]


@given(SMALL_NUMBERS, st.integers(0, 7))
def test_the_threshold_below_flags_what_is_flagged(scores, lowest):
    found = np.array(scores)
    flagged = found >= lowest
    assert ((found > threshold_below(found, flagged)) == flagged).all()
    assert (found > just_below(found)).all()


@pytest.mark.parametrize("share", [0, -0.1, 1.5, np.nan])
def test_no_such_share(share):
    with pytest.raises(ValueError, match="share"):
        rounded_share(share, 10)


@pytest.mark.parametrize("n_held_out", [20, 50, 99, 100, 1000])
def test_a_new_row_exceeds_the_threshold_as_rarely_as_asked_for(n_held_out):
    """By symmetry one of n + 1 rows alike is above the k-th of the n others in k cases of n + 1."""
    held_out = np.random.default_rng(0).permutation(n_held_out).astype(float)
    threshold, above = threshold_for_new(held_out, 0.01)
    assert (1 + above) / (1 + n_held_out) <= max(0.01, 1 / (1 + n_held_out)) + 1e-12
    found = np.arange(-1, n_held_out + 1) + 0.5
    p = p_values(found, np.sort(held_out))
    assert ((found > threshold) == (p <= max(0.01, 1 / (1 + n_held_out)))).all()


def test_ties_with_the_level_pass():
    """17/125 * 25/17 is 0.2, but not in floating point."""
    p = np.array([17 / 125] * 17 + [1.0] * 8)
    assert discoveries(p, 0.2).sum() == 17
    assert not discoveries(p, 0.1999).any()
