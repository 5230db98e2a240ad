"""What must not matter does not: row order, batch size, dense or sparse, threads, saving and loading."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import amiss
from amiss import MCODE

SAME = 1e-6
KINDS = [
    {},
    {"rule": "lrw", "weighting": "error"},
    {"rule": "prod", "parents": "chain", "scaling": "block"},
    {"fdr": 0.2, "neighbor_space": "inputs"},
]


def table(kind, seed):
    """Dense or thin rows, with copies of some, and missing outputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 8)) if kind == "dense" else np.where(rng.random((150, 60)) < 0.07, 1.0, 0.0)
    Y = (X[:, :1] - X[:, 1:2] + 0.5 * rng.normal(size=(150, 5)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.02] = np.nan
    X[100:110], Y[100:110] = X[:10], Y[:10]
    return X, Y


@pytest.fixture(scope="module", params=["dense", "thin"])
def tables(request):
    return table(request.param, 0), table(request.param, 1)


@pytest.fixture(scope="module", params=range(len(KINDS)), ids=str)
def base(request, tables):
    """Parameters, a detector of one thread, and what it says of new rows."""
    (X, Y), (new_X, new_Y) = tables
    parameters = {"n_neighbors": 20, **KINDS[request.param]}
    detector = MCODE(n_jobs=1, **parameters).fit(X, Y)
    return parameters, detector, detector.score_batch(new_X, new_Y)


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=SAME, atol=SAME)


def test_row_order(tables, base):
    (X, Y), (new_X, new_Y) = tables
    parameters, detector, batch = base
    order, new_order = np.random.default_rng(2).permutation(150), np.random.default_rng(3).permutation(150)
    other = MCODE(n_jobs=1, **parameters).fit(X[order], Y[order])
    assert_same(other.decision_scores_, detector.decision_scores_[order])
    assert (other.labels_ == detector.labels_[order]).all()
    turned = other.score_batch(new_X[new_order], new_Y[new_order])
    assert_same(turned.scores, batch.scores[new_order])
    assert (turned.flagged == batch.flagged[new_order]).all()


def test_batch_size(tables, base):
    _, (new_X, new_Y) = tables
    _, detector, batch = base
    for size in (1, 64):
        parts = [slice(start, start + size) for start in range(0, 150, size)]
        found = np.concatenate([detector.decision_function(new_X[part], new_Y[part]) for part in parts])
        assert_same(found, batch.scores)


def test_dense_and_sparse(tables, base):
    (X, Y), (new_X, new_Y) = tables
    parameters, detector, batch = base
    other = MCODE(n_jobs=1, **parameters).fit(sparse.csr_array(X), Y)
    assert_same(other.decision_scores_, detector.decision_scores_)
    assert_same(other.decision_function(sparse.csc_array(new_X), new_Y), batch.scores)
    assert_same(detector.decision_function(sparse.coo_array(new_X), new_Y), batch.scores)


def test_threads(tables, base):
    (X, Y), (new_X, new_Y) = tables
    parameters, detector, batch = base
    for n_jobs in (2, 7):
        other = MCODE(n_jobs=n_jobs, **parameters).fit(X, Y)
        assert_same(other.decision_scores_, detector.decision_scores_)
        assert_same(other.decision_function(new_X, new_Y), batch.scores)
        assert other.threshold_ == pytest.approx(detector.threshold_, rel=SAME)


def test_save_and_load(tables, base, tmp_path):
    _, (new_X, new_Y) = tables
    _, detector, batch = base
    detector.save(tmp_path / "m.amiss")
    other = amiss.load(tmp_path / "m.amiss")
    assert_same(other.decision_scores_, detector.decision_scores_)
    assert_same(other.decision_function(new_X, new_Y), batch.scores)
    assert other.threshold_ == detector.threshold_
