"""JSON: an object per line, or an array of objects."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amiss

LINES = (
    '{"name": "a1", "age": 34.5, "ward": "eyes", "y": true}\n\n'
    '{"y": false, "name": "a2", "ward": null}\n'
    '{"name": "a3", "age": 7, "ward": "ear", "y": 1}\n'
)


def array(lines):
    return "[" + ",\n".join(line for line in lines.splitlines() if line) + "]"


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [("t.jsonl", LINES, "line 4"), ("t.ndjson", LINES, "line 4"), ("t.json", array(LINES), "row 3")],
)
def test_flat_objects(tmp_path, name, content, place):
    (tmp_path / name).write_text(content)
    data = amiss.read(tmp_path / name, outputs="y", id="name")
    np.testing.assert_array_equal(data.X.values[:, 0], [34.5, np.nan, 7])
    assert data.input_names == ("age", "ward") and data.X.levels == {1: ("ear", "eyes")}
    np.testing.assert_array_equal(data.Y.values[:, 0], [1, 0, 1])
    assert data.ids == ("a1", "a2", "a3")
    assert data.X.where(2) == f"{tmp_path / name}, {place}"


CELLS = st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False))


@given(st.lists(st.fixed_dictionaries({"y": st.integers(0, 1)}, optional={"a": CELLS, "b": CELLS}), min_size=2))
@settings(max_examples=30)
def test_numbers_are_what_pandas_reads(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("json") / "t.jsonl"
    rows = [{"a": 1, "b": 2, "y": 0}, *rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (path.parent / "t.json").write_text(json.dumps(rows))
    expected = pd.DataFrame(rows)[["a", "b"]].to_numpy(dtype=float)
    for each in (path, path.parent / "t.json"):
        np.testing.assert_array_equal(amiss.read(each, outputs="y").X.values, expected)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": {"b": 1}, "y": 1}', r"line 3, column 'a': the cell holds an object, and tables are flat; drop"),
        ('{"a": [1], "y": 1}', r"line 3, column 'a': the cell holds a list, and tables are flat"),
        ('{"a": 1, "a": 2, "y": 1}', r"line 3: key 'a' stands twice in an object"),
        ('{"a": 1, "y": 1', r"line 3: this is not JSON \(column 1\d\)"),
        ("[1, 2]", r"line 3: this is not an object"),
        ("[" * 100_000, r"line 3: the values are nested too deeply"),
        ('{"a": "\\ud800", "y": 1}', r"line 3, column 'a': the text holds half a character"),
        ('{"\\ud800": 1, "y": 1}', r"column '\?': the text holds half a character"),
        ('{" ": 1, "y": 1}', r"a key is empty"),
        ('{"a": 1e999, "y": 1}', r"line 3, column 'a': the value is infinite"),
        ('{"a": Infinity, "y": 1}', r"line 3, column 'a': the value is infinite"),
        ('{"a": 1, "y": "maybe"}', r"line 3, column 'y': an output must be"),
    ],
)
def test_what_is_refused_is_named_by_line_and_key(refused, line, message):
    found = refused('{"a": 1, "y": 0}\n\n' + line + "\n", "t.jsonl", outputs="y")
    assert re.search(message, found) and "\n" not in found, found


def test_a_nested_value_that_is_dropped_does_no_harm(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1, "b": [1], "y": 0}\n{"a": 2, "b": {}, "y": 1}\n')
    assert amiss.read(tmp_path / "t.jsonl", outputs="y", drop="b").input_names == ("a",)


def test_numbers_of_any_length(tmp_path):
    long = "0." + "1" * 5000
    lines = [f'{{"a": {number}, "y": {y}}}' for number, y in ((long, 0), (10**15, 1), ("NaN", 1))]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    values = amiss.read(tmp_path / "t.jsonl", outputs="y").X.values[:, 0]
    np.testing.assert_array_equal(values, [1 / 9, 1e15, np.nan])


def test_one_kind_of_file_taken_for_the_other(refused):
    assert "name it .json" in refused('[\n{"a": 1, "y": 0}]', "t.jsonl", outputs="y")
    assert "called .json" in refused('[{"a": 1, "y": 0}]\n', "t.jsonl", outputs="y")
    assert "called .jsonl" in refused('{"a": 1, "y": 0}', "t.json", outputs="y")
    assert "t.json, line 2: this is not JSON" in refused(
        '{"a": 1, "y": 0}\n{"a": 1, "y": 0}', "t.json", outputs="y"
    )
    assert "no rows" in refused("[]", "t.json", outputs="y")
    assert "the file is empty" in refused("", "t.jsonl", outputs="y")


def test_a_very_long_line(refused, monkeypatch):
    monkeypatch.setattr("amiss.readers.source.LONGEST_LINE", 1 << 10)
    found = refused('{"a": 1, "y": 0}\n' + '{"a": "' + "x" * 2000 + '", "y": 1}\n', "t.jsonl", outputs="y")
    assert "t.jsonl, line 2: the line is longer than" in found
