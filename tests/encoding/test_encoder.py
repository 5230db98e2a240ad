"""Categories, missing values, and tables that do not match the one of the fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from amiss.data.table import Table
from amiss.data.validation import as_inputs
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError


def mixed():
    values = np.array([[1.0, 0, 5], [2.0, 1, np.nan], [4.0, 2, 7], [np.nan, 0, 9]])
    return Table(values, ("age", "ward", "dose"), {1: ("a", "b", "c")})


def test_categories_become_columns_and_missing_values_get_the_mean_and_an_indicator():
    encoder = fit_encoder(mixed(), SCALINGS.named("none"))
    assert encoder.columns == (
        "age", "dose", "ward=a", "ward=b", "ward=c", "age is missing", "dose is missing",
    )  # fmt: skip
    np.testing.assert_allclose(
        encoder.transform(mixed()),
        [
            [1, 5, 1, 0, 0, 0, 0],
            [2, 7, 0, 1, 0, 0, 1],
            [4, 7, 0, 0, 1, 0, 0],
            [7 / 3, 9, 1, 0, 0, 1, 0],
        ],
    )


def test_new_rows_are_matched_to_the_levels_of_the_fit_and_a_new_level_is_missing():
    encoder = fit_encoder(mixed(), SCALINGS.named("none"))
    new = Table(np.array([[1.0, 0, 5], [1.0, 1, 5]]), ("age", "ward", "dose"), {1: ("c", "zzz")})
    np.testing.assert_array_equal(encoder.transform(new)[:, 2:5], [[0, 0, 1], [0, 0, 0]])


def test_sparse_tables_may_hold_categories():
    values = np.zeros((40, 30))
    values[5, 3], values[::3, 7] = 2, 1
    levels = {7: ("no", "yes"), 3: ("x", "y", "z")}
    names = tuple(map(str, range(30)))
    dense = Table(values, names, levels)
    thin = Table(sparse.csr_array(values), names, levels)
    a, b = (fit_encoder(t, SCALINGS.named("block")).transform(t) for t in (dense, thin))
    assert sparse.issparse(a) == sparse.issparse(b)
    np.testing.assert_array_equal(a.toarray(), b.toarray())
    other = Table(sparse.csr_array(np.where(values == 1, 0, values + (values == 0))), names, levels)
    swapped = Table(other.values, names, {7: ("yes", "no"), 3: ("y", "x", "z")})
    encoder = fit_encoder(thin, SCALINGS.named("none"))
    np.testing.assert_array_equal(encoder.transform(swapped).toarray()[:, 6], values[:, 7])


def test_a_column_that_turned_from_text_to_numbers_is_refused():
    encoder = fit_encoder(mixed(), SCALINGS.named("none"))
    with pytest.raises(DataError, match="'ward' held texts"):
        encoder.transform(Table(np.ones((1, 3)), ("age", "ward", "dose")))
    with pytest.raises(DataError, match="'dose' held numbers"):
        encoder.transform(Table(np.zeros((1, 3)), ("age", "ward", "dose"), {1: ("a",), 2: ("b",)}))


def test_a_new_column_of_nothing_but_missing_texts_is_no_column_of_numbers():
    encoder = fit_encoder(mixed(), SCALINGS.named("none"))
    new = encoder.transform(Table(np.array([[1.0, np.nan, 5]]), ("age", "ward", "dose")))
    np.testing.assert_array_equal(new[0, 2:5], 0)


def test_the_users_matrix_is_left_as_it_was():
    matrix = sparse.csr_array(np.eye(30))
    matrix.data[3] = 0
    before = matrix.data.copy(), matrix.indices.copy()
    table = as_inputs(matrix)
    fit_encoder(table, SCALINGS.named("block")).transform(table)
    np.testing.assert_array_equal(matrix.data, before[0])
    np.testing.assert_array_equal(matrix.indices, before[1])
