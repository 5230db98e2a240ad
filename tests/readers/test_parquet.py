"""Parquet files."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.tables import fitted, make_table

import amiss
from amiss.errors import DataError
from amiss.readers import parquet as parquet_reader


def parquet(table, **options):
    stream = io.BytesIO()
    pq.write_table(pa.table(table), stream, **options)
    return stream.getvalue()


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


def test_dates_of_parquet_are_days_since_1970(tmp_path):
    days = pd.to_datetime(["1970-01-02", "1970-01-04 12:00", None], format="ISO8601")
    pd.DataFrame({"t": days, "y": [1, 0, 1]}).to_parquet(tmp_path / "d.parquet")
    np.testing.assert_array_equal(amiss.read(tmp_path / "d.parquet", outputs="y").X.values, [[1], [3.5], [np.nan]])


def test_parquet_columns(tmp_path, refused):
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet({"a": [3, 1, 3], "y": [0, 1, 1]}))
    assert amiss.read(path, outputs="y", categorical="a").X.levels == {0: ("1", "3")}
    assert "which columns are outputs?" in refused(parquet({"a": [1], "y": [0]}), "u.parquet")
    lists = parquet({"a": [[1, 2], [3]], "y": [0, 1]})
    assert "cannot be read as categories" in refused(lists, "v.parquet", outputs="y", categorical="a")
    assert "v2.parquet: " in refused(lists, "v2.parquet", outputs="y")
    text = parquet({"w": ["Zq7Xk", "Zq7Xl"], "y": [0, 1]}, compression="none", use_dictionary=False)
    damaged = text.replace(b"Zq7X", b"Z\xff\xfeX")
    assert refused(damaged, "w.parquet", outputs="y") == (
        "w.parquet, column 'w': the column is damaged; write the file again"
    )


def test_a_table_that_unpacks_to_far_too_much(refused, monkeypatch):
    monkeypatch.setattr(parquet_reader, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(parquet_reader, "MOST_COMPRESSION", 10)
    many = parquet({"a": np.zeros(20_000), "y": np.zeros(20_000)})
    assert "may be an attack" in refused(many, "t.parquet", outputs="y")


def test_a_table_without_rows(refused):
    empty = {"a": pa.array([], pa.float64()), "y": pa.array([], pa.int8())}
    assert "no rows" in refused(parquet(empty), "t.parquet", outputs="y")


def test_whole_numbers_that_no_float_holds(tmp_path, amiss):
    """pyarrow would refuse them, and quote the number."""
    X, Y = make_table(60)
    table = pa.table({"number": [2**53 + 1 + i for i in range(60)], "in": X[:, 0], "tag": Y[:, 0].astype(int)})
    fitted(table.select(["number", "in"]), table.select(["tag"]))
    pq.write_table(table, tmp_path / "t.parquet")
    done = amiss("find", "t.parquet", "--outputs", "tag")
    assert done.code == 0, done.err
