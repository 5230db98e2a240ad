"""The rule of our own: a log-likelihood ratio with smoothed local errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.scoring.registry import RULES
from amiss.scoring.rules import contributions
from amiss.scoring.weights import PRIOR_ERRORS, PRIOR_ROWS, mean_errors, smoothed_local_weights

shares = arrays(float, (4, 3), elements=st.floats(1e-300, 1))
weights = arrays(float, (4, 3), elements=st.floats(1, 1e9))


def flip(rho, weight):
    n_outputs = rho.shape[1]
    seen, included = np.ones(rho.shape, dtype=bool), np.ones(n_outputs, dtype=bool)
    return contributions(RULES["flip"], np.log(rho), weight, seen, included)


@given(shares, weights)
def test_it_is_the_formula_and_bounded_by_the_reliability(rho, weight):
    parts = flip(rho, weight)
    np.testing.assert_allclose(parts, np.log(1 + (1 - rho) / (3 * (rho + 1 / weight))), rtol=1e-9, atol=1e-12)
    assert (parts >= 0).all()
    assert (parts <= np.log1p(weight / 3) * (1 + 1e-12)).all()


@given(shares, weights, st.floats(0.1, 0.99))
def test_a_less_likely_value_and_a_more_reliable_output_weigh_more(rho, weight, factor):
    assert (flip(rho * factor, weight) >= flip(rho, weight) - 1e-12).all()
    assert (flip(rho, weight / factor) >= flip(rho, weight) - 1e-12).all()


def test_a_certain_output_adds_nothing_and_an_impossible_one_stays_finite():
    with np.errstate(divide="ignore"):
        parts = flip(np.array([[1.0, 0.0]]), np.array([9.0, 9.0]))
    assert parts[0, 0] == 0
    assert parts[0, 1] == pytest.approx(np.log1p(9 / 2))


def test_smoothed_weights_count_average_rows_and_half_an_error_among_the_neighbours():
    rng = np.random.default_rng(0)
    errors, seen = rng.random((50, 3)), rng.random((50, 3)) < 0.8
    near = np.array([rng.choice(50, 7, replace=False) for _ in range(50)])
    means = np.nanmean(np.where(seen, errors, np.nan), axis=0)
    total = np.where(seen, errors, 0)[near].sum(axis=1) + PRIOR_ROWS * means + PRIOR_ERRORS
    expected = (seen[near].sum(axis=1) + PRIOR_ROWS + PRIOR_ERRORS) / total
    np.testing.assert_allclose(mean_errors(errors, seen), means)
    np.testing.assert_allclose(smoothed_local_weights(errors, seen, near, means), expected)
    alone = smoothed_local_weights(errors, seen, np.empty((50, 0), dtype=int), means)
    np.testing.assert_allclose(
        alone, np.tile((PRIOR_ROWS + PRIOR_ERRORS) / (PRIOR_ROWS * means + PRIOR_ERRORS), (50, 1))
    )


def test_its_parts_add_up(table):
    X, Y = table
    model = fitted(X, Y, rule="flip")
    np.testing.assert_allclose(model.contributions_.sum(axis=1), model.decision_scores_, rtol=1e-12)
    np.testing.assert_allclose(model.contributions(X, Y).sum(axis=1), model.decision_function(X, Y), rtol=1e-12)


@pytest.mark.parametrize("value", ["most", "half", 1.5, -0.1, None])
def test_a_crossfit_that_is_no_share_is_refused(table, value):
    with pytest.raises(ValueError, match="crossfit must be"):
        MCODE(crossfit=value).fit(*table)


def test_crossfit_is_the_share_of_the_held_out_log_odds(table):
    X, Y = table

    def log_odds(crossfit):
        rho = fitted(X, Y, crossfit=crossfit, scaling="rank").rho_
        return np.log(rho / (1 - rho))

    saw, did_not = log_odds(False), log_odds(True)
    np.testing.assert_allclose(log_odds(0.6), 0.4 * saw + 0.6 * did_not, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(log_odds(0.5), (saw + did_not) / 2, rtol=1e-6, atol=1e-8)


def test_a_penalty_of_parents_is_a_stretch_of_the_inputs():
    X, Y = make_table(150)
    plain = {"scaling": "none", "strengths": (1.0,), "crossfit": False, "rule": "prod"}
    penalised = fitted(X, Y, parent_penalty=4.0, **plain)
    stretched = fitted(2 * X, Y, parent_penalty=1.0, **plain)
    np.testing.assert_allclose(penalised.rho_, stretched.rho_, rtol=1e-6)
    n_inputs = X.shape[1]
    theirs, ours = (each.fitted_.models.model.coef for each in (stretched, penalised))
    np.testing.assert_allclose(ours[:n_inputs], 2 * theirs[:n_inputs], rtol=1e-5)
    np.testing.assert_allclose(ours[n_inputs:], theirs[n_inputs:], rtol=1e-5, atol=1e-9)
    with pytest.raises(ValueError, match="parent_penalty"):
        MCODE(parent_penalty=0).fit(X, Y)
