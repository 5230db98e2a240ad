"""Log-odds of what was observed, of every kind, against an independent transcription."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit, softmax
from scipy.stats import norm

from amiss.data.output_kinds import CLASS, NUMBER, ORDINAL, OutputColumn
from amiss.models.mixed.layout import OutputLayout
from amiss.models.mixed.model import Predicted, apart_log_odds, observed_log_odds, residual_quantiles, tails_of
from amiss.models.ties import Ties

GRADES = tuple("abcd")
NOTHING = np.zeros((3, 0))
TWO = np.full((1, 2), 2.0)


def of_levels(kind, chance, observed):
    """Log-odds of observed levels with these chances."""
    layout = OutputLayout.of((OutputColumn("y", kind, GRADES),), np.tile(np.arange(4.0), 5)[:, None])
    found = Predicted(Ties(classes=((0, 1, 2, 3),)).normalised(np.log(chance)), NOTHING, NOTHING, np.zeros((0, 2)))
    return observed_log_odds(layout, layout.expanded(np.array(observed, dtype=float)[:, None]), found)[:, 0]


CHANCE = softmax(np.array([[2.0, 1.0, 0.0, -3.0], [0.0, 0.0, 0.0, 0.0], [-1.0, 3.0, 0.5, 0.5]]), axis=1)


def test_a_class_has_the_odds_of_its_observed_level():
    expected = logit([CHANCE[0, 3], CHANCE[1, 0], CHANCE[2, 1]])
    np.testing.assert_allclose(of_levels(CLASS, CHANCE, [3, 0, 1]), expected, atol=1e-9)


def test_a_grade_has_the_odds_of_one_at_least_as_far_out():
    expected = logit([CHANCE[0, 3:].sum(), CHANCE[1, :1].sum(), min(CHANCE[2, 1:].sum(), CHANCE[2, :2].sum())])
    np.testing.assert_allclose(of_levels(ORDINAL, CHANCE, [3, 0, 1]), expected, atol=1e-9)


def test_a_grade_further_from_what_is_expected_is_never_likelier():
    chance = np.array([[0.7, 0.2, 0.02, 0.08]])
    found = [float(of_levels(ORDINAL, np.repeat(chance, 3, axis=0), [level] * 3)[0]) for level in range(4)]
    assert found == sorted(found, reverse=True)


def test_a_level_that_the_fit_has_not_seen_is_as_rare_as_half_a_row():
    assert expit(of_levels(CLASS, CHANCE, [4, 0, 0])[0]) == pytest.approx(0.5 / (20 + 1), rel=1e-9)


def test_a_number_falls_as_its_square_up_to_its_tail():
    layout = OutputLayout.of((OutputColumn("y", NUMBER),), np.arange(20.0)[:, None])
    found = Predicted(
        NOTHING, np.array([[5.0], [5.0], [5.0]]), np.array([[1.0], [2.0], [1.0]]), np.array([[3.0, 4.0]])
    )
    values = np.array([[7.0], [9.0], [5.0 + 6.0]])
    expected = [0.0, 0.0, -2 * np.log(3 / 2) - 4 * np.log(2)]
    np.testing.assert_allclose(observed_log_odds(layout, values, found)[:, 0], expected)


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=20), st.floats(2, 50), st.floats(2, 6))
def test_a_number_further_out_is_never_likelier(apart, begin, exponent):
    found = apart_log_odds(np.sort(apart), begin, exponent)
    assert np.isfinite(found).all() and (np.diff(found) <= 0).all()


def test_tails_are_those_of_the_residuals():
    quantiles = np.linspace(0.0005, 0.9995, 201)
    normal, cauchy = norm.ppf(quantiles), np.tan(np.pi * (quantiles - 0.5))
    (_, of_normal), (begin, of_cauchy) = tails_of(np.stack([normal, cauchy]))
    near, far = np.quantile(np.abs(normal), [0.9, 0.98])
    assert of_normal == pytest.approx(np.log(5) / np.log(far / near))
    assert of_cauchy == 2.0 and begin == pytest.approx(np.quantile(np.abs(cauchy), 0.9))


def test_residuals_of_missing_values_do_not_count():
    values = np.array([[1.0], [np.nan], [3.0]])
    quantiles = residual_quantiles(values, np.zeros((3, 1)), np.full((3, 1), 2.0))
    assert quantiles[0, [0, -1]].tolist() == [0.5, 1.5]
    assert not residual_quantiles(np.full((3, 1), np.nan), values, values).any()
