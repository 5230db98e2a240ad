"""The solver finds scikit-learn's optimum, problem by problem, whatever else is in the batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from support.tables import make_table

from amiss.encoding.joint import joint
from amiss.models.logistic.compiled import multiplier
from amiss.models.logistic.local import LocalRows
from amiss.models.logistic.loss import signs_of
from amiss.models.logistic.newton import Effort, Stop
from amiss.models.logistic.newton import solve as solve_with
from amiss.models.logistic.objective import Objective, Start, Terms
from amiss.models.logistic.preconditioner import approximate
from amiss.models.logistic.seam import MIXED, SINGLE, Precision
from amiss.models.registry import PARENTS

DOUBLE = Precision(np.float64, np.float64)
TIGHT = Effort(tolerance=1e-9, newton_steps=100, residual=0.25, tightening=True)


def solve(problems, terms, *, effort=TIGHT, **how):
    return solve_with(problems, terms, effort=effort, **how)


def setting(X, Y):
    Z = joint(X, Y)
    return Z, PARENTS["others"].visible(Y.shape[1], None)


def everywhere(Y):
    return signs_of(Y, np.ones(Y.shape, dtype=bool))


def problems(Z, signs, precision=DOUBLE, n_jobs=None):
    return LocalRows(Z, signs, n_jobs=n_jobs).problems(None, precision)


def objective(Z, y, w, coef, intercept, strength):
    f = Z @ coef + intercept
    return float(w @ (np.logaddexp(0, f) - y * f) + strength / 2 * coef @ coef)


def scikit_learn_objective(Z, y, w, strength, allowed):
    seen = Z[:, np.flatnonzero(np.concatenate([np.ones(Z.shape[1] - len(allowed), bool), allowed]))]
    twin = LogisticRegression(C=1 / strength, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    twin.fit(seen[w > 0], y[w > 0])
    return objective(seen, y, w, twin.coef_[0], twin.intercept_[0], strength)


SHAPES = {"sampled": (240, 5), "diagonal": (50, 80)}  # by the preconditioner used


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_objective_is_scikit_learns(strength, shape):
    X, Y = make_table(*SHAPES[shape])
    Z, allowed = setting(X, Y)
    w = np.ones_like(Y)
    w[:9, 0] = 0
    solution = solve(problems(Z, signs_of(Y, w == 1)), Terms(allowed, np.full(4, strength)))
    assert solution.converged.all()
    for i in range(4):
        ours = objective(Z, Y[:, i], w[:, i], solution.coef[:, i], solution.intercept[i], strength)
        twin = scikit_learn_objective(Z, Y[:, i], w[:, i], strength, allowed[:, i])
        assert ours == pytest.approx(solution.objective[i], rel=1e-9)
        assert ours == pytest.approx(twin, rel=1e-7)


def test_each_preconditioner_is_used_where_it_is_meant_to_be():
    for name, (n_rows, n_inputs) in SHAPES.items():
        X, Y = make_table(n_rows, n_inputs)
        Z, allowed = setting(X, Y)
        objective = Objective(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
        objective.evaluate(np.zeros((Z.shape[1] + 1, 4)))  # a curvature of 1/4 everywhere
        found = approximate(objective.hessian()).at(np.ones(4))
        assert type(found).__name__.lower() == name


@pytest.mark.parametrize("shape", SHAPES)
def test_single_precision_comes_close(shape):
    X, Y = make_table(*SHAPES[shape])
    Z, allowed = setting(X, Y)
    w = np.ones_like(Y)
    exact = solve(problems(Z, signs_of(Y, w == 1)), Terms(allowed, np.ones(4)))
    rough = solve(problems(Z, signs_of(Y, w == 1), SINGLE), Terms(allowed, np.ones(4)), effort=Effort(1e-6, 50))
    assert rough.coef.dtype == np.float32
    np.testing.assert_allclose(rough.objective, exact.objective, rtol=1e-4)


def test_forbidden_coefficients_are_zero():
    X, Y = make_table()
    Z, allowed = setting(X, Y)
    solution = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
    assert (solution.coef[5:][~allowed] == 0).all()
    assert (solution.coef[5:][allowed] != 0).all()
    assert (solution.coef[:5] != 0).all()


def test_each_problem_is_solved_as_if_it_were_alone():
    X, Y = make_table(seed=3)
    Z, allowed = setting(X, Y)
    strengths = np.array([0.01, 1.0, 100.0, 1.0])
    together = solve(problems(Z, everywhere(Y)), Terms(allowed, strengths))
    for i in range(4):
        one = slice(i, i + 1)
        alone = solve(problems(Z, everywhere(Y)[:, one]), Terms(allowed[:, one], strengths[one]))
        np.testing.assert_allclose(alone.coef[:, 0], together.coef[:, i], atol=1e-6)


@given(st.integers(0, 1000), st.sampled_from(["more rows", "more columns"]))
@settings(max_examples=20, deadline=None)
def test_dense_and_sparse_agree(seed, shape):
    n_rows, n_inputs = (120, 6) if shape == "more rows" else (30, 60)
    X, Y = make_table(n_rows, n_inputs, 3, seed)
    X = X * (np.random.default_rng(seed).random(X.shape) < 0.3)
    Z, allowed = setting(X, Y)
    w = np.ones_like(Y)
    dense = solve(problems(Z, signs_of(Y, w == 1)), Terms(allowed, np.ones(3)))
    thin = solve(problems(sparse.csr_array(Z), signs_of(Y, w == 1)), Terms(allowed, np.ones(3)))
    np.testing.assert_allclose(dense.coef, thin.coef, atol=1e-6)
    assert dense.converged.all()
    assert thin.converged.all()


def test_threads_and_blocks_do_not_change_the_answer(monkeypatch):
    X, Y = make_table(3000)
    Z, allowed = setting(X, Y)
    one = solve(problems(Z, everywhere(Y), n_jobs=1), Terms(allowed, np.ones(4)))
    two = solve(problems(Z, everywhere(Y), n_jobs=2), Terms(allowed, np.ones(4)))
    np.testing.assert_array_equal(one.coef, two.coef)
    monkeypatch.setattr("amiss.models.logistic.blocks.LONGEST", 170)
    monkeypatch.setattr("amiss.models.logistic.newton.BATCH_BYTES", 3 * 8 * 3000)
    small = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
    np.testing.assert_allclose(small.coef, one.coef, atol=1e-7)


def test_one_sided_targets_get_the_smoothed_base_rate():
    X, _ = make_table()
    Y = np.column_stack([np.zeros(len(X)), np.ones(len(X))])
    solution = solve(problems(X, everywhere(Y)), Terms(np.ones((5, 2), bool), np.ones(2)))
    assert (solution.coef == 0).all()
    np.testing.assert_allclose(1 / (1 + np.exp(-solution.intercept)), [0.5 / 241, 240.5 / 241])
    assert (solution.stop == Stop.ONE_SIDED).all()
    assert solution.converged.all()


def test_no_rows_at_all_give_even_odds():
    X, Y = make_table()
    solution = solve(problems(X, np.zeros_like(Y)), Terms(np.ones((5, 4), bool), np.ones(4)))
    assert (solution.intercept == 0).all()


def test_separable_rare_and_badly_scaled_problems_converge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6)) * 10.0 ** np.array([-6, -3, 0, 0, 3, 6])
    Y = np.column_stack([X[:, 2] > 0, np.arange(500) == 7, X[:, 5] > 0]).astype(float)
    for strength in (1e-3, 1.0, 1e3):
        solution = solve(problems(X, everywhere(Y)), Terms(np.ones((6, 3), bool), np.full(3, strength)))
        assert np.isfinite(solution.coef).all()
        assert solution.converged.all()
        # scikit-learn's solvers give up on these scales, so optimality is checked by its definition.
        p = expit(X @ solution.coef + solution.intercept)
        slope = X.T @ (p - Y) + strength * solution.coef
        assert (np.abs(slope) <= 1e-6 * np.abs(X).sum(axis=0)[:, None]).all()
        assert (np.abs((p - Y).sum(axis=0)) <= 1e-6 * len(X)).all()


def test_a_start_at_the_optimum_is_done_at_once():
    X, Y = make_table()
    Z, allowed = setting(X, Y)
    batch, terms = problems(Z, everywhere(Y)), Terms(allowed, np.ones(4))
    cold = solve(batch, terms)
    warm = solve(batch, terms, start=Start(cold.coef, cold.intercept))
    assert warm.n_iter.max() <= 1
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_directions_in_single_precision_lead_to_the_same_optimum(shape):
    X, Y = make_table(*SHAPES[shape])
    Z, allowed = setting(X, Y)
    exact = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
    mixed = solve(problems(Z, everywhere(Y), MIXED), Terms(allowed, np.ones(4)))
    assert mixed.converged.all()
    np.testing.assert_allclose(mixed.objective, exact.objective, rtol=1e-8)


def test_a_tilt_moves_the_optimum_to_where_the_slope_is_the_tilt():
    X, Y = make_table()
    Z, allowed = setting(X, Y)
    tilt = np.zeros((Z.shape[1] + 1, 4))
    tilt[0] = 0.5
    solution = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4), tilt))
    p = expit(Z @ solution.coef + solution.intercept)
    np.testing.assert_allclose((Z[:, 0] @ (p - Y)) + solution.coef[0], 0.5, atol=1e-4)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_the_compiled_product_is_scipys(seed):
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((int(rng.integers(1, 60)), 40), density=rng.random(), format="csr", rng=rng)
    for dtype in (np.float32, np.float64):
        right, out = rng.normal(size=(40, 9)).astype(dtype), np.empty((matrix.shape[0], 9), dtype)
        multiplier(True)(matrix.astype(dtype), right, out)
        np.testing.assert_allclose(out, matrix @ right, atol=1e-4 if dtype == np.float32 else 1e-12)


def test_blocks_of_a_sparse_matrix_add_up(monkeypatch):
    X, Y = make_table(300, 40)
    Z, allowed = setting(X * (X > 0.5), Y)
    Z = sparse.csr_array(Z)
    one = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
    monkeypatch.setattr("amiss.models.logistic.blocks.SPARSE_BLOCK", 70)
    several = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
    np.testing.assert_allclose(several.coef, one.coef, atol=1e-7)


def test_a_step_taken_on_its_promise_reports_what_was_promised():
    X, Y = make_table()
    Z, allowed = setting(X, Y)
    exact = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)))
    hasty = solve(problems(Z, everywhere(Y)), Terms(allowed, np.ones(4)), effort=Effort(1e-4, 50, confirmed=False))
    assert hasty.converged.all()
    np.testing.assert_allclose(hasty.objective, exact.objective, rtol=1e-3)


def test_a_problem_cut_short_says_so_and_leaves_the_others_alone():
    X, Y = make_table()
    Z, allowed = setting(X, Y)
    solution = solve(
        problems(Z, everywhere(Y)), Terms(allowed, np.array([1e-9, 1e4, 1e4, 1e4])), effort=Effort(1e-9, 4)
    )
    np.testing.assert_array_equal(solution.converged, [False, True, True, True])
    np.testing.assert_array_equal(solution.stop, [Stop.STEP_LIMIT, *[Stop.CONVERGED] * 3])
    assert np.isfinite(solution.coef).all()
