"""What can be asked of a decision."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from support.tables import fitted, make_table

from amiss.decisions.settings import BatchRequest, DecisionSettings


@pytest.mark.parametrize("share", [0, -0.1, 0.6, np.nan, "much", None, True])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=r"contamination must be above 0 and at most 0.5, or 'auto'"):
        DecisionSettings(share, None)


@pytest.mark.parametrize("level", [0, 1, -1, np.nan, "low", True])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(ValueError, match="fdr must be a level between 0 and 1"):
        DecisionSettings(0.01, level)
    if not isinstance(level, str):
        with pytest.raises(ValueError, match="fdr must be a level between 0 and 1"):
            BatchRequest(fdr=level)


def test_a_request_asks_for_one_thing_or_nothing():
    assert BatchRequest().is_empty and BatchRequest(against="rows").is_empty
    for asked in ({"fdr": 0.1}, {"rate": 0.1}, {"alerts": 3}, {"alerts": np.int64(3)}):
        assert not BatchRequest(**asked).is_empty
    with pytest.raises(ValueError, match="ask for one of fdr, rate and alerts"):
        BatchRequest(rate=0.1, alerts=3)


@pytest.mark.parametrize(
    ("asked", "by", "reason"),
    [
        ({}, "threshold", "the threshold of the fit"),
        ({"alerts": 3}, "alerts", "the 3 most unusual rows of this batch"),
        ({"rate": 0.1}, "rate", "which 14 of 150 rows held out of the fit exceed"),
        ({"fdr": 0.3}, "fdr", "at a false-discovery level of 30% against 150 rows held out of the fit"),
        (
            {"fdr": 0.3, "against": "models"},
            "fdr",
            "at a false-discovery level of 30% against rows simulated by the models",
        ),
    ],
)
def test_a_decision_says_by_what_it_was_made(asked, by, reason):
    X, Y = make_table(150)
    detector = fitted(X, Y).calibrate(X, Y)
    decision = detector.score_batch(*make_table(40, seed=2), **asked).decision
    assert (decision.by, decision.reason, decision.level) == (by, reason, asked.get("fdr"))


def test_the_decision_on_the_rows_of_the_fit_is_the_detectors():
    X, Y = make_table(100)
    for parameters, by in (({"contamination": 0.1}, "rate"), ({"fdr": 0.2}, "fdr")):
        detector = fitted(X, Y, **parameters)
        decision = detector.fitted_.decision
        assert decision.by == by and decision.threshold == detector.threshold_
        np.testing.assert_array_equal(decision.flagged, detector.labels_)
        with pytest.raises(FrozenInstanceError):
            decision.threshold = 0.0


def test_what_to_compare_with_is_for_a_level():
    X, Y = make_table(60)
    detector = fitted(X, Y).calibrate(X, Y)
    for asked in ({}, {"rate": 0.1}, {"alerts": 2}):
        with pytest.raises(ValueError, match="against is for a false-discovery level"):
            detector.score_batch(X, Y, against="models", **asked)
