"""ARFF, dense and sparse."""

from __future__ import annotations

import gzip
import traceback

import arff as liac
import numpy as np
import pytest
from scipy import sparse
from support.files import read_text, written
from support.tables import make_table

import amiss
from amiss.errors import DataError

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
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n1\n",
            "line 6: the row has 1 cell, but 2",
        ),
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
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1, 5 1}\n",
            "line 5: an attribute number is too large",
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{1 1, 0 1}\n",
            "line 5: .* must increase",
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
        (
            "@relation r\n@attribute a numeric\n@attribute a {0,1}\n@data\n1,0\n",
            "line 3, column 'a': this name is already declared",
        ),
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


NOMINAL = "@relation r\n@attribute n {p,q}\n@attribute a numeric\n@attribute y {0,1}\n@data\n"


def test_arff_categories_that_are_numbers(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n1,1\n"
    assert read_text(tmp_path, text, ".arff", categorical="a").X.levels == {0: ("1", "2")}
    thin = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1}\n{1 1}\n"
    with pytest.raises(DataError, match=r"t\.arff, column 'a': texts in sparse rows are not supported"):
        read_text(tmp_path, thin, ".arff", categorical="a")


def test_arff_rows_between_tabs_and_with_weights(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1\t0\n"
    np.testing.assert_array_equal(read_text(tmp_path, text, ".arff").X.values, [[1.0]])
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n2,1,{1}\n5,0}\n"
    with pytest.raises(DataError, match="line 6"):
        read_text(tmp_path, text, ".arff")
    thin = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n{0 1, 1 1}, {1.0}\n{0 2}\n"
    np.testing.assert_array_equal(read_text(tmp_path, thin, ".arff").Y.values, [[1], [0]])


def test_arff_ids(tmp_path):
    dense = "@relation r\n@attribute n numeric\n@attribute a numeric\n@attribute y {0,1}\n@data\n 7 ,1,0\n8,2,1\n"
    assert read_text(tmp_path, dense, ".arff", id="n").ids == ("7", "8")
    assert read_text(tmp_path, NOMINAL + "{0 q, 1 5}\n{2 1}\n", ".arff", id="n").ids == ("q", "p")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("{0 'q', 1}\n", "line 6: a sparse row holds pairs"),
        ("{1 5, 1 x y}\n", "line 6: a sparse row holds pairs"),
        ("{1 5, 1 6}\n", "line 6: the attribute numbers of a sparse row must increase"),
        ("{7 1}\n", "line 6: an attribute number is too large; the 3 attributes"),
        ("{1 5\n", "line 6: the row is not closed"),
        ("q,5_0,1\n", "line 6, column 'a': this is not a number"),
        ("r,5,1\n", "line 6, column 'n': the value is not among those"),
        ("q,5,3\n", "line 6, column 'y': the value is not among those"),
    ],
)
def test_bad_arff_rows(refused, rows, message):
    assert message in refused(NOMINAL + rows, "t.arff", outputs="y")


def test_an_arff_attribute_with_an_open_quote(refused):
    text = "@relation r\n@attribute n {'p,q}\n@attribute y {0,1}\n@data\n"
    assert refused(text, "t.arff", outputs="y") == "t.arff, line 2, column 'n': a quote is not closed"


def test_arff_has_no_pictures(refused):
    assert "only CSV, TSV and Parquet files" in refused(NOMINAL, "t.arff", outputs="y", pictures="n")
