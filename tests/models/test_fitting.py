"""Fitted models and what they keep: log-odds in and out of sample, fold models, filled-in outputs."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import sparse
from support.tables import make_table

from amiss import DataError, Settings
from amiss.data.validation import as_inputs, as_outputs
from amiss.models.conditional import LinearModel
from amiss.models.fitting import fit_models, without_fold_models
from amiss.models.fold_models import RowModel
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.settings import positions_of


def fitted(X, Y, **parameters):
    return fit_models(as_inputs(X), as_outputs(Y), Settings.of(**parameters).models, seed=0)


def test_a_share_averages_both_log_odds():
    result = fitted(*make_table(100))
    np.testing.assert_array_equal(result.log_odds(0), result.in_sample)
    np.testing.assert_array_equal(result.log_odds(1), result.out_of_fold)
    np.testing.assert_allclose(result.log_odds(0.5), (result.in_sample + result.out_of_fold) / 2)
    np.testing.assert_allclose(result.log_odds(0.6), 0.4 * result.in_sample + 0.6 * result.out_of_fold)


def test_rows_are_kept_in_an_order_of_their_own_and_found_by_their_place():
    X, Y = make_table(80)
    rows = fitted(X, Y, scaling="none").models.training_rows
    np.testing.assert_array_equal(rows.design[rows.place], X)
    np.testing.assert_array_equal(rows.Y[rows.place], Y)
    np.testing.assert_array_equal(rows.place[rows.order], np.arange(80))
    assert (np.diff(rows.fingerprints.astype(np.float64)) >= 0).all()


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_the_model_of_a_row_gives_its_log_odds_in_the_fit(share):
    X, Y = make_table(90)
    X[50], Y[50] = X[20], Y[20]  # a copy in another fold, perhaps
    result = fitted(X, Y)
    models, rows = result.models, result.models.training_rows
    for position in (0, int(rows.place[20]), int(rows.place[50]), 89):
        model = rows.model_of(position, models.model, share)
        found = model.log_odds(rows.design[[position]], rows.Y[[position]])[0]
        np.testing.assert_allclose(found, result.log_odds(share)[position], atol=1e-9)
    lean = without_fold_models(models).training_rows
    assert lean.model_of(0, models.model, 0.6) is None and lean.model_of(0, models.model, 0) is models.model


def test_one_strength_in_sample_needs_no_folds():
    result = fitted(*make_table(60), strengths=(1.0,), crossfit=False)
    assert result.out_of_fold is None and result.models.training_rows.fold_models is None
    assert (result.models.strength == 1).all()


def test_fitted_models_cannot_be_changed():
    models = fitted(*make_table(40)).models
    for holder, name in ((models, "strength"), (models.training_rows, "Y"), (models.model, "coef")):
        with pytest.raises(FrozenInstanceError):
            setattr(holder, name, None)


def test_missing_outputs_enter_by_a_model_of_the_inputs_or_by_their_base_rate():
    X, Y = make_table(200)
    gone = np.random.default_rng(0).random(Y.shape) < 0.2
    complete, holes = fitted(X, Y).models, fitted(X, np.where(gone, np.nan, Y)).models
    design = complete.encoder.transform(as_inputs(X[:3]))
    asked = np.array([[np.nan, 1, 0, 1], [0, 1, 0, 1], [1, np.nan, np.nan, 0]])
    by_rate = np.where(np.isnan(asked), Y.mean(axis=0), asked)
    np.testing.assert_allclose(complete.expectations.filled(design, asked), by_rate)
    by_model = holes.expectations.filled(design, asked)
    given_inputs = holes.expectations.given_inputs
    assert isinstance(given_inputs, LinearModel)
    assert (given_inputs.coef[5:] == 0).all()  # another output must not predict itself through this one
    expected = 1 / (1 + np.exp(-given_inputs.log_odds(design, by_rate)))
    np.testing.assert_allclose(by_model, np.where(np.isnan(asked), expected, asked))


def test_outputs_are_listed_by_name_or_number():
    assert positions_of(["b", 0, np.int64(2)], ("a", "b", "c"), "order") == [1, 0, 2]
    for unknown in ("z", 3, -1):
        with pytest.raises(DataError, match=r"order names .*, which is not an output"):
            positions_of([unknown], ("a", "b", "c"), "order")


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
    np.testing.assert_allclose(row, 0.4 * fit.in_sample[7] + 0.6 * fit.out_of_fold[7], atol=1e-9)
