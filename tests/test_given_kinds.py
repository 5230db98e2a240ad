"""MCODE with the user's own predictions of outputs of several kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.own_predictions import as_frame, predict_kinds
from support.visits import KINDS, make_kinds

import amiss
from amiss import MCODE
from amiss.errors import DataError
from amiss.evaluation.choice import measure
from amiss.scoring.registry import RULES
from amiss.settings import Settings

WRONG = {3: ("colour", "blue"), 10: ("dose", 250.0), 17: ("lesions", 90), 31: ("grade", "severe")}


@pytest.fixture(scope="module")
def table():
    X, Y = make_kinds()
    for row, (name, value) in WRONG.items():
        other = {"blue": "green", "severe": "none"}.get(value, value)
        Y.loc[row, name] = other if Y.loc[row, name] == value else value
    return X, Y


@pytest.fixture(scope="module")
def predictions(table):
    return predict_kinds(*table)


@pytest.fixture(scope="module")
def alone(table, predictions):
    return MCODE.from_probabilities(predictions, table[1], output_kinds=KINDS, n_neighbors=30)


@pytest.fixture(scope="module")
def beside(table, predictions):
    return MCODE(output_kinds=KINDS, n_neighbors=30).fit(*table, probabilities=predictions)


def test_errors_of_every_kind_are_found_by_predictions_alone(alone):
    found = {(cell.row, cell.output) for cell in alone.cells(30)}
    assert {(row, name) for row, (name, _) in WRONG.items()} <= found


def test_errors_of_every_kind_are_found_with_inputs_beside(beside):
    found = {(cell.row, cell.output) for cell in beside.cells(30)}
    assert {(row, name) for row, (name, _) in WRONG.items()} <= found


def test_columns_are_matched_by_name(table, predictions, alone):
    again = MCODE.from_probabilities(as_frame(predictions), table[1], output_kinds=KINDS, n_neighbors=30)
    np.testing.assert_array_equal(again.decision_scores_, alone.decision_scores_)


def test_columns_without_names_have_the_order_of_outputs_and_levels(table, predictions, alone):
    levels = {column.name: list(column.levels) for column in alone.fitted_.columns.kinds}
    parts = [
        each[levels[name]] if isinstance(each, pd.DataFrame) else np.asarray(each)
        for name, each in predictions.items()
    ]
    again = MCODE.from_probabilities(np.column_stack(parts), table[1], output_kinds=KINDS, n_neighbors=30)
    np.testing.assert_array_equal(again.decision_scores_, alone.decision_scores_)


def test_one_class_takes_a_matrix_as_cleanlab_does(table, predictions):
    colours = table[1][["colour"]]
    named = MCODE.from_probabilities(predictions["colour"], colours, n_neighbors=30)
    assert named.decision_scores_.argmax() == 3
    by_position = predictions["colour"][list(named.fitted_.columns.kinds[0].levels)].to_numpy()
    plain = MCODE.from_probabilities(by_position, colours, n_neighbors=30)
    np.testing.assert_array_equal(named.decision_scores_, plain.decision_scores_)


def test_a_confident_prediction_of_another_class_raises_the_score(table, predictions):
    colours, P = table[1][["colour"]], predictions["colour"].copy()
    row = 200
    before = MCODE.from_probabilities(P, colours, n_neighbors=30).decision_scores_[row]
    other = next(level for level in P.columns if level != colours.loc[row, "colour"])
    P.loc[row] = [0.98 if level == other else 0.01 for level in P.columns]
    after = MCODE.from_probabilities(P, colours, n_neighbors=30).decision_scores_[row]
    assert after > before


@pytest.mark.parametrize("which", ["alone", "beside"])
def test_new_rows_need_theirs_and_rows_of_the_fit_score_alike(request, which, table, predictions):
    detector, (X, Y) = request.getfixturevalue(which), table
    X = None if which == "alone" else X
    with pytest.raises(DataError, match="pass those of these rows too"):
        detector.decision_function(X, Y)
    again = detector.decision_function(X, Y, probabilities=as_frame(predictions))
    np.testing.assert_allclose(again, detector.decision_scores_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("which", ["alone", "beside"])
def test_saved_detectors_score_alike(request, tmp_path, which, table, predictions):
    detector, (X, Y) = request.getfixturevalue(which), table
    X = None if which == "alone" else X[:60] + 0.1
    some = as_frame(predictions).iloc[:60]
    detector.save(tmp_path / "kinds.amiss")
    loaded = amiss.load(tmp_path / "kinds.amiss")
    np.testing.assert_array_equal(
        loaded.decision_function(X, Y[:60], probabilities=some),
        detector.decision_function(X, Y[:60], probabilities=some),
    )


def test_calibration_refits_with_predictions(table, predictions, alone):
    detector = MCODE.from_probabilities(predictions, table[1], output_kinds=KINDS, n_neighbors=30)
    detector.calibrate(None, table[1], probabilities=predictions)
    new = as_frame(predictions).iloc[::-1].reset_index(drop=True)  # of another row each
    values = detector.score_batch(None, table[1], probabilities=new).p_values
    assert values is not None and 0 < values.min() <= values.max() <= 1 and np.median(values) < 0.1


def test_a_useless_prediction_of_a_number_leaves_it_to_the_inputs(table, predictions):
    X, Y = table
    noise = np.random.default_rng(1).normal(size=len(Y))
    with_noise = MCODE(n_neighbors=30).fit(X, Y[["dose"]], probabilities={"dose": noise})
    assert with_noise.output_quality_.skill[0] > 0.5


def test_rare_levels_have_one_probability_together(table):
    _, Y = make_kinds()
    colours = Y[["colour"]].copy()
    colours.loc[[5, 6], "colour"], colours.loc[7, "colour"] = "mauve", "cyan"
    levels = sorted(colours["colour"].unique())
    P = pd.DataFrame(np.full((len(Y), len(levels)), 0.02), columns=levels)
    for row, colour in enumerate(colours["colour"]):
        P.loc[row, colour] = 1 - 0.02 * (len(levels) - 1)
    detector = MCODE.from_probabilities(P, colours, n_neighbors=30)
    names = detector.fitted_.columns.inputs
    assert len(names) == 4 and "log-probability of colour = any rare level" in names
    assert np.isfinite(detector.decision_function(None, colours[5:8], probabilities=P[5:8])).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda P: P.drop(columns="p_dose"), "there are 9 columns of predictions, and the outputs take 10"),
        (lambda P: P.rename(columns={"p_dose": "p_weight"}), "cannot be matched to output 'dose' by name"),
        (lambda P: P.assign(p_dose=np.nan), "row 0, prediction of 'dose': it is missing or infinite"),
        (lambda P: P.assign(p_tag_a=2.0), "of the probabilities: a probability lies between 0 and 1"),
        (lambda P: P.assign(p_colour_red=0.0, p_colour_blue=0.0), "of 'colour' do not add up to 1"),
        (lambda P: P.assign(p_dose="much"), "predictions must be numbers; column 'p_dose' holds texts"),
    ],
)
def test_what_is_no_prediction_is_refused(table, predictions, change, message):
    with pytest.raises(DataError, match=message):
        MCODE.from_probabilities(change(as_frame(predictions)), table[1], output_kinds=KINDS)


def test_a_dictionary_needs_every_output(table, predictions):
    without = {name: each for name, each in predictions.items() if name != "dose"}
    with pytest.raises(DataError, match="there are none for 'dose'"):
        MCODE.from_probabilities(without, table[1], output_kinds=KINDS)
    with pytest.raises(DataError, match="there are some for 'weight', no output"):
        MCODE.from_probabilities({**predictions, "weight": np.zeros(len(table[1]))}, table[1], output_kinds=KINDS)


def test_predictions_by_models_that_saw_the_rows_are_a_remark(table):
    Y = table[1][["colour"]]
    P = pd.get_dummies(Y["colour"]).astype(float)
    detector = MCODE.from_probabilities(P * 0.97 + 0.01, Y, n_neighbors=30)
    assert "have probably seen these rows" in detector.fitted_.notes[0]


def test_evaluate_makes_errors_in_outputs_whose_predictions_are_given(table, predictions):
    settings = Settings.of(output_kinds=KINDS, n_neighbors=30)
    found = measure(*table, settings, probabilities=predictions, n_seeds=1, kinds=["shift"])
    assert found.best.name in RULES
