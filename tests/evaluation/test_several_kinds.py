"""Errors made on purpose in outputs of several kinds: legal, counted, and nothing else is changed."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amiss import MCODE, Settings
from amiss.data.output_cells import LARGEST
from amiss.data.output_kinds import OUTPUT_KINDS
from amiss.data.validation import as_outputs
from amiss.errors import DataError
from amiss.evaluation import inject, measure
from amiss.evaluation.choice import KINDS, usual_flips, usual_kinds
from amiss.evaluation.inject import can_be_made
from amiss.evaluation.one_fit import Subject
from amiss.evaluation.registry import ERROR_KINDS, OF_TAGS
from amiss.evaluation.several_kinds import FIRST_DIGITS, LEAST, MOST
from amiss.evaluation.variants import compare_variants
from amiss.scoring.registry import RULES

N_ROWS = 80
OF_CELLS = ("another-row", "shift", "tenfold", "digits", "other")
KIND_OF = {"tag": "binary", "colour": "class", "grade": list("abcde"), "visits": "count", "dose": "number"}


def outputs(seed, n_rows=N_ROWS, names=tuple(KIND_OF), missing=0.1):
    """One output of each kind, with missing cells; the dose has two decimals and may be negative."""
    rng = np.random.default_rng(seed)
    cells = {
        "tag": rng.integers(0, 2, n_rows),
        "colour": rng.choice(["blue", "green", "red"], n_rows),
        "grade": rng.choice(list("abcde"), n_rows),
        "visits": rng.poisson(8, n_rows),
        "dose": np.round(rng.normal(20, 15, n_rows), 2),
    }
    columns = {}
    for name in names:
        gone = rng.random(n_rows) < missing
        columns[name] = [None if lost else cell for lost, cell in zip(gone, cells[name].tolist(), strict=True)]
    return as_outputs(
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        kinds={name: KIND_OF[name] for name in names},
    )


def legal(column, values):
    """Whether all values may stand in an output."""
    if column.kind.is_numeric:
        whole = not column.kind.whole or ((values >= 0) & (values == np.floor(values))).all()
        return bool((np.abs(values) <= LARGEST).all() and whole)
    return set(values) <= set(range(len(column.levels) or 2))


seeds, ratios = st.integers(0, 10_000), st.sampled_from([0.02, 0.1, 0.3])


@pytest.mark.parametrize("kind", ERROR_KINDS)
@settings(max_examples=15, deadline=None)
@given(seed=seeds, ratio=ratios)
def test_values_stay_legal_the_mask_is_right_and_only_outputs_of_the_right_kinds_change(kind, seed, ratio):
    table = outputs(seed)
    before = table.values.copy()
    made, wrong = inject(table, ratio, 0.2, seed, kind=kind)
    np.testing.assert_array_equal(table.values, before)
    assert made.kinds == table.kinds and made.names == table.names
    changed = (made.values != before) & ~np.isnan(before)
    np.testing.assert_array_equal(wrong, changed.any(axis=1))
    for column, cells, touched in zip(table.kinds, made.values.T, changed.T, strict=True):
        assert legal(column, cells[~np.isnan(cells)])
        assert not touched.any() or column.kind in ERROR_KINDS[kind].made_in
    if kind != "swap":  # where missing outputs move with the rest of their row
        np.testing.assert_array_equal(np.isnan(made.values), np.isnan(before))
    again, _ = inject(table, ratio, 0.2, seed, kind=kind)
    np.testing.assert_array_equal(again.values, made.values)


@pytest.mark.parametrize("kind", [*OF_CELLS, "shift-all"])
@settings(max_examples=15, deadline=None)
@given(seed=seeds, ratio=ratios, n_outputs=st.integers(1, 2))
def test_as_many_rows_and_cells_are_changed_as_asked(kind, seed, ratio, n_outputs):
    table = outputs(seed, missing=0.0)
    possible = sum(column.kind in ERROR_KINDS[kind].made_in for column in table.kinds)
    made, wrong = inject(table, ratio, n_outputs / possible, seed, kind=kind)
    assert wrong.sum() == round(ratio * N_ROWS)
    per_row = (made.values != table.values).sum(axis=1)[wrong]
    assert kind == "shift-all" or (per_row <= n_outputs).all()
    if kind in ("another-row", "shift", "other"):  # possible in every cell
        assert (per_row == n_outputs).all()


def cells_changed(kind, seed, name):
    """An output before and after, and where it was changed."""
    table = outputs(seed, names=(name,))
    made, wrong = inject(table, 0.3, 1.0, seed, kind=kind)
    assert wrong.any()
    return table.values[:, 0], table.values[wrong, 0], made.values[wrong, 0]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, name=st.sampled_from(["visits", "dose"]))
def test_amounts_are_shifted_by_a_share_of_their_range(seed, name):
    column, old, new = cells_changed("shift", seed, name)
    width, rounding = np.nanmax(column) - np.nanmin(column), 0.5 if name == "visits" else 1e-9
    apart = np.abs(new - old)
    assert (apart >= LEAST * width - rounding).all() and (apart <= MOST * width + rounding).all()


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_a_grade_is_shifted_by_one_or_two_levels_and_a_class_is_another_one(seed):
    _, old, new = cells_changed("shift", seed, "grade")
    assert set(np.abs(new - old)) <= {1.0, 2.0}
    for name in ("tag", "colour", "grade"):
        _, old, new = cells_changed("other", seed, name)
        assert (new != old).all()


@settings(max_examples=25, deadline=None)
@given(seed=seeds, name=st.sampled_from(tuple(KIND_OF)))
def test_a_value_of_another_row_is_there_already(seed, name):
    column, old, new = cells_changed("another-row", seed, name)
    assert np.isin(new, column).all() and (new != old).all()


@settings(max_examples=25, deadline=None)
@given(seed=seeds, name=st.sampled_from(["visits", "dose"]))
def test_tenfold_is_times_or_divided_by_ten(seed, name):
    _, old, new = cells_changed("tenfold", seed, name)
    tenth = np.round(old / 10) if name == "visits" else old / 10
    assert ((new == old * 10) | (new == tenth)).all()


@settings(max_examples=25, deadline=None)
@given(seed=seeds, name=st.sampled_from(["visits", "dose"]))
def test_two_neighbouring_digits_are_swapped(seed, name):
    _, old, new = cells_changed("digits", seed, name)
    for before, after in zip(old, new, strict=True):
        digits = f"{abs(before):.0f}" if name == "visits" else f"{abs(before):.2f}"
        place = digits.find(".")
        plain = digits.replace(".", "")
        swapped = set()
        for i in range(min(len(plain) - 1, FIRST_DIGITS)):
            text = plain[:i] + plain[i + 1] + plain[i] + plain[i + 2 :]
            swapped.add(float(text if place < 0 else f"{text[:place]}.{text[place:]}"))
        assert any(np.isclose(abs(after), each, atol=1e-9) for each in swapped) and after != before


def test_an_amount_without_two_different_digits_leaves_the_error_to_another_output():
    kinds = {"y0": "count", "y1": "number"}
    table = as_outputs([[7.0, 12.5]] * 20 + [[33.0, 48.25]] * 20, kinds=kinds)
    made, wrong = inject(table, 1.0, 0.5, 0, kind="digits")
    assert wrong.all()
    np.testing.assert_array_equal(made.values[:, 0], table.values[:, 0])
    same, none = inject(table.select([0]), 1.0, 1.0, 0, kind="digits")
    assert not none.any() and set(same.values[:, 0]) == {7.0, 33.0}


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_amounts_of_a_row_move_together(seed):
    table = outputs(seed, missing=0.0)
    made, wrong = inject(table, 0.2, 0.2, seed, kind="shift-all")
    moved, width = (made.values - table.values)[wrong][:, 3:], np.ptp(table.values[:, 3:], axis=0)
    assert (np.sign(moved[:, 0]) == np.sign(moved[:, 1])).all()
    shares = moved / width
    assert (np.abs(shares[:, 0] - shares[:, 1]) <= 0.5 / width[0] + 1e-9).all()  # counts are rounded
    assert (np.abs(shares[:, 1]) >= LEAST - 1e-9).all() and (np.abs(shares[:, 1]) <= MOST + 1e-9).all()


@given(seed=seeds, kind=st.sampled_from([each for each in OF_TAGS if each != "confusion"]))
@settings(max_examples=25, deadline=None)
def test_a_table_of_tags_gets_the_errors_of_an_array(seed, kind):
    Y = (np.random.default_rng(seed).random((60, 5)) < 0.4).astype(float)
    made, wrong = inject(Y, 0.1, 0.2, seed, kind=kind)
    as_table, also_wrong = inject(as_outputs(Y), 0.1, 0.2, seed, kind=kind)
    np.testing.assert_array_equal(as_table.values, made)
    np.testing.assert_array_equal(also_wrong, wrong)


@pytest.mark.parametrize(
    ("value", "column"),
    [(9e149, "number"), (5e-324, "number"), (0.0, "count"), (1e25, "count"), (-0.5, "number"), (3.0, "count")],
)
@pytest.mark.parametrize("kind", ["another-row", "shift", "tenfold", "digits", "shift-all"])
def test_extreme_and_constant_amounts_stay_legal(value, column, kind):
    for others in ([value], [value, value / 3 if column == "number" else 12.0]):
        table = as_outputs(np.resize(others, 40)[:, None], kinds={"y0": column})
        made, wrong = inject(table, 0.5, 1.0, 0, kind=kind)
        assert legal(made.kinds[0], made.values[:, 0])
        np.testing.assert_array_equal(wrong, made.values[:, 0] != table.values[:, 0])
        if len(others) == 1 and kind in ("another-row", "shift", "shift-all"):
            assert not wrong.any()  # there is no other value, and no range


def test_an_error_that_no_output_can_have_is_refused():
    with pytest.raises(
        DataError, match=r"^errors of kind 'tenfold' are made in outputs of kind count or number; "
    ):
        inject(np.eye(5), kind="tenfold")
    with pytest.raises(DataError, match="'flip' are made in outputs of kind binary; here, all outputs are"):
        inject(outputs(0, names=("visits", "colour")), kind="flip")
    with pytest.raises(DataError, match="'other' are made in outputs of kind binary or class or ordinal"):
        measure(np.zeros((20, 1)), outputs(0, 20, names=("dose",), missing=0), kinds=["other"])


def test_what_is_tried_by_default_suits_the_outputs():
    tags = as_outputs(np.eye(3))
    columns = outputs(0).kinds
    assert usual_kinds(()) == usual_kinds([outputs(0, names=("tag", "dose")).kinds[0]]) == KINDS
    assert usual_flips(columns) == () and tags.kinds == ()
    assert usual_kinds(columns) == (*OF_CELLS, "swap", "shift-all")
    assert usual_kinds(outputs(0, names=("tag", "colour")).kinds) == ("another-row", "shift", "other", "swap")
    assert usual_kinds(outputs(0, names=("dose",)).kinds) == (
        "another-row", "shift", "tenfold", "digits", "swap", "shift-all"
    )  # fmt: skip
    assert {each for kind in ERROR_KINDS.values() for each in kind.made_in} == set(OUTPUT_KINDS.values())
    assert not can_be_made("blank", outputs(0, names=("dose",)).kinds)


@pytest.fixture(scope="module")
def mixed():
    """Inputs, and outputs of three kinds that follow from them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    rows = [
        {"tag": int(a > 0), "colour": "red" if b > 0 else "blue", "dose": round(10 + 4 * c, 1)}
        for a, b, c in (X + rng.normal(0, 0.1, X.shape)).tolist()
    ]
    return X, rows


QUICK = Settings.of(n_neighbors=20)


def test_every_rule_is_measured_on_outputs_of_several_kinds(mixed):
    found = measure(*mixed, QUICK, n_seeds=1, ratio=0.05, kinds=["shift", "swap"])
    assert found.trials == ("shift", "swap") and found.flips == ()
    assert found.atpar.shape == (len(RULES), 2, 1) and found.n_flipped == 8
    assert found.atpar.mean() > 0.5
    both = measure(*mixed, QUICK, n_seeds=1, dimensionalities=[0.1], kinds=[])
    assert both.trials == ("1 flip",)  # only the tag can be flipped
    with pytest.raises(DataError, match="there is no error to try"):
        measure(*mixed, QUICK, kinds=[])


def test_the_order_of_the_rows_does_not_matter(mixed):
    X, rows = mixed
    shuffled = np.random.default_rng(1).permutation(len(X))
    first = measure(X, rows, QUICK, n_seeds=1, kinds=["digits"])
    second = measure(X[shuffled], [rows[i] for i in shuffled], QUICK, n_seeds=1, kinds=["digits"])
    np.testing.assert_array_equal(first.atpar, second.atpar)


def test_outputs_that_are_excluded_get_no_errors(mixed):
    found = measure(*mixed, Settings.of(n_neighbors=20, exclude=["dose"]), n_seeds=1, kinds=["tenfold"])
    assert (found.atpar == 0).all()  # no other output can have one
    shifted = measure(*mixed, Settings.of(n_neighbors=20, exclude=["dose"]), n_seeds=1, kinds=["shift"])
    assert shifted.atpar.mean() > 0.5


def test_kinds_that_are_said_are_those_of_the_trials(mixed):
    X, rows = mixed
    said = Settings.of(n_neighbors=20, output_kinds={"tag": "count"})
    with pytest.raises(DataError, match="'flip' are made in outputs of kind binary"):
        measure(X, rows, said, dimensionalities=[0.1], kinds=[])


def test_auto_chooses_a_rule_and_fits_with_it(mixed, monkeypatch):
    monkeypatch.setattr("amiss.evaluation.choice.OF_SEVERAL_KINDS", ("shift", "tenfold"))
    monkeypatch.setattr("amiss.evaluation.choice.ENOUGH_FLIPPED", 1)
    model = MCODE(rule="auto", n_neighbors=20).fit(*mixed)
    assert model.choice_.trials == ("shift", "tenfold") and model.rule_ == model.choice_.best.name
    assert model.choice_.atpar.shape[2] == 3
    plain = MCODE(rule=model.rule_, n_neighbors=20).fit(*mixed)
    np.testing.assert_array_equal(model.decision_scores_, plain.decision_scores_)


def test_settings_are_compared_on_errors_of_several_kinds(mixed):
    few = {"default": {}, "--rule prod": {"rule": "prod"}}
    found = compare_variants(Subject.of(*mixed), QUICK, variants=few)
    assert found.kinds == (*OF_CELLS, "swap", "shift-all")
    assert found.average_precision.shape == (2, 7) and found.average_precision.mean() > 0.5


def test_pairs_of_kinds_of_outputs_have_errors_in_both():
    for pair in permutations(KIND_OF, 2):
        table = outputs(1, 200, names=pair)
        made, wrong = inject(table, 0.5, 0.5, 0, kind="shift")
        assert wrong.sum() == 100 and ((made.values != table.values) & ~np.isnan(table.values)).any(axis=0).all()
