"""Predictions, groups and kinds of model on the command line, run as a process."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from support.tables import make_table

from amiss import MCODE
from amiss.evaluation import measure

N_ROWS, N_NEW, WRONG = 150, 40, 17
OUTPUTS = ("--outputs", "tag_*", "--id", "name")
FIND = ("find", "photos.csv", *OUTPUTS, "--neighbors", 20)


def table():
    X, Y = make_table(N_ROWS + N_NEW, 6, 3, seed=1)
    Y[[WRONG, N_ROWS + 5]] = 1 - Y[[WRONG, N_ROWS + 5]]
    P = np.column_stack(
        [cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")[:, 1] for y in Y.T]
    )
    return X, Y, P


X, Y, P = table()


@pytest.fixture
def photos(tmp_path):
    """photos.csv and new.csv: a name, a patient with two photos, six inputs, three outputs, their predictions."""
    frame = pd.DataFrame(X, columns=[f"in{i}" for i in range(6)])
    frame.insert(0, "name", [f"photo {i}" for i in range(len(X))])
    frame.insert(1, "patient", [f"patient {i // 2}" for i in range(len(X))])
    for i in range(3):
        frame[f"tag_{i}"] = Y[:, i].astype(int)
    for i in (2, 0, 1):  # in another order than the outputs
        frame[f"p_{i}"] = P[:, i]
    frame[:N_ROWS].to_csv(tmp_path / "photos.csv", index=False)
    frame[N_ROWS:].to_csv(tmp_path / "new.csv", index=False)
    return frame


def scores(done):
    """Scores by name, from a list that was printed."""
    assert done.code == 0, done.err
    return {row["id"]: float(row["score"]) for row in csv.DictReader(io.StringIO(done.out))}


def of_python(detector):
    return {f"photo {i}": score for i, score in enumerate(detector.decision_scores_)}


LIST = ("-o", "-", "--rate", 0.5)


def test_predictions_in_columns_are_matched_to_the_outputs(amiss, photos):
    found = scores(amiss(*FIND, "--drop", "patient", "--probabilities", "p_*", *LIST))
    expected = of_python(MCODE(n_neighbors=20).fit(X[:N_ROWS], Y[:N_ROWS], probabilities=P[:N_ROWS]))
    assert len(found) == N_ROWS
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-4)
    assert max(found, key=found.get) == f"photo {WRONG}"
    one_by_one = [part for i in range(3) for part in ("--probabilities", f"p_{i}")]
    assert scores(amiss(*FIND, "--drop", "patient", *one_by_one, *LIST)) == found


def test_predictions_alone_are_enough(amiss, photos, tmp_path):
    photos[:N_ROWS][["name", *(f"{kind}_{i}" for kind in ("tag", "p") for i in range(3))]].to_csv(
        tmp_path / "photos.csv", index=False
    )
    found = scores(amiss(*FIND, "--probabilities", "p_*", *LIST))
    expected = of_python(MCODE(n_neighbors=20).from_probabilities(P[:N_ROWS], Y[:N_ROWS], n_neighbors=20))
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_model_reads_the_predictions_of_new_rows(amiss, photos):
    fitted = amiss(
        "fit", "photos.csv", *OUTPUTS, "--probabilities", "p_*", "--group", "patient",
        "-o", "m.amiss", "--neighbors", 20, "--no-calibration",
    )  # fmt: skip
    assert fitted.code == 0, fitted.err
    found = scores(amiss("score", "m.amiss", "new.csv", "-o", "-", "--alerts", N_NEW // 2))
    assert max(found, key=found.get) == f"photo {N_ROWS + 5}"
    groups = photos["patient"][:N_ROWS]
    detector = MCODE(n_neighbors=20).fit(X[:N_ROWS], Y[:N_ROWS], probabilities=P[:N_ROWS], groups=groups)
    new = detector.decision_function(X[N_ROWS:], Y[N_ROWS:], probabilities=P[N_ROWS:])
    expected = {f"photo {N_ROWS + i}": score for i, score in enumerate(new)}
    assert found == pytest.approx({name: expected[name] for name in found}, rel=1e-4)


def test_new_rows_without_predictions_are_refused(amiss, photos, tmp_path):
    amiss("fit", "photos.csv", *OUTPUTS, "--drop", "patient", "--probabilities", "p_*", "-o", "m.amiss",
          "--no-calibration")  # fmt: skip
    photos[N_ROWS:].drop(columns=["p_1"]).to_csv(tmp_path / "new.csv", index=False)
    assert_refused(amiss("score", "m.amiss", "new.csv"), "p_1")


def test_a_group_column_is_no_input_and_keeps_its_rows_together(amiss, photos):
    found = scores(amiss(*FIND, "--drop", "p_*", "--group", "patient", *LIST))
    groups = np.arange(N_ROWS) // 2
    detector = MCODE(n_neighbors=20).fit(X[:N_ROWS], Y[:N_ROWS], groups=groups)
    assert found == pytest.approx(of_python(detector), rel=1e-4)
    apart = scores(amiss(*FIND, "--drop", "p_*", "--drop", "patient", *LIST))
    assert found != apart


def test_near_copies_are_found_if_one_asks_for_it(amiss, photos, tmp_path):
    plain = photos[:N_ROWS].drop(columns=["patient", "p_0", "p_1", "p_2"])
    copies = plain[:20].copy()
    copies["name"] = [f"copy {i}" for i in range(20)]
    copies["in0"] += 1e-3
    pd.concat([plain, copies]).to_csv(tmp_path / "photos.csv", index=False)
    told = amiss(*FIND)
    assert "40 rows have the same outputs as another row" in " ".join((told.out + told.err).split())
    kept = amiss(*FIND, "--group", "auto")
    assert kept.code == 0
    assert "40 rows are near copies of others; copies were kept together." in " ".join(
        (kept.out + kept.err).split()
    )


def test_a_column_called_auto_is_a_column(amiss, photos, tmp_path):
    photos[:N_ROWS].rename(columns={"patient": "auto"}).drop(columns=["p_0", "p_1", "p_2"]).to_csv(
        tmp_path / "photos.csv", index=False
    )
    found = scores(amiss(*FIND, "--group", "auto", *LIST))
    detector = MCODE(n_neighbors=20).fit(X[:N_ROWS], Y[:N_ROWS], groups=np.arange(N_ROWS) // 2)
    assert found == pytest.approx(of_python(detector), rel=1e-4)


def test_a_kind_of_model_is_chosen_by_name(amiss, photos):
    plain = ("--drop", "p_*", "--drop", "patient")
    found = scores(amiss(*FIND, *plain, "--model", "boosting", *LIST))
    expected = of_python(MCODE(n_neighbors=20, model="boosting").fit(X[:N_ROWS], Y[:N_ROWS]))
    assert found == pytest.approx(expected, rel=1e-4)


def test_without_time_the_list_is_that_of_the_linear_models(amiss, photos):
    plain = ("--drop", "p_*", "--drop", "patient")
    linear = amiss(*FIND, *plain, *LIST)
    hasty = amiss(*FIND, *plain, "--model", "auto", "--time-budget", 0, *LIST)
    assert linear.code == hasty.code == 0 and linear.raw == hasty.raw
    told = amiss(*FIND, *plain, "--model", "auto", "--time-budget", 0)
    assert "The time budget did not suffice" in told.out + told.err
    summary = json.loads(amiss(*FIND, *plain, "--model", "auto", "--time-budget", 0, "--json").out)
    assert any("time budget" in note for note in summary["remarks"])


def assert_refused(done, *parts):
    """By its exit code and one line."""
    assert done.code == 2 and done.out == ""
    (line,) = done.err.strip().splitlines()
    for part in parts:
        assert part in line
    assert "Traceback" not in line


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--group", "nobody"), ("photos.csv", "the group column 'nobody' is not there")),
        (("--group", "tag_0"), ("the group column 'tag_0' is an output",)),
        (("--probabilities", "p_[01]"), ("2 columns of probabilities for 3 outputs",)),
        (("--probabilities", "in*"), ("6 columns of probabilities for 3 outputs",)),
        (("--probabilities", "in[012]"), ("cannot be matched to the outputs by name",)),
        (("--probabilities", "q_*"), ("photos.csv", "q_*")),
    ],
    ids=str,
)
def test_columns_that_are_not_what_they_should_be_are_refused(amiss, photos, arguments, parts):
    assert_refused(amiss(*FIND, *arguments), *parts)


def test_an_evaluation_uses_predictions_and_groups(amiss, photos):
    once = ("--seeds", 1, "--errors", "swap", "--json")
    done = amiss(
        "evaluate", "photos.csv", *OUTPUTS, "--probabilities", "p_*", "--group", "patient", *once
    )  # fmt: skip
    assert done.code == 0, done.err
    how = {"n_seeds": 1, "kinds": ["swap"], "groups": np.arange(N_ROWS) // 2}
    expected = measure(X[:N_ROWS], Y[:N_ROWS], probabilities=P[:N_ROWS], **how)
    found = json.loads(done.out)
    assert found["best"] == expected.best.name
    for name, precision in zip(expected.rules, expected.precision.mean(axis=(1, 2)), strict=True):
        assert found["rules"][name]["precision"] == pytest.approx(precision, abs=1e-6)
    assert amiss("evaluate", "photos.csv", *OUTPUTS, "--group", "auto").code == 2


def test_predictions_that_are_none_are_refused_by_line_and_column(amiss, photos, tmp_path):
    photos[:N_ROWS].assign(p_1=lambda found: found["p_1"] + 5).to_csv(tmp_path / "photos.csv", index=False)
    done = amiss(*FIND, "--drop", "patient", "--probabilities", "p_*")
    assert_refused(done, "photos.csv, line 2", "a probability lies between 0 and 1")
    assert "5." not in done.err


def test_a_group_that_holds_all_rows_is_refused(amiss, photos, tmp_path):
    photos.assign(patient="one").to_csv(tmp_path / "photos.csv", index=False)
    assert_refused(amiss(*FIND, "--group", "patient"), "all rows are in one group")


def test_an_unknown_kind_of_model_is_refused(amiss, photos):
    done = amiss(*FIND, "--model", "forest")
    assert done.code == 2 and "'linear', 'boosting', 'auto'" in done.err
    assert amiss(*FIND, "--time-budget", -1).code == 2
