"""In one run of a command no row is checked, encoded or scored twice.

The functions that do this work are wrapped, not replaced: each notes how many rows it was given.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from amiss import fitted
from amiss.cli import cli
from amiss.data import columns
from amiss.encoding.encoder import Encoder
from amiss.explanations import explainer
from amiss.models import fitting
from amiss.readers import reading

# The automatic scaling encodes a sample of the rows by each scaling first, and then all of them by the better one.
TAGS = ("--outputs", "tag_*", "--id", "name", "--neighbors", "30", "--scaling", "rank")
N_ROWS, N_NEW = 120, 40


@pytest.fixture
def work(monkeypatch):
    """How many rows each kind of work was done on, call by call."""
    done = defaultdict(list)

    def wrap(place, name, rows_of):
        plain = getattr(place, name)

        def counting(*arguments, **options):
            result = plain(*arguments, **options)
            n_rows = rows_of(arguments, result)
            if n_rows is not None:
                done[name].append(n_rows)
            return result

        monkeypatch.setattr(place, name, counting)

    def checked(arguments, result):
        """A table that was checked before comes back as it is."""
        return None if result is arguments[0] else len(result)

    for place in (columns, reading):
        wrap(place, "as_inputs", checked)
        wrap(place, "as_outputs", checked)
    wrap(Encoder, "expanded", lambda arguments, _: len(arguments[1]))
    wrap(Encoder, "scaled", lambda _, result: result.shape[0])
    wrap(fitting, "fit_encoder", lambda arguments, _: len(arguments[0]))
    wrap(fitted, "score_training_rows", lambda _, result: len(result.rows))
    wrap(fitted, "score_new_rows", lambda _, result: len(result))
    wrap(explainer, "if_changed", lambda arguments, _: len(arguments[0]))
    return done


@pytest.fixture
def run(work, tmp_path, monkeypatch):
    """Run a command in this process, and give what was done."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        work.clear()
        cli([*map(str, arguments)], standalone_mode=False)
        return dict(work)

    return command


ONE_FIT = {name: [N_ROWS] for name in ("fit_encoder", "expanded", "scaled", "score_training_rows")}
CHECKED_ONCE = {"as_inputs": [N_ROWS], "as_outputs": [N_ROWS]}


def test_find_checks_encodes_and_scores_each_row_once(run, records):
    done = run("find", "records.csv", *TAGS, "-o", "found.csv", "--alerts", 7)
    assert done == {**CHECKED_ONCE, **ONE_FIT, "if_changed": [7]}  # what-if scores of the flagged rows


def test_a_report_is_made_from_what_the_fit_left(run, records):
    """Rows of the report are explained, other flagged rows have their suspects found, and the list uses both."""
    both = "--report", "report.html", "--report-rows", 10, "--alerts", 15, "-o", "found.csv"
    assert run("find", "records.csv", *TAGS, *both) == {**CHECKED_ONCE, **ONE_FIT, "if_changed": [10, 5]}


def test_several_files_are_checked_once(run, records, tmp_path):
    records.iloc[:50].to_csv(tmp_path / "a.csv", index=False)
    records.iloc[50:].to_csv(tmp_path / "b.csv", index=False)
    done = run("find", "a.csv", "b.csv", *TAGS)
    assert sum(done["as_inputs"]) == sum(done["as_outputs"]) == N_ROWS
    assert done["scaled"] == [N_ROWS]


def test_explaining_a_row_of_the_fit_takes_one_fit(run, records):
    done = run("explain", "records.csv", 18, *TAGS)
    assert done == {**CHECKED_ONCE, **ONE_FIT, "if_changed": [1]}


def test_a_calibration_adds_one_fit_and_one_scoring_per_fold(run, records):
    assert run("fit", "records.csv", *TAGS, "-o", "n.amiss", "--no-calibration") == {**CHECKED_ONCE, **ONE_FIT}
    inside, outside = N_ROWS * 4 // 5, N_ROWS // 5
    encoded = [N_ROWS, *[inside, outside] * 5]
    assert run("fit", "records.csv", *TAGS, "-o", "n.amiss") == {
        **CHECKED_ONCE,
        "fit_encoder": [N_ROWS, *[inside] * 5],
        "expanded": encoded,
        "scaled": encoded,
        "score_training_rows": [N_ROWS, *[inside] * 5],
        "score_new_rows": [outside] * 5,
    }


@pytest.mark.parametrize("options", [(), ("--fdr", 0.5), ("--alerts", 3, "-o", "found.csv"), ("--drift",)])
def test_new_rows_are_checked_encoded_and_scored_once(run, model, options):
    done = run("score", "m.amiss", "new.csv", *options)
    assert sum(done.pop("if_changed", [])) <= N_NEW
    assert done == {name: [N_NEW] for name in ("as_inputs", "as_outputs", "expanded", "scaled", "score_new_rows")}


def test_a_model_explains_a_row_by_that_row_alone(run, model):
    done = run("explain", "m.amiss", "new.csv", 6)
    alone = {name: [1] for name in ("expanded", "scaled", "score_new_rows", "if_changed")}
    assert done == {"as_inputs": [N_NEW], "as_outputs": [N_NEW], **alone}
