"""Which columns are outputs, ids, dropped or categorical."""

from __future__ import annotations

import pandas as pd
import pytest
from support.files import read_text, written
from support.tables import make_table

import amiss
from amiss.errors import DataError


@pytest.mark.parametrize(
    ("outputs", "found"),
    [
        ("tag_a", ["tag_a"]), ("tag_*", ["tag_a", "tag_b"]), ("last:2", ["tag_a", "tag_b"]),
        ("first:1", ["age"]), ("tag_b,tag_a", ["tag_a", "tag_b"]), (["tag_b"], ["tag_b"]),
        (["tag_b", "tag_a"], ["tag_a", "tag_b"]), ("tag_a, tag_b", ["tag_a", "tag_b"]),
    ],
)  # fmt: skip
def test_outputs_are_chosen_by_name_glob_or_place(tmp_path, outputs, found):
    path = written(tmp_path / "t.csv", "age,tag_a,tag_b\n1,0,1\n0,1,0\n")
    assert list(amiss.read(path, outputs=outputs).output_names) == found


def test_columns_are_dropped_by_name_or_glob(people):
    data = amiss.read(people, outputs="tag_a", drop=["na*", "tag_b"])
    assert data.input_names == ("age", "ward")
    assert data.ids is None


def test_an_exact_name_comes_before_a_glob(tmp_path):
    data = read_text(tmp_path, "a,y[1],y1\n1,0,1\n2,1,0\n", outputs="y[1]")
    assert data.output_names == ("y[1]",)


def test_a_name_with_a_comma_is_a_name(tmp_path):
    assert read_text(tmp_path, 'a,"y,1"\n1,0\n2,1\n', outputs="y,1").output_names == ("y,1",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"outputs": "tag_z"},
            r"people\.csv: no column matches 'tag_z'; did you mean 'tag_b', 'tag_a'",
        ),
        ({"outputs": "tag_*", "id": "nobody"}, "no column 'nobody' to be the id"),
        ({"outputs": "tag_*", "drop": "nobody"}, "no column matches 'nobody'"),
        ({"outputs": "tag_*", "categorical": "wrd"}, "matches 'wrd'; did you mean 'ward'"),
        ({"outputs": "Tag_*"}, "did you mean 'tag_b', 'tag_a'"),
        ({"outputs": "last:9"}, "there are 5 columns"),
        ({"outputs": "last:x"}, "give a number of columns"),
        ({"outputs": "*"}, "every column is an output"),
        ({}, "which columns are outputs"),
        ({"outputs": "missing.xml"}, "missing.xml: there is no such file"),
    ],
)
def test_a_request_that_fits_no_column_is_refused(people, options, message):
    with pytest.raises(DataError, match=message):
        amiss.read(people, **options)


def test_nothing_left(refused):
    assert refused("a,y\n1,0\n", "t.csv", outputs="y", drop="a") == (
        "t.csv: every column is an output; at least one must be an input, "
        "or give a NumPy file with the inputs (--inputs)"
    )
    assert refused("0 1:1\n1 1:1\n", "t.svm", drop=["0", "1"]) == (
        "t.svm: there is no output column left; drop fewer columns"
    )


def test_a_name_that_looks_like_a_pattern(tmp_path, amiss):
    X, Y = make_table(60)
    table = pd.DataFrame(
        {"w*": ["ab"[i % 2] for i in range(60)], "wage": X[:, 0], "a,b": ["xyz"[i % 3] for i in range(60)]}
    )
    table["tag"] = Y[:, 0].astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert amiss("fit", "t.csv", "--outputs", "tag", "-o", "m.amiss", "--no-calibration").code == 0
    done = amiss("score", "m.amiss", "t.csv", "-o", "-")
    assert done.code == 0, done.err
