"""A training row's own model gives the log-odds by which the row was scored, whatever kind of model it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from support.forests import table_with_everything

import amiss
from amiss.explanations.cases import Cases
from amiss.explanations.what_if import if_changed

N_OUTPUTS = 3
FOREST = RandomForestClassifier(n_estimators=10, min_samples_leaf=3, random_state=0)
KINDS = {
    "boosting": {"model": "boosting"},
    "auto": {"model": "auto"},
    "linear": {},
    "given": {"given": True},
    "given to boosting": {"given": True, "model": "boosting"},
    "forest": {"model": FOREST},
    "classifier": {"model": LogisticRegression()},
    "groups": {"groups": True, "model": "auto"},
}
ROWS = [0, 3, 20, 21, 22, 57, 110]


@pytest.fixture(scope="module", params=KINDS)
def detector(request):
    """With copies of a row, missing outputs, and an output that trees predict best."""
    X, Y, P, groups = table_with_everything()
    parameters = dict(KINDS[request.param])
    given, grouped = parameters.pop("given", False), parameters.pop("groups", False)
    found = amiss.MCODE(cv=3, n_neighbors=20, n_jobs=1, **parameters)
    return found.fit(X, Y, probabilities=P if given else None, groups=groups if grouped else None)


def filled(models, position):
    rows = models.training_rows
    design, Y = rows.design[[position]], rows.Y[[position]]
    return design, models.expectations.filled(design, Y)


def test_the_model_of_a_row_gives_the_log_odds_by_which_it_was_scored(detector):
    models, scored = detector.fitted_.models, detector.fitted_.training_rows
    share, doubt = detector.fitted_.scorer.share, detector.fitted_.scorer.doubt_share
    assert not models.ties.classes  # so nothing is normalised
    for number in {*range(0, len(scored.Y), 8), *ROWS}:
        position = models.training_rows.place[number]
        row = filled(models, position)
        found = models.training_rows.model_of(position, models.model, share).log_odds(*row)[0]
        np.testing.assert_allclose(found, scored.log_odds[number], rtol=0, atol=1e-9)
        doubted = models.training_rows.model_of(position, models.model, doubt).log_odds(*row)[0]
        np.testing.assert_allclose(doubted, scored.views.doubted[number], rtol=0, atol=1e-9)
        alone = models.training_rows.inputs_model_of(position, models.inputs_model, doubt).log_odds(*row)[0]
        np.testing.assert_allclose(alone, scored.views.by_inputs[number], rtol=0, atol=1e-9)
        held_out = models.training_rows.inputs_model_of(position, models.inputs_model, 1.0).log_odds(*row)[0]
        np.testing.assert_allclose(held_out, scored.views.held_out[number], rtol=0, atol=1e-9)


def test_copies_of_a_row_have_one_score(detector):
    scores = detector.decision_scores_[20:26]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-12)


def test_a_change_of_a_new_row_gives_the_predicted_score(detector):
    X, Y, P, _ = table_with_everything(seed=1)
    given = {"probabilities": P[:8]} if detector.fitted_.columns.has_given else {}
    n_changes = 0
    for row in range(8):
        for suspect in detector.explain(X[:8], Y[:8], row=row, **given).suspects:
            other = Y[:8].copy()
            other[row, detector.output_names_.index(suspect.output)] = 1 - suspect.observed
            found = detector.decision_function(X[:8], other, **given)[row]
            assert suspect.score_if_changed == pytest.approx(found, rel=1e-9, abs=1e-12)
            n_changes += 1
    assert n_changes >= 8


def test_a_training_row_changed_twice_has_its_score_again(detector):
    models, scorer, training = (getattr(detector.fitted_, name) for name in ("models", "scorer", "training"))
    (cases,) = Cases(models, scorer, training).of_training(ROWS)
    for case, changes in zip(cases, if_changed(cases, models, scorer), strict=True):
        assert changes
        for i in changes:
            there = case.Y.copy(), case.filled.copy()
            for values in there:
                values[i] = 1 - values[i]
            other = replace(case, Y=there[0], filled=there[1], contributions=np.eye(N_OUTPUTS)[i])
            back = if_changed([other], models, scorer)[0][i].score
            assert back == pytest.approx(detector.decision_scores_[case.number], rel=1e-9, abs=1e-12)


def test_the_grounds_of_an_output_add_up_to_its_log_odds(detector):
    scored = detector.fitted_.training_rows
    for explanation in detector.explain_rows(ROWS):
        assert explanation.suspects
        log_odds = scored.log_odds if explanation.kind == "contradiction" else scored.views.by_inputs
        for output in explanation.suspects:
            if detector.get_params()["model"] is FOREST:
                assert output.grounds is None and "grounds" in explanation.left_out
                continue
            i = detector.output_names_.index(output.output)
            grounds = output.grounds
            added = grounds.average + grounds.inputs.sum() + grounds.outputs.sum()
            assert added == pytest.approx(grounds.log_odds, rel=0, abs=1e-9)
            # The coefficients of a classifier give its log-odds to a millionth only.
            exact = 1e-9 if isinstance(detector.model, str) else 1e-6
            assert grounds.log_odds == pytest.approx(log_odds[explanation.row, i], rel=0, abs=exact)
