"""``amiss find`` and ``explain`` on tables with a class, a grade, a count, a number and tags."""

from __future__ import annotations

import csv
import io
import json

import pytest
from support.visits import make_kinds

FIND = ("find", "visits.csv", "--outputs", "tag_*,colour,grade,lesions,dose", "--id", "name", "--neighbors", 30)


@pytest.fixture
def visits(tmp_path):
    """visits.csv, in which the dose of row 10 is ten times what it should be."""
    X, Y = make_kinds(300)
    for i, column in enumerate(X.T):
        Y.insert(i, f"in{i}", column)
    Y.insert(0, "name", [f"visit {i}" for i in range(len(Y))])
    Y.loc[10, "dose"] *= 10
    Y.loc[20, "tag_b"] = None
    Y.to_csv(tmp_path / "visits.csv", index=False)
    return Y


def test_a_table_with_outputs_of_every_kind_needs_no_option_but_outputs(amiss, visits):
    done = amiss(*FIND, "-o", "-")
    assert done.code == 0, done.err
    first = next(csv.DictReader(io.StringIO(done.out)))
    assert first["id"] == "visit 10" and first["output_1"] == "dose"
    assert float(first["observed_1"]) == visits.loc[10, "dose"]
    said = " ".join(done.err.split())
    assert "binary (tag_a and tag_b), class (colour and grade), count (lesions), number (dose)" in said


def test_kinds_can_be_said(amiss, visits):
    done = amiss(*FIND, "--kinds", "lesions=number,grade=none<mild<severe")
    assert done.code == 0, done.err
    assert "ordinal (grade), number (lesions and dose)" in " ".join(done.out.split())


def test_cells_have_a_suggestion_and_an_interval(amiss, visits):
    done = amiss(*FIND, "--cells", "-o", "-", "--output-format", "jsonl", "--quiet")
    cells = [json.loads(line) for line in done.out.splitlines()]
    assert cells[0]["id"] == "visit 10" and cells[0]["low"] < cells[0]["suggested"] < cells[0]["high"]
    by_output = {cell["output"]: cell for cell in cells}
    assert by_output["colour"]["suggested"] in ("red", "green", "blue") and by_output["colour"]["low"] is None
    assert isinstance(by_output["lesions"]["suggested"], int)


def test_a_list_in_parquet_has_values_as_texts(amiss, visits, tmp_path):
    import pyarrow.parquet as pq

    assert amiss(*FIND, "-o", "found.parquet", "--quiet").code == 0
    table = pq.read_table(tmp_path / "found.parquet")
    assert str(table.schema.field("observed_1").type) == "string" and table.num_rows == 300


def test_json_and_quality_know_the_kinds(amiss, visits):
    found = json.loads(amiss(*FIND, "--json", "--quality").out)
    assert [each["kind"] for each in found["quality"]] == ["binary", "class", "class", "count", "number", "binary"]
    assert found["top"][0]["outputs"][0]["output"] == "dose"


def test_a_value_is_explained_by_what_was_expected(amiss, visits):
    done = amiss("explain", *FIND[1:2], "visit 10", *FIND[2:])
    said = " ".join(done.out.split())
    assert "where" in said and "is expected (the model gives a value as far off a chance of" in said
    assert "instead, the score would be" in said


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ("dose", "write NAME=KIND"),
        ("dose=colour", "'dose' must be one of binary, class, ordinal, count, number"),
        ("weight=number", "names 'weight', which is not an output"),
        ("colour=number", "visits.csv, line 2, column 'colour': a number is expected"),
        ("dose=count", "column 'dose': a count is a whole number from 0 on"),
    ],
)
def test_kinds_that_cannot_be_are_refused_by_one_line(amiss, visits, kinds, message):
    done = amiss(*FIND, "--kinds", kinds)
    assert done.code == 2 and message in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_a_tag_with_a_stray_value_is_refused_where_it_stands(amiss, visits, tmp_path):
    stray = visits.copy()
    stray.loc[7, "tag_a"] = 9
    stray.to_csv(tmp_path / "visits.csv", index=False)
    done = amiss(*FIND)
    assert done.code == 2 and "visits.csv, line 9, column 'tag_a': an output must be 0 or 1" in done.err
