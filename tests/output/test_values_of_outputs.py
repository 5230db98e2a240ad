"""Values of outputs as lists, explanations and summaries write them: levels that a fit had not, whole numbers."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest
from support.visits import KINDS, make_kinds

from amiss import MCODE

TABLE = ("--outputs", "tag_*,colour,grade,lesions,dose", "--kinds", "dose=number", "--neighbors", 30)


def visits(n_rows, seed=0):
    X, Y = make_kinds(n_rows, seed)
    return pd.concat([pd.DataFrame(X, columns=list("abcd")), Y.assign(dose=(Y["dose"] * 500).round(0))], axis=1)


@pytest.fixture
def later(amiss, tmp_path):
    """A model, and new rows of which two have colours that it does not know."""
    visits(300).to_csv(tmp_path / "visits.csv", index=False)
    assert amiss("fit", "visits.csv", *TABLE, "-o", "m.amiss").code == 0
    new = visits(30, seed=5)
    new.loc[4, "colour"], new.loc[9, "colour"] = "pink", "teal"
    new.to_csv(tmp_path / "new.csv", index=False)
    return new


def test_a_new_level_is_named_in_summary_list_and_explanation(amiss, later, tmp_path):
    done = amiss("score", "m.amiss", "new.csv", "-o", "l.csv", "--report", "r.html", "--reasons", 6)
    said = " ".join(done.out.split())
    assert "Output colour: 2 values of a level that the fit has not seen: pink (1 row) and teal (1 row)." in said
    assert "colour = pink (p" in said and "a value that the fit had not" not in said
    listed = {line["row"]: line for line in csv.DictReader((tmp_path / "l.csv").read_text().splitlines())}
    for row, level in (("5", "pink"), ("10", "teal")):
        place = next(n for n in range(1, 7) if listed[row][f"output_{n}"] == "colour")
        assert listed[row][f"observed_{place}"] == level
        explained = amiss("explain", "m.amiss", "new.csv", row)
        assert f"colour is {level} where" in " ".join(explained.out.split())
        assert json.loads(amiss("explain", "m.amiss", "new.csv", row, "--json").out)["observed"]["colour"] == level
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "pink" in page and "a value that the fit had not" not in page
    remarks = json.loads(amiss("score", "m.amiss", "new.csv", "--json").out)["remarks"]
    assert any("pink (1 row)" in remark for remark in remarks)


def test_rows_with_known_levels_need_no_remark(amiss, later, tmp_path):
    later.drop(index=[4, 9]).to_csv(tmp_path / "known.csv", index=False)
    done = amiss("score", "m.amiss", "known.csv")
    assert done.code == 0 and "of a level" not in done.out


def test_new_levels_follow_their_rows_and_columns():
    X, Y = make_kinds(200)
    detector = MCODE(output_kinds=KINDS).fit(X, Y)
    new_X, new = make_kinds(30, seed=5)
    new.loc[4, "colour"], new.loc[9, "grade"] = "pink", "dire"
    _, outputs = detector.fitted_.columns.align(new_X, new)
    assert outputs.new_levels == {1: {4: "pink"}, 2: {9: "dire"}}
    assert outputs.take(np.array([9, 4])).new_levels == {1: {1: "pink"}, 2: {0: "dire"}}
    assert outputs[np.arange(30) == 4].new_levels == {1: {0: "pink"}, 2: {}}
    assert outputs.select([2, 0]).new_levels == {0: {9: "dire"}}
    batch = detector.score_batch(new_X, new)
    cells = {(cell.row, cell.output): cell.observed for cell in detector.cells(batch=batch)}
    assert cells[4, "colour"] == "pink" and cells[9, "grade"] == "dire"
    assert detector.explain(new_X, new, row=4)["colour"].observed == "pink"


def test_whole_numbers_have_no_point(amiss, tmp_path):
    table = visits(300)
    table.loc[10, "dose"] = 150500
    table.to_csv(tmp_path / "visits.csv", index=False)
    find = ("find", "visits.csv", *TABLE)
    assert "dose = 150500 (p" in amiss(*find, "-o", "l.csv").out
    assert "  150500  " in amiss(*find, "--cells", "-o", "c.csv").out
    for name in ("l.csv", "c.csv"):
        lines = csv.DictReader((tmp_path / name).read_text().splitlines())
        values = [
            line[field]
            for line in lines
            for field in line
            if field.startswith(("observed", "suggested")) or field in ("low", "high")
        ]
        assert "150500" in values and not any(value.endswith(".0") for value in values)
    assert amiss(*find, "-o", "l.parquet", "-q").code == 0
    assert "150500" in pd.read_parquet(tmp_path / "l.parquet")["observed_1"].tolist()
    explained = amiss("explain", "visits.csv", "11", *TABLE).out
    assert "dose is 150500 where" in " ".join(explained.split()) and "150500.0" not in explained
    assert "e+0" not in explained  # nor is an interval of large numbers written with a power of ten
