"""``--inputs``: embeddings in a NumPy file beside a table of outputs, with every command that reads a table."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

TAGS = ("--outputs", "tag_*", "--id", "name")


@pytest.fixture
def split(tmp_path, tables):
    """The outputs of the records in labels.csv and their inputs in e.npy; new rows in new-labels.csv and n.npy."""
    for table, labels, inputs in ((tables[0], "labels.csv", "e.npy"), (tables[1], "new-labels.csv", "n.npy")):
        columns = [f"in{i}" for i in range(5)]
        np.save(tmp_path / inputs, table[columns].to_numpy())
        table.drop(columns=columns).to_csv(tmp_path / labels, index=False)
    return tables


def as_listed(done):
    assert done.code == 0, done.err
    return [list(row.values()) for row in csv.DictReader(io.StringIO(done.out))]


def shuffled(tmp_path, name, matrix, ids):
    order = np.random.default_rng(0).permutation(len(ids))
    np.savez(tmp_path / name, embeddings=matrix[order], ids=np.array(ids)[order])


def test_inputs_in_a_file_of_their_own_give_the_same_list(amiss, split, tmp_path):
    together = as_listed(amiss("find", "records.csv", *TAGS, "-o", "-"))
    assert as_listed(amiss("find", "labels.csv", *TAGS, "--inputs", "e.npy", "-o", "-")) == together
    shuffled(tmp_path, "e.npz", np.load(tmp_path / "e.npy"), [f"case {i}" for i in range(120)])
    assert as_listed(amiss("find", "labels.csv", *TAGS, "--inputs", "e.npz", "-o", "-")) == together
    piped = amiss("find", "-", *TAGS, "--inputs", "e.npz", "-o", "-", stdin=(tmp_path / "labels.csv").read_bytes())
    assert as_listed(piped) == together


def test_inputs_in_single_precision_are_ranked_like_the_same_numbers_in_double(amiss, split, tmp_path):
    single = np.load(tmp_path / "e.npy").astype(np.float32)
    np.save(tmp_path / "single.npy", single)
    np.save(tmp_path / "double.npy", single.astype(np.float64))
    found = [
        json.loads(amiss("find", "labels.csv", *TAGS, "--inputs", name, "--json", "--top", 20).out)["top"]
        for name in ("single.npy", "double.npy")
    ]
    assert [row["row"] for row in found[0]] == [row["row"] for row in found[1]]
    for ours, theirs in zip(*found, strict=True):
        assert ours["score"] == pytest.approx(theirs["score"], rel=1e-4)


def test_several_tables_and_several_files_of_inputs(amiss, split, tmp_path):
    lines = (tmp_path / "labels.csv").read_text().splitlines(keepends=True)
    (tmp_path / "a.csv").write_text("".join(lines[:51]))
    (tmp_path / "b.csv").write_text("".join([lines[0], *lines[51:]]))
    matrix = np.load(tmp_path / "e.npy")
    np.save(tmp_path / "a.npy", matrix[:70])
    np.save(tmp_path / "b.npy", matrix[70:])
    joined = amiss("find", "a.csv", "b.csv", *TAGS, "--inputs", "a.npy", "--inputs", "b.npy", "--json", "--top", 5)
    whole = amiss("find", "labels.csv", *TAGS, "--inputs", "e.npy", "--json", "--top", 5)
    scores = [[row["score"] for row in json.loads(done.out)["top"]] for done in (joined, whole)]
    assert scores[0] == scores[1]


def test_a_model_scores_and_explains_rows_whose_inputs_are_in_a_file(amiss, split, tmp_path):
    fitted = amiss("fit", "labels.csv", *TAGS, "--inputs", "e.npy", "-o", "e.amiss", "--neighbors", 30)
    assert fitted.code == 0, fitted.err
    assert fitted.out.endswith("To score other rows: amiss score e.amiss FILE --inputs NPY\n")
    plain = as_listed(amiss("score", "e.amiss", "new-labels.csv", "--inputs", "n.npy", "-o", "-"))
    shuffled(tmp_path, "n.npz", np.load(tmp_path / "n.npy"), [f"new {i}" for i in range(40)])
    assert as_listed(amiss("score", "e.amiss", "new-labels.csv", "--inputs", "n.npz", "-o", "-")) == plain
    why = amiss("explain", "e.amiss", "new-labels.csv", "new 5", "--inputs", "n.npz")
    assert why.code == 0 and why.out.startswith("Row 6 (new 5) ")
    assert "e0 = " in why.out
    without = amiss("score", "e.amiss", "new-labels.csv")
    assert without.code == 2 and "every column is an output" in without.err and "(--inputs)" in without.err
    table = (tmp_path / "new-labels.csv").read_text().splitlines()
    more = [table[0] + ",e0", *(f"{line},1" for line in table[1:])]
    (tmp_path / "more.csv").write_text("\n".join(more) + "\n")
    some = amiss("score", "e.amiss", "more.csv")
    assert some.code == 2 and some.err == (
        "amiss: more.csv: the input columns are not those of the fit: missing 'e1', 'e2', 'e3', 'e4' "
        "(--inputs reads inputs from a NumPy file)\n"
    )
    np.save(tmp_path / "wide.npy", np.ones((40, 6)))
    wide = amiss("score", "e.amiss", "new-labels.csv", "--inputs", "wide.npy")
    assert wide.code == 2 and "unknown 'e5'" in wide.err


def test_explain_and_evaluate_read_inputs_too(amiss, split):
    inputs = ("--inputs", "e.npy")
    why = amiss("explain", "labels.csv", "case 17", *TAGS, *inputs)
    assert why.code == 0 and why.out.startswith("Row 18 (case 17) is flagged as unusual")
    quick = ("--seeds", 1, "--flips", 0.2, "--errors", "none", "--json")
    done = amiss("evaluate", "labels.csv", *TAGS, *inputs, *quick)
    assert done.code == 0 and json.loads(done.out)["rows"] == 120


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("no.npy", "amiss: no.npy: there is no such file"),
        ("labels.csv", "amiss: labels.csv: inputs beside a table are read from a .npy or .npz file"),
        ("short.npy", "amiss: short.npy: there are 119 rows, but 120 in labels.csv;"),
        ("twice.npz", "amiss: twice.npz, row 2: the row has the same id as twice.npz, row 1;"),
        (
            "other.npz",
            "amiss: labels.csv, line 2: the row's id is not in other.npz, nor are those of 119 more rows;",
        ),
        ("pickle.npy", "amiss: pickle.npy: this is not an npy file of numbers;"),
        ("infinite.npy", "amiss: infinite.npy, row 3, column 'e1': the value is infinite;"),
    ],
)
def test_bad_inputs_are_one_line_and_exit_code_2(amiss, split, tmp_path, inputs, message):
    matrix = np.load(tmp_path / "e.npy")
    np.save(tmp_path / "short.npy", matrix[:-1])
    np.savez(tmp_path / "twice.npz", X=matrix, ids=["case 1"] * 120)
    np.savez(tmp_path / "other.npz", X=matrix, ids=np.arange(120))
    np.save(tmp_path / "pickle.npy", np.array([[print]] * 120, dtype=object))
    matrix[2, 1] = np.inf
    np.save(tmp_path / "infinite.npy", matrix)
    done = amiss("find", "labels.csv", *TAGS, "--inputs", inputs, "-o", "found.csv")
    assert done.code == 2 and done.err.startswith(message)
    assert done.err.count("\n") == 1 and done.out == "" and "case" not in done.err
    assert not (tmp_path / "found.csv").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("find", "labels.csv", *TAGS, "-o", "same.csv"),
        ("find", "labels.csv", *TAGS, "--report", "same.html"),
        ("fit", "labels.csv", *TAGS, "-o", "same.amiss"),
        ("score", "m.amiss", "new-labels.csv", "-o", "same.csv"),
        ("evaluate", "labels.csv", *TAGS, "--plot", "same.png"),
    ],
)
def test_no_command_writes_over_its_inputs(amiss, split, tmp_path, command):
    (tmp_path / command[-1]).write_bytes((tmp_path / "e.npy").read_bytes())
    done = amiss(*command, "--inputs", command[-1])
    assert done.code == 2 and done.err == f"amiss: {command[-1]}: this is an input file; choose another name\n"
