"""Missing values, categories and scales; the content decides, not the container."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import rankdata
from sklearn.preprocessing import StandardScaler

from amiss.data.table import Table
from amiss.data.validation import as_inputs
from amiss.encoding.encoder import SCALINGS, fit_encoding
from amiss.encoding.joint import joint
from amiss.errors import DataError
from amiss.models.parents import visible_outputs


def designed(X, scaling="block"):
    table = as_inputs(X)
    design = fit_encoding(table, scaling).transform(table)
    return design.toarray() if sparse.issparse(design) else design


def mixed():
    values = np.array([[1.0, 0, 5], [2.0, 1, np.nan], [4.0, 2, 7], [np.nan, 0, 9]])
    return Table(values, ("age", "ward", "dose"), {1: ("a", "b", "c")})


@pytest.mark.parametrize("scaling", SCALINGS)
@given(st.integers(0, 1000), st.sampled_from([0.02, 0.2, 0.9]))
@settings(max_examples=15, deadline=None)
def test_the_container_does_not_matter(scaling, seed, density):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < density)
    np.testing.assert_array_equal(designed(X, scaling), designed(sparse.csr_array(X), scaling))


def test_block_scaling_standardises_dense_inputs_and_divides_by_the_root_of_their_number():
    X = np.random.default_rng(0).normal(loc=50, scale=[1, 10, 100], size=(200, 3))
    np.testing.assert_allclose(designed(X), StandardScaler().fit_transform(X) / np.sqrt(3), atol=1e-12)


def test_block_scaling_makes_logarithms_of_unit_length_from_sparse_counts():
    counts = np.zeros((9, 40))
    counts[0, [1, 5]], counts[1, 2], counts[2, :3] = [3, 9], 1259, 1
    design = designed(counts)
    np.testing.assert_allclose(np.linalg.norm(design, axis=1), [1, 1, 1, 0, 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(design[0, 1] / design[0, 5], np.log(4) / np.log(10))


def test_block_scaling_gives_inputs_the_energy_of_one_column_a_row():
    X = np.random.default_rng(0).normal(size=(500, 40)) * 1000
    assert np.mean(np.sum(designed(X) ** 2, axis=1)) == pytest.approx(1)


def test_the_other_scalings_do_what_they_are_called():
    X = np.random.default_rng(0).normal(loc=5, size=(50, 3)) * [1, 10, 100]
    np.testing.assert_array_equal(designed(X, "none"), X)
    np.testing.assert_allclose(designed(X, "standard"), StandardScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(np.abs(designed(X, "maxabs")).max(axis=0), 1)
    np.testing.assert_allclose(np.linalg.norm(designed(X, "log-unit"), axis=1), 1)


def test_categories_become_columns_and_missing_values_get_the_mean_and_an_indicator():
    encoding = fit_encoding(mixed(), "none")
    assert encoding.columns == (
        "age", "dose", "ward=a", "ward=b", "ward=c", "age is missing", "dose is missing",
    )  # fmt: skip
    np.testing.assert_allclose(
        encoding.transform(mixed()),
        [
            [1, 5, 1, 0, 0, 0, 0],
            [2, 7, 0, 1, 0, 0, 1],
            [4, 7, 0, 0, 1, 0, 0],
            [7 / 3, 9, 1, 0, 0, 1, 0],
        ],
    )


def test_new_rows_are_matched_to_the_levels_of_the_fit_and_a_new_level_is_missing():
    encoding = fit_encoding(mixed(), "none")
    new = Table(np.array([[1.0, 0, 5], [1.0, 1, 5]]), ("age", "ward", "dose"), {1: ("c", "zzz")})
    np.testing.assert_array_equal(encoding.transform(new)[:, 2:5], [[0, 0, 1], [0, 0, 0]])


def test_sparse_tables_may_hold_categories():
    values = np.zeros((40, 30))
    values[5, 3], values[::3, 7] = 2, 1
    levels = {7: ("no", "yes"), 3: ("x", "y", "z")}
    names = tuple(map(str, range(30)))
    dense = Table(values, names, levels)
    thin = Table(sparse.csr_array(values), names, levels)
    a, b = (fit_encoding(t, "block").transform(t) for t in (dense, thin))
    assert sparse.issparse(a) == sparse.issparse(b)
    np.testing.assert_array_equal(a.toarray(), b.toarray())
    other = Table(sparse.csr_array(np.where(values == 1, 0, values + (values == 0))), names, levels)
    swapped = Table(other.values, names, {7: ("yes", "no"), 3: ("y", "x", "z")})
    encoding = fit_encoding(thin, "none")
    np.testing.assert_array_equal(encoding.transform(swapped).toarray()[:, 6], values[:, 7])


def test_a_column_that_turned_from_text_to_numbers_is_refused():
    encoding = fit_encoding(mixed(), "none")
    with pytest.raises(DataError, match="'ward' held texts"):
        encoding.transform(Table(np.ones((1, 3)), ("age", "ward", "dose")))
    with pytest.raises(DataError, match="'dose' held numbers"):
        encoding.transform(Table(np.zeros((1, 3)), ("age", "ward", "dose"), {1: ("a",), 2: ("b",)}))


@pytest.mark.parametrize("scaling", ["block", "standard", "maxabs", "log-unit"])
@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e150, 1e300])
def test_any_magnitude_is_scaled_to_finite_numbers(scaling, magnitude):
    X = np.random.default_rng(0).normal(size=(30, 2)) * [magnitude, 1]
    design = designed(X, scaling)
    assert np.isfinite(design).all()
    if scaling in ("block", "standard"):
        np.testing.assert_allclose(design[:, 0].std(), design[:, 1].std())


def test_unscaled_columns_that_are_too_large_are_refused_by_name():
    with pytest.raises(DataError, match=r"'x1'.*scaling='block'"):
        designed(np.array([[1.0, 1e300], [2.0, 1.0]]), "none")


def test_constant_columns_become_zero():
    X = np.column_stack([np.full(20, 1e9), np.full(20, 0.1), np.arange(20.0)])
    assert (designed(X)[:, :2] == 0).all()


def test_a_column_that_differs_in_every_row_is_refused_as_an_identifier():
    table = Table(np.arange(30.0)[:, None], ("protein",), {0: tuple(f"P{i}" for i in range(30))})
    with pytest.raises(DataError, match=r"'protein'.*--id"):
        fit_encoding(table, "block")


def test_parents_are_what_the_paper_says():
    others, none = visible_outputs("others", 3, None), visible_outputs("none", 3, None)
    np.testing.assert_array_equal(others, ~np.eye(3, dtype=bool))
    assert not none.any()
    chain = visible_outputs("chain", 3, [2, 0, 1])
    assert {(j, i) for j, i in zip(*np.nonzero(chain), strict=True)} == {(2, 0), (2, 1), (0, 1)}


def test_joint_is_inputs_and_outputs_side_by_side():
    X, Y = np.arange(6.0).reshape(3, 2), np.eye(3)
    np.testing.assert_array_equal(joint(X, Y), np.hstack([X, Y]))
    np.testing.assert_array_equal(joint(sparse.csr_array(X), Y).toarray(), np.hstack([X, Y]))


def test_a_few_rare_flags_leave_the_other_columns_alone():
    rng = np.random.default_rng(0)
    age, flags = rng.normal(50, 20, size=(300, 1)), (rng.random((300, 6)) < 0.03).astype(float)
    design = designed(np.hstack([age, flags]))
    np.testing.assert_allclose(design[:, :1], StandardScaler().fit_transform(age), atol=1e-12)
    lengths = np.linalg.norm(design[:, 1:], axis=1)
    np.testing.assert_allclose(lengths[flags.any(axis=1)], 1)
    assert (lengths[~flags.any(axis=1)] == 0).all()


def test_constant_columns_do_not_weaken_the_others():
    X = np.random.default_rng(0).normal(size=(100, 3))
    np.testing.assert_allclose(designed(np.hstack([X, np.ones((100, 50))]))[:, :3], designed(X))


def test_new_rows_off_every_scale_stay_finite():
    encoding = fit_encoding(as_inputs(np.array([[1e-300], [2e-300], [4e-300]])), "block")
    assert np.isfinite(encoding.transform(as_inputs(np.array([[1e10]])))).all()
    unscaled = fit_encoding(as_inputs(np.eye(3)), "none")
    assert np.abs(unscaled.transform(as_inputs(np.full((1, 3), -1e300)))).max() == 1e15


def test_declared_levels_that_do_not_occur_make_no_identifier():
    levels = {0: tuple(f"L{i}" for i in range(50))}
    fit_encoding(Table(np.arange(60.0)[:, None] % 3, ("kind",), levels), "block")


def test_a_new_column_of_nothing_but_missing_texts_is_no_column_of_numbers():
    encoding = fit_encoding(mixed(), "none")
    new = encoding.transform(Table(np.array([[1.0, np.nan, 5]]), ("age", "ward", "dose")))
    np.testing.assert_array_equal(new[0, 2:5], 0)


def test_the_users_matrix_is_left_as_it_was():
    matrix = sparse.csr_array(np.eye(30))
    matrix.data[3] = 0
    before = matrix.data.copy(), matrix.indices.copy()
    designed(matrix)
    np.testing.assert_array_equal(matrix.data, before[0])
    np.testing.assert_array_equal(matrix.indices, before[1])


def test_rank_scaling_is_block_scaling_of_the_ranks():
    X = np.random.default_rng(0).lognormal(sigma=3, size=(200, 3))
    ranks = rankdata(X, axis=0)
    np.testing.assert_allclose(designed(X, "rank"), StandardScaler().fit_transform(ranks) / np.sqrt(3), atol=1e-12)


def test_rank_scaling_does_not_care_for_a_monotone_change_of_a_column():
    X = np.random.default_rng(0).normal(size=(150, 2))
    X[::3, 1] = 0  # ties
    changed = np.column_stack([np.exp(5 * X[:, 0]), X[:, 1] ** 3 * 1e200])
    np.testing.assert_allclose(designed(X, "rank"), designed(changed, "rank"), atol=1e-12)


def test_a_two_valued_column_is_scaled_alike_by_rank_and_block():
    X = np.column_stack([np.arange(90) % 3 == 0, np.arange(90) % 2 == 0]).astype(float)
    np.testing.assert_allclose(designed(X, "rank"), designed(X, "block"), atol=1e-12)


@given(st.integers(1, 2000), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_ranks_rise_with_the_values_and_new_rows_stay_within(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = 10 + rng.normal(size=(n_rows, 1)).round(2)  # no zeros: a table that is mostly zero is not ranked
    encoding = fit_encoding(as_inputs(X), "rank")
    new = np.sort(np.concatenate([[-1e300, 1e300], 10 + rng.normal(size=50)]))[:, None]
    design = encoding.transform(as_inputs(new))[:, 0]
    assert (np.diff(design) >= 0).all()
    fitted = encoding.transform(as_inputs(X))[:, 0]
    assert design[0] == fitted.min()
    assert design[-1] == fitted.max()


def test_of_many_values_some_ranks_are_remembered_and_the_rest_lies_between():
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    encoding = fit_encoding(as_inputs(X), "rank")
    assert encoding.ranks.counts <= 256
    exact = StandardScaler().fit_transform(rankdata(X, axis=0))
    np.testing.assert_allclose(encoding.transform(as_inputs(X)), exact, atol=0.02)


def test_ranks_are_right_at_any_magnitude():
    rng = np.random.default_rng(0)
    tiny = 10 ** rng.uniform(-322, 0, size=(3000, 1))
    assert np.isfinite(designed(tiny, "rank")).all()
    np.testing.assert_allclose(designed(tiny, "rank"), designed(rankdata(tiny, axis=0), "rank"), atol=0.05)
    wide = np.array([[-1e300], [1e-300], [1e-200], [1e-30], [1.0], [1e300]])
    np.testing.assert_allclose(designed(wide, "rank"), designed(np.arange(6.0)[:, None], "rank"), atol=1e-12)


def test_a_missing_number_stands_in_the_middle_whatever_the_unit():
    values = np.random.default_rng(0).normal(size=(201, 1))
    values[::5] = np.nan
    plain, bent = designed(values, "rank"), designed(np.exp(9 * values), "rank")
    np.testing.assert_allclose(plain, bent, atol=1e-12)
    gone, present = plain[::5, 0], np.delete(plain[:, 0], np.arange(0, 201, 5))
    assert abs((present < gone[0]).mean() - 0.5) < 0.02
