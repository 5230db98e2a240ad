"""The optimiser never sees a row: partitions that share nothing give the bits that one process gives."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from models.logistic.partitioned import PartitionedRows, known_sums, pairwise_sum
from scipy import sparse

from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.logistic.local import LocalRows
from amiss.models.registry import PARENTS


def thin_table(n_rows, n_inputs, n_outputs, density=1.0, seed=0):
    """Inputs with few entries other than zero; the last output is always 0, and a tenth is missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_inputs)) * (rng.random((n_rows, n_inputs)) < density)
    Y = X @ rng.normal(size=(n_inputs, n_outputs)) + rng.normal(size=(n_rows, n_outputs))
    Y = (rng.normal(size=n_outputs) < Y).astype(float)
    if n_outputs > 1:
        Y[:, -1] = 0
    observed = rng.random(Y.shape) < 0.9
    return X, np.where(observed, Y, 0.5), observed


def both(monkeypatch, table, cuts, strengths=(0.1, 1.0, 10.0), n_folds=5):
    """The fit in one process, the fit in partitions, and what went to and from the partitions."""
    X, Y, observed = table
    folds = stratified_folds(np.where(observed, Y, np.nan), n_folds) if n_folds else None
    visible = PARENTS["others" if Y.shape[1] > 1 else "none"].visible(Y.shape[1], None)
    fit = partial(fit_logistic, X, Y, observed, visible, strengths, folds, parent_penalty=4.0, n_jobs=2)
    local, traffic = fit(), []
    monkeypatch.setattr(
        "amiss.models.logistic.fit.LocalRows", partial(PartitionedRows, cuts=cuts, traffic=traffic)
    )
    return local, fit(), traffic


def assert_same_bits(one, two):
    pairs = [(one.model.coef, two.model.coef), (one.model.intercept, two.model.intercept)]
    pairs += [(getattr(one, name), getattr(two, name)) for name in ("in_sample", "strength", "converged")]
    if one.out_of_fold is not None:
        pairs += [(one.out_of_fold, two.out_of_fold), (one.fold_models.coef, two.fold_models.coef)]
        pairs += [(one.fold_models.intercept, two.fold_models.intercept)]
    for ours, theirs in pairs:
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("preconditioner", ["sampled", "diagonal"])
@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("cuts", [[5120], [1024, 3072, 7168]], ids=len)
def test_dense_partitions_give_the_bits_of_one_process(monkeypatch, preconditioner, n_outputs, cuts):
    if preconditioner == "diagonal":
        monkeypatch.setattr("amiss.models.logistic.preconditioner.MOST_COLUMNS_SAMPLED", 0)
    local, cut, traffic = both(monkeypatch, thin_table(8000, 6, n_outputs), cuts)
    assert_same_bits(local, cut)
    assert ("drawn" in dict(traffic)) == (preconditioner == "sampled")


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_sparse_partitions_give_the_bits_of_one_process(monkeypatch, n_outputs):
    monkeypatch.setattr("amiss.models.logistic.blocks.SPARSE_BLOCK", 512)
    X, Y, observed = thin_table(2900, 30, n_outputs, 0.1)
    assert_same_bits(*both(monkeypatch, (sparse.csr_array(X), Y, observed), [512, 2048])[:2])


def test_several_shards_are_cut_as_well(monkeypatch):
    table = thin_table(32768, 4, 6)
    shards = LocalRows(np.hstack(table[:2]), np.ones((32768, 6))).layout.shards(30)
    assert len(shards) == 2
    assert_same_bits(*both(monkeypatch, table, [8192, 20480], (1.0, 10.0))[:2])


def test_long_sparse_blocks_and_the_compiled_loops_are_cut_as_well(monkeypatch):
    X, Y, observed = thin_table(140_000, 8, 2, 0.1)
    table = sparse.csr_array(X), Y, observed
    assert LocalRows(table[0], np.ones(Y.shape)).layout.compiled
    assert_same_bits(*both(monkeypatch, table, [1 << 16, 1 << 17], (1.0, 10.0), 3)[:2])


def test_one_strength_without_folds_is_cut_as_well(monkeypatch):
    assert_same_bits(*both(monkeypatch, thin_table(4096, 6, 3), [1024], (1.0,), None)[:2])


def test_what_crosses_does_not_grow_with_the_rows(monkeypatch):
    sizes = []
    for n_rows in (2048, 8192):
        with monkeypatch.context() as patch:
            _, _, traffic = both(patch, thin_table(n_rows, 6, 3), [n_rows // 2], (1.0,))
        sizes.append(max(size for name, size in traffic if name != "margins"))
    assert max(sizes) < 1.1 * min(sizes)  # rows are sampled, not always as many of each partition


def test_a_cut_within_a_block_is_refused(monkeypatch):
    with pytest.raises(AssertionError, match="within a block"):
        both(monkeypatch, thin_table(4096, 6, 3), [1000], (1.0,))


@pytest.mark.parametrize("n_rows", [5, 100, 1000, 4099, 20_001])
def test_partial_sums_are_those_of_numpy(n_rows):
    rng = np.random.default_rng(n_rows)
    values = np.exp(5 * rng.normal(size=n_rows)).astype(np.float32)
    cuts = [0, n_rows // 3, n_rows // 2, n_rows]
    known = {}
    for a, b in pairwise(cuts):
        known |= known_sums(values[a:b], a, (0, n_rows))
    assert pairwise_sum((0, n_rows), known) == values[:, None].sum(axis=0)[0]
    assert len(known) < 300
