"""Inputs and outputs: the forms they may have, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import amiss
from amiss.data.validation import as_inputs, as_outputs
from amiss.errors import DataError


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
