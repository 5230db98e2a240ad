"""Tables: what they are made of, what they show, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import amiss
from amiss.data.alignment import aligned_columns
from amiss.data.table import encode
from amiss.data.validation import as_inputs, as_outputs
from amiss.errors import DataError, quoted, quoted_list


def test_a_table_is_a_matrix_with_names():
    table = as_inputs(np.arange(6.0).reshape(3, 2))
    assert table.names == ("x0", "x1")
    assert len(table) == 3
    assert repr(table) == "Table(3 rows x 2 columns, dense)"
    np.testing.assert_array_equal(np.asarray(table), np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(np.asarray(table[1:]), [[2, 3], [4, 5]])
    np.testing.assert_array_equal(np.asarray(table[np.array([True, False, True])]), [[0, 1], [4, 5]])
    np.testing.assert_array_equal(np.asarray(table[2]), [[4, 5]])


def test_texts_are_categories_and_missing_is_missing():
    table = as_inputs(np.array([["b", 1.5], [None, 2], ["a", np.nan]], dtype=object))
    assert table.levels == {0: ("a", "b")}
    np.testing.assert_array_equal(table.values, [[1, 1.5], [np.nan, 2], [0, np.nan]])
    assert encode(["x", "x"])[1] == ("x",)


@pytest.mark.parametrize(
    ("Y", "values"),
    [
        ([[0, 1], [1, 0]], [[0, 1], [1, 0]]),
        ([[True], [False]], [[1], [0]]),
        ([0, 1, 1], [[0], [1], [1]]),
        ([["0", "1"], ["1", "0"]], [[0, 1], [1, 0]]),
        ([["true", "False"], ["TRUE", "0"]], [[1, 0], [1, 0]]),
        ([["cat"], ["dog"]], [[1, 0], [0, 1]]),
        ([[3], [], [3, 10]], [[0, 1], [0, 0], [1, 1]]),
        ([{"b"}, {"a"}], [[0, 1], [1, 0]]),
        (sparse.csr_array([[0, 1], [1, 0]]), [[0, 1], [1, 0]]),
        (pd.DataFrame({"a": [True, None]}, dtype="boolean"), [[1], [np.nan]]),
        (np.array([[np.nan, 1.0]]), [[np.nan, 1]]),
    ],
)  # fmt: skip
def test_outputs_come_in_many_forms(Y, values):
    np.testing.assert_array_equal(as_outputs(Y).values, values)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.array([[0, 1], [0.5, 1]]), "row 1, column 'y0': an output must be 0 or 1"),
        (sparse.csr_array([[0, 0], [0, 3]]), "row 1, column 'y1'"),
        (np.empty((3, 0)), "no output column"),
        (pd.DataFrame([[1, 0]], columns=["a", "a"]).to_numpy() * 2, "row 0, column 'y0'"),
    ],
)
def test_bad_outputs_are_refused_by_place(Y, message):
    with pytest.raises(DataError, match=message):
        as_outputs(Y)


def test_duplicate_names_are_refused():
    with pytest.raises(DataError, match="duplicate column name 'a'"):
        as_inputs(amiss.Table(np.ones((1, 3)), ("a", "b", "a")))


def test_columns_are_matched_by_name_or_by_position():
    table = amiss.Table(np.array([[1.0, 2.0]]), ("a", "b"))
    np.testing.assert_array_equal(aligned_columns(table, ("b", "a"), "x").values, [[2, 1]])
    np.testing.assert_array_equal(aligned_columns(as_inputs([[1.0, 2.0]]), ("b", "a"), "x").values, [[1, 2]])
    with pytest.raises(DataError, match="expecting 3"):
        aligned_columns(as_inputs([[1.0, 2.0]]), ("a", "b", "c"), "x")
    with pytest.raises(DataError, match="missing 'c'; unknown 'b'"):
        aligned_columns(table, ("a", "c"), "x")


def test_names_in_messages_are_printable_and_short():
    assert quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert len(quoted("x" * 10_000)) < 70
    assert quoted_list(["a", "b", "c"], at_most=2) == "'a', 'b' and 1 more"


def test_public_names_are_there_when_asked_for():
    assert set(amiss.__all__) <= set(dir(amiss))
    for name in amiss.__all__:
        assert getattr(amiss, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        amiss.nothing  # noqa: B018
