"""``amiss reproduce``, run as a process."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.mulan import write_mulan

from amiss.evaluation import atpar, inject, tpar
from amiss.paper import method
from amiss.paper.cells import RATES
from amiss.paper.methods import METHODS
from amiss.paper.table2 import PAPER_METHODS, load


@pytest.fixture(scope="module")
def mulan(tmp_path_factory):
    return write_mulan(tmp_path_factory.mktemp("mulan"))


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


def test_the_cells_are_those_of_the_methods_by_name(amiss, mulan, tmp_path):
    """Each of the paper's four methods, fitted by itself to the same flipped table."""
    names = ["I-PROD", "M-PROD", "M-RW", "M-LRW"]
    done = amiss("reproduce", "--data", mulan, "--datasets", "yeast", "--methods", ",".join(names),
                 "--repeats", "1", "-o", "out", "--no-figures", "-q")  # fmt: skip
    assert done.code == 0, done.err
    data = load(mulan, "yeast")
    for percent in (10, 20):
        kept = json.loads((tmp_path / "out" / "cells" / f"yeast-{percent}-0.json").read_text())["methods"]
        Y, flipped = inject(np.asarray(data.Y.values, dtype=float), 0.01, percent / 100, 0)
        for name in names:
            scores = method(name).fit(data.X, Y).decision_scores_
            assert kept[name]["atpar"] == atpar(scores, flipped)
            assert kept[name]["tpar"] == [tpar(scores, flipped, rate) for rate in RATES]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--datasets", "mnist"], "there is no 'mnist'; choose from mediamill"),
        (["--methods", "magic"], "there is no 'magic'; choose from LOF"),
        (["--datasets", "enron"], "put Mulan's enron dataset here"),
    ],
)
def test_what_cannot_be_had_is_bad_input(amiss, mulan, arguments, said):
    done = amiss("reproduce", "--data", mulan, *arguments, "--repeats", "1", "-o", "out")
    assert done.code == 2
    assert said in done.err


def test_table_2_needs_a_folder_for_its_results(amiss, mulan):
    for more in ([], ["--table", "paper"]):
        done = amiss("reproduce", "--data", mulan, *more)
        assert done.code == 2
        assert done.err.endswith("Error: Missing option '-o' / '--output'.\n")


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
