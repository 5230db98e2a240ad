"""PyOD's two readings of a score, against PyOD's own definitions written out row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler
from support.tables import fitted, make_table

from amiss.decisions.outlier_probability import flag_confidence, outlier_probabilities

NUMBERS = st.lists(st.integers(0, 12).map(float), min_size=2, max_size=25)


def linear(score, training):
    """PyOD: ``MinMaxScaler().fit(decision_scores_)``, cut to the unit interval."""
    scaled = MinMaxScaler().fit(np.reshape(training, (-1, 1))).transform([[score]])[0, 0]
    return min(max(scaled, 0.0), 1.0)


def unify(score, training):
    """PyOD: ``max(0, erf((score - mean) / (std * sqrt(2))))``; Kriegel, Kröger, Schubert and Zimek (2011)."""
    mean = sum(training) / len(training)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in training) / len(training))
    return max(0.0, math.erf((score - mean) / ((deviation or 1.0) * math.sqrt(2))))


@pytest.mark.parametrize(("method", "definition"), [("linear", linear), ("unify", unify)])
@given(NUMBERS, NUMBERS)
def test_probabilities_are_pyods(method, definition, scores, training):
    found = outlier_probabilities(np.array(scores), np.array(training), method)
    expected = np.array([definition(score, training) for score in scores])
    np.testing.assert_allclose(found, np.column_stack([1 - expected, expected]), atol=1e-12)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_probabilities_add_up_and_rise_with_the_score(method):
    found = outlier_probabilities(np.linspace(-5, 30, 50), np.random.default_rng(0).gamma(2, 2, 90), method)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (np.diff(found[:, 1]) >= 0).all()


def test_rows_that_are_all_alike_have_probabilities_too():
    alike = np.full(7, 3.0)
    for method in ("linear", "unify"):
        assert outlier_probabilities(alike, alike, method).tolist() == [[1.0, 0.0]] * 7


def test_there_is_no_third_method():
    with pytest.raises(ValueError, match="method must be 'linear' or 'unify'; got 'sigmoid'"):
        outlier_probabilities(np.ones(2), np.ones(2), "sigmoid")


def stays_flagged(score, training, n_flagged):
    """Perini, Vercruyssen and Davis (2020), equations 2 and 5, by summing the binomial term by term.

    The chance that a training row scores at most as high has the posterior mean (1 + t) / (2 + n) under a
    uniform prior. Of n rows drawn anew, n_flagged are flagged, so the row is among them if at least
    n - n_flagged + 1 of the n score at most as high.
    """
    n = len(training)
    p = (1 + sum(each <= score for each in training)) / (2 + n)
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n - n_flagged + 1, n + 1))


@given(NUMBERS, NUMBERS, st.integers(0, 25))
def test_the_confidence_is_perinis(scores, training, n_flagged):
    n_flagged = min(n_flagged, len(training))
    values = np.array(scores)
    chances = np.array([stays_flagged(score, training, n_flagged) for score in scores])
    flagged = np.ones(len(scores), dtype=bool)
    np.testing.assert_allclose(flag_confidence(values, flagged, np.array(training), n_flagged), chances, atol=1e-9)
    np.testing.assert_allclose(
        flag_confidence(values, ~flagged, np.array(training), n_flagged), 1 - chances, atol=1e-9
    )


@pytest.mark.parametrize("contamination", [0.01, 0.1])
def test_the_detector_reads_its_scores_so(contamination):
    X, Y = make_table(150)
    new_X, new_Y = make_table(40, seed=3)
    detector = fitted(X, Y, contamination=contamination)
    scores, training = detector.decision_function(new_X, new_Y), detector.decision_scores_
    for method, definition in (("linear", linear), ("unify", unify)):
        expected = [definition(score, training) for score in scores]
        found = detector.predict_proba(new_X, new_Y, method=method)
        np.testing.assert_allclose(found[:, 1], expected, atol=1e-12)
    np.testing.assert_array_equal(
        detector.predict_proba(new_X, new_Y), detector.predict_proba(new_X, new_Y, "linear")
    )
    chances = np.array([stays_flagged(score, training, int(detector.labels_.sum())) for score in scores])
    flagged = detector.predict(new_X, new_Y) == 1
    assert flagged.any() and not flagged.all()
    expected = np.where(flagged, chances, 1 - chances)
    np.testing.assert_allclose(detector.predict_confidence(new_X, new_Y), expected, atol=1e-9)


def test_a_row_far_above_all_others_is_surely_flagged_and_one_below_surely_not():
    X, Y = make_table(300)
    detector = fitted(X, Y, contamination=0.1)
    sure = flag_confidence(np.array([1e9, -1.0]), np.array([True, False]), detector.decision_scores_, 30)
    assert (sure > 0.999).all()
