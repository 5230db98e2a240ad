"""Copies: inputs that say what another one says, and rows that stand in the table twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.tables import fitted, frame, make_table

from amiss.data.remark import Code
from amiss.data.validation import as_inputs
from amiss.remarks.copies import are_no_chance


def of_code(detector, code):
    return [remark.text for remark in detector.fitted_.remarks if remark.code == code]


@pytest.mark.parametrize("copy", [lambda x: x, lambda x: 1.8 * x + 32, np.exp])
def test_a_copied_input_is_named_in_any_unit(copy):
    X, Y = frame(*make_table())
    assert of_code(fitted(X, Y), Code.COPIED_INPUT) == []
    X["again"] = copy(X["in2"])
    (said,) = of_code(fitted(X, Y), Code.COPIED_INPUT)
    assert said.startswith("An input copies another one: again copies in2. Drop the copy (--drop)")


def test_one_other_value_makes_it_no_copy():
    X, Y = frame(*make_table())
    X["again"] = X["in2"]
    X.loc[3, "again"] = X["in2"].max() + 1
    assert of_code(fitted(X, Y), Code.COPIED_INPUT) == []


@pytest.mark.parametrize("n_copies", [2, 7, 40])
def test_copied_rows_are_counted(n_copies):
    X, Y = frame(*make_table())
    X, Y = (pd.concat([each, each.iloc[:n_copies]], ignore_index=True) for each in (X, Y))
    n_equal = int(pd.concat([X, Y], axis=1).duplicated(keep=False).sum())
    (said,) = of_code(fitted(X, Y), Code.COPIED_ROWS)
    assert said.startswith(f"{n_equal} rows have the same inputs and outputs as another row.")
    groups = np.arange(len(X)) % 240
    assert of_code(fitted(X, Y).fit(X, Y, groups=groups), Code.COPIED_ROWS) == []


def test_equal_rows_of_few_categories_mean_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "ward": rng.choice(list("uvw"), 300)})
    Y = (rng.random((300, 2)) < 0.4).astype(float)
    assert X.assign(y=Y[:, 0]).duplicated(keep=False).all()
    assert of_code(fitted(X, Y), Code.COPIED_ROWS) == []
    assert not are_no_chance(as_inputs(X), np.ones(300, dtype=bool))
