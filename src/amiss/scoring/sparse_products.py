"""Products of sparse rows with each other as a dense matrix: by a loop that numba compiles, or by scipy."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from scipy import sparse

from amiss.arrays import Floats

WORTH_LOADING = 1000  # rows of either matrix


def products(queries: sparse.csr_array, turned: sparse.csr_array) -> Floats:
    """``queries @ turned``, added up in the order of the columns by either way."""
    if min(turned.shape[1], 100 * queries.shape[0]) < WORTH_LOADING or find_spec("numba") is None:
        return np.asarray((queries @ turned).toarray())
    from amiss.scoring.sparse_kernel import add_products

    result = np.zeros((queries.shape[0], turned.shape[1]))
    mine, others = (queries.indptr, queries.indices, queries.data), (turned.indptr, turned.indices, turned.data)
    add_products(*mine, *others, result)
    return result
