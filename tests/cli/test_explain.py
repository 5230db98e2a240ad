"""``amiss explain`` and the report, run as a process."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.hostile import NAMES
from support.tables import ENVIRONMENT

import amiss as package

TAGS = ("--outputs", "tag_*")
EXPLAIN = ("explain", "records.csv")
FIND = ("find", "records.csv", *TAGS, "--id", "name")


def explained(tmp_path, row):
    data = package.read(tmp_path / "records.csv", outputs="tag_*", id="name")
    return replace(package.MCODE().fit(data.X, data.Y).explain(row), values=data.X.texts(row))


def test_a_row_is_meant_by_its_number_or_its_id(amiss, records, tmp_path):
    by_id = amiss(*EXPLAIN, "case 17", *TAGS, "--id", "name")
    by_number = amiss(*EXPLAIN, "18", *TAGS, "--drop", "name")
    assert by_id.code == by_number.code == 0, by_id.err + by_number.err
    why = explained(tmp_path, 17)
    assert by_id.out.startswith("Row 18 (case 17) is flagged as unusual")
    text = " ".join(by_id.out.split())
    assert all(sentence in text for sentence in why.sentences()[1:])
    assert by_number.out.startswith("Row 18 is flagged as unusual")
    despite = amiss(*EXPLAIN, "18", *TAGS, "--id", "name")
    assert despite.out == by_id.out
    assert by_number.out.partition("\n\n")[2] == by_id.out.partition("\n\n")[2]
    table = by_id.out.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in table[1 : 1 + why.n_suspects]] == [each.output for each in why.suspects]


def test_the_printed_log_odds_add_up(amiss, records):
    done = amiss(*EXPLAIN, "18", *TAGS, "--drop", "name")
    terms = [float(line.split()[-1]) for line in done.out.split("\n\n")[2].splitlines()[1:]]
    assert sum(terms[:-1]) == pytest.approx(terms[-1], abs=0.0005 * len(terms))


def test_json_says_the_same_with_rows_counted_from_one(amiss, records, tmp_path):
    done = amiss(*EXPLAIN, "case 17", *TAGS, "--id", "name", "--json")
    plain = json.loads(done.out)
    why = explained(tmp_path, 17)
    assert plain["row"] == 18 and plain["neighbors"] == [near + 1 for near in why.neighbors]
    assert plain["score"] == pytest.approx(why.score)
    assert [each["output"] for each in plain["outputs"]] == [each.output for each in why.outputs]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0", "--drop", "name"), "there is no row '0'; rows are numbered from 1 to 120"),
        (("case 5", "--drop", "name"), "there is no row 'case 5'"),
        (("nobody", "--id", "name"), "no row has the id 'nobody'"),
        (("9" * 5000, "--drop", "name"), "there is no row '999"),
        (("1", "--id", "same"), "120 rows have the id '1'"),
    ],
)
def test_rows_that_are_not_there_are_refused(amiss, records, tmp_path, arguments, message):
    records.assign(same=1).drop(columns="name" if "same" in arguments else []).to_csv(
        tmp_path / "records.csv", index=False
    )
    done = amiss(*EXPLAIN, *arguments, *TAGS)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1 and done.out == ""


def test_find_writes_a_report(amiss, records, tmp_path):
    done = amiss(*FIND, "--report", "report.html", "--report-rows", "7")
    assert done.code == 0, done.err
    assert done.out.endswith("Report: report.html\n")
    html = (tmp_path / "report.html").read_text("utf-8")
    assert "<title>records.csv: unusual rows</title>" in html and html.count('"said"') == 7
    in_a_pipe = amiss(*FIND, "--report", "again.html", "-o", "-")
    assert in_a_pipe.out.startswith("rank,") and "Report: again.html" in in_a_pipe.err
    code = (
        "import subprocess, sys\n"
        "find = [sys.executable, '-c', 'from amiss.cli import main; main()', *sys.argv[1:]]\n"
        "process = subprocess.Popen(find, stdout=subprocess.PIPE)\n"
        "process.stdout.close()\n"
        "sys.exit(process.wait())"
    )
    left = [sys.executable, "-c", code, *FIND, "--report", "left.html", "-o", "-"]
    subprocess.run(left, cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True)
    assert (tmp_path / "left.html").exists()  # though nobody read the list
    quiet = amiss(*FIND, "--report", "quiet.html", "-q")
    assert (quiet.out, quiet.err, (tmp_path / "quiet.html").exists()) == ("", "", True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--report", "report.pdf"), "report.pdf: a report is an HTML file; name it .html"),
        (("--report", "no/report.html"), "no/report.html: there is no such folder"),
        (
            ("--report", "a.html", "-o", "a.html", "--output-format", "csv"),
            "the list and the report cannot be one file",
        ),
        (("--pictures", "in0"), "--pictures is for the report"),
        (("--report", "a.html", "--pictures", "nobody"), "there is no column 'nobody' to name pictures"),
    ],
)
def test_bad_requests_for_a_report_are_refused_before_the_work(amiss, records, tmp_path, arguments, message):
    done = amiss(*FIND, *arguments)
    assert done.code == 2 and message in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["records.csv"]


@pytest.mark.parametrize("kind", ("csv", "parquet"))
def test_a_column_of_pictures_stands_beside_the_rows(amiss, records, tmp_path, kind):
    folder = tmp_path / "album"
    folder.mkdir()
    for i in range(119):  # one is missing
        Image.new("RGB", (20, 10), (2 * i, 0, 0)).save(folder / f"{i}.png")
    table = records.assign(photo=[f"{i}.png" for i in range(120)])
    getattr(table, f"to_{kind}")(folder / f"records.{kind}", index=False)
    done = amiss(
        "find", f"album/records.{kind}", *TAGS, "--id", "name", "--pictures", "photo", "--report", "report.html"
    )
    assert done.code == 0, done.err
    html = (tmp_path / "report.html").read_text("utf-8")
    assert html.count("data:image/jpeg;base64,") == 119
    assert "1 picture could not be shown" in html and "photo" not in html.split("</main>")[0]
    without = amiss("find", f"album/records.{kind}", *TAGS, "--id", "name", "--drop", "photo", "--json")
    data = package.read(folder / f"records.{kind}", outputs="tag_*", id="name", pictures="photo")
    scores = package.MCODE().fit(data.X, data.Y).decision_scores_
    assert json.loads(without.out)["top"][0]["score"] == pytest.approx(scores.max(), rel=1e-5)


def test_an_array_of_pictures_in_an_npz_file(amiss, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((60, 9))
    Y = (X[:, :2] > 0.5).astype(float)
    np.savez(tmp_path / "small.npz", X=X, Y=Y, pictures=X.reshape(60, 3, 3))
    done = amiss("find", "small.npz", "--report", "report.html")
    assert done.code == 0, done.err
    assert (tmp_path / "report.html").read_text("utf-8").count("data:image/png;base64,") == 60
    np.savez(tmp_path / "bad.npz", X=X, Y=Y, pictures=X)
    assert "pictures must be an array of shape (rows, height, width)" in amiss("find", "bad.npz").err


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


def test_a_file_of_hostile_names_is_reported_and_explained(amiss, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 15))
    Y = (X[:, :15] + rng.normal(size=(80, 15)) > 0).astype(int)
    table = pd.DataFrame(np.hstack([X, Y]), columns=NAMES)
    text = io.StringIO()
    table.to_csv(text, index=False)
    (tmp_path / "hostile.csv").write_text(text.getvalue(), "utf-8")
    done = amiss("find", "hostile.csv", "--outputs", "last:15", "--report", "report.html", "-o", "found.csv")
    assert done.code == 0, done.err
    assert (tmp_path / "report.html").stat().st_size < 2_000_000
    done = amiss("explain", "hostile.csv", "1", "--outputs", "last:15")
    assert done.code == 0, done.err
    assert "\u202e" not in done.out and "\u2028" not in done.out and max(map(len, done.out.splitlines())) < 200


def test_the_demo_writes_a_report(amiss, tmp_path):
    done = amiss("demo", "--report", "new/report.html")
    assert done.code == 0, done.err
    assert "in 35 of these 35 the tag that amiss explain names first is the falsified one" in done.out
    html = (tmp_path / "new" / "report.html").read_text("utf-8")
    assert html.count("data:image/png;base64,") == 200 and len(html) < 2_000_000
