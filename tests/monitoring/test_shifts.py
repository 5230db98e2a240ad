"""Inputs whose distribution changed are named, and chance names hardly any."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from amiss import MCODE

SHIFTS = {
    "another unit": (lambda t: t.assign(age=t.age / 10), {"age"}),
    "silent": (lambda t: t.assign(age=np.nan), {"age"}),
    "half silent": (lambda t: t.assign(age=t.age.where(np.arange(len(t)) % 2 == 0)), {"age"}),
    "stuck": (lambda t: t.assign(age=40.0), {"age"}),
    "one ward": (lambda t: t.assign(ward="a"), {"ward"}),
    "a quarter silent": (lambda t: t.assign(age=t.age.where(np.arange(len(t)) % 4 > 0)), {"age"}),
    "both": (lambda t: t.assign(age=t.age + 30, ward="b"), {"age", "ward"}),
    "nothing": (lambda t: t, set()),
}


def clinic(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 15, n_rows),
            "kg": rng.normal(70, 9, n_rows),
            "ward": rng.choice(list("abc"), n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "age"] = np.nan
    return X, (rng.random((n_rows, 2)) < 0.4).astype(float)


@pytest.mark.parametrize("change", SHIFTS)
def test_inputs_that_are_distributed_otherwise_are_named(change):
    detector = MCODE(n_neighbors=20).fit(*clinic(400, 0))
    new, Y = clinic(200, 1)
    changed, expected = SHIFTS[change]
    batch = detector.score_batch(changed(new), Y)
    assert {each.column for each in batch.findings.shifts} == expected
    if change in ("silent", "half silent"):
        (found,) = batch.findings.shifts
        assert found.usually_missing == pytest.approx(0.05, abs=0.02) and found.missing == pytest.approx(
            changed(new).age.isna().mean()
        )
        assert f"age (missing in {'100%' if change == 'silent' else '5'}" in " ".join(batch.remarks())


def test_chance_names_hardly_any_input():
    detector = MCODE(n_neighbors=20).fit(*clinic(400, 0))
    named = sum(bool(detector.score_batch(*clinic(30, seed)).findings.shifts) for seed in range(1, 101))
    assert named <= 3
    assert not detector.score_batch(*clinic(1, 5)).findings.shifts
