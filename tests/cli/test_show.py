"""Columns beside the rows (--show), and lists with one line per reason."""

from __future__ import annotations

import json
from functools import partial

import pandas as pd
import pytest

TAGS = ("--outputs", "tag_*", "--id", "name", "--neighbors", 30)


@pytest.fixture
def noted(tmp_path, records):
    """The records with columns that are no inputs, in three formats."""
    frame = records.assign(
        note=[f'said "no", line {i}' for i in range(120)], score=range(120), code=[f"{i:04d}" for i in range(120)]
    )
    frame.loc[3, "note"] = None
    frame.to_csv(tmp_path / "noted.csv", index=False)
    frame.to_parquet(tmp_path / "noted.parquet")
    return frame.fillna({"note": ""})


@pytest.mark.parametrize("file", ["noted.csv", "noted.parquet"])
def test_shown_columns_stand_beside_the_rows_and_change_no_score(amiss, noted, tmp_path, file):
    assert amiss("find", "records.csv", *TAGS, "-o", "plain.csv", "-q").code == 0
    done = amiss("find", file, *TAGS, "--show", "note,code", "--show", "score", "-o", "shown.csv", "-q")
    assert done.code == 0, done.err
    plain, shown = (
        pd.read_csv(tmp_path / name, dtype=str, keep_default_na=False) for name in ("plain.csv", "shown.csv")
    )
    beside = ["note", "code", "table_score"]
    assert list(shown.columns[shown.columns.get_loc("id") + 1 :][:3]) == beside
    rows = noted.iloc[shown["row"].astype(int) - 1]
    assert shown["note"].tolist() == rows["note"].tolist() and shown["code"].tolist() == rows["code"].tolist()
    assert shown["table_score"].astype(int).tolist() == rows["score"].tolist()
    mine = shown.drop(columns=beside)
    pd.testing.assert_frame_equal(mine, plain[mine.columns])


def test_shown_columns_are_in_every_list(amiss, noted, tmp_path):
    options = ("noted.csv", *TAGS, "--drop", "score", "--show", "note,code")
    amiss("find", *options, "-o", "l.jsonl", "-q")
    lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    top = json.loads(amiss("find", *options, "--json").out)["top"]
    assert lines[:10] == top and lines[0]["note"] == noted["note"][lines[0]["row"] - 1]
    cells = amiss("find", *options, "--cells", "-o", "-").out.splitlines()
    assert cells[0].startswith("rank,row,line,id,note,code,output,")
    printed = amiss("find", *options, "--top", 1).out
    assert f"  {lines[0]['code']}  " in printed and " note " in printed


def test_the_order_of_the_list_is_the_users(amiss, noted):
    head = amiss("find", "noted.csv", *TAGS, "--show", "score,code,n*", "-o", "-").out.splitlines()[0]
    assert "id,table_score,code,note,score," in head  # the id is shown once


@pytest.mark.parametrize(
    ("show", "message"),
    [
        ("tag_0", "'tag_0' cannot be shown and be an output; leave it out of --show"),
        ("notes", "no column matches 'notes'; did you mean 'note'?"),
    ],
)
def test_what_cannot_be_shown_is_refused(amiss, noted, show, message):
    outputs = ("--outputs", "tag_0,tag_1") if show != "tag_0" else ("--outputs", "tag_0", "--outputs", "tag_1")
    done = amiss("find", "noted.csv", *outputs, "--id", "name", "--show", show)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_names_of_columns_are_no_formulas(amiss, noted, tmp_path):
    noted.rename(columns={"note": "=1+1"}).to_csv(tmp_path / "t.csv", index=False)
    assert (
        ",'=1+1,"
        in amiss("find", "t.csv", *TAGS, "--drop", "code", "--show", "=1+1", "-o", "-").out.splitlines()[0]
    )


def test_new_rows_are_shown_with_their_columns(amiss, noted, tmp_path):
    assert amiss("fit", "noted.csv", *TAGS, "--drop", "score", "--show", "note,code", "-o", "m.amiss").code == 0
    noted.iloc[100:].to_csv(tmp_path / "new.csv", index=False)
    done = amiss("score", "m.amiss", "new.csv", "--show", "code", "-o", "l.csv", "-q")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "l.csv", dtype=str)
    assert found["code"].tolist() == noted["code"].iloc[100:].iloc[found["row"].astype(int) - 1].tolist()
    assert "note" not in found.columns
    records = noted.iloc[100:].drop(columns=["note", "code"])  # what was shown need not be there
    records.to_csv(tmp_path / "new.csv", index=False)
    assert amiss("score", "m.amiss", "new.csv", "-q").code == 0


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_line_per_reason_says_what_the_line_per_row_says(amiss, noted, model, tmp_path, suffix):
    json_lines = partial(pd.read_json, lines=True, precise_float=True)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": json_lines}[suffix]
    for command in (("find", "records.csv", *TAGS), ("score", "m.amiss", "new.csv")):
        for per in ("row", "reason"):
            written = f"{per}.{'csv' if per == 'row' else suffix}"
            done = amiss(*command, "--reasons", 3, "--one-line-per", per, "-o", written, "-q")
            assert done.code == 0, done.err
        rows, reasons = pd.read_csv(tmp_path / "row.csv"), read(tmp_path / f"reason.{suffix}")
        expected = [
            (row["row"], place, row[f"output_{place}"], row[f"observed_{place}"], row[f"contribution_{place}"])
            for _, row in rows.iterrows()
            for place in (1, 2, 3)
            if isinstance(row[f"output_{place}"], str)
        ]
        names = ["row", "reason", "output", "observed", "contribution"]
        assert list(reasons[names].itertuples(index=False, name=None)) == expected
        assert reasons["flagged"].astype(int).tolist() == rows.set_index("row")["flagged"][reasons["row"]].tolist()
        assert ("output_p_value" in reasons.columns) == (command[0] == "score")


def test_a_line_per_reason_needs_a_list(amiss, records):
    done = amiss("find", "records.csv", *TAGS, "--one-line-per", "reason")
    assert done.code == 2 and "--one-line-per reason is for the list of rows; add -o found.csv" in done.err


def test_shown_texts_are_cut_before_the_reasons(amiss, noted, tmp_path):
    wide = noted.assign(note=[f"{'a long remark' * 3} {i}" for i in range(120)])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    options = ("wide.csv", *TAGS, "--drop", "score,code", "--show", "note", "--top", 3, "--reasons", 4)
    printed = amiss("find", *options).out
    assert "a long…" in printed and all(len(line) <= 110 for line in printed.splitlines())
    cells = amiss("find", *options, "--cells").out
    head = next(line for line in cells.splitlines() if line.startswith("output"))
    assert head.split() == ["output", "row", "id", "note", "is", "suggested", "p", "score"]
    assert cells.count("a long") == 3


def test_the_table_says_the_line_of_one_file(amiss, noted, tmp_path):
    def head(*files):
        printed = amiss("find", *files, *TAGS, "--drop", "score,code,note", "--top", 1).out.splitlines()
        place = next(n for n, line in enumerate(printed) if line.startswith("rank"))
        return printed[place].split()[:4], printed[place + 1].split()[:3]

    names, (rank, row, line) = head("noted.csv")
    assert names == ["rank", "row", "line", "id"] and rank == "1" and int(line) == int(row) + 1
    assert head("noted.parquet")[0][:3] == ["rank", "row", "id"]
    assert head("noted.csv", "noted.csv")[0][:3] == ["rank", "row", "id"]
