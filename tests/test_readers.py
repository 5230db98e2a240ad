"""Every format gives the same table, and what is wrong with a file is said with its place."""

from __future__ import annotations

import gzip
import io
import traceback

import arff as liac
import numpy as np
import pandas as pd
import pytest
from conftest import make_table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file

import amiss
from amiss.errors import DataError


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def people(tmp_path):
    """A small table with everything in it, as CSV."""
    return written(
        tmp_path / "people.csv",
        'name,age,ward,tag_a,tag_b\n007,34,eyes,0,1\n008,,"surgery, minor",1,0\n009,51.5,NA,1,\n',
    )


def read_text(tmp_path, text, suffix=".csv", **options):
    options.setdefault("outputs", "y*")
    return amiss.read(written(tmp_path / f"t{suffix}", text), **options)


# CSV and TSV


def test_csv(people):
    data = amiss.read(people, outputs="tag_*", id="name")
    assert data.ids == ("007", "008", "009")
    assert data.input_names == ("age", "ward")
    assert data.output_names == ("tag_a", "tag_b")
    np.testing.assert_array_equal(data.X.values[:, 0], [34, np.nan, 51.5])
    assert list(np.asarray(data.X)[:2, 1]) == ["eyes", "surgery, minor"]
    np.testing.assert_array_equal(data.Y.values, [[0, 1], [1, 0], [1, np.nan]])
    assert repr(data) == "Dataset(3 rows, 2 inputs, 2 outputs)"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_line_ends_and_byte_order_marks(tmp_path, separator, ending, mark):
    text = mark + ending.join(["a,b,y", "1,2,0", "", "3,4,1", ""]).replace(",", separator)
    (tmp_path / "t.csv").write_bytes(text.encode())
    data = amiss.read(tmp_path / "t.csv", outputs="y")
    np.testing.assert_array_equal(data.X.values, [[1, 2], [3, 4]])
    assert data.input_names == ("a", "b")


def test_tsv_and_gzip(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\ty\n1,5\t0\n2,5\t1\n"))
    data = amiss.read(tmp_path / "t.tsv.gz", outputs="y")
    assert data.X.levels == {0: ("1,5", "2,5")}


def test_cells_over_several_lines_keep_the_count_of_lines(tmp_path):
    with pytest.raises(DataError, match=r"t\.csv, line 5, column 'y'"):
        read_text(tmp_path, 'a,y\n"x\ny",1\nb,0\nb,2\n')


@given(st.integers(1, 5000), st.integers(0, 100))
@settings(max_examples=8, deadline=None)
def test_numbers_are_read_as_pandas_reads_them(tmp_path_factory, n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)) * [1e-9, 1, 1e12], columns=["a", "b", "c"])
    frame["few"] = rng.integers(0, 4, n_rows)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame["y"] = rng.integers(0, 2, n_rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    frame.to_csv(path, index=False)
    data = amiss.read(path, outputs="y")
    np.testing.assert_array_equal(data.X.values, frame.drop(columns="y").to_numpy())
    assert not data.X.levels


def test_numbers_may_be_read_as_categories(tmp_path):
    data = read_text(tmp_path, "ward,y\n10,0\n2,1\n10,1\n", categorical="ward")
    assert data.X.levels == {0: ("10", "2")}


def test_true_and_false_are_outputs_too(tmp_path):
    np.testing.assert_array_equal(read_text(tmp_path, "a,y\n1,True\n2,false\n3,\n").Y.values[:2, 0], [1, 0])


def test_decimal_commas_between_semicolons(tmp_path):
    data = read_text(tmp_path, "a;b;y\n0,5;1.5;0\n-1,25;2;1\n")
    np.testing.assert_array_equal(data.X.values, [[0.5, 1.5], [-1.25, 2]])


@pytest.mark.parametrize("cell", ["1_1", "１２", "63 kg"])
def test_what_python_but_nobody_else_takes_for_a_number_is_a_text(tmp_path, cell):
    assert read_text(tmp_path, f"a,y\n{cell},0\nb,1\n").X.levels


def test_half_numbers_half_texts_are_refused_where_there_are_many_numbers(tmp_path):
    rows = [f"{'unknown' if i % 3 == 0 else i},{i % 2}" for i in range(90)]
    with pytest.raises(DataError, match=r"line 2, column 'age': this is not a number"):
        read_text(tmp_path, "age,y\n" + "\n".join(rows))
    few = [f"{'other' if i % 3 == 0 else i % 7},{i % 2}" for i in range(90)]
    assert read_text(tmp_path, "kind,y\n" + "\n".join(few)).X.levels


def test_old_macintosh_line_ends(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\r1,0\r2,1\r")
    np.testing.assert_array_equal(amiss.read(tmp_path / "t.csv", outputs="y").X.values, [[1], [2]])


# Choosing columns


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
            r"people\.csv: no column is named or matches 'tag_z'; did you mean 'tag_b', 'tag_a'",
        ),
        ({"outputs": "tag_*", "id": "nobody"}, "no column 'nobody' to be the id"),
        ({"outputs": "tag_*", "drop": "nobody"}, "no column is named or matches 'nobody'"),
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


# Several files


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


# ARFF

ARFF = """% a comment
@RELATION 'my data'
@attribute\tage\tnumeric
@attribute 'blood group' {A, B, 'A B', 'O\\'x'}
@attribute smokes {no,yes}
@attribute "tag one" {0,1}
@attribute tag2 {0,1}
@data
34, 'A B', no, 0, 1
% another comment
?, A, yes, 1, 0
51.5, 'O\\'x', ?, 1, ?, {1}
"""


def test_dense_arff(tmp_path):
    data = amiss.read(written(tmp_path / "t.arff", ARFF), outputs="tag*")
    assert data.input_names == ("age", "blood group", "smokes")
    assert data.output_names == ("tag one", "tag2")
    cells = np.asarray(data.X)
    assert list(cells[:, 1]) == ["A B", "A", "O'x"]
    assert list(cells[:2, 2]) == ["no", "yes"]
    np.testing.assert_array_equal(data.X.values[:, 0], [34, np.nan, 51.5])
    np.testing.assert_array_equal(data.Y.values, [[0, 1], [1, 0], [1, np.nan]])


SPARSE_ARFF = """@relation sparse
@attribute w1 numeric
@attribute kind {red,green,blue}
@attribute w2 {0,1}
@attribute odd {1,0}
@attribute tag {0,1}
@data
{0 2.5, 4 1}
{1 blue,2 1,3 0}
{}
{0 ?, 1 'green', 4 1}
"""


def test_sparse_arff_leaves_out_zeros_and_first_levels(tmp_path):
    data = amiss.read(written(tmp_path / "t.arff", SPARSE_ARFF), outputs="tag")
    assert sparse.issparse(data.X.values)
    cells = np.asarray(data.X)
    assert list(cells[:, 1]) == ["red", "blue", "red", "green"]
    assert list(cells[:, 3]) == ["1", "0", "1", "1"]
    np.testing.assert_array_equal(data.X.values.toarray()[:, 0], [2.5, 0, 0, np.nan])
    np.testing.assert_array_equal(data.Y.values[:, 0], [1, 0, 0, 1])


@pytest.mark.parametrize("thin", [False, True])
def test_arff_is_read_as_liac_arff_reads_it(tmp_path, thin):
    X, Y = make_table(40)
    X = np.round(X * (np.random.default_rng(0).random(X.shape) < 0.5), 6)
    rows = np.column_stack([X, Y])
    attributes = [(f"x{i}", "REAL") for i in range(5)] + [(f"y{i}", ["0", "1"]) for i in range(4)]
    cells = [[*map(float, row[:5]), *(str(int(cell)) for cell in row[5:])] for row in rows]
    if thin:
        cells = [{i: cell for i, cell in enumerate(row) if cell not in (0, "0")} for row in cells]
    path = written(tmp_path / "t.arff", liac.dumps({"relation": "r", "attributes": attributes, "data": cells}))
    data = amiss.read(path, outputs="y*")
    values = data.X.values.toarray() if thin else data.X.values
    np.testing.assert_array_equal(values, X)
    np.testing.assert_array_equal(data.Y.values, Y)


def test_arff_ids_texts_and_joins(tmp_path):
    head = "@relation r\n@attribute id string\n@attribute note string\n@attribute y {0,1}\n@data\n"
    one = written(tmp_path / "1.arff", head + "'p 1','x, y',0\np2,?,1\n")
    two = tmp_path / "2.arff.gz"
    two.write_bytes(gzip.compress((head + "p3,z,1\n").encode()))
    data = amiss.read(one, two, outputs="y", id="id")
    assert data.ids == ("p 1", "p2", "p3")
    assert list(np.asarray(data.X)[[0, 2], 0]) == ["x, y", "z"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n1\n", "line 6: 1 cells where 2"),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\nx,0\n",
            "line 5, column 'a': this is not",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,2\n",
            "line 5, column 'y': the value",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1,2}\n@data\n1,2\n",
            "line 5, column 'y': an output",
        ),
        ("@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1, 5 1}\n", "line 5: position 5"),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{1 1, 0 1}\n",
            "line 5: .* must rise",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1\n",
            "line 5: the row is not closed",
        ),
        ("@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1}\n1,0\n", "line 6: a dense row"),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n{0 1}\n",
            "line 6: a sparse row",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n'1,0\n",
            "line 5: a quote is not closed",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0,{2}\n",
            "line 5: instance weights",
        ),
        (
            "@relation r\n@attribute a date\n@attribute y {0,1}\n@data\n",
            "line 2, column 'a': attributes of type",
        ),
        ("@relation r\n@attribute a numeric\n@attribute a {0,1}\n@data\n1,0\n", "duplicate column name 'a'"),
        ("@relation r\n@attribute a {x\n@data\n", "line 2, column 'a': .*not closed"),
        ("@relation r\n@attribute a {x,x}\n@data\n", "line 2, column 'a': .*twice"),
        ("@relation r\n@attribute a\n", "line 2: an attribute needs"),
        ("@relation r\n@attribute a numeric\n", "line 2: there is no @data"),
        ("@relation r\n@data\n", "line 2: @data comes before"),
        ("@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n", "no rows"),
        ("a,y\n1,0\n", "line 1: expected @relation"),
    ],
)
def test_bad_arff_is_refused_by_line_and_column(tmp_path, text, message):
    with pytest.raises(DataError, match=rf"t\.arff[,:] ?.*{message}|t\.arff, {message}"):
        read_text(tmp_path, text, ".arff", outputs="last:1")


def test_a_column_that_is_dropped_may_be_of_any_type(tmp_path):
    text = "@relation r\n@attribute t date\n@attribute a numeric\n@attribute y {0,1} % the output\n@data\nx,1,0\n"
    assert read_text(tmp_path, text, ".arff", outputs="y", drop="t").input_names == ("a",)


def test_errors_do_not_carry_cells_along(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\nSECRET,0\n"
    with pytest.raises(DataError) as refused:
        read_text(tmp_path, text, ".arff", outputs="y")
    assert "SECRET" not in "".join(traceback.format_exception(refused.value))


# Mulan's XML

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


# svmlight


def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path):
    text = "1,3 1:0.5 4:2\n 2:1\n3 1:1 # a comment\n# only a comment\n10 3:-1e3\n"
    data = read_text(tmp_path, text, ".svm", outputs=None)
    X, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True)
    np.testing.assert_array_equal(data.X.values.toarray(), X.toarray())
    assert data.input_names == ("x1", "x2", "x3", "x4")
    assert data.output_names == ("1", "3", "10")
    assert [tuple(float(data.output_names[i]) for i in np.flatnonzero(row)) for row in data.Y.values] == labels


def test_svmlight_from_zero_with_a_shape_and_in_several_files(tmp_path):
    one = written(tmp_path / "1.svm", "3 4 2\n0 0:1 3:2\n1 1:1\n")
    two = written(tmp_path / "2.svm", "2 3:1 5:7\n")
    data = amiss.read(one, two)
    assert data.input_names == ("x0", "x1", "x2", "x3", "x4", "x5")
    np.testing.assert_array_equal(data.X.values.toarray()[2], [0, 0, 0, 1, 0, 7])
    assert data.output_names == ("0", "1", "2")
    np.testing.assert_array_equal(data.Y.values, np.eye(3))


@pytest.mark.parametrize("text", ["1 a:1\n", "1 1:x\n", "1 -2:1\n", "1 3\n"])
def test_bad_svmlight_is_refused_by_line(tmp_path, text):
    with pytest.raises(DataError, match=r"t\.svm, line 2: inputs are written"):
        read_text(tmp_path, "1 1:1\n" + text, ".svm", outputs=None)


# npz


def test_npz_dense_and_sparse(tmp_path):
    X, Y = make_table(20)
    np.savez(tmp_path / "t.npz", X=X, Y=Y.astype(int), output_names=list("abcd"), ids=np.arange(20))
    data = amiss.read(tmp_path / "t.npz")
    np.testing.assert_array_equal(data.X.values, X)
    assert data.output_names == tuple("abcd")
    assert data.ids == tuple(map(str, range(20)))
    thin = sparse.csr_array(np.maximum(X, 0))
    parts = {"X_data": thin.data, "X_indices": thin.indices, "X_indptr": thin.indptr, "X_shape": thin.shape}
    np.savez_compressed(tmp_path / "s.npz", Y=Y, **parts)
    np.testing.assert_array_equal(amiss.read(tmp_path / "s.npz").X.values.toarray(), thin.toarray())


def test_bad_npz_is_refused(tmp_path):
    X, Y = make_table(5)
    bad = {
        "objects": {"X": np.array([[{}]]), "Y": Y},
        "no Y": {"X": X},
        "lengths": {"X": X[:3], "Y": Y},
        "names": {"X": X, "Y": Y, "output_names": ["a"]},
        "texts": {"X": X.astype(str), "Y": Y},
        "vector": {"X": X[0], "Y": Y},
        "ids": {"X": X, "Y": Y, "ids": [1]},
        "csr": {"Y": Y, "X_data": [1.0], "X_indices": [99], "X_indptr": [0, 1], "X_shape": [5, 2]},
    }
    for name, arrays in bad.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(DataError, match=rf"{name}\.npz: "):
            amiss.read(tmp_path / f"{name}.npz")
    (tmp_path / "not.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DataError, match="not an npz file"):
        amiss.read(tmp_path / "not.npz")


# Parquet


def test_parquet(tmp_path, people):
    expected = amiss.read(people, outputs="tag_*", id="name")
    frame = pd.read_csv(people, dtype={"name": str}).astype({"tag_a": bool, "tag_b": "Int8"})
    frame.to_parquet(tmp_path / "t.parquet")
    data = amiss.read(tmp_path / "t.parquet", outputs="tag_*", id="name")
    assert data.ids == expected.ids
    assert data.X.levels == expected.X.levels
    np.testing.assert_array_equal(data.X.values, expected.X.values)
    np.testing.assert_array_equal(data.Y.values, expected.Y.values)


def test_parquet_leaves_out_a_pandas_index_and_names_file_and_row(tmp_path):
    frame = pd.DataFrame({"a": range(5), "y": [0, 1, 0, 1, 3]}).iloc[[0, 2, 4]]
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet, row 3, column 'y'"):
        amiss.read(tmp_path / "t.parquet", outputs="y")
    frame.assign(y=[0, 1, 0]).to_parquet(tmp_path / "t.parquet")
    assert amiss.read(tmp_path / "t.parquet", outputs="y").input_names == ("a",)


def test_bad_parquet_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match=r"t\.parquet: this is not a Parquet file"):
        amiss.read(tmp_path / "t.parquet", outputs="y")
    pd.DataFrame({"t": [pd.Timestamp("2020-01-01")], "y": [1]}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataError, match=r"d\.parquet: column 't' holds dates"):
        amiss.read(tmp_path / "d.parquet", outputs="y")


# Bad files of any kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"t\.csv: the file is empty"),
        (b"\n\na,y\n1,0\n1,2\n", r"t\.csv, line 5, column 'y'"),
        (b"34,2,1\n35,3,0\n", r"t\.csv, line 1: .* it holds only numbers"),
        (b"PK\x03\x04\x14\x00", r"t\.csv, line 1: this is a zip or Excel file"),
        (b"PAR1\x15", r"t\.csv, line 1: this is a Parquet file"),
        (b"\n\n", r"t\.csv: the file is empty"),
        (b"a,y\n", r"t\.csv, line 1: there are column names but no rows"),
        (b"a,y\n1,0\n1\n", r"t\.csv, line 3: 1 cells where 2 columns are named"),
        (b"a,y\n1,0\n1,0,0\n", r"t\.csv, line 3: 3 cells where 2"),
        (b"a,y\n1,0\n2,maybe\n", r"t\.csv, line 3, column 'y': an output must be 0 or 1"),
        (b"a,y\n1,0\n2,0.5\n", r"t\.csv, line 3, column 'y': an output must be"),
        (b"a,a,y\n1,1,0\n", r"t\.csv, line 1: duplicate column name 'a'"),
        (b"a,,y\n1,1,0\n", r"t\.csv, line 1: column 2 has no name"),
        (b"0.5,1.5,1\n0.1,0.2,0\n", r"t\.csv, line 1: the first line must name the columns"),
        (b"a,y\n1,0\n\xe9t\xe9,1\n", r"t\.csv, line 3: byte 1 of the line is not UTF-8"),
        ("a,y\n1,0\n".encode("utf-16"), r"t\.csv, line 1: the file is UTF-16"),
        (b'a,y\n"1,0\n2,1\n', r"t\.csv, line 3: a quote is not closed"),
        (b"a,y\n1,0\ninf,1\n", r"t\.csv, line 3, column 'a': the value is infinite"),
        (b"\x1f\x8b\x08\x00nothing", r"t\.csv, line 1: the gzip data is damaged"),
    ],
)
def test_bad_csv_is_refused_by_line_and_column(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        amiss.read(tmp_path / "t.csv", outputs="last:1")


@pytest.mark.parametrize("n_rows", [50, 9000])
def test_a_stray_text_among_numbers_is_refused_by_line_without_being_quoted(tmp_path, n_rows):
    rows = [f"{i}.5,{i % 2}" for i in range(n_rows)]
    rows[-3] = "12o,1"
    with pytest.raises(DataError, match=rf"line {n_rows - 1}, column 'a': this is not a number") as refused:
        read_text(tmp_path, "a,y\n" + "\n".join(rows))
    assert "12o" not in str(refused.value)


def test_files_that_are_not_there_and_formats_that_are_not_known(tmp_path):
    with pytest.raises(DataError, match=r"no\.csv: there is no such file"):
        amiss.read(tmp_path / "no.csv", outputs="y")
    with pytest.raises(DataError, match="this is a folder"):
        amiss.read(tmp_path, outputs="y", format="csv")
    with pytest.raises(DataError, match=r"t\.xlsx: the suffix does not tell"):
        amiss.read(tmp_path / "t.xlsx", outputs="y")
    with pytest.raises(DataError, match="at least one file"):
        amiss.read(outputs="y")


# The paper's data


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
