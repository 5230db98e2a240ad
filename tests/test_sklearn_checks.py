"""scikit-learn's own estimator checks, where they apply to an estimator that takes Y.

The checks make up targets of their own (classes 0 to 2, floats), so they run on a detector whose
``fit`` first turns such a target into 0/1, and which scores rows as if all their outputs were 0.
What cannot apply is listed with its reason, and a check that is listed but passes is an error too.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    parametrize_with_checks,
)
from sklearn.utils.validation import check_is_fitted

import amiss


class BinarisedMCODE(amiss.MCODE):
    """MCODE for the checks' made-up targets: above the median or not, and 0 where none is given."""

    def fit(self, X, y):
        if y is None or len(np.asarray(y)) == 0:
            return super().fit(X, y)
        values = np.real(np.asarray(y)).astype(float)
        return super().fit(X, (values > np.median(values)).astype(float))

    def decision_function(self, X, y=None):
        return super().decision_function(X, self._zeros(X))

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
