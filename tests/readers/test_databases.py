"""SQLite and DuckDB: a table, a view, a query; nothing is written, and errors of SQL are one line."""

from __future__ import annotations

import gzip
import hashlib
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amiss
from amiss.errors import DataError, MissingDependencyError
from amiss.readers import duckdb as duckdb_reader

ROWS = [("a1", 34.5, "eyes", 0), ("a2", None, "ear", 1), ("a3", 7, None, 1)]
CREATE = "CREATE TABLE people (name TEXT, age REAL, ward TEXT, y INTEGER)"


def lite(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute(CREATE)
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def duck(path, *statements):
    with duckdb.connect(str(path)) as connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
        for statement in statements:
            connection.execute(statement)
    return path


BOTH = pytest.mark.parametrize("made", [lite, duck])
SUFFIX = {lite: ".sqlite", duck: ".duckdb"}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@BOTH
def test_a_database_with_one_table_needs_no_name(tmp_path, made):
    path = made(tmp_path / f"t{SUFFIX[made]}", "CREATE VIEW young AS SELECT * FROM people WHERE age < 30")
    before = digest(path)
    data = amiss.read(path, outputs="y", id="name")
    assert data.ids == ("a1", "a2", "a3") and data.X.levels == {1: ("ear", "eyes")}
    np.testing.assert_array_equal(data.X.values[:, 0], [34.5, np.nan, 7])
    assert data.X.where(1) == f"{path}, row 2"
    assert len(amiss.read(f"{path}::young", outputs="y", id="name")) == 1
    assert len(amiss.read(path, table="select * from people where age > 1", outputs="y", id="name")) == 2
    assert digest(path) == before and [each.name for each in tmp_path.iterdir()] == [path.name]


@BOTH
def test_several_tables_are_named(tmp_path, made):
    path = made(
        tmp_path / f"t{SUFFIX[made]}", "CREATE TABLE Wards (ward TEXT)", 'CREATE TABLE "odd ""name" (a INT, y INT)'
    )
    with pytest.raises(DataError, match=r"there are 3 tables: .*'people'.*; choose one \(--table\)"):
        amiss.read(path, outputs="y")
    assert len(amiss.read(path, table="people", outputs="y", id="name")) == 3
    with pytest.raises(DataError, match="no rows"):
        amiss.read(path, table='odd "name', outputs="y")
    with pytest.raises(DataError, match="no column"):
        amiss.read(path, table="wards", outputs="y")


@BOTH
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("nothing", r"there is no such table, and this is no SELECT; there are 'people'"),
        ("SELECT zz FROM people", r"the query fails: .*zz"),
        ("SELECT * FORM people", r"the query fails: "),
        ("SELECT 1; SELECT 2", r"only one query is read"),
        ("DROP TABLE people", r"this is no SELECT"),
        ("WITH a AS (SELECT 1) DELETE FROM people", r"only a SELECT is read|the query fails"),
        ("ATTACH 'x.db' AS x", r"this is no SELECT"),
        ("SELECT age AS \"\", y FROM people", r"column 1 has no name|the query fails"),
        ("SELECT age, age, y FROM people", r"duplicate column name 'age'"),
    ],
)  # fmt: skip
def test_other_queries_are_refused_in_one_line(tmp_path, made, query, message):
    path = made(tmp_path / f"t{SUFFIX[made]}")
    before = digest(path)
    with pytest.raises(DataError, match=message) as caught:
        amiss.read(path, table=query, outputs="y", drop="name" if "*" in query else ())
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert digest(path) == before


def test_other_files_are_out_of_reach(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a,y\n1,0\n")
    path = duck(tmp_path / "t.duckdb")
    with pytest.raises(DataError, match="the query fails: PermissionException"):
        amiss.read(path, table=f"SELECT * FROM read_csv('{secret}')", outputs="y")


def test_a_failing_cast_does_not_quote_the_cell(tmp_path):
    path = duck(tmp_path / "t.duckdb")
    with pytest.raises(DataError) as caught:
        amiss.read(path, table="SELECT CAST(ward AS INTEGER) AS a, y FROM people", outputs="y")
    assert "eyes" not in str(caught.value)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)),
            st.one_of(st.none(), st.sampled_from(["eyes", "ear", "NA"])),
            st.integers(0, 1),
        ),
        min_size=2,
        max_size=40,
    )
)
@settings(max_examples=25)
def test_what_is_read_is_what_pandas_reads(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("db") / "t.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a, b, y)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.commit()
    frame = pd.read_sql("SELECT * FROM t", connection)
    connection.close()
    data = amiss.read(path, outputs="y", categorical="b")
    np.testing.assert_array_equal(data.X.values[:, 0], frame["a"].to_numpy(dtype=float))
    found = [None if np.isnan(code) else data.X.levels[1][int(code)] for code in data.X.values[:, 1]]
    assert found == [None if pd.isna(cell) or cell == "NA" else cell for cell in frame["b"]]


def test_binary_cells_and_texts_that_are_none(tmp_path):
    path = lite(tmp_path / "t.sqlite", "UPDATE people SET ward = x'00ff' WHERE name = 'a2'")
    with pytest.raises(DataError, match=r"row 2, column 'ward': the cell holds binary data; drop the column"):
        amiss.read(path, outputs="y", id="name")
    assert len(amiss.read(path, outputs="y", id="name", drop="ward")) == 3
    path = lite(tmp_path / "u.sqlite", "UPDATE people SET ward = CAST(x'5a71ff' AS TEXT) WHERE name = 'a2'")
    with pytest.raises(DataError, match="a text that is not UTF-8") as caught:
        amiss.read(path, outputs="y", id="name")
    assert "Zq" not in str(caught.value)


def test_a_log_beside_the_database_is_read_too_and_none_is_made(tmp_path):
    path = lite(tmp_path / "t.sqlite")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO people VALUES ('a4', 1, 'ear', 0)")
    writer.commit()
    assert len(amiss.read(path, outputs="y", id="name")) == 4
    writer.close()
    (tmp_path / "t.sqlite").chmod(0o444)
    before = {each.name for each in tmp_path.iterdir()}
    assert len(amiss.read(path, outputs="y", id="name")) == 4
    assert {each.name for each in tmp_path.iterdir()} == before == {"t.sqlite"}
    (tmp_path / "t.sqlite.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert len(amiss.read(tmp_path / "t.sqlite.gz", outputs="y", id="name")) == 4


def test_what_is_no_database(tmp_path, refused):
    assert "this is no SQLite database" in refused(b"a,y\n1,0\n", "t.db", outputs="y")
    assert "the file is empty" in refused(b"", "t.sqlite", outputs="y")
    assert "this is no DuckDB database" in refused(b"a,y\n1,0\n", "t.duckdb", outputs="y")
    content = lite(tmp_path / "whole.db").read_bytes()
    assert "the database is damaged" in refused(content[:3000], "t.db", outputs="y")
    assert "name it .sqlite" in refused(content, "t.csv", outputs="y")
    empty = sqlite3.connect(tmp_path / "none.db")
    empty.execute("PRAGMA user_version = 1")
    empty.close()
    assert "the database has no tables" in refused((tmp_path / "none.db").read_bytes(), "t.db", outputs="y")


def test_duckdb_under_another_name_and_gzipped(tmp_path, monkeypatch):
    path = duck(tmp_path / "t.db")
    assert len(amiss.read(path, outputs="y", id="name")) == 3
    (tmp_path / "t.duckdb.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(DataError, match="unpack it first"):
        amiss.read(tmp_path / "t.duckdb.gz", outputs="y")
    with duckdb.connect(str(path)), pytest.raises(DataError, match=r"t\.db: .* another program has it open"):
        amiss.read(path, outputs="y")
    monkeypatch.setattr(duckdb_reader, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'amiss\[duckdb\]'"):
        amiss.read(path, outputs="y")


def test_the_command_reads_a_query_and_writes_over_no_database(amiss, records, tmp_path):
    connection = sqlite3.connect(tmp_path / "r.sqlite")
    records.to_sql("records", connection, index=False)
    connection.close()
    plain = amiss("find", "records.csv", "--outputs", "tag_*", "--id", "name", "-q", "-o", "-")
    found = amiss("find", "r.sqlite::SELECT * FROM records", "--outputs", "tag_*", "--id", "name", "-q", "-o", "-")
    as_lines = pd.read_csv(tmp_path / "records.csv").shape[0]
    rows = [line.split(",") for line in found.out.splitlines()]
    assert found.code == 0 and len(rows) == as_lines + 1
    assert [row[2] for row in rows[1:]] == [line.split(",")[3] for line in plain.out.splitlines()[1:]]
    done = amiss("find", "r.sqlite::records", "--outputs", "tag_*", "-o", "r.sqlite", "--output-format", "csv")
    assert done.code == 2 and "this is an input file" in done.err
