"""The model of one target: honest about training rows, the same for every form of the design, never at a loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from amiss.models.numbers.columns import MOST_COLUMNS, chosen_columns, correlations, level_and_unit
from amiss.models.numbers.fit import dealt_folds, fit_number
from amiss.models.numbers.forest import grow
from amiss.models.numbers.linear import fit_linear

N_ROWS = 150
EVERY = np.arange(N_ROWS)
SEEN = np.ones(N_ROWS, dtype=bool)
KINDS = ("linear", "stepwise", "both")


def out_of_bag(model, Z, n_jobs=None):
    """The centre and the spread of every training row, by what did not see it."""
    return model.predict(Z, np.arange(Z.shape[0]), n_jobs)


def design(n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N_ROWS, n_columns)) * (rng.random((N_ROWS, n_columns)) < 0.8)


def target_of(Z, kind, seed=1):
    """A target that a line, a forest, or both together predict well."""
    noise = 0.05 * np.random.default_rng(seed).normal(size=N_ROWS)
    parts = {"linear": Z[:, 0] - 2 * Z[:, 1], "stepwise": np.where(Z[:, 0] * Z[:, 1] > 0, 3.0, 0.0)}
    return noise + (parts[kind] if kind in parts else 0.4 * parts["linear"] + parts["stepwise"])


def counts(Z, seed=1):
    return np.random.default_rng(seed).poisson(np.exp(0.8 * Z[:, 0] - 0.5)).astype(float)


def both_learners(Z, y, units):
    """Centre and spread out of bag of the forest, and of the line with its forest."""
    _, held_out = fit_linear(Z, y, dealt_folds(units, 0))
    plain, bags = grow(Z, y, units, 0)
    residual, _ = grow(Z, y - held_out, units, 0)
    centre, spread = residual.distribution(Z, bags)
    return plain.distribution(Z, bags), (centre + held_out, spread)


def pairs_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [*KINDS, "count"])
def test_the_share_has_the_least_error_and_both_parts_are_mixed_by_it(kind):
    Z = design()
    y = counts(Z) if kind == "count" else target_of(Z, kind)
    model = fit_number(Z, y, SEEN, EVERY, whole=kind == "count")
    (m0, s0), (m1, s1) = both_learners(Z, y, EVERY)
    centres = [(1 - share) * m0 + share * m1 for share in (0.0, 0.5, 1.0)]
    if kind == "count":
        centres = [np.maximum(centre, 0) for centre in centres]
    best = int(np.argmin([np.abs(y - centre).mean() for centre in centres]))
    assert model.share == best / 2 == {"linear": 1.0, "stepwise": 0.0, "both": 0.5}.get(kind, model.share)
    spread = (1 - model.share) * s0 + model.share * s1
    assert model.usual_spread == pytest.approx(spread.mean())
    found = out_of_bag(model, Z)
    np.testing.assert_allclose(found[0], centres[best], rtol=1e-12, atol=1e-12)
    expected = np.maximum(0.5 * spread + 0.5 * spread.mean(), model.least_spread)
    np.testing.assert_allclose(found[1], expected, rtol=1e-12)


def test_only_learners_with_a_share_are_kept():
    Z = design()
    linear, stepwise = (fit_number(Z, target_of(Z, kind), SEEN, EVERY) for kind in KINDS[:2])
    assert linear.share == 1 and linear.plain is None and linear.line is not None and linear.residual is not None
    assert stepwise.share == 0 and stepwise.plain is not None
    assert stepwise.line is None and stepwise.residual is None
    assert "linear share 1" in repr(linear)


@pytest.mark.parametrize("kind", KINDS)
def test_training_rows_in_any_order_are_judged_as_among_all(kind):
    Z = design()
    model = fit_number(Z, target_of(Z, kind), SEEN, EVERY)
    some = np.array([140, 3, 77])
    pairs_equal(model.predict(Z[some], some), [each[some] for each in out_of_bag(model, Z)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_training_row_is_judged_by_what_did_not_see_it(kind):
    Z = design()
    model = fit_number(Z, target_of(Z, kind), SEEN, EVERY)
    changed = Z.copy()
    changed[7] += 0.8
    before, after = out_of_bag(model, Z), out_of_bag(model, changed)
    others = np.delete(EVERY, 7)
    pairs_equal([each[others] for each in after], [each[others] for each in before])
    assert after[0][7] != before[0][7]
    # The same trees, and the line of the same fold, asked as if the row was new.
    line = model.line and replace(
        model.line, coef=model.line.fold_coef[model.line.folds[7]], intercept=_fold_intercept(model.line, 7)
    )
    pruned = {name: _without_trees(getattr(model, name), model.in_bag[:, 7]) for name in ("plain", "residual")}
    pairs_equal(replace(model, line=line, **pruned).predict(changed[[7]]), [each[[7]] for each in after])


def _fold_intercept(line, row):
    return float(line.fold_intercept[line.folds[row]])


def _without_trees(forest, dropped):
    return forest and replace(forest, roots=forest.roots[~dropped])


def test_the_target_of_a_unit_has_no_effect_on_the_spread_and_centre_of_its_rows_in_a_plain_forest():
    Z, units = design(), EVERY // 5
    y = target_of(Z, "stepwise")
    changed = y.copy()
    changed[10:15] = y[14:9:-1]
    model, other = (fit_number(Z, each, SEEN, units) for each in (y, changed))
    assert model.share == other.share == 0
    found, expected = model.predict(Z[10:15], EVERY[10:15]), other.predict(Z[10:15], EVERY[10:15])
    np.testing.assert_array_equal(found[0], expected[0])
    own = [2 * pair[1] - each.usual_spread for pair, each in ((found, model), (expected, other))]
    np.testing.assert_allclose(own[0], own[1], rtol=1e-12)


def test_units_stay_together_in_bags_and_folds():
    Z, units = design(), np.random.default_rng(3).integers(0, 40, N_ROWS)
    model = fit_number(Z, target_of(Z, "linear"), SEEN, units)
    for unit in np.unique(units):
        rows = units == unit
        assert len(np.unique(model.in_bag[:, rows], axis=1).T) == 1
        assert len(np.unique(model.line.folds[rows])) == 1
    folds = dealt_folds(units, 0)
    sizes = [len(np.unique(units[folds == fold])) for fold in range(5)]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_columns", [3, MOST_COLUMNS + 20])
def test_a_sparse_design_gives_the_bits_of_a_dense_one(kind, n_columns):
    Z = design(n_columns)
    y, observed = target_of(Z, kind), np.arange(N_ROWS) % 9 > 0
    dense, thin = (fit_number(form(Z), y, observed, EVERY) for form in (np.asarray, sparse.csr_array))
    np.testing.assert_array_equal(dense.columns, thin.columns)
    pairs_equal(out_of_bag(thin, sparse.csr_array(Z)), out_of_bag(dense, Z))
    pairs_equal(thin.predict(sparse.csr_array(Z)), dense.predict(Z))


def test_single_precision_gives_what_double_precision_of_the_same_numbers_gives():
    Z = design(MOST_COLUMNS + 5).astype(np.float32)
    y = target_of(Z, "both")
    found, expected = (fit_number(each, y, SEEN, EVERY) for each in (Z, Z.astype(np.float64)))
    pairs_equal(out_of_bag(found, Z), out_of_bag(expected, Z.astype(np.float64)))


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_blocks_change_no_bit(kind, monkeypatch):
    Z = design()
    y = target_of(Z, kind)
    model = fit_number(Z, y, SEEN, EVERY, n_jobs=1)
    expected = [*out_of_bag(model, Z), *model.predict(Z)]
    monkeypatch.setattr("amiss.threads.BLOCK_ROWS", 11)
    monkeypatch.setattr("amiss.models.numbers.model.DENSE_ROWS", 40)
    other = fit_number(Z, y, SEEN, EVERY, n_jobs=2)
    pairs_equal([*out_of_bag(other, Z, 2), *other.predict(Z, n_jobs=2)], expected)


def test_a_model_without_training_rows_judges_new_rows_alike():
    Z = design()
    for kind in KINDS:
        model = fit_number(Z, target_of(Z, kind), SEEN, EVERY)
        small = model.without_rows()
        assert small.in_bag.size == 0 and (small.line is None or small.line.folds.size == 0)
        pairs_equal(small.predict(Z), model.predict(Z))


@pytest.mark.parametrize("kind", KINDS)
def test_missing_targets_play_no_part_and_are_judged_by_all(kind):
    Z, observed = design(), np.arange(N_ROWS) % 4 > 0
    y = np.where(observed, target_of(Z, kind), np.nan)
    model = fit_number(Z, y, observed, EVERY)
    alone = fit_number(Z[observed], y[observed], SEEN[observed], EVERY[observed])
    pairs_equal([each[observed] for each in out_of_bag(model, Z)], out_of_bag(alone, Z[observed]))
    pairs_equal([each[~observed] for each in out_of_bag(model, Z)], model.predict(Z[~observed]))
    assert not model.in_bag[:, ~observed].any()


@pytest.mark.parametrize("n_observed", [0, 1, 2, 9])
def test_a_target_with_few_values_has_its_median_everywhere(n_observed):
    Z, observed = design(), np.arange(N_ROWS) < n_observed
    y = np.where(observed, target_of(Z, "linear"), np.nan)
    model = fit_number(Z, y, observed, EVERY)
    assert not model.learns and "no learner" in repr(model)
    median = np.median(y[observed]) if n_observed else 0.0
    deviation = np.abs(y[observed] - median).mean() if n_observed else 0.0
    for centre, spread in (out_of_bag(model, Z), model.without_rows().predict(Z)):
        assert (centre == median).all()
        assert (spread == max(deviation, model.least_spread)).all() and (spread > 0).all()
    assert fit_number(Z, target_of(Z, "linear"), np.arange(N_ROWS) < 10, EVERY).learns


@pytest.mark.parametrize("value", [0.0, 3.0, -1e9])
def test_a_constant_target_has_a_small_spread(value):
    y = np.full(N_ROWS, value)
    centre, spread = out_of_bag(fit_number(design(), y, SEEN, EVERY), design())
    assert (centre == value).all()
    np.testing.assert_allclose(spread, 1e-6 * max(1.0, abs(value)))


def test_one_unit_or_no_input_leaves_nothing_to_learn():
    Z = design()
    y = target_of(Z, "linear")
    assert not fit_number(Z, y, SEEN, EVERY * 0).learns
    assert not fit_number(Z[:, :0], y, SEEN, EVERY).learns
    assert fit_number(Z, y, SEEN, EVERY % 2).learns


def test_no_spread_is_below_the_least():
    Z = design()
    y = 1.0 + 2.0 * Z[:, 0]
    model = fit_number(Z, y, SEEN, EVERY)
    assert model.least_spread == pytest.approx(1e-3 * np.abs(y - np.median(y)).mean())
    assert out_of_bag(model, Z)[1].min() == model.least_spread


def test_counts_are_never_negative_nor_rounded_and_their_spread_is_at_least_a_half():
    Z = design()
    y = np.maximum(np.round(3 * Z[:, 0]), 0)
    free, model = (fit_number(Z, y, SEEN, EVERY, whole=whole) for whole in (False, True))
    far = Z - 50.0
    for centre, spread in (out_of_bag(model, Z), model.predict(far)):
        assert (centre >= 0).all() and (spread >= 0.5).all()
    assert (out_of_bag(model, Z)[0] % 1 > 0).any()
    assert free.least_spread < 0.5


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_correlations_are_pearsons(form):
    Z = design(8)
    Z[:, 5] = 0.3
    Z[:, 6] += 1e4
    y, rows = target_of(Z, "both"), np.flatnonzero(EVERY % 3)
    found = correlations(form(Z), y[rows], rows)
    varied = np.arange(8) != 5
    expected = np.corrcoef(Z[rows][:, varied].T, y[rows])[-1, :-1]
    np.testing.assert_allclose(found[varied], expected, atol=1e-9)
    assert found[5] == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_columns_that_correlate_most_are_chosen_and_the_first_of_equal_ones(form):
    Z = design(2 * MOST_COLUMNS)
    y = target_of(Z, "linear")
    expected = np.sort(np.argsort(-np.abs(correlations(Z, y, EVERY)))[:MOST_COLUMNS])
    np.testing.assert_array_equal(chosen_columns(form(Z), y, EVERY), expected)
    equal = np.repeat(Z[:, :1], MOST_COLUMNS + 30, axis=1)
    np.testing.assert_array_equal(chosen_columns(form(equal), y, EVERY), np.arange(MOST_COLUMNS))
    assert len(chosen_columns(form(Z[:, :MOST_COLUMNS]), y, EVERY)) == MOST_COLUMNS


def test_the_unit_is_a_power_of_two_that_one_large_value_does_not_change():
    y = np.arange(101.0)
    level, unit = level_and_unit(y)
    assert level == 50 and unit == 16
    y[-1] = 1e9
    assert level_and_unit(y) == (50, 16)
    assert level_and_unit(np.array([0.0, 0.0, 0.0, 8.0])) == (0.0, 2.0)
    assert level_and_unit(np.full(4, 7.0)) == (7.0, 1.0)
