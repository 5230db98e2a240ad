"""Every scaling is in the registry, does what it is called, and keeps all values finite."""

from __future__ import annotations

import os
import pickle
import pkgutil
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import rankdata
from sklearn.preprocessing import StandardScaler

from amiss.data.table import Table
from amiss.data.validation import as_inputs
from amiss.encoding import scalings
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.encoding.scalings.base import Scaling
from amiss.errors import DataError


def encoded(X, scaling="block"):
    table = as_inputs(X)
    matrix = fit_encoder(table, SCALINGS.named(scaling)).transform(table)
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def test_every_scaling_class_is_in_the_registry():
    modules = [
        import_module(f"{scalings.__name__}.{each.name}") for each in pkgutil.iter_modules(scalings.__path__)
    ]
    classes = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    assert {type(each) for each in SCALINGS.values()} == {c for c in classes if issubclass(c, Scaling)} - {Scaling}


@pytest.mark.parametrize("name", SCALINGS)
def test_a_scaling_found_by_name_encodes_a_table_again(name):
    scaling = SCALINGS.named(name)
    assert scaling.name == name
    assert scaling.description and not set(scaling.description) & set(".;\n")  # it stands in a list of help
    values = np.array([[1.0, 0, 5, 0], [2.0, 1, np.nan, 1], [4.0, 2, 7, 1], [np.nan, 0, 9, 0]])
    table = Table(values, ("age", "ward", "dose", "sex"), {1: ("a", "b", "c"), 3: ("f", "m")})
    encoder = fit_encoder(table, scaling)
    assert encoder.scaling is scaling
    matrix = encoder.transform(table)
    assert matrix.shape == (4, encoder.n_columns)
    assert np.isfinite(matrix).all()
    again = replace(encoder, scaling=SCALINGS.named(encoder.scaling.name))
    np.testing.assert_array_equal(again.transform(table), matrix)
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.scaling == scaling
    np.testing.assert_array_equal(copy.transform(table), matrix)


@pytest.mark.parametrize("name", ["robust", "", None, 1, ["rank"]])
def test_an_unknown_scaling_is_refused_with_the_choices(name):
    with pytest.raises(ValueError, match=r"scaling must be one of 'rank', .*'log-unit'; got"):
        SCALINGS.named(name)


def test_the_names_are_listed_without_importing_numpy():
    code = "import sys; from amiss.encoding.scalings import SCALINGS; print(*SCALINGS, 'numpy' in sys.modules)"
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | paths
    )
    assert found.stdout.split() == [*SCALINGS, "False"]


@pytest.mark.parametrize("scaling", SCALINGS)
@given(st.integers(0, 1000), st.sampled_from([0.02, 0.2, 0.9]))
@settings(max_examples=15, deadline=None)
def test_the_container_does_not_matter(scaling, seed, density):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < density)
    np.testing.assert_array_equal(encoded(X, scaling), encoded(sparse.csr_array(X), scaling))


def test_block_scaling_standardises_dense_inputs_and_divides_by_the_root_of_their_number():
    X = np.random.default_rng(0).normal(loc=50, scale=[1, 10, 100], size=(200, 3))
    np.testing.assert_allclose(encoded(X), StandardScaler().fit_transform(X) / np.sqrt(3), atol=1e-12)


def test_block_scaling_makes_logarithms_of_unit_length_from_sparse_counts():
    counts = np.zeros((9, 40))
    counts[0, [1, 5]], counts[1, 2], counts[2, :3] = [3, 9], 1259, 1
    matrix = encoded(counts)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), [1, 1, 1, 0, 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(matrix[0, 1] / matrix[0, 5], np.log(4) / np.log(10))


def test_block_scaling_gives_inputs_the_energy_of_one_column_a_row():
    X = np.random.default_rng(0).normal(size=(500, 40)) * 1000
    assert np.mean(np.sum(encoded(X) ** 2, axis=1)) == pytest.approx(1)


def test_the_other_scalings_do_what_they_are_called():
    X = np.random.default_rng(0).normal(loc=5, size=(50, 3)) * [1, 10, 100]
    np.testing.assert_array_equal(encoded(X, "none"), X)
    np.testing.assert_allclose(encoded(X, "standard"), StandardScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(np.abs(encoded(X, "maxabs")).max(axis=0), 1)
    np.testing.assert_allclose(np.linalg.norm(encoded(X, "log-unit"), axis=1), 1)


@pytest.mark.parametrize("scaling", ["block", "standard", "maxabs", "log-unit"])
@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e150, 1e300])
def test_any_magnitude_is_scaled_to_finite_numbers(scaling, magnitude):
    X = np.random.default_rng(0).normal(size=(30, 2)) * [magnitude, 1]
    matrix = encoded(X, scaling)
    assert np.isfinite(matrix).all()
    if scaling in ("block", "standard"):
        np.testing.assert_allclose(matrix[:, 0].std(), matrix[:, 1].std())


def test_unscaled_columns_that_are_too_large_are_refused_by_name():
    with pytest.raises(DataError, match=r"'x1'.*scaling='block'"):
        encoded(np.array([[1.0, 1e300], [2.0, 1.0]]), "none")


def test_constant_columns_become_zero():
    X = np.column_stack([np.full(20, 1e9), np.full(20, 0.1), np.arange(20.0)])
    assert (encoded(X)[:, :2] == 0).all()


def test_a_few_rare_flags_leave_the_other_columns_alone():
    rng = np.random.default_rng(0)
    age, flags = rng.normal(50, 20, size=(300, 1)), (rng.random((300, 6)) < 0.03).astype(float)
    matrix = encoded(np.hstack([age, flags]))
    np.testing.assert_allclose(matrix[:, :1], StandardScaler().fit_transform(age), atol=1e-12)
    lengths = np.linalg.norm(matrix[:, 1:], axis=1)
    np.testing.assert_allclose(lengths[flags.any(axis=1)], 1)
    assert (lengths[~flags.any(axis=1)] == 0).all()


def test_constant_columns_do_not_weaken_the_others():
    X = np.random.default_rng(0).normal(size=(100, 3))
    np.testing.assert_allclose(encoded(np.hstack([X, np.ones((100, 50))]))[:, :3], encoded(X))


def test_new_rows_off_every_scale_stay_finite():
    encoder = fit_encoder(as_inputs(np.array([[1e-300], [2e-300], [4e-300]])), SCALINGS.named("block"))
    assert np.isfinite(encoder.transform(as_inputs(np.array([[1e10]])))).all()
    unscaled = fit_encoder(as_inputs(np.eye(3)), SCALINGS.named("none"))
    assert np.abs(unscaled.transform(as_inputs(np.full((1, 3), -1e300)))).max() == 1e15


def test_rank_scaling_is_block_scaling_of_the_ranks():
    X = np.random.default_rng(0).lognormal(sigma=3, size=(200, 3))
    ranks = rankdata(X, axis=0)
    np.testing.assert_allclose(encoded(X, "rank"), StandardScaler().fit_transform(ranks) / np.sqrt(3), atol=1e-12)


def test_rank_scaling_does_not_care_for_a_monotone_change_of_a_column():
    X = np.random.default_rng(0).normal(size=(150, 2))
    X[::3, 1] = 0  # ties
    changed = np.column_stack([np.exp(5 * X[:, 0]), X[:, 1] ** 3 * 1e200])
    np.testing.assert_allclose(encoded(X, "rank"), encoded(changed, "rank"), atol=1e-12)


def test_a_two_valued_column_is_scaled_alike_by_rank_and_block():
    X = np.column_stack([np.arange(90) % 3 == 0, np.arange(90) % 2 == 0]).astype(float)
    np.testing.assert_allclose(encoded(X, "rank"), encoded(X, "block"), atol=1e-12)


@given(st.integers(1, 2000), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_ranks_rise_with_the_values_and_new_rows_stay_within(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = 10 + rng.normal(size=(n_rows, 1)).round(2)  # no zeros: a table that is mostly zero is not ranked
    encoder = fit_encoder(as_inputs(X), SCALINGS.named("rank"))
    new = np.sort(np.concatenate([[-1e300, 1e300], 10 + rng.normal(size=50)]))[:, None]
    matrix = encoder.transform(as_inputs(new))[:, 0]
    assert (np.diff(matrix) >= 0).all()
    fitted = encoder.transform(as_inputs(X))[:, 0]
    assert matrix[0] == fitted.min()
    assert matrix[-1] == fitted.max()


def test_of_many_values_some_ranks_are_remembered_and_the_rest_lies_between():
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    encoder = fit_encoder(as_inputs(X), SCALINGS.named("rank"))
    assert encoder.ranks.counts <= 256
    exact = StandardScaler().fit_transform(rankdata(X, axis=0))
    np.testing.assert_allclose(encoder.transform(as_inputs(X)), exact, atol=0.02)


def test_ranks_are_right_at_any_magnitude():
    rng = np.random.default_rng(0)
    tiny = 10 ** rng.uniform(-322, 0, size=(3000, 1))
    assert np.isfinite(encoded(tiny, "rank")).all()
    np.testing.assert_allclose(encoded(tiny, "rank"), encoded(rankdata(tiny, axis=0), "rank"), atol=0.05)
    wide = np.array([[-1e300], [1e-300], [1e-200], [1e-30], [1.0], [1e300]])
    np.testing.assert_allclose(encoded(wide, "rank"), encoded(np.arange(6.0)[:, None], "rank"), atol=1e-12)


def test_a_missing_number_stands_in_the_middle_whatever_the_unit():
    values = np.random.default_rng(0).normal(size=(201, 1))
    values[::5] = np.nan
    plain, bent = encoded(values, "rank"), encoded(np.exp(9 * values), "rank")
    np.testing.assert_allclose(plain, bent, atol=1e-12)
    gone, present = plain[::5, 0], np.delete(plain[:, 0], np.arange(0, 201, 5))
    assert abs((present < gone[0]).mean() - 0.5) < 0.02
