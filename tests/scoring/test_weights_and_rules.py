"""Weights and rules against plain loops over rows and outputs, in the paper's words."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import make_table

from amiss import MCODE
from amiss.scoring import clustered_neighbors
from amiss.scoring.registry import RULES, WEIGHTINGS
from amiss.scoring.rules import contributions, scores
from amiss.scoring.scorer import training_weights
from amiss.scoring.weightings import SMALLEST_ERROR
from amiss.scoring.weights import (
    PRIOR_ERRORS,
    PRIOR_ROWS,
    global_weights,
    local_weights,
    mean_errors,
    smoothed_local_weights,
)

KINDS = tuple(WEIGHTINGS)


def inverted(values, kind):
    """What one weight is, from the errors it is made of."""
    mean = np.mean([value**2 if kind == "brier" else value for value in values])
    weight = 1 / max(mean, SMALLEST_ERROR)
    return weight**0.5 if kind == "sqrt" else weight


@pytest.fixture
def errors():
    """Errors of 12 rows and 4 outputs, and which are observed; nobody has seen output 3 among the first rows."""
    rng = np.random.default_rng(0)
    found, observed = rng.random((12, 4)), rng.random((12, 4)) < 0.7
    observed[:6, 3], observed[6:, 3] = False, True
    found[:, 2] = 1e-12  # an output without errors
    found[~observed] = 99.0  # must not matter
    return found, observed


@pytest.mark.parametrize("kind", KINDS)
def test_global_weights(errors, kind):
    found, observed = errors
    expected = [inverted(found[observed[:, i], i], kind) for i in range(4)]
    np.testing.assert_allclose(global_weights(found, observed, WEIGHTINGS[kind]), expected, rtol=1e-12)
    np.testing.assert_allclose(
        mean_errors(found, observed), [found[observed[:, i], i].mean() for i in range(4)], rtol=1e-12
    )


def test_the_papers_weights_are_the_default(errors):
    near = np.array([[6, 7], [8, 9]])
    np.testing.assert_array_equal(global_weights(*errors), global_weights(*errors, WEIGHTINGS["error"]))
    np.testing.assert_array_equal(local_weights(*errors, near), local_weights(*errors, near, WEIGHTINGS["error"]))


def test_an_output_nobody_has_seen_has_the_largest_weight():
    never = np.zeros((3, 1), dtype=bool)
    assert mean_errors(np.ones((3, 1)), never).tolist() == [0.0]
    assert global_weights(np.ones((3, 1)), never).tolist() == [1 / SMALLEST_ERROR]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_asked", [1, 3, 12])
def test_local_weights(errors, kind, n_asked):
    """Few rows look at their neighbours alone, many at all rows: the same weights."""
    found, observed = errors
    rng = np.random.default_rng(n_asked)
    near = np.array([rng.choice(12, 5, replace=False) for _ in range(n_asked)])
    near[0] = np.arange(5)  # none of these shows output 3
    expected = np.empty((n_asked, 4))
    for row, some in enumerate(near):
        for i in range(4):
            seen = [n for n in some if observed[n, i]] or np.flatnonzero(observed[:, i])
            expected[row, i] = inverted(found[seen, i], kind)
    np.testing.assert_allclose(local_weights(found, observed, near, WEIGHTINGS[kind]), expected, rtol=1e-12)


def test_complete_rows_need_no_counting(errors):
    found = np.clip(errors[0], 0, 1)
    near = np.array([[1, 2, 3], [4, 4, 5]])
    weights = local_weights(found, np.ones_like(found, dtype=bool), near)
    np.testing.assert_allclose(weights, 1 / np.maximum(found[near].mean(axis=1), SMALLEST_ERROR), rtol=1e-12)


def test_without_neighbors_the_weights_are_those_of_all_rows(errors):
    nobody = np.empty((2, 0), dtype=np.intp)
    for kind in KINDS:
        expected = np.tile(global_weights(*errors, WEIGHTINGS[kind]), (2, 1))
        np.testing.assert_allclose(local_weights(*errors, nobody, WEIGHTINGS[kind]), expected, rtol=1e-12)


@pytest.mark.parametrize("n_asked", [2, 12])
def test_smoothed_weights(errors, n_asked):
    found, observed = errors
    means = mean_errors(found, observed)
    near = np.array([np.random.default_rng(row).choice(12, 4, replace=False) for row in range(n_asked)])
    expected = np.empty((n_asked, 4))
    for row, some in enumerate(near):
        for i in range(4):
            seen = [found[n, i] for n in some if observed[n, i]]
            total = sum(seen) + PRIOR_ROWS * means[i] + PRIOR_ERRORS
            expected[row, i] = (len(seen) + PRIOR_ROWS + PRIOR_ERRORS) / total
    np.testing.assert_allclose(smoothed_local_weights(found, observed, near, means), expected, rtol=1e-12)


@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if not rule.inputs_alone])
@pytest.mark.parametrize("local", [True, False])
def test_contributions(rule, local):
    rng = np.random.default_rng(1)
    rho, observed = rng.uniform(0.01, 1, (8, 5)), rng.random((8, 5)) < 0.7
    observed[2] = False
    included = np.array([True, True, False, True, True])
    weights = rng.uniform(1, 9, (8, 5) if local else 5)
    expected = np.zeros((8, 5))
    for n in range(8):
        present = [i for i in range(5) if observed[n, i] and included[i]]
        for i in present:
            weight = weights[n, i] if local else weights[i]
            part = -weight * np.log(rho[n, i])
            if rule == "flip":
                part = np.log(1 + (1 - rho[n, i]) / (5 * (rho[n, i] + 1 / weight)))
            expected[n, i] = part * 4 / len(present)
    parts = contributions(RULES[rule], np.log(rho), weights, observed, included)
    np.testing.assert_allclose(parts, expected, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(scores(parts), expected.sum(axis=1), rtol=1e-10)
    assert scores(parts)[2] == 0  # nothing of it is known


def test_no_contribution_is_minus_zero():
    log_rho = np.log([[1.0, 0.5]])
    seen, both = np.ones((1, 2), dtype=bool), np.ones(2, dtype=bool)
    parts = contributions(RULES["lrw"], log_rho, np.array([2.0, 2.0]), seen, both)
    np.testing.assert_allclose(parts, [[0, -2 * np.log(0.5)]])
    for rule in RULES.values():
        assert not np.signbit(contributions(rule, log_rho, np.ones(2), seen, both)).any()


@pytest.mark.parametrize("rule", ["flip", "lrw"])
@pytest.mark.parametrize("kind", ["plain", "equal rows", "groups", "outputs that hardly anybody shows"])
def test_weights_of_rows_whose_neighbours_are_not_kept(monkeypatch, rule, kind):
    monkeypatch.setattr(clustered_neighbors, "COMPARED", 300)
    X, Y = make_table(700, seed=3)
    Y = Y.astype(float)
    if kind == "equal rows":
        X = np.round(X[:, :2])
    if kind == "outputs that hardly anybody shows":
        Y[10:, 1], Y[::3, 0] = np.nan, np.nan
    groups = np.arange(700) // 2 if kind == "groups" else None
    fitted = MCODE(rule=rule, n_neighbors=20, neighbor_search="approximate").fit(X, Y, groups=groups).fitted_
    scorer = fitted.scorer
    assert scorer.local.neighborhood.neighbors is None
    near = scorer.local.neighborhood.of_rows(np.arange(700), None)
    assert (near != np.arange(700)[:, None]).all()
    np.testing.assert_allclose(training_weights(scorer)[0], scorer.weights(near), rtol=1e-12)
    np.testing.assert_array_equal(fitted.training.weights, scorer.weights(near)[fitted.models.training_rows.place])
