"""``amiss find``, run as a process: what it prints and refuses, and what its options do."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from support.tables import make_table

FIND = ("find", "records.csv", "--outputs", "tag_*", "--id", "name")


def test_the_same_seed_gives_the_same_file(amiss, records, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        amiss(*FIND, "-q", "-o", f"{name}.csv", "--seed", seed)
    first, again, other = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert first == again
    assert first != other


def test_a_readable_table_is_printed(amiss, records):
    done = amiss(*FIND, "--top", 3)
    lines = done.out.splitlines()
    assert lines[0].startswith("120 rows, 5 inputs, 4 outputs: 1 flagged, with a score above ")
    assert lines[1] == "Outputs: tag_0, tag_1, tag_2, tag_3"
    assert re.fullmatch(r"Estimated to be wrong: about \d+ rows? \(\d+ to \d+\), .* cells? \(.*\)\.", lines[2])
    assert lines[4].split()[:4] == ["rank", "row", "line", "id"]
    assert lines[5].split()[:4] == ["1", "18", "19", "case"]
    assert lines[8].startswith("(! flagged; p: ")
    assert len(lines) == 9
    assert all(len(line) <= 110 for line in lines)
    assert done.err == ""


def test_quiet_prints_nothing_and_json_prints_json(amiss, records):
    assert amiss(*FIND, "--quiet", "-o", "found.csv").out == ""
    summary = json.loads(amiss(*FIND, "--json", "--top", 2, "--quality").out)
    assert [row["name"] for row in summary["quality"]] == ["tag_0", "tag_1", "tag_2", "tag_3"]
    assert summary["rows"] == 120
    assert summary["flagged"] == 1
    assert [row["rank"] for row in summary["top"]] == [1, 2]
    assert summary["top"][0]["outputs"][0]["output"].startswith("tag_")


def test_alerts_rate_exclusions_and_quality(amiss, records):
    alerts = json.loads(amiss(*FIND, "--json", "--alerts", 12).out)
    assert alerts["flagged"] == len(alerts["top"]) == 12
    assert json.loads(amiss(*FIND, "--json", "--rate", 0.1).out)["flagged"] == 12
    done = amiss(*FIND, "--exclude", "tag_[12]", "--quality", "--top", 0)
    assert "4 outputs (left out of the score: tag_1 and tag_2)" in done.out
    assert done.out.count("excluded") == 2
    assert "skill" in done.out
    assert "left out" in amiss(*FIND, "--min-skill", 0.6).out


@pytest.mark.parametrize(
    "option",
    [
        ("--rule", "prod"), ("--rule", "rw"), ("--rule", "lrw"), ("--parents", "chain"),
        ("--crossfit", "no"), ("--crossfit", "yes"), ("--crossfit", "1"), ("--crossfit", "0.2"),
        ("--scaling", "none"), ("--neighbors", "10"), ("--parent-penalty", "1"),
        ("--neighbor-space", "inputs"), ("--drop", "in4"), ("--categorical", "in0"), ("--jobs", "1"),
    ],
)  # fmt: skip
def test_every_option_reaches_the_detector(amiss, records, tmp_path, option):
    """Each changes the scores, except the number of threads."""
    text = (tmp_path / "records.csv").read_text().splitlines()
    rounded = [",".join([*line.split(",")[:1], str(n % 3), *line.split(",")[2:]]) for n, line in enumerate(text)]
    (tmp_path / "records.csv").write_text("\n".join([text[0], *rounded[1:]]))
    plain, changed = amiss(*FIND, "-o", "-"), amiss(*FIND, "-o", "-", *option)
    assert changed.code == 0, changed.err
    assert (plain.raw == changed.raw) == (option[0] == "--jobs")


def test_weighting_reaches_the_paper_scores_and_crossfit_takes_words_or_a_share(amiss, records):
    rooted, plain = (
        amiss(*FIND, "-o", "-", "--rule", "rw", "--weighting", kind).raw for kind in ("sqrt", "error")
    )
    assert rooted != plain
    for word, share in (("yes", "1"), ("no", "0")):
        assert amiss(*FIND, "-o", "-", "--crossfit", word).raw == amiss(*FIND, "-o", "-", "--crossfit", share).raw
    done = amiss(*FIND, "--crossfit", "sometimes")
    assert done.code == 2
    assert "yes, no or a share between 0 and 1" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("find", "no.csv", "--outputs", "y"), "amiss: no.csv: there is no such file"),
        (("find", "records.csv"), "amiss: records.csv: which columns are outputs?"),
        ((*FIND, "--categorical", "inn0"), "matches 'inn0'; did you mean 'in0'"),
        ((*FIND, "-o", "."), ".: "),
        (("find", "."), ".: this is a folder"),
        (("find", "records.csv", "--outputs", "name"), "line 2, column 'name': 120 different texts in 120 cells"),
        (("find", "records.csv", "--outputs", "label_*"), "no column matches 'label_*'"),
        (
            (*FIND, "-o", "found.docx"),
            "found.docx: unknown suffix; use one of .csv, .parquet, .pq, .jsonl, .ndjson, .xlsx",
        ),
        ((*FIND, "-o", "nowhere/found.csv"), "nowhere/found.csv: there is no such folder"),
        ((*FIND, "-o", "records.csv"), "records.csv: this is an input file"),
        ((*FIND, "--alerts", "100"), "--alerts 100 is more than half"),
        ((*FIND, "--exclude", "x"), "--exclude: no column matches 'x'; there are 4 columns"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_no_file(amiss, records, tmp_path, arguments, message):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = amiss(*arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_requests_that_contradict_each_other_are_refused(amiss, records):
    for extra in (("--json", "-o", "-"), ("--exclude", "tag_1", "--min-skill", 0.1), ("--min-skill", 2)):
        done = amiss(*FIND, *extra)
        assert done.code == 2
        assert done.out == ""


def test_columns_are_named_by_commas_or_repetition(amiss, records):
    by_commas = amiss("find", "records.csv", "--outputs", "tag_0,tag_1", "--drop", "name,tag_2,tag_3", "-o", "-")
    repeated = amiss(
        "find", "records.csv", "--outputs", "tag_0", "--outputs", "tag_1",
        "--drop", "name", "--drop", "tag_[23]", "-o", "-",
    )  # fmt: skip
    assert by_commas.code == 0, by_commas.err
    assert by_commas.raw == repeated.raw


def test_a_chain_takes_its_order(amiss, records):
    chain = amiss(*FIND, "-o", "-", "--parents", "chain")
    turned = amiss(*FIND, "-o", "-", "--parents", "chain", "--order", "tag_3,tag_2,tag_1,tag_0")
    assert turned.code == 0, turned.err
    assert chain.raw != turned.raw


def test_what_was_read_as_what_is_said(amiss, records, tmp_path):
    frame = records.assign(number=range(100, 220), ward=["a", "b", "c"] * 40)
    frame.to_csv(tmp_path / "records.csv", index=False)
    done = amiss(*FIND)
    assert "Inputs read as categories: ward" in done.out
    assert 'Column "number" only numbers the rows. If it says nothing else, pass --drop number.' in done.out
    records.assign(**{"record number": range(100, 220)}).to_csv(tmp_path / "records.csv", index=False)
    done = amiss("find", "records.csv", "--outputs", "tag_*", "--drop", "name", "--json")
    said = "Column \"record number\" only numbers the rows. If it identifies them, pass --id 'record number'."
    assert json.loads(done.out)["remarks"] == [said]
    assert amiss("find", "records.csv", "--outputs", "tag_*", "--id", "record number", "--drop", "name").code == 0


def test_json_names_the_outputs(amiss, records):
    found = json.loads(amiss(*FIND, "--json").out)
    assert found["output_names"] == ["tag_0", "tag_1", "tag_2", "tag_3"] and found["outputs"] == 4
    assert found["remarks"] == []


def test_a_model_is_not_a_table(amiss, records):
    assert amiss("fit", "records.csv", "--outputs", "tag_*", "--id", "name", "-q", "-o", "m.amiss").code == 0
    for command in ("find", "evaluate"):
        done = amiss(command, "m.amiss", "--outputs", "tag_*")
        assert done.code == 2 and done.err == "amiss: m.amiss: this is a model; use amiss score m.amiss FILE\n"


def test_trouble_of_the_system_is_exit_code_1(amiss, records):
    done = amiss(*FIND, "-o", "/proc/found.csv")
    assert done.code == 1
    assert done.err.count("\n") == 1


def test_names_cannot_play_with_the_terminal(amiss, tmp_path):
    X, Y = make_table(60)
    names = ["a", "b", "c", "d", "e", "\x1b[31mred", "line\nbreak", "x" * 10_000, "tag,comma"]
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(np.column_stack([X, Y.astype(int)]).tolist())
    done = amiss("find", "t.csv", "--outputs", "last:4", "-o", "found.csv", "--quality")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 120
    rows = list(csv.DictReader(io.StringIO((tmp_path / "found.csv").read_text())))
    assert {row["output_1"] for row in rows} <= set(names)


def test_missing_cells_and_categories_in_a_file(amiss, tmp_path):
    X, Y = make_table(90)
    frame = pd.DataFrame(X[:, :2], columns=["age", "dose"]).assign(ward=np.where(X[:, 2] > 0, "eyes", "ears"))
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    for i in range(3):
        frame[f"tag_{i}"] = pd.Series(Y[:, i]).mask(np.arange(90) % 9 == i).astype("Int64")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = amiss("find", "t.csv", "--outputs", "tag_*", "-o", "found.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "found.csv")
    assert np.isfinite(found["score"]).all()
    assert found["observed_1"].isin([0, 1]).all()


def test_find_by_level(amiss, records):
    done = amiss(*FIND, "--fdr", 0.2, "--json")
    found = json.loads(done.out)
    assert done.code == 0 and found["fdr"] == 0.2 and found["top"][0]["p_value"] < 0.01
    said = " ".join(amiss(*FIND, "--fdr", 0.2).out.split())
    assert "(false-discovery level 20%)" in said and "simulated rows whose outputs follow the models" in said
    level = json.loads(amiss(*FIND, "--fdr", 0.2, "--rule", "flip", "--json").out)
    automatic = json.loads(amiss(*FIND, "--rate", "auto", "--rule", "flip", "--json").out)
    assert automatic["flagged"] == level["flagged"] and automatic["fdr"] == 0.2
    by_chance = json.loads(amiss(*FIND, "--rate", "auto", "--json").out)
    assert by_chance["threshold"] == 0.356675 and "fdr" not in by_chance
    for options in (("--rate", "often"), ("--rate", "0.1", "--alerts", "3"), ("--fdr", "0.1", "--crossfit", "no")):
        assert amiss(*FIND, *options).code == 2
