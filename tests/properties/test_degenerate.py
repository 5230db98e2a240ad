"""No silent wrong score: whatever the table, scores are finite or an error says what is wrong.

The long run (``pytest -m long tests/properties/test_degenerate.py``) has a hundred seeds a family instead of two.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support import cpu_time

from amiss import MCODE, DataError

SECONDS = 60  # of the processor's time, for a table of at most 60 rows: beyond, it hangs
N_ROWS, N_INPUTS, N_OUTPUTS = 40, 4, 3


def ordinary(rng, n_rows=N_ROWS, n_inputs=N_INPUTS):
    X = rng.normal(size=(n_rows, n_inputs))
    Y = (X[:, :1] + rng.normal(size=(n_rows, N_OUTPUTS)) > 0).astype(float)
    return X, Y


def separable(rng):
    X, _ = ordinary(rng)
    return X, (X[:, :N_OUTPUTS] > 0).astype(float)


def constant_output(rng):
    X, Y = ordinary(rng)
    Y[:, 1] = rng.integers(2)
    return X, Y


def one_positive(rng):
    X, Y = ordinary(rng)
    Y[:, 2] = 0
    Y[rng.integers(N_ROWS), 2] = 1
    return X, Y


def all_zero_row(rng):
    X, Y = ordinary(rng)
    X[3], Y[3] = 0, 0
    return X, Y


def constant_input(rng):
    X, Y = ordinary(rng)
    X[:, 0] = rng.choice([0.0, 1.0, -7e8, 1e-12])
    return X, Y


def extreme_scales(rng):
    X, Y = ordinary(rng)
    return X * 10.0 ** rng.integers(-300, 301, N_INPUTS).astype(float), Y


def extremes_in_one_column(rng):
    X, Y = ordinary(rng)
    X[:, 1] *= 10.0 ** rng.integers(-300, 300, N_ROWS).astype(float)
    return X, Y


def with_missing(rng):
    X, Y = ordinary(rng)
    X[rng.random(X.shape) < 0.3] = np.nan
    Y[rng.random(Y.shape) < 0.2] = np.nan
    X[:, 3] = np.nan if rng.random() < 0.3 else X[:, 3]
    return X, Y


def with_infinity(rng):
    X, Y = ordinary(rng)
    X[rng.integers(N_ROWS), rng.integers(N_INPUTS)] = rng.choice([np.inf, -np.inf])
    return X, Y


def collinear(rng):
    X, Y = ordinary(rng)
    return np.column_stack([X, X[:, 0], X @ rng.normal(size=N_INPUTS), 1e9 * X[:, 1]]), Y


def fewer_rows_than_neighbors(rng):
    return ordinary(rng, n_rows=int(rng.integers(2, 12)))


def more_copies_than_neighbors(rng):
    X, Y = ordinary(rng)
    return np.vstack([X, np.repeat(X[:1], 20, axis=0)]), np.vstack([Y, np.repeat(Y[:1], 20, axis=0)])


def all_rows_alike(rng):
    X, Y = ordinary(rng)
    return np.repeat(X[:1], N_ROWS, axis=0), np.repeat(Y[:1], N_ROWS, axis=0)


def many_columns(rng):
    return ordinary(rng, n_rows=15, n_inputs=400)


def one_row(rng):
    return ordinary(rng, n_rows=1)


FAMILIES = [
    separable,
    constant_output,
    one_positive,
    all_zero_row,
    constant_input,
    extreme_scales,
    extremes_in_one_column,
    with_missing,
    with_infinity,
    collinear,
    fewer_rows_than_neighbors,
    more_copies_than_neighbors,
    all_rows_alike,
    many_columns,
    one_row,
]
PARAMETERS = [{}, {"rule": "lrw", "weighting": "error", "crossfit": False}, {"rule": "rw", "scaling": "block"}]


def outcome(X, Y, **parameters):
    """Is it "scored", or the error's text; anything but finite scores or a :class:`DataError` fails."""
    try:
        with cpu_time.limited(SECONDS):
            detector = MCODE(**{"n_neighbors": 10, "n_jobs": 1, **parameters}).fit(X, Y)
            new = detector.score_batch(X[: len(X) // 2 + 1] * np.float32(1.5), Y[: len(Y) // 2 + 1])
    except DataError as error:
        assert "\n" not in str(error)
        return str(error)
    seen = ~np.isnan(np.asarray(Y, dtype=float))
    for found in (
        detector.decision_scores_,
        detector.contributions_,
        new.scores,
        new.contributions,
        detector.weights_,
    ):
        assert np.isfinite(found).all()
    assert ((detector.rho_[seen] >= 0) & (detector.rho_[seen] <= 1)).all() and np.isnan(detector.rho_[~seen]).all()
    assert (detector.decision_scores_ >= 0).all() and np.isfinite(detector.threshold_)
    np.testing.assert_allclose(
        detector.contributions_.sum(axis=1), detector.decision_scores_, rtol=1e-9, atol=1e-12
    )
    return "scored"


def check(family, dtype, seeds):
    for seed in seeds:
        X, Y = family(np.random.default_rng(seed))
        with np.errstate(over="ignore"):
            X = X.astype(dtype)
        found = outcome(X, Y, **PARAMETERS[seed % len(PARAMETERS)])
        infinite = np.isinf(X).any() or np.isinf(X * np.float32(1.5)).any()
        if infinite:
            assert "the value is infinite" in found, (seed, found)
        else:
            assert found == "scored", (seed, found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_scores_are_finite_or_the_error_is_named(family, dtype):
    check(family, dtype, range(2))


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_scores_are_finite_over_a_hundred_seeds(family, dtype):
    check(family, dtype, range(100))


@pytest.mark.parametrize("scaling", ["rank", "block", "standard", "maxabs"])
@pytest.mark.parametrize("thin", [True, False])
def test_new_values_beyond_any_scale_of_the_fit(scaling, thin):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 30)) < 0.05, 1e-300, 0.0) if thin else rng.normal(size=(40, 3)) * 1e-300
    X[:, 1] = 1e-300  # a constant has no scale at all
    Y = ordinary(rng)[1]
    detector = MCODE(scaling=scaling, n_neighbors=10).fit(X, Y)
    for value in (1e300, -1e308, 5e-324):
        assert np.isfinite(detector.decision_function(np.full((2, X.shape[1]), value), Y[:2])).all()


@settings(max_examples=60)
@given(st.data())
def test_any_small_table(data):
    n_rows, n_inputs = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    X = data.draw(arrays(np.float64, (n_rows, n_inputs), elements=st.floats(allow_subnormal=True, width=64)))
    Y = data.draw(arrays(np.float64, (n_rows, 2), elements=st.sampled_from([0.0, 1.0, np.nan])))
    with np.errstate(all="ignore"):
        found = outcome(
            X, Y, scaling=data.draw(st.sampled_from(["rank", "block", "standard", "maxabs", "log-unit"]))
        )
    assert found == "scored" or any(
        known in found for known in ("the value is infinite", "is missing in every row", "too large")
    )


def test_nothing_but_constants_to_learn_from():
    detector = MCODE().fit(np.ones((3, 4)), np.array([[np.nan, 0], [1, 1], [1, 1]]))
    assert np.isfinite(detector.decision_scores_).all()
