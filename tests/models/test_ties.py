"""Outputs that are tied by definition are found, and one-hot classes are judged as one choice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score

from amiss import MCODE
from amiss.models.ties import NO_TIES, Ties, find_ties
from amiss.output.summary import tied_outputs

DIGITS = load_digits()


def test_what_follows_from_other_outputs_is_found():
    rng = np.random.default_rng(0)
    free = (rng.random((400, 3)) < 0.3).astype(float)
    one_hot = np.eye(4)[rng.integers(0, 4, 400)]
    assert find_ties(free) == NO_TIES
    assert find_ties(np.hstack([free, one_hot])).classes == ((3, 4, 5, 6),)
    assert find_ties(np.hstack([free, free[:, :1]])).copies == ((0, 3),)
    nothing = (free.sum(axis=1) == 0).astype(float)[:, None]
    assert find_ties(np.hstack([free, nothing])).opposites == (3,)
    child = free[:, :1] * (rng.random((400, 1)) < 0.5)
    assert find_ties(np.hstack([free, child])).implications == ((3, 0),)


def findings(n_rows=900, seed=0):
    """Inputs, four rare findings, two categories above them, and "none of these"."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    found = (X + 0.3 * rng.normal(size=X.shape) > 1.5).astype(float)
    return X, with_categories(found), found


def with_categories(found):
    above = np.column_stack([found[:, :2].any(axis=1), found[:, 2:].any(axis=1), ~found.any(axis=1)])
    return np.hstack([found, above]).astype(float)


def test_rare_findings_and_none_of_these_are_no_class():
    _, Y, found = findings()
    nothing = np.hstack([found, Y[:, 6:]])
    assert (nothing.sum(axis=1) == 1).mean() > 0.95  # as in a class, but findings meet as often as by chance
    assert find_ties(nothing) == Ties(opposites=(4,))
    ties = find_ties(Y)
    assert (ties.classes, ties.opposites) == ((), (6,))
    assert ties.implications == ((0, 4), (1, 4), (2, 5), (3, 5))


def test_the_union_of_some_of_a_class_is_not_of_it():
    rng = np.random.default_rng(0)
    one_hot = np.eye(5)[rng.integers(0, 5, 500)]
    union = one_hot[:, :2].any(axis=1)[:, None].astype(float)
    ties = find_ties(np.hstack([one_hot, union]))
    assert ties.classes == ((0, 1, 2, 3, 4),) and ties.implications == ((0, 5), (1, 5))
    assert ties.above(ties.classes[0]) == (5,)
    assert not ties.visible(6).any()  # neither sees the other
    np.testing.assert_array_equal(ties.defined(6), [False] * 5 + [True])


def test_who_sees_whom_and_who_repeats_whom():
    _, Y, _ = findings()
    ties = find_ties(Y)
    visible = ties.visible(7)
    assert not visible[6].any() and visible[:6, 6].all()  # "none of these" sees the others; they do not see it
    np.testing.assert_array_equal(ties.repeated(Y), [False] * 4 + [True, True, False])
    Y[::3, 4] = 1  # now the category has rows of its own, and a row without it has none of those below it
    assert find_ties(Y[:, :5]).implications == ((0, 4), (1, 4))
    np.testing.assert_array_equal(find_ties(Y[:, :5]).repeated(Y[:, :5]), [True, True, False, False, False])


def test_errors_that_come_in_bundles_are_found_as_well_as_by_the_inputs_alone():
    X, right, found = findings()
    rng = np.random.default_rng(5)
    missed = rng.choice(np.flatnonzero(found.any(axis=1)), 25, replace=False)
    marked = found.copy()
    marked[missed] = 0  # whoever misses a finding also misses the category above it, and ticks "none"
    Y = with_categories(marked)
    wrong = right != Y
    ours, alone, old = (
        MCODE(**how).fit(X, Y)
        for how in ({}, {"parents": "none"}, {"rule": "flip", "parents": "others", "scaling": "rank"})
    )

    def precision(detector):
        return average_precision_score(wrong.any(axis=1), detector.decision_scores_)

    assert precision(ours) > precision(alone) - 0.02
    assert precision(ours) > 2 * precision(old)


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_a_class_with_errors_in_it_is_still_one(share):
    rng = np.random.default_rng(1)
    Y = np.eye(5)[rng.integers(0, 5, 500)]
    wrong = rng.random(500) < share
    Y[wrong, rng.integers(0, 5, wrong.sum())] = 1
    assert find_ties(Y).classes == ((0, 1, 2, 3, 4),)


def test_probabilities_of_a_class_add_up_to_one():
    log_odds = np.random.default_rng(0).normal(size=(20, 5))
    normalised = Ties(classes=((0, 2, 4),)).normalised(log_odds)
    np.testing.assert_allclose((1 / (1 + np.exp(-normalised[:, [0, 2, 4]]))).sum(axis=1), 1)
    np.testing.assert_array_equal(normalised[:, [1, 3]], log_odds[:, [1, 3]])
    assert np.isfinite(Ties(classes=((0, 1, 2),)).normalised(np.array([[1e5, -1e5, 0.0]]))).all()


def test_wrong_classes_are_found_at_least_as_well_as_by_the_inputs_alone():
    wrong = np.random.default_rng(3).choice(len(DIGITS.target), 36, replace=False)
    classes = DIGITS.target.copy()
    classes[wrong] = (classes[wrong] + 1 + np.arange(36) % 8) % 10
    is_wrong = np.isin(np.arange(len(classes)), wrong)
    Y = np.eye(10)[classes]
    detector = MCODE().fit(DIGITS.data, Y)
    ours = average_precision_score(is_wrong, detector.decision_scores_)
    alone = MCODE(rule="flip", scaling="rank", parents="none").fit(DIGITS.data, Y).decision_scores_
    assert ours >= average_precision_score(is_wrong, alone)
    assert detector.fitted_.models.ties.classes == (tuple(range(10)),)
    (said,) = tied_outputs(detector.fitted_)
    assert said.startswith("Nearly every row has exactly one of ") and said.endswith("judged as one class.")
