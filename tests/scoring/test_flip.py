"""The score of our own: a log-likelihood ratio with steadied local errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.scoring.rules import contributions
from amiss.scoring.weights import PRIOR_ERRORS, PRIOR_ROWS, mean_errors, steadied_local_weights

shares = arrays(float, (4, 3), elements=st.floats(1e-300, 1))
weights = arrays(float, (4, 3), elements=st.floats(1, 1e9))


def flip(rho, weight):
    n_outputs = rho.shape[1]
    seen, included = np.ones(rho.shape, dtype=bool), np.ones(n_outputs, dtype=bool)
    return contributions(np.log(rho), weight, seen, included, "flip")


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
        parts = contributions(
            np.log([[1.0, 0.0]]), np.array([9.0, 9.0]), np.ones((1, 2), bool), np.ones(2, bool), "flip"
        )
    assert parts[0, 0] == 0
    assert parts[0, 1] == pytest.approx(np.log1p(9 / 2))


def test_steadied_weights_count_average_rows_and_half_an_error_among_the_neighbours():
    rng = np.random.default_rng(0)
    errors, seen = rng.random((50, 3)), rng.random((50, 3)) < 0.8
    near = np.array([rng.choice(50, 7, replace=False) for _ in range(50)])
    means = np.nanmean(np.where(seen, errors, np.nan), axis=0)
    total = np.where(seen, errors, 0)[near].sum(axis=1) + PRIOR_ROWS * means + PRIOR_ERRORS
    expected = (seen[near].sum(axis=1) + PRIOR_ROWS + PRIOR_ERRORS) / total
    np.testing.assert_allclose(mean_errors(errors, seen), means)
    np.testing.assert_allclose(steadied_local_weights(errors, seen, near, means), expected)
    alone = steadied_local_weights(errors, seen, np.empty((50, 0), dtype=int), means)
    np.testing.assert_allclose(
        alone, np.tile((PRIOR_ROWS + PRIOR_ERRORS) / (PRIOR_ROWS * means + PRIOR_ERRORS), (50, 1))
    )


def test_it_is_the_default_and_its_parts_add_up(table):
    X, Y = table
    model = fitted(X, Y)
    assert model.rule_ == "flip"
    np.testing.assert_allclose(model.contributions_.sum(axis=1), model.decision_scores_, rtol=1e-12)
    np.testing.assert_allclose(model.contributions(X, Y).sum(axis=1), model.decision_function(X, Y), rtol=1e-12)


def test_one_evidence_serves_every_score(table):
    X, Y = table
    shared = MCODE(n_neighbors=30)
    evidence = shared.gather(X, Y)
    for score in ("prod", "rw", "lrw", "flip"):
        for crossfit in (False, True, "half", 0.6):
            found = shared.set_params(rule=score, crossfit=crossfit).score_rows(evidence)
            alone = MCODE(n_neighbors=30, rule=score, crossfit=crossfit).fit(X, Y)
            np.testing.assert_array_equal(found.decision_scores_, alone.decision_scores_)
            np.testing.assert_array_equal(found.labels_, alone.labels_)


def test_evidence_is_of_one_gathering_and_has_what_it_has(table):
    X, Y = table
    detector = MCODE(strengths=(1.0,), crossfit=False, rule="prod")
    first = detector.gather(X, Y)
    with pytest.raises(ValueError, match="without folds"):
        detector.set_params(crossfit=True).score_rows(first)
    with pytest.raises(ValueError, match="score must be"):
        detector.set_params(crossfit=False, rule="sum").score_rows(first)
    with pytest.raises(ValueError, match="chosen by fit"):
        detector.set_params(rule="auto").score_rows(first)
    detector.set_params(rule="prod").gather(X, Y)
    with pytest.raises(ValueError, match="gathered other rows since"):
        detector.score_rows(first)


def test_a_change_of_neighbourhood_is_heeded(table):
    X, Y = table
    detector = MCODE(n_neighbors=30)
    evidence = detector.gather(X, Y)
    detector.score_rows(evidence)
    found = detector.set_params(n_neighbors=10).score_rows(evidence).decision_scores_
    np.testing.assert_array_equal(found, MCODE(n_neighbors=10).fit(X, Y).decision_scores_)


@pytest.mark.parametrize("value", ["most", 1.5, -0.1, None])
def test_a_crossfit_that_is_no_share_is_refused(table, value):
    with pytest.raises(ValueError, match="crossfit must be"):
        MCODE(crossfit=value).fit(*table)


def test_crossfit_is_the_share_of_the_held_out_log_odds(table):
    X, Y = table

    def log_odds(crossfit):
        rho = fitted(X, Y, crossfit=crossfit).rho_
        return np.log(rho / (1 - rho))

    saw, did_not = log_odds(False), log_odds(True)
    np.testing.assert_allclose(log_odds(0.6), 0.4 * saw + 0.6 * did_not, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(log_odds("half"), log_odds(0.5), rtol=1e-12)


def test_a_penalty_of_parents_is_a_stretch_of_the_inputs():
    X, Y = make_table(150)
    plain = {"scaling": "none", "strengths": (1.0,), "crossfit": False, "score": "prod"}
    penalised = fitted(X, Y, parent_penalty=4.0, **plain)
    stretched = fitted(2 * X, Y, parent_penalty=1.0, **plain)
    np.testing.assert_allclose(penalised.rho_, stretched.rho_, rtol=1e-6)
    n_inputs = X.shape[1]
    np.testing.assert_allclose(penalised._model.coef[:n_inputs], 2 * stretched._model.coef[:n_inputs], rtol=1e-5)
    np.testing.assert_allclose(
        penalised._model.coef[n_inputs:], stretched._model.coef[n_inputs:], rtol=1e-5, atol=1e-9
    )
    with pytest.raises(ValueError, match="parent_penalty"):
        MCODE(parent_penalty=0).fit(X, Y)
