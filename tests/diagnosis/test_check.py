"""What is said of columns before a model is fitted, by ``amiss.check`` and by the file that it writes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amiss
from amiss.data.convert import as_table
from amiss.diagnosis.duplicates import duplicates
from amiss.diagnosis.sentinels import sentinels

N = 60
EACH = np.arange(N)


@pytest.fixture
def visits():
    return pd.DataFrame(
        {
            "pid": [f"P{i:04d}" for i in EACH],
            "number": EACH + 1,
            "age": [-9 if i in (3, 8) else 20 + i * 7 % 50 for i in EACH],
            "weight": [f"{50 + i / 4} kg" for i in EACH],
            "day": pd.date_range("2024-01-01", periods=N, freq="D").strftime("%Y-%m-%d"),
            "ward": np.array(["eyes", "skin", "ear"])[EACH % 3],
            "smoker": np.where(EACH % 2, "ja", "nein"),
            "site": "north",
            "ward again": np.array(["eyes", "skin", "ear"])[EACH % 3],
            "note": [f"came on day {i} with fever" for i in EACH],
            "mixed": ["x" if i == 7 else str(i) for i in EACH],
            "ill": EACH % 2,
            "grade": np.array(["low", "high", "none"])[EACH * 5 // 3 % 3],
        }
    )


def test_every_column_has_a_role_a_kind_and_a_remark(tmp_path, visits):
    visits.to_csv(tmp_path / "t.csv", index=False)
    found = amiss.check(tmp_path / "t.csv", outputs="ill,grade")
    assert {each.name: (each.role, each.kind, each.remark) for each in found} == {
        "pid": ("id", "text", "identifies the rows"),
        "number": ("drop", "number", "only numbers the rows"),
        "age": ("input", "number", "-9 may stand for missing"),
        "weight": ("input", "number", ""),
        "day": ("input", "date", "with weekday as categories"),
        "ward": ("input", "category", ""),
        "smoker": ("input", "yes_no", ""),
        "site": ("drop", "category", "constant"),
        "ward again": ("drop", "category", "the same as 'ward'"),
        "note": ("input", "text", "free text"),
        "mixed": ("input", "", "needs a decision"),
        "ill": ("output", "binary", ""),
        "grade": ("output", "class", ""),
    }
    assert [each.name for each in found.undecided] == ["note", "mixed"] and found.problem == ""
    assert "fever" not in repr(found) and "fever" not in found.to_toml()


def test_a_frame_is_checked_like_the_file_that_it_makes(tmp_path, visits):
    visits.to_csv(tmp_path / "t.csv", index=False)
    by_file, by_frame = amiss.check(tmp_path / "t.csv"), amiss.check(visits)
    assert [each.name for each in by_frame] == list(visits)
    same = [each.name for each, other in zip(by_file, by_frame, strict=True) if each == other]
    assert set(visits) - set(same) == {"mixed"}  # a frame may hold texts of digits on purpose


def test_ticks_beside_empty_cells_are_no_constant():
    found = amiss.check(pd.DataFrame({"a": EACH / 7, "seen": np.where(EACH % 3, "x", None), "ill": EACH % 2}))
    assert (found["seen"].role, found["seen"].kind) == ("input", "yes_no")


def test_without_outputs_those_that_may_be_are_named(visits):
    found = amiss.check(visits)
    assert {each.name: each.remark for each in found if "output" in each.remark} == {
        "ward": "may be an output (class)",
        "smoker": "may be an output (binary)",
        "ill": "may be an output (binary)",
        "grade": "may be an output (class)",
    }


def test_what_is_saved_is_read_once_the_decisions_are_made(tmp_path, visits):
    visits.to_csv(tmp_path / "t.csv", index=False)
    found = amiss.check(tmp_path / "t.csv", outputs="ill,grade")
    found.save(tmp_path / "columns.toml")
    with pytest.raises(amiss.DataError, match=r'2 columns need a decision: "note" \(free text\) and "mixed"'):
        amiss.read(tmp_path / "t.csv", columns=tmp_path / "columns.toml")
    decided = found.to_columns() | {"note": {"role": "drop"}, "mixed": {"kind": "number", "missing": ["x"]}}
    data = amiss.read(tmp_path / "t.csv", columns=decided)
    assert data.output_names == ("ill", "grade") and data.id_column == "pid" and data.ids[1] == "P0001"
    assert data.input_names == ("age", "weight", "day", "day (weekday)", "ward", "smoker", "mixed")
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(data.X.values[:, 0])), [3, 8])
    again = amiss.check(tmp_path / "t.csv", columns=decided)
    assert again.undecided == () and again.problem == "" and again["mixed"].kind == "number"


@pytest.mark.parametrize(
    ("columns", "outputs", "problem"),
    [
        ({"ill": EACH % 2}, "ill", "no column can be an input"),
        ({"ill": EACH % 2, "site": "north", "pid": [f"P{i}" for i in EACH]}, "ill", "no column can be an input"),
        ({"a": EACH / 7, "t": [f"t{i}" for i in EACH]}, "t", '"t" cannot be an output: .*60 different texts'),
        ({"a": EACH / 7, "t": ["maybe", *["yes", "no"] * 29, "no"]}, "t", '"t" cannot be an output: row 0'),
    ],
)
def test_what_is_hopeless_is_said(columns, outputs, problem):
    found = amiss.check(pd.DataFrame(columns), outputs=outputs)
    assert re.search(problem, found.problem), found.problem


def test_findings_are_records_and_frames(visits):
    found = amiss.check(visits)
    for library in ("pandas", "polars"):
        frame = found.to_frame(library)
        assert list(frame["column"]) == list(visits) and list(frame["needs_decision"]).count(True) == 1
    assert found.records[0]["role"] == "id" and found["pid"].role == "id" and len(found) == len(visits.columns)


@given(st.lists(st.integers(0, 60), min_size=5, max_size=50), st.sampled_from([-9, -99, 999, 9999]))
def test_a_code_far_from_all_values_is_a_sentinel_only_if_it_repeats(values, code):
    cells = np.array([*values, code, code], dtype=float)
    assert sentinels(cells) == ([code] if len(set(values)) > 1 and code != 99 else [])
    assert sentinels(cells[:-1]) == [] and sentinels(np.array(values, dtype=float)) == []


def test_copies_are_found_among_numbers_and_categories(visits):
    gaps = np.where(EACH == 4, np.nan, EACH)
    frame = visits.assign(b=visits.age, c=visits.age + 1, d=gaps, e=gaps)
    assert duplicates(as_table(frame)) == {"ward again": "ward", "b": "age", "e": "d"}


def test_repeated_texts_among_numbers_are_suggested_as_missing(tmp_path):
    cells = [("k.A.", "<5", "once")[i // 7] if i % 7 == 0 and i < 15 else f"{i / 4}" for i in range(300)]
    cells[200:202] = ["k.A.", "<5"]
    pd.DataFrame({"a": cells, "y": np.arange(300) % 2}).to_csv(tmp_path / "t.csv", index=False)
    found = amiss.check(tmp_path / "t.csv", outputs="y")
    advice, text = found["a"].advice, found.to_toml()
    assert "t.csv, line 2: this is not a number, but most of the column is (5 of 300 cells are not)" in advice
    assert 'missing = ["..."] in columns.toml' in advice and "--categorical" in advice
    assert '["a"]\nrole = "input"\n# missing = ["<5", "k.A."]\n' in text
    (tmp_path / "c.toml").write_text(text.replace('# missing = ["<5"', 'missing = ["once", "<5"'))
    data = amiss.read(tmp_path / "t.csv", columns=tmp_path / "c.toml")
    assert np.isnan(data.X.values[:, 0]).sum() == 5


def test_what_find_takes_of_columns_check_takes_too(visits):
    frame = visits.assign(code=EACH % 3 + 1, coded=EACH % 2 + 1)
    found = amiss.check(
        frame, outputs="coded", show="pid", categorical="code", text="note", true="2", false="1", drop="mixed"
    )
    kinds = {name: (found[name].role, found[name].kind) for name in ("pid", "code", "note", "coded")}
    assert kinds == {
        "pid": ("show", ""),
        "code": ("input", "category"),
        "note": ("text", "text"),
        "coded": ("output", "binary"),
    }


def test_an_output_that_cannot_be_one_is_saved_as_an_output():
    found = amiss.check(pd.DataFrame({"a": EACH / 7, "t": [f"t{i}" for i in EACH]}), outputs="t")
    assert '["t"]\nrole = "output"\n' in found.to_toml()
