"""``amiss score``, run as a process."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from support.files import written
from support.tables import ENVIRONMENT

import amiss as package

OUTPUTS = ("--outputs", "tag_*", "--id", "name")


def listed(done):
    return list(csv.DictReader(io.StringIO(done.out)))


def test_score_says_what_the_detector_says(model, amiss, tables):
    done = amiss("score", "m.amiss", "new.csv", "-o", "-")
    assert done.code == 0, done.err
    rows = listed(done)
    detector, (_, new) = package.load(model), tables
    batch = detector.score_batch(new.iloc[:, 1:6], new.iloc[:, 6:])
    order = np.argsort(-batch.scores, kind="stable")
    assert [int(row["row"]) - 1 for row in rows] == order.tolist()
    for row, number in zip(rows, order, strict=True):
        assert row["id"] == new.name[number] and int(row["line"]) == number + 2
        assert float(row["score"]) == pytest.approx(batch.scores[number], rel=1e-5)
        assert float(row["p_value"]) == pytest.approx(batch.p_values[number], rel=1e-5)
        assert int(row["flagged"]) == int(batch.flagged[number]) and row["in_fit"] == "0"
    first = new.iloc[[order[0]]]
    suspect = detector.explain(first.iloc[:, 1:6], first.iloc[:, 6:]).suspects[0].output
    assert rows[0]["output_1"] == suspect
    expected = batch.output_p_values[order[0], detector.output_names_.index(suspect)]
    assert float(rows[0]["p_value_1"]) == pytest.approx(expected, rel=1e-5)
    assert "40 rows: " in done.err and "the threshold of the fit" in done.err


def test_ways_to_choose_what_is_flagged(model, amiss):
    summary = json.loads(amiss("score", "m.amiss", "new.csv", "--alerts", 3, "--json").out)
    assert summary["flagged"] == 3 and len(summary["drift"]) == 4 and summary["in_fit"] == 0
    assert summary["by"] == "alerts" and len(summary["top"]) == 10
    levels = [json.loads(amiss("score", "m.amiss", "new.csv", "--fdr", a, "--json").out) for a in (0.05, 0.9)]
    assert levels[0]["flagged"] < levels[1]["flagged"] and "held out of the fit" in levels[0]["reason"]
    assert [each["fdr"] for each in levels] == [0.05, 0.9] and levels[0]["by"] == "fdr"
    drawn = json.loads(amiss("score", "m.amiss", "new.csv", "--fdr", 0.2, "--against", "models", "--json").out)
    assert "rows simulated by the models" in drawn["reason"]
    rate = json.loads(amiss("score", "m.amiss", "new.csv", "--rate", 0.2, "--json").out)
    assert rate["reason"] == "which 23 of 120 rows held out of the fit exceed" and rate["flagged"] >= 1
    assert rate["expected_by_chance"] == pytest.approx(40 * 24 / 121, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rate", "0.1", "--fdr", "0.1"), "give only one of them"),
        (("--against", "rows"), "--against is for --fdr"),
        (("-o", "-", "--json"), "both write to standard output"),
        (("-o", "m.amiss", "--output-format", "csv"), "this is an input file"),
        (("--fdr", "1"), "--fdr"),
        (("--rate", "0.7"), "--rate"),
        (("--fdr", "nan"), "--fdr"),
    ],
)
def test_requests_that_contradict(model, amiss, options, message):
    done = amiss("score", "m.amiss", "new.csv", *options)
    assert done.code == 2 and message in done.err


def test_rows_of_the_fit_are_reported_and_keep_their_scores(model, amiss):
    done = amiss("score", "m.amiss", "records.csv", "--json", "--top", 1)
    found = json.loads(done.out)
    assert found["in_fit"] == 120 and found["top"][0]["row"] == 18 and found["top"][0]["in_fit"] is True
    assert found["remarks"][-1] == "All 120 rows were used in the fit, so they have no p-values."
    fitted = json.loads(amiss("find", "records.csv", *OUTPUTS, "--neighbors", 30, "--json", "--top", 1).out)
    assert found["top"][0]["score"] == fitted["top"][0]["score"]


def test_reordered_columns(tmp_path, model, amiss, tables):
    new = tables[1]
    new[new.columns[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    one, other = (amiss("score", "m.amiss", name, "-o", "-") for name in ("new.csv", "turned.csv"))
    assert one.out == other.out and one.code == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="in2"), "other.csv: the input columns are not those of the fit: missing 'in2'"),
        (lambda t: t.assign(more=1), "the input columns are not those of the fit: unknown 'more' (--drop"),
        (lambda t: t.rename(columns={"in2": "in_2"}), "missing 'in2'; unknown 'in_2'"),
        (
            lambda t: t.drop(columns="tag_1"),
            "other.csv: the output columns are not those of the fit: missing 'tag_1'",
        ),
        (lambda t: t.drop(columns="name"), "pass --id '' if the rows have no id"),
        (lambda t: t.assign(in1="a"), "column 'in1' held numbers in the fit and holds texts now"),
        (lambda t: t.assign(tag_2=7), "other.csv, line 2, column 'tag_2': an output must be 0 or 1"),
    ],
)
def test_other_columns_are_refused(tmp_path, model, amiss, tables, change, message):
    change(tables[1]).to_csv(tmp_path / "other.csv", index=False)
    done = amiss("score", "m.amiss", "other.csv")
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_an_extra_column_can_be_dropped_and_the_id_left_out(tmp_path, model, amiss, tables):
    tables[1].assign(more=1).to_csv(tmp_path / "other.csv", index=False)
    assert amiss("score", "m.amiss", "other.csv", "--drop", "more").code == 0
    tables[1].drop(columns="name").to_csv(tmp_path / "other.csv", index=False)
    done = amiss("score", "m.amiss", "other.csv", "--id", "", "--json")
    assert done.code == 0 and "id" not in json.loads(done.out)["top"][0]


def test_what_the_fit_has_not_seen(tmp_path, amiss):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ward": rng.choice(["a", "b", "c"], 80), "kg": rng.uniform(50, 90, 80)})
    for i in range(2):
        table[f"tag_{i}"] = (table.kg + 5 * rng.normal(size=80) > 70).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert amiss("fit", "t.csv", "--outputs", "tag_*", "-o", "m.amiss", "--no-calibration").code == 0
    table.loc[3, "ward"], table.loc[5, "kg"] = "secret ward", 64000
    table.iloc[:10].to_csv(tmp_path / "new.csv", index=False)
    done = amiss("score", "m.amiss", "new.csv", "--json")
    found = json.loads(done.out)
    assert found["unseen"] == [
        {"column": "ward", "kind": "category", "rows": 1, "first_row": 4},
        {"column": "kg", "kind": "scale", "rows": 1, "first_row": 6},
    ]
    assert "secret" not in done.out + done.err and "64000" not in done.out + done.err
    strict = amiss("score", "m.amiss", "new.csv", "--strict", "-o", "found.csv")
    assert strict.code == 2 and "new.csv, line 5, column 'ward': 1 value of a category" in strict.err
    assert not (tmp_path / "found.csv").exists()
    refused = amiss("score", "m.amiss", "new.csv", "--fdr", 0.1, "--against", "rows")
    assert refused.code == 2 and "the model is not calibrated" in refused.err
    assert amiss("score", "m.amiss", "new.csv", "--fdr", 0.1).code == 0  # by draws then
    assert "Not calibrated" in amiss("fit", "t.csv", "--outputs", "tag_*", "-o", "m.amiss", "--no-calibration").out


def test_batches_that_look_otherwise_by_chance(tmp_path, amiss):
    """Categories that are all numbers in a small batch, a dropped column that is not there any more."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ward": rng.choice(["4", "5", "3A"], 60), "note": "x", "kg": rng.uniform(50, 90, 60)})
    table["empty"] = ""
    table["tag"] = (table.kg > 70).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ("--outputs", "tag", "--drop", "note", "--categorical", "empty", "--no-calibration", "-o", "m.amiss")
    assert amiss("fit", "t.csv", *options).code == 0
    few = table[table.ward != "3A"].iloc[:5].drop(columns="note").assign(extra=1)
    few.to_csv(tmp_path / "few.csv", index=False)
    done = amiss("score", "m.amiss", "few.csv", "--drop", "extra", "--json")
    assert done.code == 0 and json.loads(done.out)["in_fit"] == 5, done.err
    table[["ward", "kg", "empty", "tag"]].assign(ward=7.5).to_csv(tmp_path / "other.csv", index=False)
    assert json.loads(amiss("score", "m.amiss", "other.csv", "--json").out)["unseen"][0]["kind"] == "category"


def test_models_that_cannot_be_read(tmp_path, amiss, tables):
    written(tmp_path / "text.amiss", "not a model\n")
    for name, message in (("text.amiss", "not a model file"), ("none.amiss", "no such file"), (".", "a folder")):
        done = amiss("score", name, "new.csv")
        assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_svmlight_mentions_only_what_is_not_zero(tmp_path, amiss):
    rng = np.random.default_rng(0)
    lines = [
        ",".join(map(str, np.flatnonzero(rng.random(3) < 0.5))) + " " + " ".join(f"{i}:1" for i in
        np.flatnonzero(rng.random(12) < 0.3) + 1) for _ in range(60)
    ]  # fmt: skip
    written(tmp_path / "t.svm", "\n".join(lines) + "\n")
    written(tmp_path / "new.svm", "0 2:1 5:1\n1 1:1\n")
    assert amiss("fit", "t.svm", "-o", "m.amiss").code == 0
    done = amiss("score", "m.amiss", "new.svm", "-o", "-")
    assert done.code == 0 and len(listed(done)) == 2
    written(tmp_path / "new.svm", "0 2:1 5:1\n1 77:1\n")
    done = amiss("score", "m.amiss", "new.svm")
    assert done.code == 2 and "unknown 'x13', 'x14'" in done.err


def test_what_is_expected_by_chance_is_said_of_new_rows(tmp_path, model, amiss, tables):
    pd.concat(tables).to_csv(tmp_path / "both.csv", index=False)
    said = " ".join(amiss("score", "m.amiss", "both.csv", "--rate", 0.2).out.split())
    assert re.search(r"Of the 40 new rows, \d+ (is|are) flagged\.", said)
    assert "Of 40 ordinary new rows, about 7.9 would score this high by chance." in said
    assert "by chance" not in amiss("score", "m.amiss", "records.csv", "--rate", 0.2).out


def test_lists_of_all_models_have_the_same_columns_in_parquet(tmp_path, model, amiss):
    assert (
        amiss("fit", "records.csv", *OUTPUTS, "-o", "plain.amiss", "--no-calibration", "--without-rows").code == 0
    )
    kinds = []
    for name in ("m.amiss", "plain.amiss"):
        assert amiss("score", name, "new.csv", "-o", "t.parquet").code == 0
        kinds.append({field.name: str(field.type) for field in pq.read_schema(tmp_path / "t.parquet")})
    assert kinds[0] == kinds[1] and kinds[0]["p_value_1"] == "double" and kinds[0]["in_fit"] == "int64"


def test_the_summary_comes_though_the_reader_of_the_list_leaves(tmp_path, model):
    command = f"{sys.executable} -c 'from amiss.cli import main; main()' score m.amiss new.csv -o - | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("rank,") and done.stderr.startswith("40 rows: ")


def test_strict_names_every_column_with_something_new(tmp_path, amiss):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ward: name": rng.choice(["a", "b"], 60), "age: years": rng.uniform(20, 60, 60)})
    table["tag"] = (table["age: years"] > 40).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert amiss("fit", "t.csv", "--outputs", "tag", "-q", "-o", "m.amiss").code == 0
    new = table.head(4).copy()
    new.loc[1, "ward: name"], new.loc[2, "age: years"] = "c", 9000.0
    new.to_csv(tmp_path / "new.csv", index=False)
    done = amiss("score", "m.amiss", "new.csv", "--strict")
    assert done.code == 2 and done.err.count("\n") == 1
    assert "new.csv, line 3, column 'ward: name': 1 value of a category" in done.err
    assert "; new.csv, line 4, column 'age: years': 1 value far outside" in done.err


def test_a_level_without_new_rows_is_explained_once(tmp_path, model, amiss):
    said = " ".join(amiss("score", "m.amiss", "records.csv", "--fdr", 0.1).out.split())
    assert said.count("used in the fit") == 1
    assert "All rows were used in the fit; --fdr applies to new rows only." in said
