"""Explanations are exact: contributions, order of the suspects, neighbours, ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from support.explained import CROSSFITS, RULE_NAMES, mixed_table
from support.tables import fitted, frame, make_table

from amiss import MCODE, DataError
from amiss.models import projection


@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("crossfit", CROSSFITS)
def test_contributions_of_a_training_row_add_up_to_its_score(rule, crossfit):
    detector = fitted(*mixed_table(), rule=rule, crossfit=crossfit)
    for explanation in detector.explain_rows([0, 2, 19, 21, 149]):
        added = [output.contribution for output in explanation.outputs]
        assert explanation.score == pytest.approx(detector.decision_scores_[explanation.row], abs=1e-12)
        assert sum(added) == pytest.approx(explanation.score, abs=1e-9)
        assert sum(output.share_of_score for output in explanation.outputs) == pytest.approx(1, abs=1e-9)
        for output in explanation.outputs:
            i = detector.output_names_.index(output.output)
            assert output.contribution == detector.contributions_[explanation.row, i]
            rho = detector.rho_
            if explanation.kind not in (None, "contradiction"):  # by the models that see this kind of error
                rows = detector.fitted_.training_rows
                rho = projection.rho(rows.views.by_inputs, rows.Y)
            assert output.probability == rho[explanation.row, i]


def test_suspects_stand_in_the_order_that_is_documented(table):
    detector = fitted(*table)
    for explanation in detector.explain_rows(range(60)):
        order = [output.score_if_changed - output.contribution / 3 for output in explanation.suspects]
        assert order == sorted(order)
        added = [output.contribution for output in explanation.outputs[explanation.n_suspects :]]
        assert added == sorted(added, reverse=True)


def test_neighbours_are_the_rows_that_set_the_weights(table):
    X, Y = table
    detector = fitted(*frame(X, Y), scaling="none")
    explanation = detector.explain(17)
    joint = np.hstack([X, Y])
    nearest = np.argsort(((joint - joint[17]) ** 2).sum(axis=1), kind="stable")[1:31]
    assert explanation.neighbors == tuple(nearest)
    for output in explanation.outputs:
        column = Y[:, detector.output_names_.index(output.output)]
        assert output.neighbors_alike == (column[nearest] == output.observed).sum()
        assert output.neighbors_known == 30
        errors = 1 - detector.rho_[:, detector.output_names_.index(output.output)]
        steadied = (errors[nearest].sum() + 30 * errors.mean() + 0.5) / (30 + 30.5)
        assert output.weight == pytest.approx(1 / steadied)
    assert fitted(X, Y, rule="prod").explain(17).neighbors is None


def test_rank_is_the_place_in_the_list(table):
    X, Y = table
    X, Y = np.vstack([X, X[:5]]), np.vstack([Y, Y[:5]])  # copies have equal scores
    detector = fitted(X, Y)
    order = np.argsort(-detector.decision_scores_, kind="stable")
    assert [explanation.row for explanation in detector.explain_rows(order[:20].tolist())] == order[:20].tolist()
    assert [explanation.rank for explanation in detector.explain_rows(order.tolist())] == list(range(1, 246))


def test_excluded_and_missing_outputs_are_not_explained():
    X, Y = mixed_table()
    detector = fitted(X, Y, exclude=["tag0"])
    names = {output.output for output in detector.explain(2).outputs}
    assert names == {"tag2", "tag3", "tag4"}  # tag1 is missing there


def test_dense_and_sparse_rows_are_explained_alike():
    X, Y = make_table(200, 30, 4)
    X = np.where(X > 1.7, X, 0.0)
    dense, thin = fitted(X, Y), fitted(sparse.csr_array(X), sparse.csr_array(Y))
    for number in (0, 5, 50):
        a, b = dense.explain(number), thin.explain(number)
        assert [output.output for output in a.outputs] == [output.output for output in b.outputs]
        for mine, theirs in zip(a.suspects, b.suspects, strict=True):
            assert mine.score_if_changed == pytest.approx(theirs.score_if_changed, rel=1e-6)
            np.testing.assert_allclose(mine.grounds.inputs, theirs.grounds.inputs, atol=1e-6)


def test_forests_say_what_is_exact_and_name_the_rest(table):
    X, Y = table
    forest = RandomForestClassifier(n_estimators=8, random_state=0)
    whole = fitted(X, Y, model=forest, crossfit=False)
    explanation = whole.explain(3)
    assert set(explanation.left_out) == {"grounds"} and explanation.suspects[0].grounds is None
    assert all(output.score_if_changed is not None for output in explanation.suspects)
    assert "no coefficients" in str(explanation)

    held_out = fitted(X, Y, model=forest)
    explanation = held_out.explain(3)
    assert set(explanation.left_out) == {"grounds"}
    assert all(output.score_if_changed is not None for output in explanation.suspects)
    X_new = X[3:4] + 1e-6  # as it is, it would be a row of the fit
    suspect = held_out.explain(X_new, Y[3:4]).suspects[0]
    i = held_out.output_names_.index(suspect.output)
    other = Y[3:4].copy()
    other[0, i] = 1 - other[0, i]
    assert suspect.score_if_changed == pytest.approx(held_out.decision_function(X_new, other)[0], rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(RULE_NAMES), st.sampled_from(CROSSFITS))
def test_any_table_is_explained_exactly(seed, rule, crossfit):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(40, 3)), (rng.random((40, 3)) < rng.random(3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[0], Y[1] = 0, 1
    detector = fitted(X, Y, rule=rule, crossfit=crossfit, n_neighbors=10)
    explanation = detector.explain(int(rng.integers(40)))
    assert sum(output.contribution for output in explanation.outputs) == pytest.approx(explanation.score, abs=1e-9)
    for output in explanation.suspects:
        grounds = output.grounds
        assert grounds.average + grounds.inputs.sum() + grounds.outputs.sum() == pytest.approx(
            grounds.log_odds, abs=1e-6
        )
        assert expit(grounds.log_odds) == pytest.approx(output.chance_of_one, abs=1e-7)
        assert np.isfinite(output.score_if_changed)
    assert str(explanation)


def test_what_cannot_be_explained_is_refused(table):
    X, Y = table
    detector = fitted(X, Y)
    for row in (-1, 240):
        for ask in (detector.explain, lambda number: list(detector.explain_rows([number]))):
            with pytest.raises(DataError, match=f"there is no row {row}: the fit had 240 rows"):
                ask(row)
    with pytest.raises(ValueError, match=r"there are 240 rows; say which one: explain\(X, Y, row=0\)"):
        detector.explain(X, Y)
    with pytest.raises(DataError, match="there is no row 3: X has 2 rows"):
        detector.explain(X[:2], Y[:2], row=3)
    for arguments, options in (((X,), {}), ((), {}), ((3,), {"row": 3}), ((True,), {})):
        with pytest.raises(TypeError, match="the number of a row"):
            detector.explain(*arguments, **options)
    assert detector.explain(row=3).row == 3
    with pytest.raises(ValueError, match="not fitted"):
        MCODE().explain(3)
