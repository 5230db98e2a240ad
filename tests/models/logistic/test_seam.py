"""The optimiser never sees a row: partitions that share nothing give the bits that one process gives."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from models.logistic.partitioned import PartitionedRows, ProcessSite, Site, Wire, known_sums, pairwise_sum
from scipy import sparse

from amiss import MCODE
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.logistic.local import LocalRows
from amiss.models.logistic.seam import Precision
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


def cut_rows(monkeypatch, cuts, **options):
    """From here on rows are cut into partitions."""
    cut = partial(PartitionedRows, cuts=cuts, **options)
    monkeypatch.setattr("amiss.models.logistic.fit.LocalRows", cut)


def both(monkeypatch, table, cuts, strengths=(0.1, 1.0, 10.0), n_folds=5, site=Site):
    """The fit in one process, the fit in partitions, and what went to and from the partitions."""
    X, Y, observed = table
    folds = stratified_folds(np.where(observed, Y, np.nan), n_folds) if n_folds else None
    visible = PARENTS["others" if Y.shape[1] > 1 else "none"].visible(Y.shape[1], None)
    fit = partial(fit_logistic, X, Y, observed, visible, strengths, folds, parent_penalty=4.0, n_jobs=2)
    local, traffic = fit(), []
    cut_rows(monkeypatch, cuts, traffic=traffic, site=site)
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
@pytest.mark.parametrize("cuts", [[5120], [1024, 3072, 7168], range(1024, 8000, 1024)], ids=len)
def test_dense_partitions_give_the_bits_of_one_process(monkeypatch, preconditioner, n_outputs, cuts):
    if preconditioner == "diagonal":
        monkeypatch.setattr("amiss.models.logistic.preconditioner.MOST_COLUMNS_SAMPLED", 0)
    local, cut, traffic = both(monkeypatch, thin_table(8000, 6, n_outputs), cuts)
    assert_same_bits(local, cut)
    assert ("drawn" in dict(traffic)) == (preconditioner == "sampled")


@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("cuts", [[1536], [512, 2048], range(512, 2900, 512)], ids=len)
def test_sparse_partitions_give_the_bits_of_one_process(monkeypatch, n_outputs, cuts):
    monkeypatch.setattr("amiss.models.logistic.blocks.SPARSE_BLOCK", 512)
    X, Y, observed = thin_table(2900, 30, n_outputs, 0.1)
    assert_same_bits(*both(monkeypatch, (sparse.csr_array(X), Y, observed), cuts)[:2])


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


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_partitions_in_processes_of_their_own_give_the_bits_of_one_process(monkeypatch, form):
    """They share no memory at all; what crosses is bytes."""
    sites = []

    def site(content):
        sites.append(ProcessSite(content))
        return sites[-1]

    monkeypatch.setattr("amiss.models.logistic.blocks.SPARSE_BLOCK", 1024)
    X, Y, observed = thin_table(2500, 6, 3, 0.4)
    assert_same_bits(*both(monkeypatch, (form(X), Y, observed), [1024, 2048], site=site)[:2])
    assert len(sites) == 3
    for each in sites:
        each.close()


@pytest.mark.parametrize("density", [1.0, 0.05])
@pytest.mark.parametrize("parents", ["others", "chain"])
def test_a_whole_detector_on_partitions_gives_the_bits_of_one_process(monkeypatch, density, parents):
    """Path, folds, final fits and the models that fill in missing outputs, as a user fits them."""
    monkeypatch.setattr("amiss.models.logistic.blocks.SPARSE_BLOCK", 1024)
    X, Y, observed = thin_table(2600, 12, 4, density)
    Y, traffic = np.where(observed, Y, np.nan), []
    new = X[:50] + 0.1 * (X[:50] != 0), Y[:50]

    def fitted():
        detector = MCODE(parents=parents, fdr=0.2, n_neighbors=20, n_jobs=2, scaling="rank").fit(X, Y)
        models = detector.fitted_.models
        assert sparse.issparse(models.training_rows.design) == (density < 0.1)
        return [
            *(detector.decision_scores_, detector.probabilities_, detector.weights_, detector.p_values_),
            *(detector.labels_, models.strength, models.converged, models.model.coef, models.model.intercept),
            *(models.training_rows.fold_models.coef, models.expectations.given_inputs.coef),
            detector.decision_function(*new),
        ]

    local = fitted()
    cut_rows(monkeypatch, [1024, 2048], traffic=traffic)
    for one, two in zip(local, fitted(), strict=True):
        assert one.dtype == two.dtype and one.tobytes() == two.tobytes()
    assert {"evaluate", "hessian_product", "hold_out", "margins"} <= set(dict(traffic))


def test_a_site_has_copies_of_its_rows_and_forgets_what_nobody_holds():
    Z, signs = np.ones((400, 3)), np.ones((400, 2), dtype=np.int8)
    sites = []

    def site(content):
        sites.append(Site(content))
        return sites[-1]

    rows = PartitionedRows(Z, signs, cuts=[128], site=site)
    own = [each.kept[0].Z for each in sites]
    assert [len(each) for each in own] == [128, 272]
    assert not any(np.shares_memory(each, whole) for each in own for whole in (Z, *own) if each is not whole)
    for _ in range(5):
        rows.problems(None, Precision()).counts()
    assert all(len(each.kept) <= 3 for each in sites)


def test_rows_are_not_let_through():
    rows = PartitionedRows(np.ones((2048, 3)), np.ones((2048, 2)), cuts=[1024])
    wire = rows.parts[0]
    assert isinstance(wire, Wire)
    with pytest.raises(AssertionError, match="margins lets rows through"):
        wire("margins", np.ones((3, 2)), np.zeros(2))
    with pytest.raises(AssertionError, match="problems lets rows through"):
        wire("problems", np.arange(1024), Precision())


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
