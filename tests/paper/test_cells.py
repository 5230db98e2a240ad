"""The cells of Table 2: the same flips for every method, each computed once and kept when it is finished."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.mulan import write_mulan

from amiss.errors import DataError
from amiss.evaluation import atpar, inject
from amiss.paper import method
from amiss.paper.cells import RATES, Result, collected, jobs, run
from amiss.paper.table2 import load
from amiss.progress import silent

QUICK = ["M-PROD", "amiss"]


@pytest.fixture(scope="module")
def mulan(tmp_path_factory):
    return write_mulan(tmp_path_factory.mktemp("mulan"))


def test_cells_are_computed_once_and_only_for_what_is_missing(mulan, tmp_path):
    todo = jobs(tmp_path, ["yeast"], 2)
    assert [(job.percent, job.repeat) for job in todo] == [(10, 0), (20, 0), (10, 1), (20, 1)]
    run(mulan, todo, ["M-PROD"], silent)
    before = {job.file: job.file.stat().st_mtime_ns for job in todo}
    run(mulan, todo, ["M-PROD"], silent)
    assert before == {job.file: job.file.stat().st_mtime_ns for job in todo}
    first = todo[0].kept()["M-PROD"]
    run(mulan, todo, QUICK, silent)
    assert set(todo[0].kept()) == set(QUICK)
    assert todo[0].kept()["M-PROD"] == first
    data = load(mulan, "yeast")
    Y, flipped = inject(np.asarray(data.Y.values, dtype=float), 0.01, 0.1, 0)
    assert first.atpar == atpar(method("M-PROD").fit(data.X, Y).decision_scores_, flipped)
    assert len(first.tpar) == len(RATES)


def test_a_stopped_run_goes_on_where_it_stopped(mulan, tmp_path):
    whole, halted = jobs(tmp_path / "whole", ["yeast"], 2), jobs(tmp_path / "halted", ["yeast"], 2)
    run(mulan, whole, QUICK, silent)
    run(mulan, halted[:3], QUICK, silent)
    (halted[3].file.parent / f".{halted[3].file.name}.x7").write_text("{")  # what a kill leaves
    run(mulan, halted, QUICK, silent)
    assert [job.kept() for job in halted] == [job.kept() for job in whole]


OTHERS = {
    "version": lambda kept: kept | {"version": "0.0.0"},
    "our default": lambda kept: kept | {"settings": kept["settings"] | {"ours: rule": "'prod'"}},
    "the paper's settings": lambda kept: kept | {"settings": kept["settings"] | {"paper: scaling": "'rank'"}},
}


@pytest.mark.parametrize("other", OTHERS)
def test_results_of_another_version_or_with_other_settings_are_computed_anew(mulan, tmp_path, other):
    todo = jobs(tmp_path, ["yeast"], 1)[:1]
    run(mulan, todo, ["M-PROD"], silent)
    content = json.loads(todo[0].file.read_text())
    content["methods"]["M-PROD"]["atpar"] = 77
    todo[0].file.write_text(json.dumps(content))
    assert todo[0].kept()["M-PROD"].atpar == 77  # it would be taken from there
    todo[0].file.write_text(json.dumps(OTHERS[other](content)))
    assert todo[0].kept() == {}
    run(mulan, todo, ["M-PROD"], silent)
    assert todo[0].kept()["M-PROD"].atpar <= 1


def test_what_another_process_kept_meanwhile_stays(tmp_path):
    first, second = jobs(tmp_path, ["yeast"], 1)[:1] * 2
    first.keep({"LOF": Result(0.1, [0.0] * len(RATES))})
    second.keep({"amiss": Result(0.2, [0.0] * len(RATES))})
    assert set(first.kept()) == {"LOF", "amiss"}


@pytest.mark.parametrize(
    "content", ["[1]", '{"version": 1}', "{", '{"methods": [1], "version": "", "settings": 0}']
)
def test_files_that_amiss_reproduce_did_not_write_are_refused(tmp_path, content):
    job = jobs(tmp_path, ["yeast"], 1)[0]
    job.file.parent.mkdir()
    job.file.write_text(content)
    if '"settings"' in content:
        assert job.kept() == {}
    else:
        with pytest.raises(DataError, match="not a file of amiss reproduce"):
            job.kept()


def test_a_missing_dataset_is_reported_before_the_work(mulan, tmp_path):
    todo = jobs(tmp_path, ["yeast", "enron"], 1)
    with pytest.raises(DataError, match="put Mulan's enron dataset here"):
        run(mulan, todo, QUICK, silent)
    assert not list(tmp_path.rglob("*.json"))


def test_collected_has_every_repeat(tmp_path):
    todo = jobs(tmp_path, ["yeast"], 2)
    for job in todo:
        job.keep({"amiss": Result(job.repeat / 2, [0.0] * len(RATES))})
    ((dataset, percent, found), _) = collected(todo, ["amiss"])
    assert (dataset, percent) == ("yeast", 10)
    assert [result.atpar for result in found["amiss"]] == [0, 0.5]
