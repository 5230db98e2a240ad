"""Cell values stay out of messages and progress lines: tables may hold patients."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
from support import mutations
from support.tables import make_table

import amiss as package
from amiss import MCODE, DataError

SECRET = "Zq7Xk"
CELLS = {
    "csv": (b"name,age,ward,in_c,tag_a,tag_b\n", b"Zq7Xk1,34,Zq7Xk2,0.5,0,1\nb,Zq7Xk,c,1,1,0\nc,1,Zq7Xk,2,1,1\n"),
    "tsv": (b"name\tage\tward\tin_c\ttag_a\ttag_b\n", b"a\t3\tZq7Xk2\t0.5\t0\t1\nb\tZq7Xk\tc\t1\t1\tZq7Xk\n"),
    "arff": (
        b"@relation r\n@attribute age numeric\n@attribute ward string\n@attribute tag_a {0,1}\n@data\n",
        b"34,'Zq7Xk',0\nZq7Xk,'Zq7Xk',1\n5,Zq7Xk,Zq7Xk\n",
    ),
    "jsonl": (
        b'{"age": 1, "ward": "a", "tag_a": 0}\n',
        b'{"age": 3, "ward": "Zq7Xk2", "tag_a": 0}\n{"age": "Zq7Xk", "ward": "b", "tag_a": 1}\n'
        b'{"age": 4, "ward": ["Zq7Xk"], "tag_a": "Zq7Xk"}\n',
    ),
    "svm": (b"", b"0,1 1:0.5 4:Zq7Xk\n1 Zq7Xk:1\n0 2:1\n"),
}


@pytest.mark.parametrize("kind", CELLS)
def test_readers_do_not_quote_cells(tmp_path, kind):
    """The first lines, which name columns, stay as they are; everything behind them is mutated."""
    rng, (names, cells) = random.Random(0), CELLS[kind]
    path, refused = tmp_path / f"t.{kind}", 0
    for _ in range(600):
        path.write_bytes(names + mutations.mutated(cells, rng, mutations.TEXT_TOKENS))
        try:
            package.read(path, outputs=None if kind == "svm" else "tag_*")
        except DataError as error:
            refused += 1
            assert SECRET not in str(error), error
            assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)
    assert refused > 120


def secret_table(n_rows=60):
    X, Y = make_table(n_rows)
    table = pd.DataFrame(X, columns=[f"in{i}" for i in range(5)])
    table["ward"] = [f"{SECRET}{i % 3}" for i in range(n_rows)]
    table["code"] = [f"{SECRET}-{i}" for i in range(n_rows)]  # looks like an identifier
    return table.assign(**{f"tag_{i}": Y[:, i].astype(int) for i in range(4)})


def changed(**cells):
    table = secret_table().drop(columns="code").astype(object)
    for column, value in cells.items():
        table.loc[7, column] = value
    return table


BAD_TABLES = {
    "only an identifier": (secret_table()[["code", "tag_1"]], ()),
    "free text": (secret_table().assign(note=[f"{SECRET} has {i} days of fever" for i in range(60)]), ()),
    "several columns": (
        secret_table().assign(
            note=[f"{SECRET} has {i} days of fever" for i in range(60)], kg=["7 kg", "9 lb"] * 30
        ),
        (),
    ),
    "not an output": (changed(tag_1=f"{SECRET}!"), ()),
    "a text among numbers": (changed(in2=f"{SECRET}!"), ()),
    "infinite": (changed(in2=np.inf), ()),
    "no such id": (changed(), ("--id", "nobody")),
    "no such column": (changed(), ("--drop", "nothing")),
    "everything is an output": (changed(), ("--outputs", "*")),
    "an output missing": (changed().assign(tag_3=None), ()),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_the_command_does_not_quote_cells(tmp_path, amiss, case):
    table, options = BAD_TABLES[case]
    table.to_csv(tmp_path / "t.csv", index=False)
    done = amiss("fit", "t.csv", "-o", "m.amiss", "--outputs", "tag_*", *options)
    assert done.code == 2, done.err
    assert SECRET not in done.err + done.out and done.err.count("\n") == 1


def test_new_rows_do_not_quote_cells(tmp_path, amiss):
    changed().to_csv(tmp_path / "t.csv", index=False)
    assert amiss("fit", "t.csv", "--outputs", "tag_*", "-o", "m.amiss", "--no-calibration").code == 0
    for number, table in enumerate([changed(ward=f"{SECRET} new"), changed(in1=1e9), changed(in0=None)]):
        table.to_csv(tmp_path / f"{number}.csv", index=False)
        for options in ((), ("--json",), ("--strict",)):
            done = amiss("score", "m.amiss", f"{number}.csv", *options)
            assert SECRET not in done.err + done.out and "1000000000" not in done.err + done.out
            assert done.code == (2 if options == ("--strict",) else 0)


def test_progress_does_not_quote_cells(capsys, monkeypatch):
    monkeypatch.setattr("amiss.progress.DELAY", 0)
    table = changed()
    detector = MCODE(verbose=True).fit(table.iloc[:, :6], table.iloc[:, 6:])
    detector.calibrate(table.iloc[:, :6], table.iloc[:, 6:])
    shown = capsys.readouterr()
    assert "fitting outputs" in shown.err and "calibrating" in shown.err
    assert SECRET not in shown.err + shown.out


@pytest.mark.parametrize(
    ("X", "Y"),
    [
        (np.array([[SECRET, 1]] * 30, dtype=object), np.full((30, 2), SECRET)),
        ([[SECRET, object()]] * 30, np.ones((30, 2))),
        (pd.DataFrame({"a": [f"{SECRET}{i}" for i in range(30)]}), np.ones((30, 2))),
        (np.ones((30, 2)), [[SECRET], [1]] * 15),
        (np.ones((30, 1)), np.full((30, 1), 77123.0)),
    ],
)
def test_arrays_are_not_quoted(X, Y):
    with pytest.raises((ValueError, TypeError)) as caught:
        MCODE().fit(X, Y).predict(np.ones((1, 9)), [[f"{SECRET} unknown"]])
    assert SECRET not in str(caught.value) and "77123" not in str(caught.value)
