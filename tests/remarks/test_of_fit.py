"""What is said of a table and its fit: each remark where it is true, and nothing of a good table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import fitted, frame, make_table

import amiss as package
from amiss.data.remark import Code, Remark
from amiss.output.summary import coded_remarks, repeated_ids


def codes(detector):
    return [remark.code for remark in detector.fitted_.remarks]


def said_of(detector, code):
    (text,) = [remark.text for remark in detector.fitted_.remarks if remark.code == code]
    return text


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_said_of_a_good_table(seed):
    X, Y = make_table(400, seed=seed)
    detector = fitted(X, Y)
    assert codes(detector) == [] and detector.fitted_.notes == ()


def test_numbers_of_rows_are_identifiers_in_any_order():
    X, Y = frame(*make_table())
    rng = np.random.default_rng(0)
    for column, words in (
        (np.arange(240), "only numbers the rows"),
        (1000 + rng.permutation(240), "holds a whole number of its own for every row"),
        (np.sort(rng.choice(10**6, 240, replace=False)), "holds a whole number of its own for every row"),
    ):
        said = said_of(fitted(X.assign(number=column), Y), Code.IDENTIFIER)
        assert said == f'Column "number" {words}. If it identifies them, pass --id number.'
    for column in (rng.choice(10**6, 240, replace=False), np.arange(240) // 2, np.arange(240) + 0.5):
        assert Code.IDENTIFIER not in codes(fitted(X.assign(number=column), Y))


def test_far_fewer_rows_than_inputs():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(14, 120)), np.tile([[0.0, 1.0], [1.0, 1.0]], (7, 1))
    Y[::3, 1] = 0
    assert "120 inputs and only 14 rows" in said_of(fitted(X, Y, n_neighbors=5), Code.FEW_ROWS)
    assert Code.FEW_ROWS not in codes(fitted(X[:, :55], Y, n_neighbors=5))


def test_outputs_that_nothing_predicts_are_named():
    X, Y = make_table(400)
    Y = np.column_stack([Y, np.random.default_rng(5).random(400) < 0.5])
    detector = fitted(X, Y)
    said = said_of(detector, Code.NO_SKILL)
    assert detector.output_quality_.skill[4] <= 0.01 and "1 output cannot be predicted" in said and ": y4." in said
    assert Code.NO_SKILL not in codes(fitted(X, Y, exclude=[4]))


def test_flags_that_come_from_one_output():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    Y = (X[:, :4] + 0.5 * X[:, 1:] + 0.05 * rng.normal(size=(400, 4)) > 0).astype(float)
    for outputs, is_one in (([3], True), ([0, 1, 2, 3], False)):
        wrong, changed = rng.choice(400, 30, replace=False), Y.copy()
        which = np.resize(outputs, 30)
        changed[wrong, which] = 1 - changed[wrong, which]
        detector = fitted(X, changed, contamination=0.04)
        first = detector.contributions_[detector.labels_ == 1].argmax(axis=1)
        assert (np.mean(first == 3) >= 0.8) == is_one == (Code.ONE_OUTPUT in codes(detector))
        if is_one:
            assert "of the flagged rows are flagged for y3." in said_of(detector, Code.ONE_OUTPUT)


def test_ids_that_stand_in_several_rows():
    assert repeated_ids(["a", "b", "c"]) == [] == repeated_ids(None) == repeated_ids(["", "", "a"])
    (said,) = repeated_ids(["a", "b", "a", "b", "a", "c"])
    assert said.startswith("2 ids stand in several rows, 5 rows in all.")


@given(st.sampled_from([*Code]), st.text())
def test_a_remark_is_read_as_it_was_written(code, text):
    assert Remark.read(Remark(code, text).written) == Remark(code, text)


def test_a_model_file_keeps_remarks_with_their_codes(tmp_path):
    X, Y = frame(*make_table())
    detector = fitted(X.assign(again=X["in2"]), Y)
    detector.save(tmp_path / "m.amiss")
    again = package.load(tmp_path / "m.amiss").fitted_
    assert again.remarks == detector.fitted_.remarks and again.remarks[0].code == Code.COPIED_INPUT
    assert again.notes == detector.fitted_.notes


def test_remarks_of_older_files_have_no_code():
    assert Remark.read("Boosted trees help to predict 1 output: y.") == Remark(
        Code.NOTE, "Boosted trees help to predict 1 output: y."
    )


def test_the_command_says_them_with_codes(amiss, records, tmp_path):
    doubled = records.assign(number=range(1, 121), again=records["in2"], name=["same", *records["name"][1:]])
    doubled.loc[5, "name"] = "same"
    doubled.to_csv(tmp_path / "t.csv", index=False)
    options = ("t.csv", "--outputs", "tag_*", "--id", "name", "--neighbors", 30)
    found = json.loads(amiss("find", *options, "--json").out)
    assert found["remark_codes"] == ["identifier", "copied-input", "repeated-ids"]
    assert len(found["remarks"]) == 3 and "pass --drop number" in found["remarks"][0]
    printed = " ".join(amiss("find", *options, "--report", "r.html").out.split())
    fit = " ".join(amiss("fit", *options, "-o", "m.amiss").out.split())
    page = (tmp_path / "r.html").read_text()
    for remark in found["remarks"]:
        assert remark in printed
    assert found["remarks"][1] in fit and "1 id stands in several rows, 2 rows in all." in page


def test_nothing_untrue_is_said_of_yeast(paper_data):
    data = package.read(paper_data / "yeast" / "yeast.arff", outputs=paper_data / "yeast" / "yeast.xml")
    detector = package.MCODE().fit(data.X, data.Y)
    assert {remark.code for remark in coded_remarks(detector.fitted_)} <= {Code.TIES}
    doubled = pd.DataFrame(np.asarray(data.X), columns=data.input_names)
    assert codes(package.MCODE(n_neighbors=0).fit(doubled.assign(again=doubled.iloc[:, 3]), data.Y)) == [
        Code.COPIED_INPUT
    ]
