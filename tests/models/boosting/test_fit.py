"""Boosting a table: what the trees of an output may see, how many there are, and rows that they did not see."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from amiss.models.boosting.fit import MOST_TREES, SETTINGS, Boosting, BoostingLearner
from amiss.models.folds import stratified_folds
from amiss.threads import one_openmp_thread

N_FOLDS = 3


def table(n_rows=210, seed=0):
    """Three inputs; an output of a product, one that copies it with noise, one with missing cells."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    first = X[:, 0] * X[:, 1] > 0
    second = first ^ (rng.random(n_rows) < 0.1)
    third = X[:, 2] + 0.5 * rng.normal(size=n_rows) > 0
    Y = np.column_stack([first, second, third]).astype(float)
    Y[5::6, 2] = np.nan
    return X, Y


VISIBLE = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)  # a chain


def boosting(X, Y):
    observed = ~np.isnan(Y)
    return Boosting(X, np.where(observed, Y, 0.5), observed, stratified_folds(Y, N_FOLDS))


def fit(X, Y, n_jobs=1, alone=False, visible=VISIBLE):
    on = boosting(X, Y)
    steps = []
    how = {"names": list("abc"), "n_jobs": n_jobs, "progress": lambda n=1: steps.append(n)}
    given = np.zeros(3, dtype=bool) if alone else None
    found = BoostingLearner().fit(on.design, on.filled, on.observed, visible, on.folds, alone=given, **how)
    assert sum(steps) == 3 * BoostingLearner().steps_per_output
    return on, found


@pytest.fixture(scope="module")
def fitted():
    return fit(*table(), alone=True)


def test_an_output_that_may_not_be_seen_is_never_split(fitted):
    _, found = fitted
    for model in (found.model, *found.fold_models.models):
        for output in range(3):
            first, last = model.first_trees[output : output + 2]
            end = model.roots[last] if last < len(model.roots) else len(model.feature)
            split = set(model.feature[model.roots[first] : end].tolist()) if last > first else {-1}
            assert split <= {-1, 0, 1, 2, *(3 + np.flatnonzero(VISIBLE[:, output]))}
    seen = found.model.feature
    assert 3 in seen  # the second output is nearly a copy of the first
    for model in (found.alone.model, *found.alone.fold_models.models):
        assert model.feature.max() < 3


def test_the_number_of_trees_has_the_lowest_log_loss_outside_the_folds(fitted):
    """A transcription with scikit-learn's own classifiers."""
    with one_openmp_thread():
        assert_trees_are_chosen_by_log_loss(*fitted)


def assert_trees_are_chosen_by_log_loss(on, found):
    output, told = 2, on.observed[:, 2]
    Z = np.hstack([on.design, on.filled[:, :2]])
    losses, held_out = np.zeros(MOST_TREES + 1), np.zeros((MOST_TREES, len(Z)))
    for fold in range(N_FOLDS):
        inside = on.folds[:, output] == fold
        rows = told & ~inside
        twin = HistGradientBoostingClassifier(max_iter=MOST_TREES, **SETTINGS).fit(Z[rows], on.filled[rows, 2])
        stages = np.stack([each.ravel() for each in twin.staged_decision_function(Z[inside])])
        held_out[:, inside] = stages
        base = np.full(inside.sum(), logit(on.filled[rows, 2].mean()))
        for n, log_odds in enumerate([base, *stages]):
            probability = 1 / (1 + np.exp(-log_odds[told[inside]]))
            losses[n] += log_loss(on.filled[inside & told, 2], probability, normalize=False, labels=[0, 1])
    n_trees = int(np.argmin(losses))
    assert 0 < n_trees < MOST_TREES
    first, last = found.model.first_trees[output : output + 2]
    assert last - first == n_trees
    np.testing.assert_allclose(found.out_of_fold[:, output], held_out[n_trees - 1], rtol=0, atol=1e-9)
    whole = HistGradientBoostingClassifier(max_iter=n_trees, **SETTINGS).fit(Z[told], on.filled[told, 2])
    np.testing.assert_allclose(found.in_sample[:, output], whole.decision_function(Z), rtol=0, atol=1e-9)


def test_the_models_without_a_fold_give_the_log_odds_out_of_fold(fitted):
    on, whole = fitted
    for found in (whole, whole.alone):
        for fold, model in enumerate(found.fold_models.models):
            inside = on.folds == fold
            log_odds = model.log_odds(on.design, on.filled)
            np.testing.assert_array_equal(log_odds[inside], found.out_of_fold[inside])
        np.testing.assert_array_equal(found.model.log_odds(on.design, on.filled), found.in_sample)
        np.testing.assert_array_equal(found.shown, found.out_of_fold)  # trees know the rows that they saw by heart
        assert found.fold_models.by_heart and found.converged.all() and np.isnan(found.strength).all()


def test_a_row_that_was_held_out_has_no_say_in_its_own_log_odds(fitted):
    """With its output turned round the trees fitted without its fold are the same."""
    on, found = fitted
    row, output = 4, 0
    target = on.filled.copy()
    target[row, output] = 1 - target[row, output]
    turned = Boosting(on.design, target, on.observed, on.folds)
    ours, other = (each.outputs([(output, VISIBLE[:, output])], 1)[0] for each in (on, turned))
    before, after = (each.without[on.folds[row, output]] for each in (ours, other))
    shared = min(len(before.roots), len(after.roots))
    assert shared > 0
    assert before.first(shared).value.tolist() == after.first(shared).value.tolist()
    elsewhere = on.folds[:, output] != on.folds[row, output]
    assert (other.held_out != found.out_of_fold[:, output])[elsewhere].any()  # there it has one


def test_any_number_of_threads_gives_the_same_bits(fitted):
    _, one = fitted
    _, two = fit(*table(), n_jobs=2, alone=True)
    for ours, theirs in ((one, two), (one.alone, two.alone)):
        np.testing.assert_array_equal(ours.in_sample, theirs.in_sample)
        np.testing.assert_array_equal(ours.out_of_fold, theirs.out_of_fold)
        for name in ("feature", "threshold", "value", "roots"):
            np.testing.assert_array_equal(getattr(ours.model, name), getattr(theirs.model, name))


def test_sparse_inputs_give_the_models_of_dense_ones():
    """A column filled in fewer rows than a leaf needs is left out; it could not be split anyway."""
    X, Y = table(150)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    X = np.column_stack([X, np.arange(150) < 5])
    dense, sparse_ = fit(X, Y)[1], fit(sparse.csr_array(X), Y)[1]
    np.testing.assert_array_equal(sparse_.in_sample, dense.in_sample)
    np.testing.assert_array_equal(sparse_.out_of_fold, dense.out_of_fold)
    np.testing.assert_array_equal(sparse_.model.feature, dense.model.feature)
    assert 3 not in sparse_.model.feature


def test_an_output_that_is_always_the_same_has_its_smoothed_base_rate():
    X, Y = table(90)
    Y[:, 1] = 1
    Y[:10, 1] = np.nan
    _, found = fit(X, Y)
    assert np.diff(found.model.first_trees)[1] == 0
    np.testing.assert_array_equal(found.in_sample[:, 1], np.full(90, logit(80.5 / 81)))
    assert np.isfinite(found.out_of_fold).all() and (found.out_of_fold[:, 1] > 3).all()


def test_noise_is_given_no_trees():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(200, 3)), (rng.random((200, 3)) < 0.5).astype(float)
    _, found = fit(X, Y, visible=np.zeros((3, 3), dtype=bool))
    assert np.diff(found.model.first_trees).max() <= 3
    smoothed = logit((Y.sum(axis=0) + 0.5) / 201)
    for output in np.flatnonzero(np.diff(found.model.first_trees) == 0):
        assert found.in_sample[0, output] == pytest.approx(smoothed[output], rel=1e-12)


def test_missing_cells_of_an_output_are_not_learned_from():
    X, Y = table(150)
    on = boosting(X, Y)
    assert not on.observed[:, 2].all()
    other = Boosting(X, np.where(on.observed, on.filled, 1.0), on.observed, on.folds)
    mine, theirs = (each.outputs([(2, VISIBLE[:, 2])], 1)[0] for each in (on, other))
    np.testing.assert_array_equal(mine.held_out, theirs.held_out)
    np.testing.assert_array_equal(mine.whole.value, theirs.whole.value)
