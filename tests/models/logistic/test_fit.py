"""Strengths are chosen as by a loop over scikit-learn; out-of-fold means out of fold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.svm import LinearSVC
from support.tables import make_table

import amiss
from amiss.encoding.joint import joint
from amiss.models.classifiers import fit_classifiers
from amiss.models.conditional import RowModel
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.parents import visible_outputs
from amiss.models.projection import combined_log_odds, errors, log_rho, rho

STRENGTHS = (0.1, 1.0, 10.0, 100.0)


def fitted(X, Y, parents="others", folds=5, strengths=STRENGTHS):
    split = None if folds is None else stratified_folds(Y, folds)
    visible = visible_outputs(parents, Y.shape[1], None)
    return fit_logistic(X, Y, np.ones(Y.shape, dtype=bool), visible, strengths, split), split, visible


def twin(X, Y, i, visible, strength):
    return LogisticRegression(C=1 / strength, tol=1e-8, max_iter=10_000), joint(X, Y[:, visible[:, i]])


@pytest.mark.parametrize("parents", ["others", "chain", "none"])
def test_strengths_and_held_out_log_odds_are_scikit_learns(parents):
    X, Y = make_table(200, seed=1)
    fit, folds, visible = fitted(X, Y, parents)
    for i in range(Y.shape[1]):
        held_out = {}
        for strength in STRENGTHS:
            model, Z = twin(X, Y, i, visible, strength)
            f = np.empty(len(Y))
            for fold in range(5):
                out = folds[:, i] == fold
                f[out] = model.fit(Z[~out], Y[~out, i]).decision_function(Z[out])
            held_out[strength] = np.sum(np.logaddexp(0, f) - Y[:, i] * f), f
        best = float(fit.strength[i])
        # Where two strengths are as good as each other, either may be chosen.
        assert held_out[best][0] < 1.001 * min(loss for loss, _ in held_out.values())
        model, Z = twin(X, Y, i, visible, best)
        in_sample = model.fit(Z, Y[:, i]).decision_function(Z)
        np.testing.assert_allclose(fit.in_sample[:, i], in_sample, atol=1e-3)
        # The folds are fitted as far as it takes to compare strengths: a small part of what
        # leaving a row out changes.
        left_out = held_out[best][1]
        error, change = fit.out_of_fold[:, i] - left_out, in_sample - left_out
        assert np.linalg.norm(error) < 0.02 * np.linalg.norm(change)


def test_an_output_does_not_see_itself_nor_those_after_it_in_the_chain():
    X, Y = make_table(100)
    fit, _, _ = fitted(X, Y, "chain", folds=None, strengths=(1.0,))
    between = fit.model.coef[X.shape[1] :]
    assert (between[np.tril_indices(4)] == 0).all()
    assert (between[np.triu_indices(4, 1)] != 0).all()
    flipped = Y.copy()
    flipped[:, 3] = 1 - flipped[:, 3]
    np.testing.assert_array_equal(fit.model.log_odds(X, Y), fit.model.log_odds(X, flipped))


def test_half_is_the_average_of_both_log_odds():
    X, Y = make_table(100)
    fit, _, _ = fitted(X, Y)
    np.testing.assert_array_equal(combined_log_odds(fit, False), fit.in_sample)
    np.testing.assert_array_equal(combined_log_odds(fit, True), fit.out_of_fold)
    np.testing.assert_allclose(combined_log_odds(fit, "half"), (fit.in_sample + fit.out_of_fold) / 2)


def test_rho_and_error_are_exact_in_both_tails():
    log_odds, Y = np.array([[800.0, -800.0, 40.0]]), np.array([[1.0, 1.0, 1.0]])
    np.testing.assert_allclose(log_rho(log_odds, Y), [[0.0, -800.0, -np.exp(-40)]])
    np.testing.assert_allclose(errors(log_odds, Y), [[0, 1, np.exp(-40)]], atol=1e-300, rtol=1e-10)
    np.testing.assert_allclose(rho(log_odds, Y) + errors(log_odds, Y), 1)


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
@pytest.mark.parametrize("crossfit", [False, True, "half"])
def test_any_classifier_with_probabilities_can_stand_in(classifier, crossfit):
    X, Y = make_table(200)
    Y[7] = 1 - Y[7]
    for inputs in (X * (np.abs(X) > 2), X):  # the first is stored sparse
        model = amiss.MCODE(base_estimator=classifier, crossfit=crossfit, rule="prod").fit(inputs, Y)
        assert np.isfinite(model.decision_scores_).all()
        assert np.isfinite(model.decision_function(inputs, Y)).all()
    assert model.decision_scores_[7] > np.median(model.decision_scores_)
    assert np.isnan(model.output_quality_.strength).all()


def test_a_classifier_sees_its_parents_and_its_held_out_rows_not():
    X, Y = make_table(120)
    visible = visible_outputs("others", 4, None)
    folds = stratified_folds(Y, 4)
    fit = fit_classifiers(GaussianNB(), X, Y, np.ones(Y.shape, dtype=bool), visible, folds, names="abcd")
    Z = joint(X, Y[:, visible[:, 2]])
    expected = GaussianNB().fit(Z, Y[:, 2]).predict_proba(Z)[:, 1]
    np.testing.assert_allclose(fit.in_sample[:, 2], logit(np.clip(expected, 1e-12, 1 - 1e-12)), atol=1e-6)
    out = folds[:, 2] == 1
    expected = GaussianNB().fit(Z[~out], Y[~out, 2]).predict_proba(Z[out])[:, 1]
    np.testing.assert_allclose(fit.out_of_fold[out, 2], logit(np.clip(expected, 1e-12, 1 - 1e-12)), atol=1e-6)


def test_a_classifier_without_probabilities_is_refused():
    X, Y = make_table(50)
    with pytest.raises(ValueError, match="CalibratedClassifierCV"):
        amiss.MCODE(base_estimator=LinearSVC()).fit(X, Y)


@pytest.mark.parametrize("offset", [1e3, 1e7, 1e9])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_an_offset_of_the_inputs_changes_nothing(offset, form):
    X, Y = make_table(200)
    X = np.round(X * 64) / 64  # exact at any of the offsets
    plain, _, _ = fitted(form(X), Y)
    moved, _, _ = fitted(form(X + offset), Y)
    np.testing.assert_array_equal(moved.strength, plain.strength)
    np.testing.assert_allclose(moved.in_sample, plain.in_sample, atol=1e-3)
    np.testing.assert_allclose(moved.out_of_fold, plain.out_of_fold, atol=0.02)


def test_a_small_column_beside_a_huge_one_is_not_lost():
    rng = np.random.default_rng(0)
    rule = rng.integers(0, 2, 300).astype(float)
    X, Y = np.column_stack([3e6 * rng.normal(size=300), rule]), rule[:, None]
    fit, _, _ = fitted(X, Y, folds=None, strengths=(0.1,))
    alone, _, _ = fitted(X[:, 1:], Y, folds=None, strengths=(0.1,))
    np.testing.assert_allclose(fit.model.coef[1, 0], alone.model.coef[0, 0], rtol=0.05)
    assert fit.converged.all()


def test_an_output_observed_in_fewer_rows_than_folds_is_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = np.column_stack([5 * X[:, 0] + 0.1 * rng.normal(size=300) > 0, np.zeros(300)]).astype(float)
    observed = np.ones(Y.shape, dtype=bool)
    observed[2:, 1] = False
    folds = stratified_folds(np.where(observed, Y, np.nan), 5)
    fit = fit_logistic(X, Y, observed, visible_outputs("others", 2, None), STRENGTHS, folds)
    assert np.isfinite(fit.out_of_fold).all()


def test_what_cannot_be_solved_says_so():
    X, Y = make_table(200)
    X = np.exp(8 * X)  # ten orders of magnitude within a column
    fit, _, _ = fitted(X, Y)
    assert np.isfinite(fit.in_sample).all()
    assert np.isfinite(fit.out_of_fold).all()
    slope = np.abs((expit(fit.in_sample) - Y).sum(axis=0))  # at an optimum the intercept has none
    assert (slope[fit.converged] < 1e-2 * len(Y)).all()


@pytest.mark.parametrize("n_columns", (4, 60))
def test_an_offset_of_the_inputs_does_not_reach_the_folds(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_columns))
    Y = (X[:, :3] + rng.normal(size=(300, 3)) > 0).astype(float)
    observed, visible, folds = np.ones(Y.shape, bool), ~np.eye(3, dtype=bool), stratified_folds(Y, 5)
    near, far = (
        fit_logistic(X + offset, Y, observed, visible, [0.1, 1.0, 10.0], folds, parent_penalty=3.0)
        for offset in (0.0, 1e8)
    )
    np.testing.assert_allclose(far.in_sample, near.in_sample, atol=1e-4)
    np.testing.assert_allclose(far.out_of_fold, near.out_of_fold, atol=1e-3)
    again = far.in_sample + far.fold_models.shifts(X + 1e8, Y)
    np.testing.assert_allclose(again, far.out_of_fold, atol=1e-9)


def test_a_mixed_model_gives_the_mixed_log_odds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    Y = (X[:, :3] + rng.normal(size=(80, 3)) > 0).astype(float)
    folds = stratified_folds(Y, 5)
    fit = fit_logistic(X, Y, np.ones(Y.shape, bool), ~np.eye(3, dtype=bool), [1.0, 10.0], folds)
    for copies in ([7], [7, 8, 30]):
        mixed = RowModel.of(fit.model, fit.fold_models, np.array(copies), 0.6)
        each = [RowModel.of(fit.model, fit.fold_models, np.array([copy]), 0.6) for copy in copies]
        expected = np.mean([model.log_odds(X[:5], Y[:5]) for model in each], axis=0)
        for form in (X[:5], sparse.csr_array(X[:5])):
            np.testing.assert_allclose(mixed.log_odds(form, Y[:5]), expected, atol=1e-12)
            np.testing.assert_allclose(mixed.as_linear(4).log_odds(form, Y[:5]), expected, atol=1e-12)
    row = RowModel.of(fit.model, fit.fold_models, np.array([7]), 0.6).log_odds(X[[7]], Y[[7]])[0]
    np.testing.assert_allclose(row, combined_log_odds(fit, 0.6)[7], atol=1e-9)
