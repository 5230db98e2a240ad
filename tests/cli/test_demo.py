"""``amiss demo``, run as a process."""

from __future__ import annotations

import json
import re

import pandas as pd


def test_the_demo_finds_what_it_falsified(amiss, tmp_path):
    done = amiss("demo", "--save", "demo")
    assert done.code == 0, done.err
    verdict = r"Of the 36 most unusual pictures, (\d+) were falsified \((\d+)%; 2% by chance\)"
    found, share = map(int, re.search(verdict, done.out).groups())
    assert found >= 32 and share == round(100 * found / 36)
    assert "█" in done.out
    table = pd.read_csv(tmp_path / "demo" / "digits.csv")
    assert table.shape == (1797, 1 + 64 + 7)
    truth = pd.read_csv(tmp_path / "demo" / "falsified.csv")
    assert len(truth) == 36
    again = amiss("find", "demo/digits.csv", "--outputs", "tag_*", "--id", "picture", "--alerts", 36, "--json")
    assert json.loads(again.out)["flagged"] == 36


def test_the_demo_writes_a_report(amiss, tmp_path):
    done = amiss("demo", "--report", "new/report.html")
    assert done.code == 0, done.err
    assert "In 33 of these 34, amiss explain names the falsified tag first." in done.out
    html = (tmp_path / "new" / "report.html").read_text("utf-8")
    assert html.count("data:image/png;base64,") == 200 and len(html) < 2_000_000


def test_without_options_it_prints_and_writes_nothing(amiss, tmp_path):
    done = amiss("demo")
    assert done.code == 0 and done.err == "" and list(tmp_path.iterdir()) == []
    lines = done.out.splitlines()
    assert lines[0].startswith("1,797 pictures of handwritten digits with 7 tags each; in 36 of them one tag was")
    assert len([line for line in lines if " ! " in line]) == 10


def test_the_seed_says_which_tags_are_falsified(amiss, tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert amiss("demo", "--save", folder, "--seed", seed).code == 0
    first, again, other = ((tmp_path / name / "falsified.csv").read_text() for name in "abc")
    assert first == again != other


def test_a_report_that_cannot_be_written_is_refused_before_the_work(amiss, tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = amiss("demo", "--report", "taken/report.html")
    assert done.code == 1 and done.out == "" and done.err.count("\n") == 1
