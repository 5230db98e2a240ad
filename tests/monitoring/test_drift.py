"""Drift: outputs whose error rate in a batch is not that of the fit, told from chance."""

from __future__ import annotations

import numpy as np
from support.tables import fitted

from amiss.monitoring.drift import Drift
from amiss.scoring.error_rates import ErrorRates


def levels(mean, deviation, count):
    return ErrorRates(*(np.array(each, dtype=float) for each in (mean, deviation, count)))


def test_drift_is_told_from_chance():
    usual = levels([0.1, 0.1, 0.1, 0.0], [0.2, 0.2, 0.2, 0.0], [1000, 1000, 1000, 1000])
    found = levels([0.11, 0.2, 0.9, 0.0], [0.2, 0.2, 0.2, 0.0], [200, 200, 2, 200])
    drift = Drift.between(tuple("abcd"), usual, found)
    assert drift.drifted.tolist() == [False, True, False, False]  # two rows tell nothing, however bad
    np.testing.assert_allclose(drift.z[1], 0.1 / (0.2 * np.sqrt(1 / 1000 + 1 / 200)))
    assert drift.z[3] == 0
    assert "b 20% (10% in the fit)" in drift.remarks()[0] and "c" not in drift.remarks()[0].partition(":")[2]
    assert drift.to_dict()[1]["drifted"] is True and drift.to_dict()[0]["usual_error"] == 0.1


def test_an_output_that_was_never_wrong_and_now_is():
    drift = Drift.between(("a", "b"), levels([0, 0], [0, 0], [50, 50]), levels([0.5, 0], [0.5, 0], [40, 0]))
    assert drift.drifted.tolist() == [True, False]
    assert drift.to_dict()[0]["z"] is None  # infinite
    assert drift.to_dict()[1] == {
        "output": "b", "usual_error": 0.0, "error": None, "rows": 0, "z": 0.0, "drifted": False,
    }  # fmt: skip


def test_drift_of_a_batch():
    """The same world does not drift; another one does, in the output that has changed."""
    slopes = np.random.default_rng(0).normal(size=(5, 4))

    def world(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 5))
        return X, (X @ slopes + rng.normal(size=(n_rows, 4)) > 0).astype(float)

    X, Y = world(600, 1)
    detector = fitted(X, Y).calibrate(X, Y)
    false_alarms = sum(detector.score_batch(*world(300, 10 + seed)).drift.drifted.any() for seed in range(20))
    assert false_alarms <= 2
    new_X, new_Y = world(300, 2)
    new_Y[:, 2] = np.random.default_rng(3).permutation(new_Y[:, 2])
    drift = detector.score_batch(new_X, new_Y).drift
    assert drift.drifted[2] and drift.found[2] > 2 * drift.usual[2]
    # Models whose errors on unseen rows nobody knows cannot tell.
    blind = fitted(X, Y, crossfit=False, strengths=[1.0]).score_batch(*world(300, 10)).drift
    assert not blind.drifted.any() and blind.to_dict()[0]["usual_error"] is None
    # Rows of the fit say nothing about new ones.
    assert detector.score_batch(X[:50], Y[:50]).drift.rows.tolist() == [0, 0, 0, 0]


def test_drift_counts_the_outputs_it_looks_at():
    """Of forty outputs that have not changed one or another is 2.6 standard errors away in every third batch."""
    names = tuple(f"y{i}" for i in range(40))
    rng = np.random.default_rng(0)
    usual = ErrorRates(np.full(40, 0.2), np.full(40, 0.3), np.full(40, 1e6))
    drifted = 0
    for _ in range(200):
        found = ErrorRates(0.2 + 0.3 / 20 * rng.normal(size=40), np.full(40, 0.3), np.full(40, 400.0))
        drifted += Drift.between(names, usual, found).drifted.any()
    assert drifted <= 8
