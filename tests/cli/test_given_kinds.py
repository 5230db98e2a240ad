"""``amiss find``, ``fit`` and ``score`` with columns that predict outputs of several kinds."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from support.own_predictions import as_frame, predict_kinds
from support.visits import make_kinds

OUTPUTS = ("--outputs", "tag_*,colour,grade,lesions,dose", "--probabilities", "p_*")


@pytest.fixture
def visits(tmp_path):
    """visits.csv with inputs, outputs and predictions; in the eleventh row the dose is ten times what it was."""
    X, Y = make_kinds(300)
    P = as_frame(predict_kinds(X, Y))
    Y.loc[10, "dose"] *= 10
    inputs = pd.DataFrame(X, columns=[f"in{i}" for i in range(X.shape[1])])
    pd.concat([inputs, P, Y], axis=1).to_csv(tmp_path / "visits.csv", index=False)
    pd.concat([inputs + 0.01, P, Y], axis=1)[:40].to_csv(tmp_path / "new.csv", index=False)


def test_predictions_in_a_file_are_found_by_name(amiss, visits):
    done = amiss("find", "visits.csv", *OUTPUTS, "-o", "-")
    assert done.code == 0, done.err
    first = next(csv.DictReader(io.StringIO(done.out)))
    assert (first["row"], first["output_1"]) == ("11", "dose")
    assert "your probabilities, 4 further inputs, 6 outputs" in " ".join(done.err.split())


def test_a_saved_model_asks_new_rows_for_theirs(amiss, visits):
    assert amiss("fit", "visits.csv", *OUTPUTS, "-o", "visits.amiss", "--no-calibration").code == 0
    done = amiss("score", "visits.amiss", "new.csv", "-o", "-")
    assert done.code == 0, done.err
    assert next(csv.DictReader(io.StringIO(done.out)))["row"] == "11"


def test_a_prediction_that_is_not_there_is_named(amiss, visits):
    done = amiss("find", "visits.csv", *OUTPUTS[:3], "p_[!d]*")
    assert done.code == 2
    assert done.err.strip().count("\n") == 0
    assert "9 columns of predictions, and the outputs take 10" in done.err
