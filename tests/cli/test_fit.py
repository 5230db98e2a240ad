"""``amiss fit``, run as a process: the model file, what is said of it, and what is refused."""

from __future__ import annotations

import csv
import io
import re
import stat

import numpy as np
import pytest

import amiss as package

OUTPUTS = ("--outputs", "tag_*", "--id", "name")
FIT = ("fit", "records.csv", *OUTPUTS, "-o", "m.amiss")


def test_the_model_is_the_detector_and_only_its_owner_reads_it(amiss, records, tmp_path):
    done = amiss(*FIT)
    assert done.code == 0 and done.err == ""
    said = " ".join(done.out.split())
    assert said.startswith("120 rows, 5 inputs, 4 outputs: m.amiss, ")
    assert "with the rows, so guard it like the data" in said
    assert said.endswith("To score other rows: amiss score m.amiss FILE")
    assert stat.S_IMODE((tmp_path / "m.amiss").stat().st_mode) == 0o600
    data = package.read(tmp_path / "records.csv", outputs="tag_*", id="name")
    here, there = package.MCODE().fit(data.X, data.Y).calibrate(data.X, data.Y), package.load(tmp_path / "m.amiss")
    np.testing.assert_array_equal(there.decision_scores_, here.decision_scores_)
    np.testing.assert_array_equal(there.calibration_.scores, here.calibration_.scores)
    assert there.threshold_ == here.threshold_
    above = int((here.calibration_.scores > here.threshold_).sum())
    assert (
        f"A new row is flagged if it scores above {here.threshold_:.4g}. Of 120 held-out rows, {above} do" in said
    )
    assert re.search(r"m\.amiss, \d+ kB, ", said)


def test_options_reach_the_model(amiss, records, tmp_path):
    options = ("--rule", "rw", "--weighting", "error", "--rate", "0.1", "--seed", "3", "--scaling", "block")
    assert amiss(*FIT, *options, "--no-calibration", "-q").code == 0
    found = package.load(tmp_path / "m.amiss").get_params()
    asked = {"rule": "rw", "weighting": "error", "contamination": 0.1, "random_state": 3, "scaling": "block"}
    assert {name: found[name] for name in asked} == asked


def test_quiet_prints_nothing_and_the_same_rows_give_the_same_file(amiss, records, tmp_path):
    done = amiss(*FIT, "-q", "--no-calibration")
    assert (done.code, done.out, done.err) == (0, "", "")
    first = (tmp_path / "m.amiss").read_bytes()
    assert amiss(*FIT, "-q", "--no-calibration").code == 0
    assert (tmp_path / "m.amiss").read_bytes() == first


@pytest.mark.parametrize("level", [("--fdr", "0.1"), ("--rate", "auto")])
def test_a_model_with_a_level_says_how_new_rows_are_compared(amiss, records, level):
    said = " ".join(amiss(*FIT, *level, "--no-calibration").out.split())
    assert "Not calibrated: new rows are compared with rows simulated by the models." in said
    assert "New rows are flagged above" not in said


def test_rows_that_cannot_be_calibrated_by_still_give_a_model(amiss, records, tmp_path):
    """Ninety copies of one row and few others: the fit is good, and the reason is said in one line."""
    copies = records.iloc[[0] * 90 + list(range(1, 16))].assign(name=range(105))
    copies.to_csv(tmp_path / "records.csv", index=False)
    done = amiss(*FIT)
    assert done.code == 0 and done.err.count("\n") == 1
    assert done.err.startswith("amiss: the model is not calibrated (a calibration needs 20 rows")
    assert "Not calibrated: the threshold is that of rows of the fit" in " ".join(done.out.split())
    assert package.load(tmp_path / "m.amiss").calibration_ is None


def test_requests_to_fit_that_make_no_sense(tmp_path, amiss, tables):
    tables[0].iloc[:12].to_csv(tmp_path / "few.csv", index=False)
    for options, message in (
        (("records.csv", "--alerts", 5), "use --rate here"),
        (("records.csv", "--without-rows", "--neighbors", 50), "neighbours are rows of the fit"),
        (("records.csv", "--order", "tag_0,tag_1,tag_2,tag_3"), "--order needs --parents chain"),
        (("few.csv",), "few.csv: 12 rows are too few for a calibration; pass --no-calibration"),
    ):
        done = amiss("fit", *options, *OUTPUTS, "-o", "m.amiss")
        assert done.code == 2 and message in done.err, done.err
    assert not (tmp_path / "m.amiss").exists()


def test_a_model_without_rows(tmp_path, tables, amiss):
    done = amiss("fit", "records.csv", *OUTPUTS, "-o", "m.amiss", "--without-rows")
    assert done.code == 0 and "without the rows" in done.out
    done = amiss("score", "m.amiss", "records.csv", "--top", 1)
    assert done.code == 0 and "their scores may be too low" in " ".join(done.out.split())
    rows = list(csv.DictReader(io.StringIO(amiss("score", "m.amiss", "new.csv", "--alerts", 1, "-o", "-").out)))
    assert rows[0]["id"].startswith("new ") and [row["flagged"] for row in rows[:2]] == ["1", "0"]
    content = (tmp_path / "m.amiss").read_bytes()
    assert all(f"case {i}".encode() not in content for i in range(120))


def test_a_model_file_is_named_and_placed_as_one(amiss, records, tmp_path):
    for path, message in (
        ("model.pkl", "model.pkl: a model file ends in .amiss"),
        ("nowhere/m.amiss", "nowhere/m.amiss: there is no such folder"),
    ):
        done = amiss("fit", "records.csv", *OUTPUTS, "-o", path)
        assert done.code == 2 and message in done.err and done.err.count("\n") == 1 and done.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["records.csv"]
