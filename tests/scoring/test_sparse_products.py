"""Products of sparse rows are scipy's to the last bit, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from amiss.scoring import sparse_products
from amiss.scoring.sparse_products import products


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("compiled", [True, False])
def test_they_are_those_of_scipy(monkeypatch, density, compiled):
    monkeypatch.setattr(sparse_products, "WORTH_LOADING", 1 if compiled else 10**9)
    rng = np.random.default_rng(0)
    rows = sparse.random_array((300, 80), density=density, rng=rng, format="csr") * 1e3
    queries = sparse.csr_array(rows[40:70])
    found = products(queries, sparse.csr_array(rows.T))
    np.testing.assert_array_equal(found, (queries @ rows.T).toarray())
