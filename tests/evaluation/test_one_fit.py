"""One fit, scored in several ways, is as good as a fit for each."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import make_table

from amiss import MCODE, Settings
from amiss.data.validation import as_inputs, as_outputs
from amiss.evaluation.one_fit import OneFit, Subject
from amiss.scoring.registry import RULES, WEIGHTINGS


def one_fit(X, Y, **parameters):
    return OneFit(Settings.of(**parameters), Subject(as_inputs(X), as_outputs(Y)))


@pytest.fixture(scope="module")
def shared():
    X, Y = make_table(160)
    Y[3, 1] = np.nan
    return X, Y, one_fit(X, Y, n_neighbors=30)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("crossfit", [False, True, 0.5, 0.6])
def test_every_rule_and_share_scores_as_a_fit_of_its_own(shared, rule, crossfit):
    X, Y, one = shared
    found = one.scored(rule=RULES[rule], out_of_fold_share=float(crossfit))
    alone = MCODE(n_neighbors=30, rule=rule, crossfit=crossfit).fit(X, Y)
    np.testing.assert_array_equal(found.rows.scores, alone.decision_scores_)
    np.testing.assert_array_equal(found.rows.probabilities, alone.probabilities_)
    np.testing.assert_array_equal(found.rows.weights, alone.weights_)
    np.testing.assert_array_equal(found.quality.skill, alone.output_quality_.skill)


def test_predictions_and_groups_are_used_as_in_a_fit():
    X, Y = make_table(120)
    P, groups = np.clip(0.2 + 0.6 * Y + 0.1 * X[:, :4], 0.01, 0.99), np.arange(120) // 2
    fit = OneFit(Settings.of(n_neighbors=30), Subject.of(X, Y, P, groups))
    alone = MCODE(n_neighbors=30).fit(X, Y, probabilities=P, groups=groups)
    np.testing.assert_array_equal(fit.scored().rows.scores, alone.decision_scores_)


def test_predictions_stay_with_their_outputs():
    X, Y = make_table(60)
    subject = Subject.of(X, Y, 0.25 + Y / 2)
    some = subject.select([0, 2, *subject.given], [3, 1]).take(np.arange(50))
    assert some.given == (3, 2)  # in the order of the outputs
    assert some.inputs.names[-2:] == ("log-odds of y1", "log-odds of y3")
    assert len(some) == 50


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weightings_and_exclusions_are_changed_the_same_way(shared, weighting):
    X, Y, one = shared
    found = one.scored(rule=RULES["lrw"], weighting=WEIGHTINGS[weighting], exclude=["y2"])
    alone = MCODE(n_neighbors=30, rule="lrw", weighting=weighting, exclude=["y2"]).fit(X, Y)
    np.testing.assert_array_equal(found.rows.scores, alone.decision_scores_)


def test_neighbours_are_those_of_the_settings_and_found_once(shared, monkeypatch):
    X, Y, _ = shared
    one = one_fit(X, Y, n_neighbors=10)
    near = one.neighborhood
    found = one.scored(rule=RULES["flip"])
    assert one.neighborhood is near and found.scorer.local.neighborhood is near
    assert near.neighbors.shape == (160, 10)
    np.testing.assert_array_equal(found.rows.scores, MCODE(n_neighbors=10, rule="flip").fit(X, Y).decision_scores_)
    assert one.scored(rule=RULES["rw"]).scorer.local is None
    without = one_fit(X, Y, n_neighbors=0)
    assert without.neighborhood is None
    np.testing.assert_array_equal(
        without.scored(rule=RULES["flip"]).rows.scores,
        MCODE(n_neighbors=0, rule="flip").fit(X, Y).decision_scores_,
    )


def test_scoring_again_changes_nothing_that_was_scored_before(shared):
    _, _, one = shared
    first = one.scored(rule=RULES["flip"])
    before = first.rows.scores.copy()
    for rule in RULES.values():
        one.scored(rule=rule, out_of_fold_share=0.0)
    np.testing.assert_array_equal(first.rows.scores, before)
    np.testing.assert_array_equal(one.scored(rule=RULES["flip"]).rows.scores, before)


def test_models_that_were_fitted_without_folds_have_no_share_of_them():
    one = one_fit(*make_table(60), strengths=(1.0,), crossfit=False, rule="prod")
    assert np.isfinite(one.scored().rows.scores).all()
    with pytest.raises(ValueError, match="without folds"):
        one.scored(out_of_fold_share=0.5)


def test_a_change_that_makes_no_sense_is_refused_like_any_setting(shared):
    _, _, one = shared
    with pytest.raises(ValueError, match="n_neighbors must be"):
        one.scored(n_neighbors=-1)
    with pytest.raises(TypeError, match="unexpected keyword"):
        one.scored(score="flip")
