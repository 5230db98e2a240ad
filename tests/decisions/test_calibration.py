"""Rows held out of the fit: who scores them, and that p-values made of them keep their word."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.tables import fitted, make_table

from amiss import MCODE, DataError
from amiss.data.fingerprints import row_fingerprints
from amiss.data.validation import as_inputs, as_outputs
from amiss.decisions.calibration import FOLDS, Calibration, HeldOutRows, hold_out_folds
from amiss.decisions.p_values import discoveries
from amiss.scoring.error_rates import ErrorRates


def one_world(n_rows, seed, n_outputs=5):
    """Rows of one and the same world, however many are drawn."""
    slopes = np.random.default_rng(0).normal(size=(6, n_outputs))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    return X, (rng.random((n_rows, n_outputs)) < 1 / (1 + np.exp(-3 * X @ slopes))).astype(float)


@pytest.mark.parametrize("parameters", [{}, {"rule": "rw"}, {"fdr": 0.1}, {"exclude": [1]}, {"exclude": 0.2}])
def test_each_row_is_scored_by_a_fit_without_its_fold(parameters):
    X, Y = make_table(100)
    Y[5, 2] = np.nan
    detector = fitted(X, Y, **parameters)
    left_out = np.flatnonzero(detector.output_quality_.excluded).tolist()
    order = np.argsort(row_fingerprints(X, Y, 0), kind="stable")
    contributions, probabilities = np.empty(Y.shape), np.empty(Y.shape)
    for fold in range(FOLDS):
        mine = order[fold::FOLDS]
        rest = np.setdiff1d(np.arange(100), mine)
        other = fitted(X[rest], Y[rest], **{**parameters, "exclude": left_out or None})
        batch = other.score_batch(X[mine], Y[mine])
        contributions[mine], probabilities[mine] = batch.contributions, batch.probabilities
    observed, included, new = ~np.isnan(Y), ~detector.output_quality_.excluded, np.ones(100, dtype=bool)
    expected = Calibration.of(HeldOutRows(contributions, probabilities, observed, included, new))
    found = detector.calibrate(X, Y).calibration_
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.contributions, expected.contributions)
    np.testing.assert_array_equal(found.errors.mean, expected.errors.mean)


def test_a_fold_is_never_among_the_rows_that_it_is_scored_by():
    """Whatever fits and scores: it gets each row once to score, by a fit to all rows of the other folds."""
    X, Y = make_table(53)
    X[:, 0] = np.arange(53)
    one = fitted(X, Y)
    asked = []

    def fit_and_score(inside, outside, groups):
        asked.append(tuple({int(row) for row in part[0].values[:, 0]} for part in (inside, outside)))
        return one.score_batch(*outside).rows

    content = row_fingerprints(X, Y, 0)
    held_out = hold_out_folds(as_inputs(X), as_outputs(Y), content, np.ones(4, dtype=bool), fit_and_score)
    assert len(asked) == FOLDS and set().union(*(outside for _, outside in asked)) == set(range(53))
    assert all(inside | outside == set(range(53)) and not inside & outside for inside, outside in asked)
    assert not held_out.is_new.any()  # this one has seen them all
    np.testing.assert_array_equal(held_out.contributions, one.contributions_)


def test_the_order_of_rows_does_not_matter():
    X, Y = make_table(120)
    order = np.random.default_rng(1).permutation(120)
    one = fitted(X, Y).calibrate(X, Y)
    other = fitted(X[order], Y[order]).calibrate(X[order], Y[order])
    np.testing.assert_allclose(one.calibration_.scores, other.calibration_.scores, rtol=1e-9)
    # The fit's rows may come in another order than they were fitted in.
    third = fitted(X, Y).calibrate(X[order], Y[order])
    np.testing.assert_array_equal(one.calibration_.scores, third.calibration_.scores)


def test_other_rows_are_scored_as_they_are():
    X, Y = one_world(200, 1)
    more_X, more_Y = one_world(90, 2)
    detector = fitted(X, Y)
    found = detector.decision_function(more_X, more_Y)
    detector.calibrate(more_X, more_Y)
    np.testing.assert_array_equal(detector.calibration_.scores, np.sort(found))
    assert len(detector.calibration_) == 90


def test_rows_that_cannot_calibrate(table):
    X, Y = table
    detector = fitted(X, Y)
    with pytest.raises(DataError, match="of these 50 rows 0 were not in the fit"):
        detector.calibrate(X[:50], Y[:50])
    with pytest.raises(DataError, match="of these 241 rows 1 were not in the fit"):
        detector.calibrate(np.vstack([X, X[:1] + 1]), np.vstack([Y, Y[:1]]))
    small = fitted(X[:12], Y[:12])
    with pytest.raises(DataError, match="at least 20"):
        small.calibrate(X[:12], Y[:12])


def test_rows_of_the_fit_among_others_do_not_count():
    X, Y = one_world(100, 1)
    more_X, more_Y = one_world(60, 2)
    mixed = fitted(X, Y).calibrate(np.vstack([X[:30], more_X]), np.vstack([Y[:30], more_Y]))
    alone = fitted(X, Y).calibrate(more_X, more_Y)
    np.testing.assert_array_equal(mixed.calibration_.scores, alone.calibration_.scores)


def test_parts_of_a_table_need_not_have_what_the_table_has():
    """A fold may lack an output, and see a text in most of its rows for the first time."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"doctor": [f"d{i % 45}" for i in range(100)], "age": rng.normal(size=100)})
    Y = (rng.random((100, 3)) < 0.5).astype(float)
    Y[2:, 2] = np.nan
    detector = fitted(X, Y).calibrate(X, Y)
    assert np.isfinite(detector.calibration_.scores).all() and len(detector.calibration_) == 100


def test_copies_are_not_new():
    """A copy of a row of the fit is not judged as new, so rows held out that are copies do not count."""
    X, Y = one_world(120, 9)
    twice_X, twice_Y = np.vstack([X, X[:50]]), np.vstack([Y, Y[:50]])
    detector = fitted(twice_X, twice_Y).calibrate(twice_X, twice_Y)
    copies_in_one_fold = len(detector.calibration_) - 70
    assert 0 <= copies_in_one_fold <= 4  # both copies may be dealt to one fold
    with pytest.raises(DataError, match="copies of others"):
        fitted(np.repeat(X[:20], 6, axis=0), np.repeat(Y[:20], 6, axis=0)).calibrate(
            np.repeat(X[:20], 6, axis=0), np.repeat(Y[:20], 6, axis=0)
        )


def test_calibrating_twice_is_the_same():
    X, Y = make_table(60)
    detector = fitted(X, Y, random_state=None)
    first = detector.calibrate(X, Y).calibration_.scores
    np.testing.assert_array_equal(detector.calibrate(X, Y).calibration_.scores, first)


def test_the_threshold_then_holds_for_unseen_rows():
    X, Y = one_world(800, 3)
    new_X, new_Y = one_world(4000, 4)
    detector = MCODE(contamination=0.05, rule="flip", scaling="rank").fit(X, Y)
    before = detector.predict(new_X, new_Y).mean()
    after = detector.calibrate(X, Y).predict(new_X, new_Y).mean()
    assert before > 0.06  # rows of the fit score lower than others
    assert after == pytest.approx(0.05, abs=0.015)


def test_p_values_of_clean_rows_are_evenly_spread():
    X, Y = one_world(600, 5)
    new_X, new_Y = one_world(3000, 6)
    p = MCODE().fit(X, Y).calibrate(X, Y).p_values(new_X, new_Y)
    for level in (0.02, 0.05, 0.1, 0.3):
        # Of 600 held-out rows a share is known to about sqrt(level / 600).
        assert (p <= level).mean() <= level + 2.5 * np.sqrt(level * (1 - level) / 600)
        assert (p <= level).mean() >= level - 2.5 * np.sqrt(level * (1 - level) / 600)


def test_the_level_is_kept_and_wrong_rows_are_found():
    false, power = [], []
    for seed in range(8):
        X, Y = one_world(500, 10 + seed, n_outputs=8)
        new_X, new_Y = one_world(500, 100 + seed, n_outputs=8)
        new_Y[:50] = 1 - new_Y[:50]
        flagged = fitted(X, Y).calibrate(X, Y).score_batch(new_X, new_Y, fdr=0.2).flagged
        false.append(flagged[50:].sum() / max(1, flagged.sum()))
        power.append(flagged[:50].mean())
    assert np.mean(false) <= 0.2
    assert np.mean(power) > 0.9


def test_p_values_of_outputs():
    X, Y = one_world(150, 7)
    Y[3, 1] = np.nan
    new_X, new_Y = one_world(40, 8)
    new_Y[5, 2] = np.nan
    detector = fitted(X, Y, exclude=[4]).calibrate(X, Y)
    batch = detector.score_batch(new_X, new_Y)
    found, usual = batch.output_p_values, detector.calibration_.contributions
    assert np.isnan(found[5, 2]) and np.isnan(found[:, 4]).all() and np.isnan(found).sum() == 41
    for row, output in ((0, 0), (7, 1), (39, 3)):
        known = usual[:, output][~np.isnan(usual[:, output])]
        assert len(known) == (149 if output == 1 else 150)
        as_much = (known >= batch.contributions[row, output]).sum()
        assert found[row, output] == (1 + as_much) / (1 + len(known))
    assert fitted(X, Y).score_batch(new_X, new_Y).output_p_values is None


def test_error_rates_leave_out_what_is_missing():
    errors = np.array([[0.1, 0.5], [0.3, 9.0], [0.8, 9.0]])
    observed = np.array([[True, True], [True, False], [False, False]])
    rates = ErrorRates.of(errors, observed)
    np.testing.assert_allclose(rates.mean, [0.2, 0.5])
    np.testing.assert_allclose(rates.deviation, [0.1, 0.0])
    assert rates.count.tolist() == [2, 1]
    nothing = ErrorRates.of(errors, np.zeros_like(observed))
    assert nothing.mean.tolist() == [0, 0] and nothing.count.tolist() == [0, 0]


def test_a_calibration_is_sorted():
    rng = np.random.default_rng(0)
    parts, observed = rng.random((30, 3)), rng.random((30, 3)) < 0.8
    parts[~observed] = 0
    new = np.arange(30) != 7  # row 7 is a copy of one that was seen
    calibration = Calibration.of(HeldOutRows(parts, parts, observed, np.array([True, True, False]), new))
    assert len(calibration) == 29
    np.testing.assert_allclose(calibration.scores, np.sort(parts[new].sum(axis=1)))
    assert (np.diff(calibration.scores) >= 0).all()
    assert np.isnan(calibration.contributions[:, 2]).all()
    assert np.isnan(calibration.contributions[:, 0]).sum() == (~observed[new, 0]).sum()
    p = calibration.p_values(np.array([-1.0, 99.0]))
    assert p.tolist() == [1.0, 1 / 30]
    assert discoveries(p, 0.1).tolist() == [False, True]


def test_drift_is_measured_against_rows_held_out():
    X, Y = make_table(200)
    detector = fitted(X, Y)
    before = detector.score_batch(*make_table(30, seed=1)).drift.usual
    detector.calibrate(X, Y)
    after = detector.score_batch(*make_table(30, seed=1)).drift.usual
    np.testing.assert_array_equal(after, detector.calibration_.errors.mean)
    assert (after != before).all()
