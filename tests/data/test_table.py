"""Tables: what they are made of and what they show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import amiss
from amiss import DataError
from amiss.data.table import Table, encode, is_checked
from amiss.data.validation import as_inputs, as_outputs


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


def test_columns_are_selected_by_name_with_their_levels():
    table = amiss.Table(np.array([[1.0, 0.0, 5.0], [2.0, 1.0, 6.0]]), ("age", "sex", "size"), {1: ("f", "m")})
    selected = table.select_named(["sex", "age"])
    assert selected.names == ("sex", "age") and selected.levels == {0: ("f", "m")}
    np.testing.assert_array_equal(selected.values, [[0, 1], [1, 2]])
    assert table.select_named(table.names) is table


def test_values_that_were_found_valid_stay_so():
    """Checked values cannot be written to, and other values in the same table are looked at again."""
    X, Y = as_inputs(np.ones((3, 2))), as_outputs(np.ones((3, 2)))
    assert as_inputs(X) is X and as_outputs(Y) is Y
    assert is_checked("inputs", X[:2].select([1])) and not is_checked("outputs", X)
    for table in (X, Y):
        with pytest.raises(ValueError, match="read-only"):
            table.values[0, 0] = 7
    with pytest.raises(DataError, match="must be 0 or 1"):
        as_outputs(replace(Y, values=np.full((3, 2), 7.0)))
    with pytest.raises(DataError, match="infinite"):
        as_inputs(replace(X, values=np.full((3, 2), np.inf)))


def test_an_array_that_was_given_can_still_be_written_to():
    given = np.ones((3, 2))
    as_inputs(given)
    given[0, 0] = 7
    table = as_inputs(sparse.csr_array(given))
    table.values.data[0] = np.inf
    with pytest.raises(DataError, match="infinite"):
        as_inputs(table)


def test_a_table_does_not_share_its_memory():
    table = Table(np.ones((2, 2)), ("a", "b"))
    np.asarray(table)[:] = 5
    np.testing.assert_array_equal(table.values, 1)
    with pytest.raises(ValueError, match="by copying"):
        table.__array__(copy=False)
