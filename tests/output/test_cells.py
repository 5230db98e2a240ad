"""Cells: single outputs in the order of suspicion, in Python and in files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from support.tables import fitted, make_table

from amiss.evaluation import inject


@pytest.fixture(scope="module")
def detector():
    X, Y = make_table(200, n_outputs=5)
    Y, _ = inject(Y, 0.05, 0.2, 0)
    return fitted(X, Y)


def test_cells_are_ordered_over_all_rows(detector):
    cells = detector.cells()
    Y = detector.fitted_.training_rows.Y
    assert len(cells) == Y.size == len({(cell.row, cell.output) for cell in cells})
    scores = [cell.score for cell in cells]
    assert scores == sorted(scores, reverse=True) and scores[-1] >= 0 and scores[0] <= 1
    for cell in cells[:20]:
        place = cell.row, detector.output_names_.index(cell.output)
        assert (cell.observed, cell.suggested) == (Y[place], 1 - Y[place])
        assert cell.score == detector.fitted_.training_rows.wrong[place]
        assert 0 < cell.probability < 1
    assert detector.cells(7) == cells[:7] and detector.cells(0) == [] and detector.cells(10**6) == cells


def test_by_other_rules_contributions_give_the_order():
    X, Y = make_table(100)
    detector = fitted(X, Y, rule="prod")
    first = detector.cells(1)[0]
    assert first.score == detector.contributions_.max()
    assert detector.contributions_[first.row, detector.output_names_.index(first.output)] == first.score


@pytest.mark.parametrize("n", [-1, 1.5, "all"])
def test_a_number_that_is_none_is_refused(detector, n):
    with pytest.raises(ValueError, match="n must be a whole number"):
        detector.cells(n)


def test_the_command_writes_one_line_per_cell(amiss, tmp_path):
    X, Y = make_table(80, n_outputs=3)
    Y[7, 1] = 1 - Y[7, 1]
    table = pd.DataFrame(np.hstack([X, Y]), columns=[*(f"x{i}" for i in range(X.shape[1])), "a", "b", "c"])
    table.insert(0, "name", [f"case {n}" for n in range(80)])
    table.to_csv(tmp_path / "t.csv", index=False)
    find = ("find", "t.csv", "--outputs", "a,b,c", "--id", "name", "--neighbors", "20", "--cells")
    done = amiss(*find, "-o", "cells.csv")
    assert done.code == 0 and "All 240 cells, ranked: cells.csv" in done.out
    assert "output" in done.out and "suggested" in done.out and "case " in done.out
    cells = pd.read_csv(tmp_path / "cells.csv")
    names = ["rank", "row", "line", "id", "output", "observed", "suggested", "probability", "score"]
    assert list(cells.columns) == names and len(cells) == 240
    assert (cells.line == cells.row + 1).all() and (cells.id == "case " + (cells.row - 1).astype(str)).all()
    assert (cells["score"].diff().dropna() <= 0).all() and (cells.suggested == 1 - cells.observed).all()
    amiss(*find, "-q", "-o", "cells.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "cells.jsonl").read_text().splitlines()]
    assert lines[0] == {**cells.iloc[0].to_dict()}
    amiss(*find, "-q", "-o", "cells.parquet")
    assert pd.read_parquet(tmp_path / "cells.parquet").equals(cells)
