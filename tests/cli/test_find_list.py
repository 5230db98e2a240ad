"""The ranked list of ``amiss find``, run as a process: its formats, pipes, files and lines."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pandas as pd
import pytest
from support.hostile import NAMES
from support.tables import ENVIRONMENT

import amiss as package

FIND = ("find", "records.csv", "--outputs", "tag_*", "--id", "name")


def test_find_writes_every_row_ranked_with_its_reasons(amiss, records, tmp_path):
    done = amiss(*FIND, "-o", "found.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "found.csv")
    assert list(found.columns[:10]) == [
        *("rank", "row", "line", "id", "score", "flagged"),
        *("output_1", "observed_1", "probability_1", "contribution_1"),
    ]
    assert (found["line"] == found["row"] + 1).all()
    assert list(found["rank"]) == list(range(1, 121))
    assert sorted(found["row"]) == list(range(1, 121))
    assert found["score"].is_monotonic_decreasing
    assert found["id"][0] == "case 17"
    assert found["row"][0] == 18
    assert found["flagged"].sum() == 1
    first = found.iloc[0]
    assert first["observed_1"] == records.loc[17, first["output_1"]]
    assert 0 < first["probability_1"] < 0.5


def test_the_file_says_what_the_detector_says(amiss, records, tmp_path):
    amiss(*FIND, "-o", "found.jsonl", "--reasons", 4)
    rows = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    data = package.read(tmp_path / "records.csv", outputs="tag_*", id="name")
    model = package.MCODE().fit(data.X, data.Y)
    chances = model.fitted_.training_rows.judged_probabilities_of(slice(None))
    for row in rows:
        number = row["row"] - 1
        assert row["score"] == pytest.approx(model.decision_scores_[number], rel=1e-5)
        assert sum(output["contribution"] for output in row["outputs"]) == pytest.approx(row["score"], rel=1e-4)
        for output in row["outputs"]:
            i = data.output_names.index(output["output"])
            assert output["observed"] == data.Y.values[number, i]
            assert output["probability"] == pytest.approx(chances[number, i], rel=1e-4)


def test_csv_parquet_and_json_lines_say_the_same(amiss, records, tmp_path):
    for suffix in ("csv", "parquet", "pq", "jsonl"):
        assert amiss(*FIND, "-q", "-o", f"found.{suffix}").code == 0
    table = pd.read_csv(tmp_path / "found.csv")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "found.parquet"), table, check_dtype=False)
    assert (tmp_path / "found.pq").read_bytes() == (tmp_path / "found.parquet").read_bytes()
    lines = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == list(table["id"])
    assert [line["outputs"][1]["contribution"] for line in lines] == list(table["contribution_2"])


def test_pipes_in_and_out(amiss, records, tmp_path):
    table = (tmp_path / "records.csv").read_bytes()
    amiss(*FIND, "-q", "-o", "found.csv")
    piped = amiss("find", "-", "--outputs", "tag_*", "--id", "name", "-o", "-", stdin=table)
    assert piped.raw == (tmp_path / "found.csv").read_bytes()
    assert piped.err.startswith("120 rows, 5 inputs, 4 outputs: ") and piped.err.count("\n") == 3
    quiet = amiss("find", "-", "--outputs", "tag_*", "--id", "name", "-q", "-o", "-", stdin=table)
    assert quiet.raw == piped.raw and quiet.err == ""
    as_tsv = records.to_csv(index=False, sep="\t").encode()
    again = amiss("find", "-", "--format", "tsv", "--outputs", "last:4", "--id", "name", "-o", "-", stdin=as_tsv)
    assert again.raw == piped.raw


def test_a_reader_that_goes_away_is_no_error(records, tmp_path):
    command = f"{sys.executable} -c 'from amiss.cli import main; main()' find records.csv --outputs 'tag_*' -o - "
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} --drop name -q | head -n 1"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("rank,row,line,score")
    assert done.returncode == 0


def test_json_lines_in_a_pipe_whatever_the_terminal_speaks(amiss, records, tmp_path, monkeypatch):
    table = (tmp_path / "records.csv").read_text().replace("tag_1", "tag_ü")
    (tmp_path / "records.csv").write_text(table, encoding="utf-8")
    monkeypatch.setitem(ENVIRONMENT, "PYTHONIOENCODING", "ascii")
    piped = amiss(*FIND, "-o", "-", "--output-format", "jsonl")
    rows = [json.loads(line) for line in piped.raw.decode("utf-8").splitlines()]
    assert len(rows) == 120
    assert any(output["output"] == "tag_ü" for row in rows for output in row["outputs"])
    assert amiss(*FIND).code == 0


def test_rows_of_several_files_keep_their_file_and_line(amiss, records, tmp_path):
    lines = (tmp_path / "records.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines[:51]))
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *lines[51:]]))
    amiss("find", "a.csv", "b.csv", "--outputs", "tag_*", "--id", "name", "-o", "found.csv")
    found = pd.read_csv(tmp_path / "found.csv").set_index("row")
    assert tuple(found.loc[18, ["file", "line", "id"]]) == ("a.csv", 19, "case 17")
    assert tuple(found.loc[51, ["file", "line", "id"]]) == ("b.csv", 2, "case 50")


def test_a_bad_file_leaves_an_old_list_as_it_was(amiss, records, tmp_path):
    (tmp_path / "found.csv").write_text("old")
    with (tmp_path / "records.csv").open("a") as stream:
        stream.write("case 120,1,2,3,4,5,0,1,0,maybe\n")
    done = amiss(*FIND, "-o", "found.csv")
    assert done.code == 2
    assert "records.csv, line 122, column 'tag_3': this is neither 0 nor 1" in done.err
    assert "maybe" not in done.err
    assert (tmp_path / "found.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.csv", "records.csv"]


def test_no_cell_of_the_list_is_a_formula(amiss, records, tmp_path):
    bad = ["=1+1", "+a", "-a", "@b", "\tc", "\rd", "-12", "+3.5", "fine", "\ne"]
    ids = [f"{bad[i % 10]}" for i in range(120)]
    names = {f"tag_{i}": name for i, name in enumerate(NAMES[20:24])}
    table = records.assign(name=ids).rename(columns=names)
    table.to_csv(tmp_path / "records.csv", index=False, quoting=csv.QUOTE_ALL)
    find = ("find", "records.csv", "--outputs", "last:4", "--id", "name")
    done = amiss(*find, "-o", "found.csv", "--reasons", "4")
    assert done.code == 0, done.err
    with (tmp_path / "found.csv").open(newline="", encoding="utf-8") as stream:
        found = list(csv.DictReader(stream))
    texts = [row[column] for row in found for column in ("id", "output_1", "output_2", "output_3", "output_4")]
    unsafe = [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert set(unsafe) == {"-12", "+3.5"}
    assert {text for text in texts if text.startswith("'")} >= {"'=1+1", "'+a", "'-a", "'@b", "'\tc"}
    assert len(found) == 120 and all(None not in row.values() for row in found)
    lines = amiss(*find, "-o", "-", "--output-format", "jsonl").out.splitlines()
    assert {json.loads(line)["id"] for line in lines} >= {"=1+1", "-a"}  # no spreadsheet reads that
