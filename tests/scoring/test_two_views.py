"""Evidence of both views of outputs of several kinds, and what it comes to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amiss.scoring.two_views import Tail, TwoViews, learn_two_views
from amiss.scoring.views import Views

D = 4
CHOICES = np.array([True, True, False, False])


def world(n_rows=400, seed=0):
    """Log-odds of right rows by both views, whose chances are as likely as they say."""
    rng = np.random.default_rng(seed)
    by_all, by_inputs = (-np.log(1 / rng.random((n_rows, D)) - 1) + 2 for _ in range(2))
    return by_all, by_inputs, np.ones((n_rows, D))


WEIGHTS, SKILLED = np.full(D, 10.0), np.ones(D)


def learned(by_all, by_inputs, Y, weights=WEIGHTS, skill=SKILLED):
    views = Views(by_all, by_inputs, by_inputs, weights, np.zeros_like(by_all))
    found = learn_two_views(by_all, Y, weights, views, np.ones(D, bool), CHOICES, skill, skill)
    return found, views


def scores(by_all, by_inputs, Y, **options):
    found, views = learned(by_all, by_inputs, Y, **options)
    return found.verdicts(by_all, Y, np.full(D, 10.0), views)


def test_contributions_add_up_to_minus_the_log_of_the_chance_of_being_right():
    found = scores(*world())
    total = np.log1p(found.odds.sum(axis=1))
    np.testing.assert_allclose(found.contributions.sum(axis=1), total, rtol=1e-9)
    assert (found.contributions >= 0).all() and ((found.wrong >= 0) & (found.wrong <= 1)).all()


def test_no_output_is_likelier_wrong_than_its_row():
    found = scores(*world())
    chance = -np.expm1(-found.contributions.sum(axis=1))
    assert (found.wrong <= chance[:, None] + 1e-12).all()


def test_one_output_that_contradicts_the_others_is_seen_by_the_first_view():
    by_all, by_inputs, Y = world()
    by_all[:12, 2] = -25.0
    found = scores(by_all, by_inputs, Y)
    assert set(np.argsort(-found.contributions.sum(axis=1))[:12].tolist()) == set(range(12))
    assert (found.contributions[:12].argmax(axis=1) == 2).all() and (found.odds[:12, 0] > found.odds[:12, 1]).all()


def test_outputs_that_vouch_for_each_other_are_seen_by_the_inputs():
    by_all, by_inputs, Y = world()
    by_inputs[:30] = -8.0
    found = scores(by_all, by_inputs, Y)
    assert len(set(np.argsort(-found.contributions.sum(axis=1))[:30].tolist()) & set(range(30))) >= 28
    assert (found.odds[:30, 1] > found.odds[:30, 0]).mean() > 0.9


def test_right_rows_are_mostly_believed():
    found = scores(*world())
    assert (-np.expm1(-found.contributions.sum(axis=1))).mean() < 0.05


@given(st.integers(0, D - 1), st.floats(0.1, 20))
def test_a_value_that_is_less_likely_makes_a_row_more_suspicious(output, less):
    by_all, by_inputs, Y = world(60)
    found, views = learned(by_all, by_inputs, Y)
    weights = np.full(D, 10.0)
    before = found.verdicts(by_all, Y, weights, views).contributions[0].sum()
    by_all = by_all.copy()
    by_all[0, output] -= less
    assert found.verdicts(by_all, Y, weights, views).contributions[0].sum() >= before - 1e-12


@pytest.mark.parametrize("output", range(D))
def test_a_missing_output_adds_nothing(output):
    by_all, by_inputs, Y = world(60)
    Y[5, output] = np.nan
    by_all[5, output] = by_inputs[5, output] = -25.0
    found = scores(by_all, by_inputs, Y)
    assert found.contributions[5, output] == 0 and found.wrong[5, output] == 0


def test_an_unpredictable_choice_is_rare_and_not_wrong():
    """Its odds are taken relative to what is usual; those of an amount are not."""
    found, views = learned(*world(60), skill=np.zeros(D))
    usual = views.usual.copy()
    usual[0] = -5.0
    log_odds = np.full((60, D), 2.0)
    log_odds[0] = -5.0
    views = Views(log_odds, log_odds, log_odds, views.weights, usual)
    cells, _ = found.doubts(log_odds, np.ones((60, D)), np.full(D, 10.0), views)
    assert (cells[0, :2] < 2).all() and (cells[0, 2:] > 100).all()


def test_an_excluded_output_counts_for_nothing():
    by_all, by_inputs, Y = world(60)
    found, views = learned(by_all, by_inputs, Y)
    without = TwoViews(
        found.unpredictable, found.unpredictable_by_inputs, np.array([True, True, True, False]), CHOICES,
        found.contradiction, found.inputs,
    )  # fmt: skip
    assert not without.verdicts(by_all, Y, np.full(D, 10.0), views).contributions[:, 3].any()


def test_a_tail_is_a_line():
    tail = Tail(1.0, 0.5, 0.02, 4.0)
    evidence = np.array([1.0, 1.5, 3.0])
    np.testing.assert_allclose(tail.log_odds(evidence), np.log(0.02 / 4) + (evidence - 1) / 0.5 * 0.75)
