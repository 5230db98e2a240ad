"""model="auto": for each output linear models, trees or the mean of both, whichever predicts better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit

import amiss
from amiss.models.averages import SHARES, average_fit
from amiss.models.boosting.fit import BoostingLearner, seconds_of_fit
from amiss.models.boosting.trees import BoostedTrees
from amiss.models.choice import AutoLearner
from amiss.models.conditional import AverageModel, LinearModel
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import LogisticLearner
from amiss.progress import ignored

LINEAR = LogisticLearner((0.1, 1.0, 10.0), 4.0)
HOW = {"names": ["product", "plain", "rare"], "n_jobs": 1, "progress": ignored}


def table(n_rows=300):
    """One output that only trees can predict, one that is linear, and one too rare for a trial."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, 6))
    product = X[:, 0] * X[:, 1] > 0
    plain = X[:, 2] + 0.4 * rng.normal(size=n_rows) > 0
    rare = np.arange(n_rows) % 30 == 0
    return X, np.column_stack([product, plain, rare]).astype(float)


def arrays():
    X, Y = table()
    return X, Y, np.ones(Y.shape, dtype=bool), ~np.eye(3, dtype=bool), stratified_folds(Y, 3)


@pytest.fixture(scope="module")
def fits():
    """Linear models, trees, and what is chosen of them."""
    alone = np.zeros(3, dtype=bool)
    learners = LINEAR, BoostingLearner(), AutoLearner(LINEAR, 1e6)
    return [learner.fit(*arrays(), alone=alone, **HOW) for learner in learners]


@pytest.fixture(scope="module")
def detector():
    X, Y = table()
    return amiss.MCODE(model="auto", cv=3, n_jobs=1, n_neighbors=20).fit(X, Y)


def log_losses(log_odds, Y):
    return -log_expit(np.where(Y == 1, log_odds, -log_odds)).sum(axis=0)


def views(fits):
    """The fits of each view."""
    return [fits, [fit.alone for fit in fits]]


def test_a_product_of_inputs_is_left_to_trees_and_what_is_rare_to_linear_models(fits):
    for _, _, chosen in views(fits):
        assert isinstance(chosen.model, AverageModel)
        assert [type(model) for model in chosen.model.models] == [LinearModel, BoostedTrees]
        np.testing.assert_array_equal(chosen.model.shares.sum(axis=0), np.ones(3))
        of_trees = chosen.model.shares[1]
        assert of_trees[0] == 1 and of_trees[1] <= 0.5 and of_trees[2] == 0


def test_no_other_share_has_a_lower_log_loss_outside_the_folds(fits):
    _, Y, *_ = arrays()
    for linear, trees, chosen in views(fits):
        losses = np.stack(
            [log_losses((1 - share) * linear.out_of_fold + share * trees.out_of_fold, Y) for share in SHARES]
        )
        of_trees = chosen.model.shares[1]
        for output in np.flatnonzero(of_trees):
            assert of_trees[output] == SHARES[int(np.argmin(losses[:, output]))]
        found = log_losses(chosen.out_of_fold, Y)
        assert (found <= log_losses(linear.out_of_fold, Y)).all()


def test_the_log_odds_are_the_average_that_the_shares_say(fits):
    X, Y, *_ = arrays()
    for linear, trees, chosen in views(fits):
        ours, theirs = chosen.model.shares
        used = theirs > 0
        for name, of_linear, of_trees in (
            ("in_sample", linear.in_sample, trees.in_sample),
            ("out_of_fold", linear.out_of_fold, trees.out_of_fold),
            ("shown", linear.in_sample, trees.out_of_fold),
        ):
            expected = np.where(used, ours * of_linear + theirs * of_trees, of_linear)
            np.testing.assert_allclose(getattr(chosen, name), expected, rtol=0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(chosen.model.log_odds(X, Y), chosen.in_sample, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(chosen.strength, linear.strength)


def test_an_average_of_two_fits_is_their_average_in_everything(fits):
    linear, trees, _ = fits
    share = np.array([0.0, 0.5, 1.0])
    found = average_fit(linear, trees, share)
    np.testing.assert_array_equal(found.in_sample, (1 - share) * linear.in_sample + share * trees.in_sample)
    np.testing.assert_array_equal(found.out_of_fold, (1 - share) * linear.out_of_fold + share * trees.out_of_fold)
    np.testing.assert_array_equal(found.shown, (1 - share) * linear.in_sample + share * trees.out_of_fold)
    np.testing.assert_array_equal(found.fold_models.folds, linear.fold_models.folds)
    assert found.alone is None


def test_the_notes_name_the_outputs_with_trees(detector):
    """And nothing that the budget left out."""
    (note,) = detector.fitted_.notes
    of_trees = sum(
        model.shares[1] for model in (detector.fitted_.models.model, detector.fitted_.models.inputs_model)
    )
    assert of_trees[0] == 2 and of_trees[2] == 0
    for name, share in zip(("y0", "y1", "y2"), of_trees, strict=True):
        assert (f"'{name}'" in note) == (share > 0)


def test_the_same_table_gives_the_same_models_again_and_on_any_number_of_threads(detector):
    X, Y = table()
    new_X = X[:40] + 0.01
    for n_jobs in (1, 2):
        again = amiss.MCODE(model="auto", cv=3, n_jobs=n_jobs, n_neighbors=20).fit(X, Y)
        np.testing.assert_array_equal(again.decision_scores_, detector.decision_scores_)
        np.testing.assert_array_equal(
            again.decision_function(new_X, Y[:40]), detector.decision_function(new_X, Y[:40])
        )
        assert again.fitted_.notes == detector.fitted_.notes


def test_without_time_it_is_the_linear_fit_to_the_last_bit():
    X, Y = table(120)
    plain = amiss.MCODE(n_neighbors=20).fit(X, Y)
    hasty = amiss.MCODE(model="auto", time_budget=0, n_neighbors=20).fit(X, Y)
    for name in ("decision_scores_", "probabilities_", "contributions_", "labels_", "threshold_"):
        np.testing.assert_array_equal(getattr(hasty, name), getattr(plain, name), err_msg=name)
    new_X, new_Y = X + 0.01, 1 - Y
    np.testing.assert_array_equal(hasty.decision_function(new_X, new_Y), plain.decision_function(new_X, new_Y))
    assert [remark.code for remark in plain.fitted_.remarks] == ["no-skill"]  # of the output that needs trees
    (note,) = [
        remark.text for remark in hasty.fitted_.remarks if remark.code != "no-skill"
    ]  # nothing was tried, so nothing is said of how trees predict
    assert note.startswith("The time budget did not suffice to try boosted trees on 2 outputs;")


def test_where_trees_do_not_help_the_linear_fit_stays_and_a_note_says_so():
    X, _ = table(200)
    Y = (X[:, :2] + X[:, 2:4] + 0.1 * np.random.default_rng(0).normal(size=(200, 2)) > 0).astype(float)
    linear = amiss.MCODE(n_neighbors=20).fit(X, Y)
    auto = amiss.MCODE(model="auto", n_neighbors=20).fit(X, Y)
    assert auto.fitted_.notes == (
        "Boosted trees predict no output better than the linear models, so none are used.",
    )
    np.testing.assert_array_equal(auto.decision_scores_, linear.decision_scores_)


def test_a_budget_is_spent_where_a_trial_promised_most():
    """Two trials and one fit can be paid for: that of the output which trees predict best."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    noise = 0.8 * rng.normal(size=300)
    Y = np.column_stack([X[:, 0] * X[:, 1] + noise > 0, X[:, 1] * X[:, 2] > 0]).astype(float)
    everything = X, Y, np.ones(Y.shape, dtype=bool), np.zeros((2, 2), dtype=bool), stratified_folds(Y, 3)
    one_fit = seconds_of_fit(300, 3) / 2  # there are two cores
    how = {**HOW, "names": ["noisy", "clear"]}
    found = AutoLearner(LINEAR, 5.5 * one_fit).fit(*everything, **how)
    assert found.model.shares[1].tolist() == [0.0, 1.0]
    assert found.notes[0] == "Boosted trees help to predict 1 output: 'clear'."
    assert found.notes[1].startswith("The time budget did not suffice to try boosted trees on 1 output;")
    rich = AutoLearner(LINEAR, 8.5 * one_fit).fit(*everything, **how)
    assert (rich.model.shares[1] > 0).all()
    assert rich.notes == ("Boosted trees help to predict 2 outputs: 'noisy', 'clear'.",)
