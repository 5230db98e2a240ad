"""What a row would score if an output had its other value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from support.explained import CROSSFITS, RULE_NAMES, mixed_table
from support.tables import fitted

from amiss.explanations.cases import Cases
from amiss.explanations.what_if import if_changed


def changed(Y, row, explained):
    """One row of Y with the explained output changed."""
    result = Y.iloc[[row]].copy()
    result[explained.output] = 1 - result[explained.output]
    return result


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("neighbor_space", ("joint", "inputs"))
def test_changing_an_output_of_a_new_row_gives_the_predicted_score(rule, neighbor_space):
    X, Y = mixed_table()
    detector = fitted(X[:120], Y[:120], rule=rule, neighbor_space=neighbor_space)
    for row in range(120, 150):
        explanation = detector.explain(X, Y, row=row)
        assert explanation.score == pytest.approx(
            detector.decision_function(X.iloc[[row]], Y.iloc[[row]])[0], rel=1e-12
        )
        for output in explanation.suspects:
            found = detector.decision_function(X.iloc[[row]], changed(Y, row, output))
            assert output.score_if_changed == pytest.approx(found[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("crossfit", CROSSFITS)
def test_a_training_row_changed_twice_has_its_score_again(rule, crossfit):
    """The models, neighbours and weights of the change are those that scored the row."""
    detector = fitted(*mixed_table(), rule=rule, crossfit=crossfit)
    models, scorer, training = (getattr(detector.fitted_, name) for name in ("models", "scorer", "training"))
    (cases,) = Cases(models, scorer, training).of_training([0, 7, 19, 22, 25, 140])
    n_changes = 0
    for case, changes in zip(cases, if_changed(cases, models, scorer), strict=True):
        for i in changes:
            there = case.Y.copy(), case.filled.copy()
            for values in there:
                values[i] = 1 - values[i]
            other = replace(case, Y=there[0], filled=there[1], contributions=np.eye(5)[i])
            back = if_changed([other], models, scorer)[0][i].score
            assert back == pytest.approx(detector.decision_scores_[case.number], rel=1e-9, abs=1e-12)
            n_changes += 1
    assert n_changes >= len(cases)


def test_without_crossfit_and_neighbours_a_training_row_changes_like_a_new_one():
    X, Y = mixed_table()
    detector = fitted(X, Y, rule="rw", crossfit=False)
    for explanation in detector.explain_rows(range(0, 150, 5)):
        for output in explanation.suspects:
            found = detector.decision_function(X.iloc[[explanation.row]], changed(Y, explanation.row, output))
            assert output.score_if_changed == pytest.approx(found[0], rel=1e-9, abs=1e-12)


def test_a_change_is_scored_by_the_models_that_did_not_see_the_row(table):
    """Against fits of scikit-learn on the rows outside the row's fold, for every output by itself."""
    X, Y = table
    detector = fitted(X, Y, rule="prod", crossfit=True, strengths=(1.0,), parent_penalty=1.0, scaling="none")
    number = int(np.argmax(detector.decision_scores_))
    suspect = detector.explain(number).suspects[0]
    j = detector.output_names_.index(suspect.output)
    rows = detector.fitted_.models.rows
    position = rows.place[number]
    ordered = rows.order
    expected = 0.0
    row = np.hstack([X[number], Y[number]])
    row[5 + j] = 1 - row[5 + j]
    for i in range(4):
        folds = rows.fold_models.folds[:, i]
        outside = ordered[folds != folds[position]]
        seen = [column for column in range(9) if column != 5 + i]
        twin = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(
            np.hstack([X, Y])[outside][:, seen], Y[outside, i]
        )
        probability = twin.predict_proba(row[None, seen])[0, 1]
        expected -= np.log(probability if row[5 + i] else 1 - probability)
    assert suspect.score_if_changed == pytest.approx(expected, rel=5e-3)
