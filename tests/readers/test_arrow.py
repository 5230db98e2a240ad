"""Arrow and Feather files, which are read as Parquet files are."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

import amiss

TABLE = {"name": ["a1", "a2", "a3"], "age": [34.5, None, 7.0], "ward": ["eyes", "ear", None], "y": [0, 1, 1]}


def written(path, kind):
    if kind == "polars":
        pl.DataFrame(TABLE).write_ipc(path, compression="zstd")
    elif kind == "pandas":
        pd.DataFrame(TABLE).to_feather(path)
    elif kind == "stream":
        table = pa.table(TABLE)
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    else:
        feather.write_feather(pa.table(TABLE), path, compression=kind)


@pytest.mark.parametrize("kind", ["lz4", "zstd", "uncompressed", "polars", "pandas", "stream"])
@pytest.mark.parametrize("suffix", [".feather", ".arrow"])
def test_it_is_read_as_parquet_is(tmp_path, kind, suffix):
    written(str(tmp_path / f"t{suffix}"), kind)
    pd.DataFrame(TABLE).to_parquet(tmp_path / "t.parquet")
    found, expected = (
        amiss.read(tmp_path / name, outputs="y", id="name", categorical="age")
        for name in (f"t{suffix}", "t.parquet")
    )
    np.testing.assert_array_equal(found.X.values, expected.X.values)
    np.testing.assert_array_equal(found.Y.values, expected.Y.values)
    assert (found.ids, found.X.levels, found.X.names) == (expected.ids, expected.X.levels, expected.X.names)
    assert found.X.where(1) == f"{tmp_path}/t{suffix}, row 2"


def test_columns_that_have_no_role_are_not_read(tmp_path):
    table = pa.table(TABLE).append_column("notes", pa.array([[1], [2], []]))
    feather.write_feather(table, str(tmp_path / "t.feather"))
    assert amiss.read(tmp_path / "t.feather", outputs="y", id="name", drop="notes").input_names == ("age", "ward")


def test_what_is_no_arrow_file(refused):
    stream = io.BytesIO()
    feather.write_feather(pa.table(TABLE), stream)
    content = stream.getvalue()
    for damaged in (content[:200], content[:-20], b"ARROW1", b"nothing at all"):
        assert "this is not an Arrow or Feather file, or it is damaged" in refused(damaged, "t.arrow", outputs="y")
    assert "version 1; write it again" in refused(b"FEA1\0\0", "t.feather", outputs="y")
    assert "name it .arrow" in refused(content, "t.csv", outputs="y")
    assert "which columns are outputs?" in refused(content, "t.feather")
