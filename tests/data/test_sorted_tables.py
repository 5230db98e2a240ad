"""A table is sorted where it lies, as a copy of its rows would be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from amiss.data.convert import as_table
from amiss.data.table import copied_rows, sort_rows
from amiss.data.validation import as_inputs


@pytest.mark.parametrize("n_columns", [1, 8, 19])
def test_rows_are_sorted_in_place(n_columns):
    rng = np.random.default_rng(0)
    whole, rows = rng.normal(size=(50, n_columns + 3)), rng.permutation(50)
    table = as_inputs(replace(as_table(whole[:, :n_columns].copy()), values=whole[:, :n_columns]))
    expected, beside = copied_rows(table, rows).values, whole[:, n_columns:].copy()
    np.testing.assert_array_equal(sort_rows(table, rows, 2).values, expected)
    np.testing.assert_array_equal(whole[:, :n_columns], expected)
    np.testing.assert_array_equal(whole[:, n_columns:], beside)


def test_memory_of_others_is_left_as_it_is():
    content = np.arange(12.0).tobytes()
    table = as_inputs(replace(as_table(np.zeros((4, 3))), values=np.frombuffer(content).reshape(4, 3)))
    rows = np.array([2, 0, 3, 1])
    np.testing.assert_array_equal(sort_rows(table, rows, 1).values, np.arange(12.0).reshape(4, 3)[rows])
    assert content == np.arange(12.0).tobytes()
