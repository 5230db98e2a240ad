"""Columns in the order of the fit, and rows that belong together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.tables import fitted, make_table

from amiss import Table
from amiss.data.alignment import aligned_columns
from amiss.data.validation import as_inputs
from amiss.errors import DataError


def test_columns_are_matched_by_name_or_by_position():
    table = Table(np.array([[1.0, 2.0]]), ("a", "b"))
    np.testing.assert_array_equal(aligned_columns(table, ("b", "a"), "x").values, [[2, 1]])
    np.testing.assert_array_equal(aligned_columns(as_inputs([[1.0, 2.0]]), ("b", "a"), "x").values, [[1, 2]])
    with pytest.raises(DataError, match="expecting 3"):
        aligned_columns(as_inputs([[1.0, 2.0]]), ("a", "b", "c"), "x")
    with pytest.raises(DataError, match="missing 'c'; unknown 'b'"):
        aligned_columns(table, ("a", "c"), "x")


def test_a_file_for_a_model_that_was_fitted_to_arrays(tmp_path, amiss):
    X, Y = make_table(60)
    fitted(X, Y).save(tmp_path / "m.amiss")
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(5)]).join(
        pd.DataFrame(Y, columns=[f"y{i}" for i in range(4)])
    )
    table[table.columns[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    done = amiss("score", "m.amiss", "turned.csv")
    assert done.code == 0 and "All 60 rows were used in the fit" in done.out
    table.rename(columns={"x4": "z"}).to_csv(tmp_path / "other.csv", index=False)
    done = amiss("score", "m.amiss", "other.csv")
    assert done.code == 2 and "other.csv" in done.err
