"""``amiss check`` and ``--columns``, run as processes; from a fit to a batch with dates and units."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import amiss as package

N, N_NEW = 160, 40


@pytest.fixture
def visits(tmp_path):
    """visits.csv and new.csv: texts of many kinds, on which two outputs depend."""
    rng = np.random.default_rng(0)
    n = N + N_NEW
    kg, day = rng.normal(75, 12, n).round(1), rng.integers(0, 1000, n)
    signal = (kg - 75) / 12 + rng.normal(0, 0.4, n)
    frame = pd.DataFrame(
        {
            "pid": [f"P{i:05d}" for i in range(n)],
            "weight": [f"{each} kg".replace(".", ",") for each in kg],
            "admitted": (pd.Timestamp("2021-01-01") + pd.to_timedelta(day, unit="D")).strftime("%d.%m.%Y"),
            "age": [("." if rng.random() < 0.05 else str(each)) for each in rng.integers(18, 90, n)],
            "ward": rng.choice(["eyes", "skin", "ear"], n),
            "ill": np.where(signal > 0, "ja", "nein"),
            "severe": np.where(signal > 1, "Y", "N"),
        }
    )
    frame.loc[17, "ill"] = "nein" if frame.loc[17, "ill"] == "ja" else "ja"
    frame.iloc[:N].to_csv(tmp_path / "visits.csv", index=False)
    frame.iloc[N:].to_csv(tmp_path / "new.csv", index=False)
    return frame


OUTPUTS = ("--outputs", "ill,severe")


def test_check_prints_a_line_per_column_and_saves_what_find_accepts(amiss, visits, tmp_path):
    done = amiss("check", "visits.csv", *OUTPUTS, "--save", "columns.toml")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "160 rows, 7 columns (4 inputs, 2 outputs)."
    assert [line.split()[:3] for line in lines[3:10]] == [
        ["pid", "id", "text"], ["weight", "input", "number"], ["admitted", "input", "date"],
        ["age", "input", "number"], ["ward", "input", "category"], ["ill", "output", "binary"],
        ["severe", "output", "binary"],
    ]  # fmt: skip
    plain = amiss("find", "visits.csv", *OUTPUTS, "--id", "pid", "-o", "-")
    by_file = amiss("find", "visits.csv", "--columns", "columns.toml", "-o", "-")
    assert plain.code == 0, plain.err
    assert by_file.raw == plain.raw and by_file.err == plain.err
    assert "weight (numbers in kg, decimal comma); admitted (dates as D.M.Y); age" in " ".join(plain.err.split())


def test_json_holds_the_same(amiss, visits, tmp_path):
    found = json.loads(amiss("check", "visits.csv", *OUTPUTS, "--json").out)
    assert found == package.check(tmp_path / "visits.csv", outputs="ill,severe").to_dict()


def test_a_batch_is_read_as_the_fit_was(amiss, visits, tmp_path):
    done = amiss("fit", "visits.csv", *OUTPUTS, "--id", "pid", "-o", "m.amiss")
    assert done.code == 0, done.err
    assert "admitted (dates as D.M.Y)" in " ".join(done.out.split())
    found = json.loads(amiss("score", "m.amiss", "new.csv", "--json", "--top", N_NEW).out)
    model = package.load(tmp_path / "m.amiss")
    assert sorted(model.fitted_.reading["columns"]) == ["admitted", "ill", "severe", "weight"]
    data = package.read(tmp_path / "visits.csv", outputs="ill,severe", id="pid")
    new = package.read(tmp_path / "new.csv", outputs="ill,severe", id="pid", columns=data.columns)
    scores = package.MCODE().fit(data.X, data.Y).score_batch(new.X, new.Y).scores
    by_row = {row["row"]: row["score"] for row in found["top"]}
    assert [by_row[i + 1] for i in range(N_NEW)] == pytest.approx(scores.tolist(), rel=1e-4)


def test_a_batch_that_contradicts_the_fit_is_refused_in_one_line(amiss, visits, tmp_path):
    assert amiss("fit", "visits.csv", *OUTPUTS, "--id", "pid", "-o", "m.amiss", "--no-calibration", "-q").code == 0
    for column, cell, message in (
        ("weight", "75,5 lb", "this is no number of the form expected here (numbers in kg, decimal comma)"),
        ("weight", "75.5 kg", "this is no number"),
        ("admitted", "2021-03-01", "this is no date of the form expected here (dates as D.M.Y)"),
        ("admitted", "03/04/2021", "this is no date"),
        ("ill", "perhaps", "this is neither yes nor no"),
    ):
        new = visits.iloc[N:].reset_index(drop=True)
        new.loc[3, column] = cell
        new.to_csv(tmp_path / "new.csv", index=False)
        done = amiss("score", "m.amiss", "new.csv")
        assert done.code == 2 and done.err.count("\n") == 1 and cell not in done.err
        assert f"new.csv, line 5, column '{column}': {message}" in done.err


def test_a_model_without_odd_columns_keeps_nothing_of_them(amiss, records, tmp_path):
    options = ("--outputs", "tag_*", "--no-calibration", "-q", "-o", "m.amiss")
    assert amiss("fit", "records.csv", *options, "--id", "name").code == 0
    assert package.load(tmp_path / "m.amiss").fitted_.reading == {"id": "name", "drop": (), "probabilities": ()}
    assert amiss("fit", "records.csv", *options).code == 0  # the names are left out, in a batch too
    assert package.load(tmp_path / "m.amiss").fitted_.reading["drop"] == ("name",)
    assert amiss("score", "m.amiss", "records.csv").code == 0


def test_decisions_on_the_command_line(amiss, visits, tmp_path):
    frame = visits.iloc[:N].assign(
        note=[f"came in on day {i} with {'fever' if i % 2 else 'cough'}" for i in range(N)],
        ill=np.where(visits.ill[:N] == "ja", 1, 2),
    )
    frame.to_csv(tmp_path / "visits.csv", index=False)
    coding = ("--true", "1", "--false", "2")
    done = amiss("find", "visits.csv", *OUTPUTS, *coding)
    assert done.code == 2 and "visits.csv, column 'note': this is free text (160 different texts" in done.err
    done = amiss("find", "visits.csv", *OUTPUTS, *coding, "--text", "note", "--json")
    assert done.code == 0, done.err
    remarks = " ".join(json.loads(done.out)["remarks"])
    assert "note (2 words)" in remarks and 'Column "pid" holds 160 different texts' in remarks
    done = amiss("explain", "visits.csv", 18, *OUTPUTS, *coding, "--drop", "note")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--outputs", "pid"), 'visits.csv: "pid" cannot be an output'),
        (("--outputs", "*"), "visits.csv: "),
        (("--outputs", "sick"), "no column matches 'sick'"),
        (("--save", "columns.txt"), "columns.txt: name the file .toml"),
        (("--save", "nowhere/columns.toml"), "there is no such folder"),
        (("--columns", "none.toml"), "none.toml: there is no such file"),
    ],
)
def test_check_exits_with_2_if_nothing_can_be_done(amiss, visits, options, message):
    done = amiss("check", "visits.csv", *options)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_check_fits_nothing(tmp_path):
    """It answers without what fits models."""
    code = (
        "import sys\nfrom amiss.cli import cli\n"
        "open('t.csv', 'w').write('a,b\\n' + '1.5,0\\n2.5,1\\n' * 9)\n"
        "cli(['check', 't.csv'], standalone_mode=False)\n"
        "print(sorted({'sklearn', 'numba', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
