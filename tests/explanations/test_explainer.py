"""Explanations: shares, grounds and changes are exact; sentences are plain."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from support.tables import SCORES, fitted, frame, make_table

from amiss import MCODE, DataError, Explanation
from amiss.evaluation.digits import tagged_digits

CROSSFITS = (False, True, "half", 0.6)


def mixed_table():
    """Numbers, categories of two and of four levels, missing inputs and outputs, copies of rows."""
    X, Y = make_table(150, 4, 5, seed=3)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["ward"] = rng.choice(["eyes", "heart", "knees", "skin"], len(X))
    table["sex"] = rng.choice(["f", "m"], len(X))
    table.loc[::9, "a"] = np.nan
    table.loc[4::11, "ward"] = None
    Y[2::7, 1] = np.nan
    table.iloc[20:26], Y[20:26] = table.iloc[19], Y[19]
    return table, pd.DataFrame(Y, columns=[f"tag{i}" for i in range(5)])


def changed(Y, row, explained):
    """One row of Y with the explained output changed."""
    result = Y.iloc[[row]].copy()
    result[explained.output] = 1 - result[explained.output]
    return result


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("crossfit", CROSSFITS)
def test_shares_of_a_training_row_add_up_to_its_score(score, crossfit):
    detector = fitted(*mixed_table(), rule=score, crossfit=crossfit)
    for explanation in detector.explain_rows([0, 2, 19, 21, 149]):
        shares = [output.share for output in explanation.outputs]
        assert explanation.score == pytest.approx(detector.decision_scores_[explanation.row], abs=1e-12)
        assert sum(shares) == pytest.approx(explanation.score, abs=1e-9)
        assert sum(output.part for output in explanation.outputs) == pytest.approx(1, abs=1e-9)
        for output in explanation.outputs:
            i = detector.output_names_.index(output.output)
            assert output.share == detector.contributions_[explanation.row, i]
            assert output.probability == detector.rho_[explanation.row, i]


@pytest.mark.parametrize("crossfit", CROSSFITS)
@pytest.mark.parametrize("parents", ("others", "chain", "none"))
def test_grounds_add_up_to_the_log_odds_that_made_the_score(crossfit, parents):
    detector = fitted(*mixed_table(), crossfit=crossfit, parents=parents)
    for explanation in detector.explain_rows(range(150)):
        for output in explanation.suspects:
            grounds = output.grounds
            total = grounds.average + grounds.inputs.sum() + grounds.outputs.sum()
            assert total == pytest.approx(grounds.log_odds, abs=1e-6)
            assert grounds.log_odds == pytest.approx(logit(output.expected), abs=1e-6)
            terms = grounds.largest()
            assert sum(term.log_odds for term in terms) + grounds.average == pytest.approx(total, abs=1e-9)
            sizes = [abs(term.log_odds) for term in terms]
            assert sizes == sorted(sizes, reverse=True)
            assert output.output not in {term.name for term in terms if term.kind == "output"}
            if parents == "none":
                assert not grounds.outputs.any()


def test_what_columns_add_is_nothing_on_average(table):
    """Against the average row: over all rows the terms of every column cancel."""
    X, Y = table
    detector = fitted(X, Y, crossfit=False)
    grounds = {name: [] for name in detector.output_names_}
    explainer = detector._explainer()
    for number in range(len(X)):
        case = explainer._trained(number)
        for i, name in enumerate(detector.output_names_):
            grounds[name].append(explainer._grounds(case, case.model.as_linear(5), i))
    for each in grounds.values():
        np.testing.assert_allclose(np.mean([one.inputs for one in each], axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(np.mean([one.outputs for one in each], axis=0), 0, atol=1e-9)
        assert np.mean([one.log_odds for one in each]) == pytest.approx(each[0].average)


def test_the_average_row_has_the_average_log_odds(table):
    X, Y = table
    detector = fitted(X, Y, scaling="none")
    grounds = detector.explain(X.mean(axis=0)[None], np.ones((1, 4))).suspects[0].grounds
    np.testing.assert_allclose(grounds.inputs, 0, atol=1e-12)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("neighbor_space", ("joint", "inputs"))
def test_changing_an_output_of_a_new_row_gives_the_predicted_score(score, neighbor_space):
    X, Y = mixed_table()
    detector = fitted(X[:120], Y[:120], rule=score, neighbor_space=neighbor_space)
    for row in range(120, 150):
        explanation = detector.explain(X, Y, row=row)
        assert explanation.score == pytest.approx(
            detector.decision_function(X.iloc[[row]], Y.iloc[[row]])[0], rel=1e-12
        )
        for output in explanation.suspects:
            found = detector.decision_function(X.iloc[[row]], changed(Y, row, output))
            assert output.score_if_changed == pytest.approx(found[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("crossfit", CROSSFITS)
def test_a_training_row_changed_twice_has_its_score_again(score, crossfit):
    """The models, neighbours and weights of the change are those that scored the row."""
    detector = fitted(*mixed_table(), rule=score, crossfit=crossfit)
    explainer = detector._explainer()
    for number in (0, 7, 19, 22, 25, 140):
        case = explainer._trained(number)
        for explained in detector.explain(number).suspects:
            i = detector.output_names_.index(explained.output)
            there = case.Y.copy(), case.filled.copy()
            for values in there:
                values[i] = 1 - values[i]
            other = replace(case, Y=there[0], filled=there[1], shares=np.eye(5)[i])
            back = explainer._if_changed([other])[0][i].score
            assert back == pytest.approx(detector.decision_scores_[number], rel=1e-9, abs=1e-12)


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
    position = detector._rows.place[number]
    ordered = detector._rows.order
    expected = 0.0
    row = np.hstack([X[number], Y[number]])
    row[5 + j] = 1 - row[5 + j]
    for i in range(4):
        folds = detector._rows.fold_models.folds[:, i]
        outside = ordered[folds != folds[position]]
        seen = [column for column in range(9) if column != 5 + i]
        twin = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(
            np.hstack([X, Y])[outside][:, seen], Y[outside, i]
        )
        probability = twin.predict_proba(row[None, seen])[0, 1]
        expected -= np.log(probability if row[5 + i] else 1 - probability)
    assert suspect.score_if_changed == pytest.approx(expected, rel=5e-3)


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


def test_directions_and_fitting_values(table):
    X, Y = table
    detector = fitted(*frame(X, Y))
    seen = set()
    for explanation in detector.explain_rows(range(len(X))):
        for output in explanation.outputs:
            seen.add(output.direction)
            assert output.fitting == int(output.expected > 0.5)
            assert output.expected == pytest.approx(
                output.probability if output.observed else 1 - output.probability
            )
            if output.direction == "commission":
                assert output.observed == 1 and output.expected < 0.5
            elif output.direction == "omission":
                assert output.observed == 0 and output.expected > 0.5
            else:
                assert output.fitting == output.observed
    assert seen == {"commission", "omission", None}


def test_suspects_stand_in_the_order_that_is_documented(table):
    detector = fitted(*table)
    for explanation in detector.explain_rows(range(60)):
        order = [output.score_if_changed - output.share / 3 for output in explanation.suspects]
        assert order == sorted(order)
        shares = [output.share for output in explanation.outputs[explanation.n_suspects :]]
        assert shares == sorted(shares, reverse=True)


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


def test_forests_say_what_is_exact_and_name_the_rest(table):
    X, Y = table
    forest = RandomForestClassifier(n_estimators=8, random_state=0)
    whole = fitted(X, Y, base_estimator=forest, crossfit=False)
    explanation = whole.explain(3)
    assert set(explanation.left_out) == {"grounds"} and explanation.suspects[0].grounds is None
    assert all(output.score_if_changed is not None for output in explanation.suspects)
    assert "no coefficients" in str(explanation)

    held_out = fitted(X, Y, base_estimator=forest)
    explanation = held_out.explain(3)
    assert set(explanation.left_out) == {"score_if_changed", "grounds"}
    assert all(output.score_if_changed is None for output in explanation.outputs)
    X_new = X[3:4] + 1e-6  # as it is, it would be a row of the fit
    suspect = held_out.explain(X_new, Y[3:4]).suspects[0]
    i = held_out.output_names_.index(suspect.output)
    other = Y[3:4].copy()
    other[0, i] = 1 - other[0, i]
    assert suspect.score_if_changed == pytest.approx(held_out.decision_function(X_new, other)[0], rel=1e-9)


def test_a_linear_base_estimator_has_grounds(table):
    X, Y = table
    Y = np.column_stack([Y, np.ones(len(Y))])  # one constant output
    detector = fitted(X, Y, base_estimator=LogisticRegression(), crossfit=False)
    for explanation in detector.explain_rows(range(0, 240, 9)):
        assert not explanation.left_out
        for output in explanation.suspects:
            grounds = output.grounds
            total = grounds.average + grounds.inputs.sum() + grounds.outputs.sum()
            assert total == pytest.approx(logit(output.expected), abs=1e-6)


def test_categories_count_as_one_column():
    X, Y = mixed_table()
    explanation = fitted(X, Y).explain(0)
    names = {term.name for term in explanation.suspects[0].grounds.largest() if term.kind == "input"}
    assert "ward" in names and names <= set("abcd") | {"ward", "sex"}


def test_what_cannot_be_explained_is_refused(table):
    X, Y = table
    detector = fitted(X, Y)
    for row in (-1, 240):
        for ask in (detector.explain, lambda number: detector.suspects([number])):
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


def test_sentences_for_a_flipped_row(table):
    X, Y = table
    inputs, outputs = frame(X, Y)
    model = fitted(inputs, outputs)
    number = int(np.argmax(model.decision_scores_))
    explanation = model.explain(number)
    first = explanation.suspects[0]
    text = str(explanation)
    assert text.startswith(f"Row {number} is flagged as unusual: score ")
    assert f"{first.output} is {first.observed} where {first.fitting} is expected" in text
    assert f"With {first.fitting} instead, the score would be {first.score_if_changed:.2g}" in text
    assert re.search(rf"The main reasons? to expect {first.fitting}: ", text)
    assert "Of the 30 rows nearest to it in inputs and outputs" in text and "log-odds" not in text
    assert "is not flagged" in str(model.explain(int(np.argmin(model.decision_scores_))))


def test_to_dict_is_json_and_complete(table):
    explanation = fitted(*table).explain(5)
    plain = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert plain["score"] == explanation.score and len(plain["outputs"]) == 4
    assert plain["outputs"][0]["grounds"]["log_odds"] == explanation.outputs[0].grounds.log_odds
    assert len(explanation.to_dict(n_terms=2)["outputs"][0]["grounds"]["largest"]) == 2
    assert explanation["y2"].output == "y2"
    with pytest.raises(KeyError):
        explanation["nobody"]


def test_the_notebook_view_escapes_names(table):
    X, Y = table
    outputs = pd.DataFrame(Y, columns=["<script>alert(1)</script>", "a&b", "c\u202ed", "e" * 10_000])
    explanation = fitted(X, outputs).explain(0)
    everything = replace(explanation, n_suspects=4)
    for view in (explanation._repr_html_(), everything._repr_html_()):
        assert "<script>" not in view and "\u202e" not in view and len(view) < 5000
    assert "&lt;script&gt;" in everything._repr_html_()
    assert isinstance(explanation, Explanation)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(SCORES), st.sampled_from(CROSSFITS))
def test_any_table_is_explained_exactly(seed, score, crossfit):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(40, 3)), (rng.random((40, 3)) < rng.random(3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[0], Y[1] = 0, 1
    detector = fitted(X, Y, rule=score, crossfit=crossfit, n_neighbors=10)
    explanation = detector.explain(int(rng.integers(40)))
    assert sum(output.share for output in explanation.outputs) == pytest.approx(explanation.score, abs=1e-9)
    for output in explanation.suspects:
        grounds = output.grounds
        assert grounds.average + grounds.inputs.sum() + grounds.outputs.sum() == pytest.approx(
            grounds.log_odds, abs=1e-6
        )
        assert expit(grounds.log_odds) == pytest.approx(output.expected, abs=1e-7)
        assert np.isfinite(output.score_if_changed)
    assert str(explanation)


def with_mistakes():
    """Two inputs that decide three outputs, of which two are alike; in row 3 the first output is false."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] > 0]).astype(float)
    Y[3, 0] = 1 - Y[3, 0]
    return pd.DataFrame(X, columns=["age", "dose"]), pd.DataFrame(Y, columns=["ill", "treated", "admitted"])


def test_companions_are_unexpected_only_as_long_as_the_first_stands():
    tagged = tagged_digits()
    why = MCODE().fit(tagged.data.X, tagged.data.Y).explain(476)
    first, *others = why.suspects
    assert first.output == tagged.falsified[476] and len(others) == 2
    assert all(other.direction and other.probability_if_first_changed > 0.5 for other in others)
    assert f"Unexpected only as long as {first.output} = {first.observed}: {others[0].output} = " in str(why)
    assert "Also unexpected" not in str(why)


def test_what_the_first_does_not_explain_is_unexpected_by_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X > 0).astype(float)  # two outputs that have nothing to do with one another
    clear = int(np.abs(X).min(axis=1).argmax())
    Y[clear] = 1 - Y[clear]
    why = fitted(X, Y).explain(clear)
    second = why.suspects[1]
    assert second.direction is not None and second.probability_if_first_changed < 0.5
    assert f"Also unexpected: {second.output} = {second.observed}" in str(why)
    assert "only as long as" not in str(why)


def test_sentences_name_what_adds_most_where_all_is_expected(table):
    detector = fitted(*table)
    told = 0
    for explanation in detector.explain_rows(range(240)):
        text = str(explanation)
        if "most is added by" in text:
            told += 1
            assert all(output.direction is None for output in explanation.outputs)
            largest = max(explanation.outputs, key=lambda output: output.share)
            assert f"most is added by {largest.output} = {largest.observed}" in text
    assert told > 20


def test_a_new_row_is_told_with_its_values():
    X, Y = with_mistakes()
    detector = fitted(X.mask(X > 2.5), Y)
    new = pd.DataFrame({"age": [1.25], "dose": [np.nan]})
    why = detector.explain(new, pd.DataFrame({"ill": [0], "treated": [1], "admitted": [1]}))
    assert why.values == {"age": "1.25", "dose": "missing"}
    assert "age = 1.25" in str(why) and "if it were among the 300 rows of the fit" in str(why)


def test_long_names_that_differ_at_their_ends_stay_apart(table):
    X, Y = table
    names = [f"diagnosis {'recorded at admission ' * 9}: {letter}" for letter in "ABCD"]
    text = str(fitted(X, pd.DataFrame(Y, columns=names)).explain(0))
    assert re.search(r"…[a-z ]+: [ABCD] ", text) and len(text) < 2000


def test_names_that_run_backwards_do_not_turn_the_sentence(table):
    X, Y = table
    text = str(fitted(X, pd.DataFrame(Y, columns=["א", "ב", "ג", "ד"])).explain(0))
    assert text.count("\u2068") == text.count("\u2069") > 0


def test_a_sure_logistic_regression_is_still_linear():
    X, Y = with_mistakes()
    detector = fitted(X, Y, base_estimator=LogisticRegression(C=1e8, max_iter=5000), crossfit=False)
    assert detector.dependence() is not None
    assert not detector.explain(3).left_out


def test_explanations_can_be_compared_and_kept(table):
    detector = fitted(*table)
    first, again = detector.explain(1), detector.explain(1)
    assert first == first and first != again and len({first, again}) == 2


def test_that_a_value_is_rare_is_a_reason_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    rare = (rng.random(400) < 0.02).astype(float)
    other = (X[:, 1] + 0.3 * rng.normal(size=400) > 0).astype(float)
    detector = fitted(X, pd.DataFrame({"rare": rare, "other": other}))
    why = detector.explain(int(np.flatnonzero(rare)[0]))
    grounds = why["rare"].grounds
    assert why.suspects[0].output == "rare" and grounds.average < -2
    chance = f"{expit(grounds.average):.1%}"
    assert re.search(
        rf"The main reasons? to expect 0: in the average row the model gives a 1 a chance of {chance}", str(why)
    )
