"""Doubt: models that were shown a row do not believe it; and how far a table's doubtful rows are believed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.scoring.doubt import DOUBTFUL, FEW, count_doubtful
from amiss.scoring.settings import DOUBT_SHARE


def judged(n_rows=800, n_wrong=40, seed=0):
    """Three outputs that the inputs tell, misjudged in rows not far from the border between 0 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    signal = X[:, :3] + 0.5 * X[:, 3:]
    Y = (signal > 0).astype(float)
    near = np.argsort(np.abs(signal[:, 0]))
    wrong = np.zeros(n_rows, dtype=bool)
    wrong[near[200 : 200 + n_wrong]] = True
    Y[wrong, 0] = 1 - Y[wrong, 0]
    return X, Y, wrong


def hypotheses_and_doubts(detector):
    rows, hypotheses = detector.fitted_.training_rows, detector.fitted_.scorer.hypotheses
    return hypotheses, hypotheses.row_doubts(rows.Y, rows.weights, rows.views)


def test_few_doubtful_rows_are_believed_and_counted():
    X, Y, wrong = judged()
    detector = MCODE(contamination="auto").fit(X, Y)
    hypotheses, doubts = hypotheses_and_doubts(detector)
    chances = -np.expm1(-detector.decision_scores_)
    assert count_doubtful(doubts) <= FEW * len(Y) and hypotheses.believed
    assert chances.sum() == pytest.approx(max(count_doubtful(doubts), 1), rel=1e-6)
    estimate = detector.error_estimate_.rows
    assert 2 / 3 < estimate.estimate / wrong.sum() < 1.5 and estimate.low <= wrong.sum() <= estimate.high
    assert wrong[detector.labels_ == 1].mean() > 0.7 and wrong[detector.labels_ == 0].mean() < 0.02


def test_many_doubtful_rows_are_not():
    X, Y, _ = judged()
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(Y.shape) < 0.25, 1 - Y, Y)  # then nobody can tell an error from a hard case
    detector = MCODE().fit(X, noisy)
    hypotheses, doubts = hypotheses_and_doubts(detector)
    assert count_doubtful(doubts) > FEW * len(Y) and hypotheses.doubt == 1 and not hypotheses.believed
    assert detector.error_estimate_.rows.high >= count_doubtful(doubts)  # but it may be so many


def test_rows_without_outputs_do_not_make_doubtful_rows_few():
    X, Y, _ = judged()
    noisy = np.where(np.random.default_rng(1).random(Y.shape) < 0.25, 1 - Y, Y)
    unlabelled = np.vstack([noisy, np.full((3 * len(Y), 3), np.nan)])
    detector = MCODE().fit(np.vstack([X, *[X + 5.0] * 3]), unlabelled)
    hypotheses, doubts = hypotheses_and_doubts(detector)
    assert 0 < count_doubtful(doubts) <= FEW * len(unlabelled) and not hypotheses.believed


def test_classes_taken_for_one_another_are_believed_in_greater_number():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 1000)
    X = np.eye(5)[truth] + 0.2 * rng.normal(size=(1000, 5))
    said = np.where(rng.random(1000) < 0.25, rng.integers(0, 5, 1000), truth)
    detector = MCODE(contamination="auto").fit(X, np.eye(5)[said])
    assert detector.fitted_.models.ties.classes == ((0, 1, 2, 3, 4),)
    hypotheses, doubts = hypotheses_and_doubts(detector)
    assert count_doubtful(doubts) > FEW * 1000 and hypotheses.believed
    assert hypotheses.shares[1] == 0  # another row's class is just another class
    wrong, estimate = said != truth, detector.error_estimate_.rows
    assert 2 / 3 < estimate.estimate / wrong.sum() < 1.5
    assert wrong[detector.labels_ == 1].mean() > 0.9


def test_a_doubtful_row_is_so_by_both_views():
    X, Y, _ = judged()
    detector = fitted(X, Y)
    rows = detector.fitted_.training_rows
    hypotheses, doubts = hypotheses_and_doubts(detector)
    assert not hypotheses.unpredictable.any()
    base = hypotheses.base_rates
    shift = 0.15 * np.log(base / (1 - base))
    by_hand = np.zeros(len(Y), dtype=bool)
    for i in range(Y.shape[1]):
        sign = np.where(Y[:, i] == 1, -1, 1)
        both = [np.exp(sign * (each[:, i] - shift[i])) for each in (rows.views.doubted, rows.views.by_inputs)]
        by_hand |= np.minimum(*both) > DOUBTFUL
    assert count_doubtful(doubts) == by_hand.sum() > 0


def test_doubts_come_mostly_from_models_that_saw_the_row():
    X, Y = make_table(200)
    detector = fitted(X, Y)
    rows, models = detector.fitted_.training_rows, detector.fitted_.models
    place = models.training_rows.place
    saw = models.model.log_odds(models.training_rows.design, models.training_rows.Y)[place]
    np.testing.assert_allclose(
        rows.views.doubted - saw, (rows.log_odds - saw) * DOUBT_SHARE / 0.6, rtol=1e-6, atol=1e-9
    )
    # Not if no model that saw a row is to judge it, nor of models that may have learned it by heart.
    for parameters in ({"crossfit": True}, {"model": DecisionTreeClassifier(max_depth=3)}):
        other = fitted(X, Y, **parameters).fitted_.training_rows
        np.testing.assert_array_equal(other.views.doubted, other.log_odds)
