"""Strengths are chosen as by a loop over scikit-learn; out-of-fold means out of fold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from support.tables import make_table

from amiss.encoding.joint import joint
from amiss.models.folds import stratified_folds
from amiss.models.logistic import fit as fitting
from amiss.models.logistic.fit import cross_validated_loss, fit_logistic
from amiss.models.registry import PARENTS

STRENGTHS = (0.1, 1.0, 10.0, 100.0)


def fitted(X, Y, parents="others", folds=5, strengths=STRENGTHS):
    split = None if folds is None else stratified_folds(Y, folds)
    visible = PARENTS[parents].visible(Y.shape[1], None)
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


def test_models_of_the_inputs_alone_are_fitted_beside_the_others_at_their_strengths():
    X, Y = make_table(200, seed=1)
    observed, folds, visible = np.ones(Y.shape, bool), stratified_folds(Y, 5), ~np.eye(4, dtype=bool)
    both = fit_logistic(X, Y, observed, visible, STRENGTHS, folds, alone=np.zeros(4, bool))
    without = fit_logistic(X, Y, observed, visible, STRENGTHS, folds)
    np.testing.assert_array_equal(both.in_sample, without.in_sample)
    assert without.alone is None and not both.alone.model.coef[X.shape[1] :].any()
    np.testing.assert_array_equal(both.alone.strength, both.strength)
    for i, strength in enumerate(both.strength):
        model, Z = twin(X, Y, i, np.zeros_like(visible), strength)
        in_sample = model.fit(Z, Y[:, i]).decision_function(Z)
        np.testing.assert_allclose(both.alone.in_sample[:, i], in_sample, atol=1e-3)
        left_out = np.empty(len(Y))
        for fold in range(5):
            out = folds[:, i] == fold
            left_out[out] = model.fit(Z[~out], Y[~out, i]).decision_function(Z[out])
        error, change = both.alone.out_of_fold[:, i] - left_out, in_sample - left_out
        # No path leads to these, so the folds are fitted a little less far.
        assert np.linalg.norm(error) < 0.05 * np.linalg.norm(change)


def test_models_of_the_inputs_alone_choose_strengths_anew_where_they_are_asked_to():
    X, Y = make_table(200, seed=1)
    Y[:, 2] = X[:, 0] + 3 * np.random.default_rng(0).normal(size=200) > 0
    Y[:, 3] = Y[:, 2]  # a copy: with it in sight hardly any penalty is needed
    observed, folds, visible = np.ones(Y.shape, bool), stratified_folds(Y, 5), ~np.eye(4, dtype=bool)
    anew = np.array([False, False, True, True])
    both = fit_logistic(X, Y, observed, visible, STRENGTHS, folds, alone=anew)
    nobody = fit_logistic(X, Y, observed, np.zeros_like(visible), STRENGTHS, folds)
    assert (both.strength[2:] < nobody.strength[2:]).all()
    np.testing.assert_array_equal(both.alone.strength[2:], nobody.strength[2:])
    np.testing.assert_array_equal(both.alone.strength[:2], both.strength[:2])
    np.testing.assert_allclose(both.alone.in_sample[:, 2:], nobody.in_sample[:, 2:], atol=1e-3)


def test_the_cross_validated_loss_is_that_of_the_rows_outside_the_folds():
    X, Y = make_table(200, seed=1)
    Y[3, 1] = np.nan
    folds = stratified_folds(Y, 2)
    observed, filled = ~np.isnan(Y), np.nan_to_num(Y)
    fit = fit_logistic(X, filled, observed, np.zeros((4, 4), bool), STRENGTHS, folds)
    losses = np.where(observed, np.logaddexp(0, fit.out_of_fold) - filled * fit.out_of_fold, 0).sum(axis=0)
    np.testing.assert_allclose(cross_validated_loss(X, Y, STRENGTHS, folds), losses, rtol=0.02)


def test_an_output_does_not_see_itself_nor_those_after_it_in_the_chain():
    X, Y = make_table(100)
    fit, _, _ = fitted(X, Y, "chain", folds=None, strengths=(1.0,))
    between = fit.model.coef[X.shape[1] :]
    assert (between[np.tril_indices(4)] == 0).all()
    assert (between[np.triu_indices(4, 1)] != 0).all()
    flipped = Y.copy()
    flipped[:, 3] = 1 - flipped[:, 3]
    np.testing.assert_array_equal(fit.model.log_odds(X, Y), fit.model.log_odds(X, flipped))


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
    fit = fit_logistic(X, Y, observed, PARENTS["others"].visible(2, None), STRENGTHS, folds)
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


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_some_rows_choose_the_strengths_of_many(monkeypatch, form):
    X, Y = make_table(3000, seed=1)
    X = np.where(np.abs(X) < 0.2, 0.0, X)
    whole = fitted(form(X), Y)[0]
    monkeypatch.setattr(fitting, "ENOUGH_NARROW_ROWS", 1500)
    chosen = []
    plain = fitting.choose_strengths

    def counted(rows, *how, **more):
        chosen.append(rows.layout.n_rows)
        return plain(rows, *how, **more)

    monkeypatch.setattr(fitting, "choose_strengths", counted)
    some = fitted(form(X), Y)[0]
    assert chosen == [1500]
    alike = some.strength == whole.strength
    assert alike.mean() >= 0.5  # the others are as good by either
    np.testing.assert_allclose(some.in_sample[:, alike], whole.in_sample[:, alike], atol=1e-3)
    fitted(form(X[:2000]), Y[:2000])
    assert chosen == [1500, 2000]
