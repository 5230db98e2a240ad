"""`amiss reproduce`: the same flips for every method, kept as they are finished, beside the paper's figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.tables import make_table

from amiss import MCODE
from amiss.data.table import Table
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError
from amiss.evaluation import atpar, inject
from amiss.evaluation.baselines import lof
from amiss.paper.cells import RATES, Result, collected, jobs, run
from amiss.paper.comparison import as_good_as_the_best, markdown
from amiss.paper.methods import METHODS, scores_by_method
from amiss.paper.table2 import PAPER_METHODS, TABLE, load
from amiss.progress import silent

PAPER = {"crossfit": False, "weighting": "error", "scaling": "block", "parent_penalty": 1.0}
QUICK = ["M-PROD", "amiss"]


@pytest.fixture(scope="module")
def mulan(tmp_path_factory):
    """A folder with tables of the names and the form of the paper's."""
    folder = tmp_path_factory.mktemp("mulan")
    for number, name in enumerate(("yeast", "birds")):
        X, Y = make_table(130, n_outputs=8, seed=number)
        home = folder / name
        home.mkdir()
        attributes = [
            *(f"@attribute x{i} numeric" for i in range(5)),
            *(f"@attribute y{i} {{0,1}}" for i in range(8)),
        ]
        rows = [
            ",".join([*(f"{x:.6f}" for x in row[:5]), *(f"{y:.0f}" for y in row[5:])]) for row in np.hstack([X, Y])
        ]
        (home / f"{name}.arff").write_text("\n".join(["@relation r", *attributes, "@data", *rows]) + "\n")
        labels = "".join(f'<label name="y{i}"></label>' for i in range(8))
        (home / f"{name}.xml").write_text(
            f'<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">{labels}</labels>'
        )
    return folder


def test_the_table_is_the_papers():
    means = np.array([[mean for mean, _ in cell] for cells in TABLE.values() for cell in cells.values()])
    assert means.shape == (27, 5)
    np.testing.assert_allclose(means.mean(axis=0), [0.07, 0.43, 0.49, 0.59, 0.62], atol=0.006)
    assert TABLE["mediamill"][2.5][4] == (0.69, 0.09)
    assert TABLE["birds"][20][3] == (0.85, 0.12)


def test_each_method_is_what_its_name_says():
    X, Y = make_table(150)
    table = Table(X, tuple("abcde"))
    found = scores_by_method(table, Y, METHODS)
    alone = {
        "I-PROD": MCODE(parents="none", rule="prod", **PAPER),
        "M-PROD": MCODE(rule="prod", **PAPER),
        "M-RW": MCODE(rule="rw", **PAPER),
        "M-LRW": MCODE(rule="lrw", **PAPER),
        "amiss": MCODE(),
    }
    for name, detector in alone.items():
        np.testing.assert_array_equal(found[name], detector.fit(table, Y).decision_scores_)
    np.testing.assert_allclose(found["LOF"], lof(table, Y, scaling="block"), rtol=1e-9)
    assert all(np.isfinite(scores).all() for scores in found.values())


def test_baselines_point_the_same_way():
    """A row that is plainly wrong is unusual to cleanlab, and a far one to the isolation forest."""
    X, Y = make_table(200, n_inputs=3, n_outputs=3)
    Y = (X > 0).astype(float)
    sure = int(np.argmax(np.abs(X).min(axis=1)))
    Y[sure] = 1 - Y[sure]
    found = scores_by_method(Table(X, tuple("abc")), Y, ["cleanlab", "cleanlab softmin"])
    assert all(np.argmax(scores) == sure for scores in found.values())
    design = fit_encoder(Table(X, tuple("abc")), SCALINGS.named("rank")).transform(Table(X, tuple("abc")))
    forest = scores_by_method(Table(X, tuple("abc")), (X > 0).astype(float), ["isolation forest"])[
        "isolation forest"
    ]
    assert np.corrcoef(forest, np.linalg.norm(design, axis=1))[0, 1] > 0.3


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
    assert first.atpar == atpar(MCODE(rule="prod", **PAPER).fit(data.X, Y).decision_scores_, flipped)
    assert len(first.tpar) == len(RATES)


def test_a_stopped_run_goes_on_where_it_stopped(mulan, tmp_path):
    whole, halted = jobs(tmp_path / "whole", ["yeast"], 2), jobs(tmp_path / "halted", ["yeast"], 2)
    run(mulan, whole, QUICK, silent)
    run(mulan, halted[:3], QUICK, silent)
    (halted[3].file.parent / f".{halted[3].file.name}.x7").write_text("{")  # what a kill leaves
    run(mulan, halted, QUICK, silent)
    assert [job.kept() for job in halted] == [job.kept() for job in whole]


@pytest.mark.parametrize("change", [{"version": "0.0.0"}, {"settings": {"score": "'prod'"}}])
def test_results_of_another_version_or_default_are_computed_anew(mulan, tmp_path, change):
    todo = jobs(tmp_path, ["yeast"], 1)[:1]
    run(mulan, todo, ["M-PROD"], silent)
    content = json.loads(todo[0].file.read_text())
    content["methods"]["M-PROD"]["atpar"] = 77
    content |= change
    todo[0].file.write_text(json.dumps(content))
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
def test_files_of_others_are_told_from_ours(tmp_path, content):
    job = jobs(tmp_path, ["yeast"], 1)[0]
    job.file.parent.mkdir()
    job.file.write_text(content)
    if '"settings"' in content:
        assert job.kept() == {}
    else:
        with pytest.raises(DataError, match="not a file of amiss reproduce"):
            job.kept()


def test_a_missing_dataset_is_told_before_the_work(mulan, tmp_path):
    todo = jobs(tmp_path, ["yeast", "enron"], 1)
    with pytest.raises(DataError, match="put Mulan's enron there"):
        run(mulan, todo, QUICK, silent)
    assert not list(tmp_path.rglob("*.json"))


def results(*atpars):
    return [Result(value, [value] * len(RATES)) for value in atpars]


def test_bold_are_the_best_and_what_a_paired_test_cannot_tell_from_it():
    near = {
        "a": np.array([0.9, 0.7, 0.8, 0.9]),
        "b": np.array([0.8, 0.8, 0.8, 0.8]),
        "c": np.array([0.2, 0.1, 0.2, 0.1]),
    }
    assert as_good_as_the_best(near) == {"a", "b"}
    assert as_good_as_the_best({"a": np.ones(3), "b": np.ones(3), "c": np.full(3, 0.9)}) == {"a", "b"}
    assert as_good_as_the_best({"a": np.array([0.5]), "b": np.array([0.4])}) == {"a"}


def test_the_table_has_both_figures_and_says_where_we_fall_short():
    cells = [
        ("yeast", 10, {"M-PROD": results(0.4, 0.5), "amiss": results(0.8, 0.9)}),
        ("birds", 5, {"M-PROD": results(0.1, 0.2), "amiss": results(0.2, 0.3)}),
    ]
    text = markdown(cells, QUICK, "amiss reproduce")
    assert "| yeast | 10 | 2 | 0.45 ± 0.07 (0.45) | **0.85 ± 0.07** |" in text
    assert "| **mean** |  |  | 0.300 (0.420) | 0.550 |" in text
    assert "To two digits, amiss is at or above the best of the paper's five methods in 1 of 2 cells" in text
    assert " (whose mean is 0.550); below it in birds 5 % (0.250, the paper's best 0.46)." in text


def test_the_command_writes_table_and_figures(amiss, mulan, tmp_path):
    done = amiss("reproduce", "--data", mulan, "--datasets", "birds,yeast", "--repeats", "2", "-o", "out")
    assert done.code == 0, done.err
    assert done.out.startswith((tmp_path / "out" / "table.md").read_text())
    header = "| dataset | % | repeats | " + " | ".join(METHODS) + " |"
    assert header in done.out
    assert all(f" {method} " in header for method in PAPER_METHODS)
    for name in ("tpar-birds.png", "tpar-yeast.png"):
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "out").glob("rho-*.png"))) == 1
    assert len(list((tmp_path / "out" / "cells").glob("*.json"))) == 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--datasets", "mnist"], "no 'mnist'; there are mediamill"),
        (["--methods", "magic"], "no 'magic'; there are LOF"),
        (["--datasets", "enron"], "put Mulan's enron there"),
    ],
)
def test_what_cannot_be_had_is_bad_input(amiss, mulan, arguments, said):
    done = amiss("reproduce", "--data", mulan, *arguments, "--repeats", "1", "-o", "out")
    assert done.code == 2
    assert said in done.err


def test_a_file_that_is_not_ours_is_not_overwritten(amiss, mulan, tmp_path):
    (tmp_path / "out" / "cells").mkdir(parents=True)
    (tmp_path / "out" / "cells" / "yeast-10-0.json").write_text("[1]")
    done = amiss("reproduce", "--data", mulan, "--datasets", "yeast", "--repeats", "1", "-o", "out")
    assert done.code == 2
    assert "not a file of amiss reproduce" in done.err
    assert (tmp_path / "out" / "cells" / "yeast-10-0.json").read_text() == "[1]"


def test_partial_shows_what_is_finished(amiss, mulan, tmp_path):
    ask = ["reproduce", "--data", mulan, "--datasets", "yeast", "--methods", "amiss", "-o", "out", "--no-figures"]
    nothing = amiss(*ask, "--partial")
    assert nothing.code == 2
    assert "nothing is finished yet" in nothing.err
    assert amiss(*ask, "--repeats", "2", "-q").out == ""
    (tmp_path / "out" / "cells" / "yeast-20-1.json").unlink()
    done = amiss(*ask, "--repeats", "3", "--partial")
    assert "over 1 to 2 repeats" in done.out
    assert "--partial --repeats 3" in done.out
    assert len(list((tmp_path / "out" / "cells").glob("*.json"))) == 3


def test_collected_has_every_repeat(tmp_path):
    todo = jobs(tmp_path, ["yeast"], 2)
    for job in todo:
        job.keep({"amiss": Result(job.repeat / 2, [0.0] * len(RATES))})
    ((dataset, percent, found), _) = collected(todo, ["amiss"])
    assert (dataset, percent) == ("yeast", 10)
    assert [result.atpar for result in found["amiss"]] == [0, 0.5]
