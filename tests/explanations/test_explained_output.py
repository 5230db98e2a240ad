"""Grounds: why a model expects what it expects, taken apart exactly by columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from support.explained import CROSSFITS, mixed_table, with_mistakes
from support.tables import fitted, frame


@pytest.mark.parametrize("crossfit", CROSSFITS)
@pytest.mark.parametrize("parents", ("others", "chain", "none"))
def test_grounds_add_up_to_the_log_odds_that_made_the_score(crossfit, parents):
    detector = fitted(*mixed_table(), crossfit=crossfit, parents=parents)
    for explanation in detector.explain_rows(range(150)):
        for output in explanation.suspects:
            grounds = output.grounds
            total = grounds.average + grounds.inputs.sum() + grounds.outputs.sum()
            assert total == pytest.approx(grounds.log_odds, abs=1e-6)
            assert grounds.log_odds == pytest.approx(logit(output.chance_of_one), abs=1e-6)
            terms = grounds.largest()
            assert sum(term.log_odds for term in terms) + grounds.average == pytest.approx(total, abs=1e-9)
            sizes = [abs(term.log_odds) for term in terms]
            assert sizes == sorted(sizes, reverse=True)
            assert output.output not in {term.name for term in terms if term.kind == "output"}
            if parents == "none":
                assert not grounds.outputs.any()


def test_what_a_column_adds_is_counted_from_the_average_row(table):
    """So over all rows the terms of every column cancel."""
    X, Y = table
    detector = fitted(X, Y, crossfit=False)
    models = detector.fitted_.models
    design, coef = models.rows.design[models.rows.place], models.model.coef
    np.testing.assert_allclose(models.average, np.hstack([design, Y]).mean(axis=0), atol=1e-12)
    for explanation in detector.explain_rows(range(len(X))):
        for output in explanation.suspects:
            i, row = detector.output_names_.index(output.output), explanation.row
            np.testing.assert_allclose(
                output.grounds.inputs, coef[:5, i] * (design[row] - design.mean(axis=0)), atol=1e-9
            )
            np.testing.assert_allclose(output.grounds.outputs, coef[5:, i] * (Y[row] - Y.mean(axis=0)), atol=1e-9)
            mean_log_odds = (np.hstack([design, Y]) @ coef[:, i] + models.model.intercept[i]).mean()
            assert output.grounds.average == pytest.approx(mean_log_odds, abs=1e-9)


def test_the_average_row_has_the_average_log_odds(table):
    X, Y = table
    detector = fitted(X, Y, scaling="none")
    grounds = detector.explain(X.mean(axis=0)[None], np.ones((1, 4))).suspects[0].grounds
    np.testing.assert_allclose(grounds.inputs, 0, atol=1e-12)


def test_directions_and_fitting_values(table):
    X, Y = table
    detector = fitted(*frame(X, Y))
    seen = set()
    for explanation in detector.explain_rows(range(len(X))):
        for output in explanation.outputs:
            seen.add(output.direction)
            assert output.expected == int(output.chance_of_one > 0.5)
            assert output.chance_of_one == pytest.approx(
                output.probability if output.observed else 1 - output.probability
            )
            if output.direction == "commission":
                assert output.observed == 1 and output.chance_of_one < 0.5
            elif output.direction == "omission":
                assert output.observed == 0 and output.chance_of_one > 0.5
            else:
                assert output.expected == output.observed
    assert seen == {"commission", "omission", None}


def test_categories_count_as_one_column():
    X, Y = mixed_table()
    explanation = fitted(X, Y).explain(0)
    names = {term.name for term in explanation.suspects[0].grounds.largest() if term.kind == "input"}
    assert "ward" in names and names <= set("abcd") | {"ward", "sex"}


def test_a_linear_estimator_has_grounds(table):
    X, Y = table
    Y = np.column_stack([Y, np.ones(len(Y))])  # one constant output
    detector = fitted(X, Y, model=LogisticRegression(), crossfit=False)
    for explanation in detector.explain_rows(range(0, 240, 9)):
        assert not explanation.left_out
        for output in explanation.suspects:
            grounds = output.grounds
            total = grounds.average + grounds.inputs.sum() + grounds.outputs.sum()
            assert total == pytest.approx(logit(output.chance_of_one), abs=1e-6)


def test_a_sure_logistic_regression_is_still_linear():
    X, Y = with_mistakes()
    detector = fitted(X, Y, model=LogisticRegression(C=1e8, max_iter=5000), crossfit=False)
    assert detector.fitted_.models.dependence() is not None
    assert not detector.explain(3).left_out
