"""What models expect of each output: values, intervals and draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import kstest

from amiss.data.output_kinds import BINARY, CLASS, COUNT, NUMBER, ORDINAL, OutputColumn
from amiss.models.mixed.layout import OutputLayout
from amiss.models.mixed.model import N_QUANTILES, Predicted
from amiss.models.ties import Ties
from amiss.scoring.forecast import Forecast

COLUMNS = (
    OutputColumn("tag", BINARY),
    OutputColumn("colour", CLASS, ("a", "b", "c")),
    OutputColumn("grade", ORDINAL, ("low", "middle", "high")),
    OutputColumn("dose", NUMBER),
    OutputColumn("lesions", COUNT),
)
TAG, COLOUR, GRADE, DOSE, LESIONS = range(5)
N = 4000


def forecast(n_rows=1):
    values = np.tile(
        np.column_stack([np.arange(6) % 2, np.arange(6) % 3, np.arange(6) % 3, np.arange(6), np.arange(6)]), (9, 1)
    )
    layout = OutputLayout.of(COLUMNS, values.astype(float))
    chance = np.array([[0.3, 0.6, 0.3, 0.1, 0.4, 0.15, 0.45]])
    log_odds = Ties(classes=((1, 2, 3), (4, 5, 6))).normalised(
        np.hstack([logit(chance[:, :1]), np.log(chance[:, 1:])])
    )
    amounts = np.array([[20.0, 2.6]]), np.array([[2.0, 1.0]])
    found = Predicted(*(np.repeat(each, n_rows, axis=0) for each in (log_odds, *amounts)), np.full((2, 2), 2.0))
    even = np.linspace(-3, 3, N_QUANTILES)
    return Forecast(layout, found, found, np.stack([even, even]))


@pytest.mark.parametrize(
    ("output", "observed", "expected"),
    [
        (TAG, 1.0, 0.0), (TAG, 0.0, 1.0),
        (COLOUR, 2.0, 0.0), (COLOUR, 0.0, 1.0), (COLOUR, 3.0, 0.0),
        (GRADE, 2.0, 1.0), (GRADE, 1.0, 2.0),
        (DOSE, 50.0, 20.0), (LESIONS, 50.0, 3.0),
    ],
)  # fmt: skip
def test_the_value_that_should_be_there_is_the_likeliest_other_one(output, observed, expected):
    assert forecast().expected(0, output, observed) == expected


def test_intervals_hold_eight_of_ten_and_counts_are_whole_and_never_negative():
    assert forecast().interval(0, DOSE) == pytest.approx((20 - 2.4 * 2, 20 + 2.4 * 2))
    assert forecast().interval(0, LESIONS) == (0.0, 5.0)


def test_draws_follow_the_chances():
    ahead = forecast(N)
    log_odds, by_inputs, Y = ahead.drawn(np.random.default_rng(0))
    np.testing.assert_array_equal(log_odds, by_inputs)
    assert Y[:, TAG].mean() == pytest.approx(0.3, abs=0.03) and (Y[:, 1:] == 1).all()
    levels, counts = np.unique(log_odds[:, COLOUR].round(6), return_counts=True)
    np.testing.assert_allclose(levels, np.sort(logit([0.6, 0.3, 0.1])), atol=1e-5)
    np.testing.assert_allclose(counts / N, [0.1, 0.3, 0.6], atol=0.03)


def test_draws_of_amounts_are_as_far_out_as_residuals_are():
    log_odds, _, _ = forecast(N).drawn(np.random.default_rng(1))
    apart = 2 * np.exp(-log_odds[:, DOSE] / 2)
    assert kstest(apart / 3, "uniform").pvalue > 1e-3


def test_draws_of_grades_are_of_those_at_least_as_far_out():
    """As what is observed is judged; so the likeliest grades are never below a half on both sides."""
    log_odds, _, _ = forecast(N).drawn(np.random.default_rng(2))
    chance = 1 / (1 + np.exp(-log_odds[:, GRADE]))
    assert set(chance.round(2)) == {0.4, 0.45, 0.55}
