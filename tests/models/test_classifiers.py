"""Any classifier with probabilities in place of the logistic models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.svm import LinearSVC
from support.tables import make_table

import amiss
from amiss.encoding.as_given import Encoded
from amiss.encoding.joint import joint
from amiss.models.classifiers import Shown, fit_classifiers
from amiss.models.conditional import linear_twin
from amiss.models.folds import stratified_folds
from amiss.models.registry import PARENTS


@pytest.mark.parametrize(
    "classifier",
    [
        GaussianNB(),
        BernoulliNB(),
        CalibratedClassifierCV(LinearSVC(), cv=3),
        HistGradientBoostingClassifier(max_iter=10, random_state=0),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.parametrize("crossfit", [False, True, 0.5])
def test_any_classifier_with_probabilities_can_stand_in(classifier, crossfit):
    X, Y = make_table(200)
    Y[7] = 1 - Y[7]
    for inputs in (X * (np.abs(X) > 2), X):  # the first is stored sparse
        model = amiss.MCODE(model=classifier, crossfit=crossfit, rule="prod").fit(inputs, Y)
        assert np.isfinite(model.decision_scores_).all()
        assert np.isfinite(model.decision_function(inputs, Y)).all()
    assert model.decision_scores_[7] > np.median(model.decision_scores_)
    assert np.isnan(model.output_quality_.strength).all()


def test_a_classifier_sees_its_parents_and_its_held_out_rows_not():
    X, Y = make_table(120)
    visible = PARENTS["others"].visible(4, None)
    folds = stratified_folds(Y, 4)
    shown = Shown(Encoded(), visible, "abcd", takes_sparse=True)
    fit = fit_classifiers(GaussianNB(), X, Y, np.ones(Y.shape, dtype=bool), shown, folds)
    Z = joint(X, Y[:, visible[:, 2]])
    expected = GaussianNB().fit(Z, Y[:, 2]).predict_proba(Z)[:, 1]
    np.testing.assert_allclose(fit.in_sample[:, 2], logit(np.clip(expected, 1e-12, 1 - 1e-12)), atol=1e-6)
    out = folds[:, 2] == 1
    expected = GaussianNB().fit(Z[~out], Y[~out, 2]).predict_proba(Z[out])[:, 1]
    np.testing.assert_allclose(fit.out_of_fold[out, 2], logit(np.clip(expected, 1e-12, 1 - 1e-12)), atol=1e-6)


def test_a_classifier_without_probabilities_is_refused():
    X, Y = make_table(50)
    with pytest.raises(ValueError, match="CalibratedClassifierCV"):
        amiss.MCODE(model=LinearSVC()).fit(X, Y)


def test_a_linear_classifier_is_known_by_its_coefficients_and_any_other_is_not():
    X, Y = make_table(120)
    Y[:, 3] = 1  # nothing to tell apart: the base rate
    observed, visible = np.ones(Y.shape, dtype=bool), PARENTS["chain"].visible(4, None)

    def model(classifier):
        shown = Shown(Encoded(), visible, "abcd", takes_sparse=True)
        return fit_classifiers(classifier, X, Y, observed, shown, None).model

    linear = model(LogisticRegression())
    twin = linear_twin(linear, X, Y)
    np.testing.assert_allclose(twin.log_odds(X, Y), linear.log_odds(X, Y), atol=1e-6)
    assert twin.coef.shape == (9, 4) and (twin.coef[5:][~visible] == 0).all()
    assert linear_twin(model(GaussianNB()), X, Y) is None
