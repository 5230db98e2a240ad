"""scikit-learn's own estimator checks, where they apply to an estimator that takes Y.

The checks make up targets of their own (classes 0 to 2, floats), so they run on a detector whose
``fit`` first turns such a target into 0/1, and which scores rows as if all their outputs were 0.
What cannot apply is listed with its reason, and a check that is listed but passes is an error too.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks
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

    def _zeros(self, X):
        check_is_fitted(self)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.zeros((rows, len(self.output_names_)))


SCORE_IS_A_PARAMETER = "`score` names the kind of score here (a parameter), so there is no score method"

NOT_APPLICABLE = {
    "check_fit_score_takes_y": SCORE_IS_A_PARAMETER,
    "check_n_features_in_after_fitting": SCORE_IS_A_PARAMETER,
    "check_pipeline_consistency": SCORE_IS_A_PARAMETER,
}


@parametrize_with_checks(
    [BinarisedMCODE(strengths=(1.0,))], expected_failed_checks=lambda _: NOT_APPLICABLE, xfail_strict=True
)
def test_scikit_learn(estimator, check):
    check(estimator)
