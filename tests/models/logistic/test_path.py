"""Strengths are scikit-learn's, wherever on the ladder they lie."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegressionCV
from support.tables import make_table

import amiss
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.joint import joint
from amiss.encoding.scalings import SCALINGS
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.logistic.local import LocalRows
from amiss.models.logistic.loss import signs_of
from amiss.models.logistic.path import choose_strengths
from amiss.models.registry import PARENTS
from amiss.settings import STRENGTHS


def chosen(X, Y, strengths=STRENGTHS, progress=lambda steps=1: None):
    folds = stratified_folds(Y, 5)
    everyone = np.ones(Y.shape, dtype=bool)
    visible = PARENTS["others"].visible(Y.shape[1], None)
    return fit_logistic(X, Y, everyone, visible, strengths, folds, n_jobs=-1, progress=progress), folds


def steps_apart(X, Y, outputs):
    """How many steps of the ladder lie between our choice and scikit-learn's, on the same folds."""
    fit, folds = chosen(X, Y)
    result = []
    for i in outputs:
        splits = [(np.flatnonzero(folds[:, i] != k), np.flatnonzero(folds[:, i] == k)) for k in range(5)]
        twin = LogisticRegressionCV(
            Cs=[1 / s for s in STRENGTHS], cv=splits, scoring="neg_log_loss", n_jobs=-1, max_iter=1000
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's own deprecations
            twin.fit(joint(X, np.delete(Y, i, axis=1)), Y[:, i])
        result.append(abs(np.log10(fit.strength[i]) + np.log10(np.ravel(twin.C_)[0])))
    return np.array(result)


@pytest.mark.parametrize(("name", "every"), [("yeast", 1), ("birds", 1), ("enron", 3)])
def test_the_choice_is_scikit_learns_or_next_to_it(paper_data, name, every):
    files = sorted((paper_data / name).glob("*.arff*"))
    data = amiss.read(*files, outputs=paper_data / name / f"{name}.xml")
    X, Y = fit_encoder(data.X, SCALINGS.named("block")).transform(data.X), np.asarray(data.Y.values)
    apart = steps_apart(X, Y, np.flatnonzero(Y.sum(axis=0) >= 5)[::every])
    assert np.mean(apart < 1.5) >= 0.95
    assert np.mean(apart < 0.5) >= 0.9


def test_both_ends_of_the_ladder_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    Y = np.column_stack([rng.random((300, 8)) < 0.5, X[:, :2] > 0]).astype(float)
    fit, _ = chosen(X, Y)
    assert (steps_apart(X, Y, range(10)) < 0.5).all()
    assert {1000.0, 0.01} <= set(fit.strength)


@pytest.mark.parametrize("strengths", [(1.0,), (1.0, 10.0), (0.1, 5.0, 2.0), tuple(10.0 ** np.arange(-4, 6))])
def test_any_ladder_will_do(strengths):
    X, Y = make_table(120)
    fit, _ = chosen(X, Y, strengths)
    assert set(fit.strength) <= set(strengths)
    assert np.isfinite(fit.out_of_fold).all()


def test_progress_reaches_its_end():
    X, Y = make_table(200)
    done = []
    chosen(X, Y, progress=lambda steps=1: done.append(steps))
    assert sum(done) == len(STRENGTHS) * Y.shape[1]
    assert min(done) >= 0


def test_folds_without_one_side_of_an_output_still_give_an_answer():
    X, Y = make_table(60)
    Y[:, 2], Y[:, 3] = 0, 0
    Y[7, 2] = 1  # the fold that holds row 7 leaves an output that is always 0
    fit, folds = chosen(X, Y)
    assert np.isfinite(fit.out_of_fold).all()
    alone = folds[:, 2] == folds[7, 2]
    rate = 0.5 / (np.count_nonzero(~alone) + 1)
    np.testing.assert_allclose(fit.out_of_fold[alone, 2], np.log(rate / (1 - rate)), rtol=1e-5)


def test_threads_do_not_change_the_choice():
    X, Y = make_table(3000, 12)
    allowed, folds = PARENTS["others"].visible(4, None), stratified_folds(Y, 5)
    signs = signs_of(Y, np.ones(Y.shape, bool))
    one, two = (
        choose_strengths(LocalRows(joint(X, Y), signs, folds, jobs), allowed, STRENGTHS) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.strength, two.strength)
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.shift, two.shift)
