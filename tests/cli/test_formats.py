"""Every command with files of every format: what a person sees."""

from __future__ import annotations

import json
import sqlite3

import duckdb
import pandas as pd
import pytest

from amiss.readers.registry import FORMATS


@pytest.fixture
def formats(tmp_path, tables):
    """new.csv again, in every other format for tables."""
    new = tables[1].round(6)
    new.to_csv(tmp_path / "new.csv", index=False)
    with pd.ExcelWriter(tmp_path / "new.xlsx") as book:
        pd.DataFrame({"made by": ["us"]}).to_excel(book, sheet_name="Info", index=False)
        new.to_excel(book, sheet_name="Rows", index=False, startrow=2)
    new.to_parquet(tmp_path / "new.parquet")
    new.to_feather(tmp_path / "new.feather")
    new.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    new.to_json(tmp_path / "new.json", orient="records")
    new.to_csv(tmp_path / "index.csv")
    connection = sqlite3.connect(tmp_path / "new.sqlite")
    new.to_sql("rows", connection, index=False)
    connection.close()
    with duckdb.connect(str(tmp_path / "new.duckdb")) as database:
        database.register("frame", new)
        database.execute("CREATE TABLE rows AS SELECT * FROM frame")
    suffixes = ("xlsx", "parquet", "feather", "jsonl", "json", "sqlite", "duckdb")
    return ["index.csv", *(f"new.{suffix}" for suffix in suffixes)]


def ranked(done):
    return [(row["row"], row["id"], row["score"], row["outputs"]) for row in json.loads(done.out)["top"]]


def test_a_model_scores_new_rows_of_any_format(amiss, model, formats, tmp_path):
    expected = amiss("score", "m.amiss", "new.csv", "--json")
    assert expected.code == 0, expected.err
    for file in formats:
        done = amiss("score", "m.amiss", file, "--json")
        assert done.code == 0, done.err
        assert ranked(done) == ranked(expected), file


def test_the_sheet_that_was_read_is_named(amiss, model, formats):
    for command in (("score", "m.amiss", "new.xlsx"), ("find", "new.xlsx", "--outputs", "tag_*", "--id", "name")):
        done = amiss(*command)
        assert "Sheet 'Rows' was read, not 'Info'; --sheet reads another." in done.out, done.err
    assert amiss("score", "m.amiss", "new.xlsx", "--sheet", "Rows").code == 0
    wrong = amiss("score", "m.amiss", "new.xlsx", "--sheet", "Rowz")
    assert wrong.code == 2 and "there is no sheet 'Rowz'; there are 'Info', 'Rows'" in wrong.err


def test_a_row_of_a_sheet_is_explained(amiss, model, formats):
    of_text, of_sheet = (amiss("explain", "m.amiss", file, "new 5") for file in ("new.csv", "new.xlsx"))
    assert of_text.code == of_sheet.code == 0 and of_text.out == of_sheet.out
    assert amiss("explain", "m.amiss", "new.sqlite", "new 5", "--table", "rows").out == of_text.out


def test_the_help_names_every_format(amiss):
    shown = " ".join(amiss("find", "--help").out.split())
    for name, each in FORMATS.items():
        assert f"{name}: {each.description}" in shown
    for option in ("--sheet", "--table", "--encoding"):
        assert option in shown
