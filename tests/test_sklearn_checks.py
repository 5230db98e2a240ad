"""scikit-learn's own estimator checks, where they apply to an estimator that takes Y.

The checks make up targets of their own (classes 0 to 2, floats), so they run on a detector whose
``fit`` first turns such a target into 0/1, and which scores rows as if all their outputs were 0.
What cannot apply is listed with its reason, and a check that is listed but passes is an error too.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    parametrize_with_checks,
)
from sklearn.utils.validation import check_is_fitted
from support.tables import make_table

import amiss


class BinarisedMCODE(amiss.MCODE):
    """MCODE for the checks' made-up targets: above the median or not, and 0 where none is given."""

    def fit(self, X, y, *, probabilities=None, groups=None):
        if y is not None and len(np.asarray(y)):
            values = np.real(np.asarray(y)).astype(float)
            y = (values > np.median(values)).astype(float)
        return super().fit(X, y, probabilities=probabilities, groups=groups)

    def decision_function(self, X, y=None, *, probabilities=None):
        return super().decision_function(X, self._zeros(X), probabilities=probabilities)

    def predict(self, X, y=None):
        return super().predict(X, self._zeros(X))

    def predict_proba(self, X, y=None):
        return super().predict_proba(X, self._zeros(X))

    def score(self, X, y=None):
        return super().score(X, self._zeros(X))

    def _zeros(self, X):
        check_is_fitted(self)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.zeros((rows, len(self.output_names_)))


TAKEN_FOR_A_CLASSIFIER = "who has predict_proba is taken for a classifier, and asked for a classifier's tags"

NOT_APPLICABLE = {
    "check_estimator_sparse_array": TAKEN_FOR_A_CLASSIFIER,
    "check_estimator_sparse_matrix": TAKEN_FOR_A_CLASSIFIER,
}


@parametrize_with_checks(
    [BinarisedMCODE(strengths=(1.0,))], expected_failed_checks=lambda _: NOT_APPLICABLE, xfail_strict=True
)
def test_scikit_learn(estimator, check):
    check(estimator)


class WithoutProbabilities(BinarisedMCODE):
    """The same for the checks that take it for a classifier otherwise."""

    @property
    def predict_proba(self):
        raise AttributeError("predict_proba")


@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
def test_scikit_learns_checks_of_sparse_inputs(check):
    check("WithoutProbabilities", WithoutProbabilities(strengths=(1.0,)))


@pytest.mark.parametrize(
    "grid",
    [
        {"rule": ["flip", "prod"]},
        {"parent_penalty": [1, 4], "strengths": [(1.0,)]},
        {"model": ["linear", "auto"], "time_budget": [0, 0.1]},
    ],
)
def test_a_grid_search_compares_detectors_by_their_score(grid):
    X, Y = make_table(90)
    search = GridSearchCV(amiss.MCODE(n_neighbors=20), grid, cv=3).fit(X, Y)
    means = search.cv_results_["mean_test_score"]
    assert np.isfinite(means).all() and (means < 0).all()
    assert search.best_score_ == means.max()
    assert search.best_estimator_.get_params()["n_neighbors"] == 20


def test_the_score_is_the_mean_log_probability_of_what_was_observed():
    X, Y = make_table(120)
    new_X, new_Y = make_table(30, seed=4)
    new_Y[3, 1] = np.nan
    detector = amiss.MCODE(n_neighbors=20).fit(X, Y)
    probabilities = detector.score_batch(new_X, new_Y).probabilities
    expected = np.log(probabilities[~np.isnan(new_Y)]).mean()
    assert detector.score(new_X, new_Y) == pytest.approx(expected, rel=1e-12)
    assert detector.score(new_X, 1 - new_Y) < expected
    assert isinstance(detector.score(new_X, new_Y), float)


def test_a_clone_of_a_fitted_detector_is_not_fitted_and_has_its_parameters():
    detector = amiss.MCODE(rule="lrw", n_neighbors=7).fit(*make_table(40))
    other = clone(detector)
    assert other.get_params() == detector.get_params()
    with pytest.raises(NotFittedError):
        other.predict(*make_table(5))


def test_the_kind_of_model_and_its_time_budget_are_parameters_like_any_other():
    detector = amiss.MCODE(model="auto", time_budget=3.5)
    assert clone(detector).get_params() == detector.get_params()
    assert detector.set_params(model="boosting").get_params()["model"] == "boosting"
    assert detector.get_params()["time_budget"] == 3.5
    forest = RandomForestClassifier(n_estimators=7)
    twin = clone(amiss.MCODE(model=forest)).get_params()
    assert twin["model"] is not forest and twin["model__n_estimators"] == 7


def test_a_pickled_detector_is_the_same():
    X, Y = make_table(80)
    detector = amiss.MCODE(fdr=0.2).fit(X, Y).calibrate(X, Y)
    other = pickle.loads(pickle.dumps(detector))
    new = make_table(20, seed=2)
    np.testing.assert_array_equal(other.decision_function(*new), detector.decision_function(*new))
    np.testing.assert_array_equal(other.p_values(*new), detector.p_values(*new))
    assert str(other.explain(3)) == str(detector.explain(3))
