"""Dates, times, durations and decimals of frames are numbers, whatever the library and its type."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amiss
from amiss.data.convert import as_table
from amiss.errors import DataError

DAY, NOON = dt.date(1970, 1, 3), dt.datetime(1970, 1, 3, 12)
UTC = dt.UTC
COLUMNS = {
    "pandas": (pd.Series(pd.to_datetime([NOON, None])), 2.5),
    "pandas, zone": (pd.Series([pd.Timestamp("1970-01-03 13:00+01:00"), None]), 2.5),
    "pandas, objects": (pd.Series([DAY, None], dtype=object), 2.0),
    "pandas, duration": (pd.Series(pd.to_timedelta(["0 days 00:01:30", None])), 90.0),
    "pandas, period": (pd.Series([pd.Period("1970-02", "M"), None]), 31.0),
    "pandas, Arrow": (pd.Series([NOON, None], dtype=pd.ArrowDtype(pa.timestamp("us"))), 2.5),
    "pandas, Arrow decimal": (pd.Series([Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))), 1.5),
    "pandas, decimals": (pd.Series([Decimal("1.5"), None], dtype=object), 1.5),
    "pandas, nullable": (pd.Series([3, None], dtype="Int64"), 3.0),
    "pandas, boolean": (pd.Series([True, None], dtype="boolean"), 1.0),
    "polars": (pl.Series([NOON, None]), 2.5),
    "polars, date": (pl.Series([DAY, None]), 2.0),
    "polars, duration": (pl.Series([dt.timedelta(seconds=90), None]), 90.0),
    "polars, time": (pl.Series([dt.time(0, 1, 30), None]), 90.0),
    "polars, decimal": (pl.Series([Decimal("1.5"), None]), 1.5),
    "pyarrow": (pa.array([NOON, None]), 2.5),
    "pyarrow, date": (pa.array([DAY, None]), 2.0),
    "pyarrow, duration": (pa.array([dt.timedelta(seconds=90), None]), 90.0),
    "pyarrow, decimal": (pa.array([Decimal("1.5"), None]), 1.5),
    "dictionaries": ([NOON, None], 2.5),
}


def frame_with(column, **more):
    if isinstance(column, list):
        return [{"when": cell} for cell in column]
    library = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(
        type(column).__module__.partition(".")[0], pa.table
    )
    return library({"when": column, **more})


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_each_type_is_numbers(kind):
    column, expected = COLUMNS[kind]
    table = as_table(frame_with(column))
    assert not table.levels
    np.testing.assert_array_equal(table.values[:, 0], [expected, np.nan])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None], dtype="category"), pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())), pl.Series(["a", None], dtype=pl.Categorical),
        pl.Series(["a", None], dtype=pl.Enum(["a", "b"])), pa.array(["a", None]).dictionary_encode(),
    ],
    ids=str,
)  # fmt: skip
def test_texts_of_each_type_are_categories(column):
    table = as_table(frame_with(column))
    assert table.levels == {0: ("a",)} and np.isnan(table.values[1, 0])


@given(st.lists(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)), min_size=1, max_size=20))
def test_moments_are_fractions_of_days_as_numpy_has_them(moments):
    found = as_table(pd.DataFrame({"when": pd.Series(moments, dtype="datetime64[us]")})).values[:, 0]
    expected = np.array(moments, dtype="datetime64[us]").astype(np.int64) / 86_400e6
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_dates_and_texts_in_one_column_are_refused():
    with pytest.raises((DataError, TypeError), match="column 'when' holds"):
        as_table(pd.DataFrame({"when": ["a", DAY]}))


def test_a_detector_takes_dates():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 1000, 80)
    X = pd.DataFrame({"when": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")})
    Y = pd.DataFrame({"y": (days + rng.normal(0, 50, 80) > 500).astype(int)})
    by_dates = amiss.MCODE(n_neighbors=10).fit(X, Y)
    numbers = X.assign(when=(X.when - pd.Timestamp("1970-01-01")).dt.days)
    by_numbers = amiss.MCODE(n_neighbors=10).fit(numbers, Y)
    np.testing.assert_array_equal(by_dates.decision_scores_, by_numbers.decision_scores_)
