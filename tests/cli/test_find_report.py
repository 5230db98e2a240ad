"""``amiss find --report``, run as a process."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.hostile import NAMES
from support.tables import ENVIRONMENT

import amiss as package

TAGS = ("--outputs", "tag_*")
FIND = ("find", "records.csv", *TAGS, "--id", "name")


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
