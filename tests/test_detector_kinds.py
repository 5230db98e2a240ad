"""MCODE on tables whose outputs are of several kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from support.visits import KINDS, make_kinds

from amiss import MCODE
from amiss.errors import DataError

TAGGED = 27  # a row in which the tag is plain
WRONG = {
    3: ("colour", None),
    10: ("dose", 250.0),
    17: ("lesions", 90),
    TAGGED: ("tag_a", None),
    31: ("grade", None),
}


def with_errors(Y):
    """One wrong output in some rows."""
    Y = Y.copy()
    for row, (name, value) in WRONG.items():
        if name == "colour":
            value = "green" if Y.loc[row, "colour"] == "blue" else "blue"
        elif name == "tag_a":
            value = 1 - Y.loc[row, "tag_a"]
        elif name == "grade":
            value = "none" if Y.loc[row, "grade"] == "severe" else "severe"
        Y.loc[row, name] = value
    return Y


@pytest.fixture(scope="module")
def table():
    X, Y = make_kinds()
    return X, with_errors(Y)


@pytest.fixture(scope="module")
def detector(table):
    return MCODE(output_kinds=KINDS, n_neighbors=30).fit(*table)


def test_kinds_are_told_and_said(detector):
    assert [column.kind.name for column in detector.fitted_.columns.kinds] == [
        "binary", "class", "ordinal", "count", "number", "binary",
    ]  # fmt: skip
    assert detector.output_quality_.kind[1] == "class"
    assert any(note.startswith("Kinds of outputs: binary (tag_a and tag_b)") for note in detector.fitted_.notes)


def test_wrong_values_of_every_kind_are_found(detector):
    found = {(cell.row, cell.output) for cell in detector.cells(25)}
    assert {(row, name) for row, (name, _) in WRONG.items()} <= found


def test_contributions_add_up_to_the_scores(detector):
    np.testing.assert_allclose(detector.contributions_.sum(axis=1), detector.decision_scores_)
    assert (detector.contributions_ >= 0).all()


def test_suggestions_are_values_of_the_kind(detector, table):
    by_output = {}
    for cell in detector.cells():
        by_output.setdefault(cell.output, []).append(cell)
    assert all(cell.suggested == 1 - cell.observed for cell in by_output["tag_a"])
    assert {cell.suggested for cell in by_output["colour"]} <= {"red", "green", "blue"}
    assert all(cell.suggested != cell.observed for cell in (*by_output["colour"], *by_output["grade"]))
    counts = by_output["lesions"]
    assert all(isinstance(cell.suggested, int) and cell.suggested >= 0 and cell.low >= 0 for cell in counts)
    (tenfold,) = (cell for cell in by_output["dose"] if cell.row == 10)
    assert tenfold.observed == 250.0 and tenfold.low < tenfold.suggested < tenfold.high < 60


def test_intervals_hold_about_as_many_values_as_they_should(detector, table):
    """Eight of ten, of numbers that were not made wrong."""
    cells = [cell for cell in detector.cells() if cell.output == "dose"]
    assert 0.7 < np.mean([cell.low <= cell.observed <= cell.high for cell in cells]) < 0.9


def test_an_explanation_says_what_was_expected_instead(detector):
    said = str(detector.explain(10))
    assert "dose is 250 where" in said and "is expected" in said and "instead, the score would be" in said
    explained = detector.explain(10)["dose"]
    assert explained.direction == "high" and explained.interval[0] < explained.instead < explained.interval[1]
    assert detector.explain(3)["colour"].direction == "other"


@pytest.mark.parametrize("row", [0, 5, 11])
def test_what_if_is_the_score_of_the_changed_row(detector, row):
    X, Y = make_kinds(12, seed=9)
    Y = with_errors(pd.concat([Y] * 3, ignore_index=True)).iloc[:12]
    explanation = detector.explain(X, Y, row=row)
    for output in explanation.suspects:
        changed = Y.copy()
        changed[output.output] = changed[output.output].astype(object)
        changed.loc[row, output.output] = output.instead
        changed[output.output] = changed[output.output].infer_objects()
        after = detector.decision_function(X, changed)[row]
        assert output.score_if_changed == pytest.approx(after, rel=1e-4, abs=1e-9)
    np.testing.assert_allclose(explanation.score, detector.decision_function(X, Y)[row])


def test_rows_of_the_fit_keep_their_scores(detector, table):
    np.testing.assert_array_equal(detector.decision_function(*table), detector.decision_scores_)


def test_new_rows_that_are_wrong_score_higher(detector):
    X, Y = make_kinds(60, seed=5)
    usual = detector.decision_function(X, Y)
    wrong = detector.decision_function(X, with_errors(Y))
    assert all(wrong[row] > usual[row] for row in WRONG)


def test_the_order_of_the_rows_does_not_matter(detector, table):
    X, Y = table
    order = np.random.default_rng(0).permutation(len(X))
    again = MCODE(output_kinds=KINDS, n_neighbors=30).fit(X[order], Y.iloc[order].reset_index(drop=True))
    np.testing.assert_allclose(again.decision_scores_, detector.decision_scores_[order], rtol=1e-9)


def test_threads_change_no_number(detector, table):
    one = MCODE(output_kinds=KINDS, n_neighbors=30, n_jobs=1).fit(*table)
    np.testing.assert_array_equal(one.decision_scores_, detector.decision_scores_)


def test_the_unit_of_a_number_hardly_matters(detector, table):
    """Rows are put in another order, so that folds and trees are others."""
    X, Y = table
    other = MCODE(output_kinds=KINDS, n_neighbors=30).fit(X, Y.assign(dose=Y["dose"] * 1e4))
    assert spearmanr(other.decision_scores_, detector.decision_scores_).statistic > 0.9
    assert np.argmax(other.decision_scores_) == np.argmax(detector.decision_scores_) == 10


def test_missing_outputs_of_every_kind_add_nothing(table):
    X, Y = table
    Y = Y.copy()
    for place, name in enumerate(Y.columns):
        Y[name] = Y[name].where(np.arange(len(Y)) % 9 != place)
    detector = MCODE(output_kinds=KINDS, n_neighbors=30).fit(X, Y)
    gone = Y.isna().to_numpy()
    assert gone.any(axis=0).all() and not detector.contributions_[gone].any()
    assert np.isfinite(detector.decision_scores_).all() and np.isnan(detector.probabilities_[gone]).all()


def test_an_unseen_class_is_suspicious(detector):
    X, Y = make_kinds(30, seed=5)
    strange = Y.assign(colour=Y["colour"].where(np.arange(30) != 4, "ultraviolet"))
    before, after = (detector.contributions(X, each)[4, 1] for each in (Y, strange))
    assert after > before


def test_rare_levels_are_pooled_and_that_is_said(table):
    X, Y = table
    names = (
        Y["colour"].where(~np.isin(np.arange(len(Y)), [50, 51, 60]), "odd").where(np.arange(len(Y)) != 70, "rare")
    )
    detector = MCODE(n_neighbors=30, output_kinds=KINDS).fit(
        X, Y.assign(colour=names.where(np.arange(len(Y)) != 60, "once"))
    )
    assert any("judged as one: colour (3 levels)" in note for note in detector.fitted_.notes)


def test_many_classes_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    labels = np.array([f"c{i:03}" for i in range(120)])[np.argmax(X @ rng.normal(size=(5, 120)), axis=1)]
    detector = MCODE(n_neighbors=30, strengths=(0.1,)).fit(X, pd.DataFrame({"label": labels}))
    assert np.isfinite(detector.decision_scores_).all()


@pytest.mark.parametrize("rule", ["flip", "lrw", "rw", "prod"])
def test_every_rule_scores_every_kind(table, rule):
    detector = MCODE(rule=rule, output_kinds=KINDS, n_neighbors=30).fit(*table)
    assert detector.decision_scores_[10] > np.quantile(detector.decision_scores_, 0.9)


def test_outputs_can_be_left_out_by_name_and_by_skill(table):
    X, Y = table
    noise = np.random.default_rng(3).normal(size=len(X))
    detector = MCODE(output_kinds=KINDS, n_neighbors=30, exclude=0.1).fit(X, Y.assign(noise=noise))
    assert detector.output_quality_["noise"]["excluded"] and not detector.output_quality_["dose"]["excluded"]
    assert not detector.contributions_[:, -1].any()


def test_false_discovery_levels_and_chances_flag_some_of_the_wrong_rows(table):
    by_level = MCODE(output_kinds=KINDS, n_neighbors=30, fdr=0.2).fit(*table)
    by_chance = MCODE(output_kinds=KINDS, n_neighbors=30, contamination="auto").fit(*table)
    assert by_level.labels_[list(WRONG)].any() and by_chance.labels_[list(WRONG)].any()
    assert by_level.labels_.sum() <= 20 and by_chance.labels_.sum() <= 20


def test_calibrated_p_values_of_rows_like_those_of_the_fit_are_spread_evenly(table):
    X, Y = make_kinds(200, seed=11)
    detector = MCODE(output_kinds=KINDS, n_neighbors=30).fit(*table).calibrate(*table)
    found = detector.p_values(X, Y)
    assert 0.35 < found.mean() < 0.65 and (found < 0.1).mean() < 0.2


def test_groups_are_judged_by_models_that_saw_none_of_them(table):
    X, Y = table
    X, Y = np.vstack([X, X[:40] + 1e-3]), pd.concat([Y, Y.iloc[:40]], ignore_index=True)
    groups = np.concatenate([np.arange(400), np.arange(40)])
    apart = MCODE(output_kinds=KINDS, n_neighbors=30).fit(X, Y, groups=groups)
    together = MCODE(output_kinds=KINDS, n_neighbors=30).fit(X, Y)
    assert apart.probabilities_[10, 4] < together.probabilities_[10, 4]


def test_trees_may_predict_the_choices(table):
    detector = MCODE(output_kinds=KINDS, n_neighbors=30, model="boosting").fit(*table)
    assert {3, TAGGED} <= set(np.argsort(-detector.decision_scores_)[:40].tolist())


def test_numbers_alone_need_no_tags():
    X, Y = make_kinds(300)
    Y = Y[["dose"]].copy()
    Y.loc[7, "dose"] = 80.0
    detector = MCODE(n_neighbors=0).fit(X, Y)
    assert np.argmax(detector.decision_scores_) == 7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"parents": "chain"}, "parents='chain' is for tables in which every output is 0 or 1")],
)
def test_what_is_for_tags_only_is_refused(table, parameters, message):
    with pytest.raises(DataError, match=message):
        MCODE(output_kinds=KINDS, **parameters).fit(*table)
