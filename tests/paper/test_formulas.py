"""rho, weights and scores are those of a plain transcription of the paper's formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support import paper_formulas as paper
from support.tables import make_table

import amiss
from amiss.encoding.joint import joint
from amiss.evaluation import atpar, inject
from amiss.scoring.registry import RULES, WEIGHTINGS
from amiss.scoring.rules import contributions, scores
from amiss.scoring.weights import global_weights, local_weights

METHODS = {"prod": "M-PROD", "rw": "M-RW", "lrw": "M-LRW"}


def fitted(rule, X, Y, **changes):
    """The paper's method, with inputs as they are."""
    return amiss.paper.method(METHODS[rule], n_neighbors=20, scaling="none", **changes).fit(X, Y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("space", ["joint", "inputs"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=5, deadline=None)
def test_every_quantity_is_the_papers(form, space, seed):
    X, Y = make_table(150, seed=seed)
    models = {name: fitted(name, form(X), form(Y), neighbor_space=space) for name in ("prod", "rw", "lrw")}
    linear = models["prod"].fitted_.models.model
    rho = paper.rho(X, Y, linear.coef, linear.intercept)
    points = np.hstack([X, Y]) if space == "joint" else X
    weights = {"prod": 1, "rw": paper.global_weights(rho), "lrw": paper.local_weights(rho, points, 20)}
    for name, model in models.items():
        np.testing.assert_allclose(model.rho_, rho, atol=1e-9)
        np.testing.assert_allclose(model.weights_, np.broadcast_to(weights[name], model.weights_.shape), rtol=1e-8)
        np.testing.assert_allclose(model.decision_scores_, paper.score(rho, weights[name]), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(model.contributions_.sum(axis=1), model.decision_scores_, rtol=1e-12)


def test_square_roots_and_brier_scores_are_what_they_say():
    rng = np.random.default_rng(0)
    errors, seen = rng.random((50, 3)), np.ones((50, 3), dtype=bool)
    near = np.array([rng.choice(50, 7, replace=False) for _ in range(50)])
    plain = global_weights(errors, seen)
    np.testing.assert_allclose(plain, paper.global_weights(1 - errors))
    np.testing.assert_allclose(global_weights(errors, seen, WEIGHTINGS["sqrt"]), np.sqrt(plain))
    np.testing.assert_allclose(global_weights(errors, seen, WEIGHTINGS["brier"]), 1 / (errors**2).mean(axis=0))
    np.testing.assert_allclose(
        local_weights(errors, seen, near, WEIGHTINGS["brier"]), 1 / (errors[near] ** 2).mean(axis=1)
    )
    np.testing.assert_allclose(
        local_weights(errors, seen, near, WEIGHTINGS["sqrt"]), 1 / np.sqrt(errors[near].mean(axis=1))
    )


def test_a_weight_is_finite_where_there_is_no_error():
    errors, seen = np.zeros((10, 2)), np.ones((10, 2), dtype=bool)
    near = np.arange(10)[:, None]
    for weighting in WEIGHTINGS.values():
        assert np.isfinite(global_weights(errors, seen, weighting)).all()
        assert np.isfinite(local_weights(errors, seen, near, weighting)).all()


def test_missing_outputs_are_left_out_of_the_means():
    errors = np.array([[0.1, 0.5], [0.3, 99.0], [0.2, 99.0]])
    seen = np.array([[True, True], [True, False], [True, False]])
    np.testing.assert_allclose(1 / global_weights(errors, seen), [0.2, 0.5])
    near = np.array([[1, 2], [0, 2], [0, 1]])
    # The first row's neighbours show nothing of the second output: the global mean stands in.
    np.testing.assert_allclose(1 / local_weights(errors, seen, near), [[0.25, 0.5], [0.15, 0.5], [0.2, 0.5]])
    no_neighbours = np.empty((3, 0), dtype=int)
    np.testing.assert_allclose(1 / local_weights(errors, seen, no_neighbours), [[0.2, 0.5]] * 3)


def test_a_row_with_missing_outputs_is_scaled_to_compare_with_complete_ones():
    log_rho = np.log([[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.01, 0.01], [0.1, 0.1, 0.1, 0.1]])
    seen = np.array([[True] * 4, [True, True, False, False], [False] * 4])
    added = contributions(RULES["prod"], log_rho, np.ones(4), seen, np.ones(4, dtype=bool))
    np.testing.assert_allclose(scores(added), [4 * np.log(2), 4 * np.log(2), 0])
    some = np.array([True, False, True, True])
    added = contributions(RULES["prod"], log_rho, np.ones(4), seen, some)
    np.testing.assert_allclose(scores(added), [3 * np.log(2), 3 * np.log(2), 0])
    assert (added[:, 1] == 0).all()


def test_the_order_of_the_columns_of_z_is_inputs_then_outputs():
    X, Y = make_table(60)
    model = fitted("prod", X, Y)
    linear = model.fitted_.models.model
    log_odds = joint(X, Y) @ linear.coef + linear.intercept
    np.testing.assert_allclose(model.rho_, 1 / (1 + np.exp(-(2 * Y - 1) * log_odds)), atol=1e-12)


def test_yeast_reaches_the_papers_figures(paper_data):
    """Table 2, yeast, 10 % of the outputs flipped in 1 % of the rows, ten repeats, the paper's settings."""
    data = amiss.read(paper_data / "yeast" / "yeast.arff", outputs=paper_data / "yeast" / "yeast.xml")
    found = {"prod": [], "rw": [], "lrw": []}
    for repeat in range(10):
        Y, is_outlier = inject(np.asarray(data.Y), ratio=0.01, dimensionality=0.10, random_state=repeat)
        for name, values in found.items():
            method = amiss.paper.method(METHODS[name], scaling="none")
            values.append(atpar(method.fit(data.X, Y).decision_scores_, is_outlier))
    assert np.mean(found["prod"]) >= 0.45
    assert np.mean(found["rw"]) >= 0.64
    assert np.mean(found["lrw"]) >= 0.63
