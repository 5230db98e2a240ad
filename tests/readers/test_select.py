"""Choosing columns, joining files, Mulan's XML, and the paper's datasets as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.files import read_text, written

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


def test_rows_of_several_files_are_joined_by_column_name(tmp_path):
    one = written(tmp_path / "1.csv", "a,kind,y\n1,red,0\n2,blue,1\n")
    two = written(tmp_path / "2.csv", "y,kind,a\n1,green,3\n")
    data = amiss.read(one, two, outputs="y")
    np.testing.assert_array_equal(data.X.values[:, 0], [1, 2, 3])
    assert list(np.asarray(data.X)[:, 1]) == ["red", "blue", "green"]
    np.testing.assert_array_equal(data.Y.values[:, 0], [0, 1, 1])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("a,y\n1,0\n", r"2\.csv: column 'b' of .*1\.csv is missing here"),
        ("a,b,c,y\n1,2,3,0\n", r"2\.csv: column 'c' is not in"),
        ("a,b,y\n1,2,0\n1,2,7\n", r"2\.csv, line 3, column 'y': an output must be"),
        ("a,b,y\n1,red,0\n", r"1\.csv, column 'b': it holds numbers here and texts in another"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, second, message):
    one = written(tmp_path / "1.csv", "a,b,y\n1,2,0\n2,3,1\n")
    with pytest.raises(DataError, match=message):
        amiss.read(one, written(tmp_path / "2.csv", second), outputs="y")


XML = '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{}</labels>'


def test_mulan_xml_names_the_outputs_in_any_order_and_nesting(tmp_path):
    xml = XML.format('<label name="y2"><label name="y1"></label></label>')
    path = written(tmp_path / "t.csv", "y1,a,y2\n0,5,1\n1,6,0\n")
    data = amiss.read(path, outputs=str(written(tmp_path / "t.xml", xml)))
    assert data.output_names == ("y1", "y2")
    assert amiss.read(path, outputs=tmp_path / "t.xml").output_names == ("y1", "y2")


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ('<!DOCTYPE labels [<!ENTITY a "b">]>\n<labels><label name="y"/></labels>', r"t\.xml, line 1: .*DTD"),
        ('<labels>\n<label name="y">\n', r"t\.xml, line 3: .*well-formed"),
        ("<labels></labels>", r"t\.xml: there must be labels"),
        ('<labels><label title="y"/></labels>', r"t\.xml: there must be labels"),
        ('<labels><label name="other"/></labels>', r"t\.csv: label 'other' of .*t\.xml is not among"),
        ("", r"t\.xml: the file is empty"),
        ('<?xml version="1.0" encoding="nonsense"?><labels/>', r"t\.xml"),
    ],
)
def test_bad_xml_is_refused(tmp_path, xml, message):
    written(tmp_path / "t.xml", xml)
    with pytest.raises(DataError, match=message):
        read_text(tmp_path, "a,y\n1,0\n", outputs=str(tmp_path / "t.xml"))


@pytest.mark.parametrize(
    ("name", "n_rows", "n_outputs"),
    [
        ("mediamill", 43907, 101), ("enron", 1702, 53), ("bibtex", 7395, 159), ("yahoo-business", 11214, 30),
        ("yahoo-arts", 7484, 26), ("yeast", 2417, 14), ("genbase", 662, 27), ("birds", 645, 19),
    ],
)  # fmt: skip
def test_the_papers_datasets_have_the_papers_shapes(paper_data, name, n_rows, n_outputs):
    files = sorted((paper_data / name).glob("*.arff*"))
    data = amiss.read(
        *files, outputs=paper_data / name / f"{name}.xml", id="protein" if name == "genbase" else None
    )
    assert (len(data), len(data.output_names)) == (n_rows, n_outputs)
    assert 0 < data.Y.values.mean() < 0.5


def test_joined_sparse_files_with_other_levels_stay_sparse(tmp_path):
    text = "@relation r\n@attribute kind {{{}}}\n@attribute w numeric\n@attribute y {{0,1}}\n@data\n{}\n"
    one = written(tmp_path / "1.arff", text.format("red,green,blue", "{0 blue,2 1}\n{1 2}"))
    two = written(tmp_path / "2.arff", text.format("blue,green", "{0 green}\n{2 1}"))
    data = amiss.read(one, two, outputs="y")
    assert sparse.issparse(data.X.values)
    assert list(np.asarray(data.X)[:, 0]) == ["blue", "red", "green", "blue"]
