"""Learners: what fits one kind of model or another is chosen in one place, and used alike."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from support.tables import make_table

from amiss import Settings
from amiss.models.classifiers import ClassifierLearner
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import LogisticLearner
from amiss.models.settings import STRENGTHS

LEARNERS = [LogisticLearner((1.0, 10.0), 4.0), LogisticLearner((1.0,), 1.0), ClassifierLearner(GaussianNB())]


def test_the_settings_choose_the_learner():
    classifier = GaussianNB()
    assert Settings.of(model=classifier).models.learner == ClassifierLearner(
        classifier, LogisticLearner(STRENGTHS, 4.0)
    )
    assert Settings.of(strengths=(1.0, 2.0), parent_penalty=3.0).models.learner == LogisticLearner((1.0, 2.0), 3.0)


@pytest.mark.parametrize(
    ("parameters", "needed"),
    [({}, True), ({"strengths": (1.0,)}, False), ({"strengths": (1.0, 1.0)}, False),
     ({"model": GaussianNB()}, False)],
)  # fmt: skip
def test_folds_are_needed_to_choose_between_strengths(parameters, needed):
    models = Settings.of(crossfit=False, **parameters).models
    assert models.learner.needs_folds == models.needs_folds == needed
    assert Settings.of(crossfit=True, **parameters).models.needs_folds


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_learner_fits_every_output_and_tells_each_step(learner):
    X, Y = make_table(120)
    observed, visible = np.ones(Y.shape, dtype=bool), ~np.eye(Y.shape[1], dtype=bool)
    steps = []
    how = {"names": list("abcd"), "n_jobs": 1, "progress": lambda n=1: steps.append(n)}
    fit = learner.fit(X, Y, observed, visible, stratified_folds(Y, 3), **how)
    assert sum(steps) == Y.shape[1] * learner.steps_per_output
    assert fit.in_sample.shape == fit.out_of_fold.shape == Y.shape
    np.testing.assert_allclose(fit.model.log_odds(X, Y), fit.in_sample, atol=1e-6)
    if not learner.needs_folds:
        alone = learner.fit(X, Y, observed, visible, None, **how)
        assert alone.out_of_fold is None
        np.testing.assert_allclose(alone.model.log_odds(X, Y), alone.in_sample, atol=1e-6)
