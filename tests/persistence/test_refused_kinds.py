"""Files with outputs of several kinds whose parts do not fit are refused in one line, and nothing hangs."""

from __future__ import annotations

import numpy as np
import pytest
from support.kinds import KINDS, few_trees, table_of_kinds
from support.model_files import rewritten, setting

import amiss
from amiss import DataError

X, Y = table_of_kinds()
FOREST = "model.amounts.0.plain"
LINE = "inputs.amounts.0.line"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file with rows and one without."""
    folder, result = tmp_path_factory.mktemp("models"), {}
    for name, n_neighbors in (("rows", 10), ("without", 0)):
        with few_trees():
            detector = amiss.MCODE(n_neighbors=n_neighbors, output_kinds=KINDS).fit(X, Y)
        detector.save(folder / "m.amiss", rows=name == "rows")
        result[name] = (folder / "m.amiss").read_bytes()
    return result


@pytest.fixture
def model(saved, tmp_path):
    path = tmp_path / "m.amiss"
    path.write_bytes(saved["rows"])
    return path


def assert_refused(path):
    with pytest.raises(DataError, match=rf"{path.name}: the model file is damaged or altered") as refused:
        amiss.load(path)
    assert "\n" not in str(refused.value)


def test_the_file_has_the_parts_that_are_altered_below(model):
    """Both learners, and a pooled level."""
    detector = amiss.load(model)
    models = detector.fitted_.models
    assert models.model.amounts[0].share == models.inputs_model.amounts[0].share == 0.5
    assert detector.fitted_.models.layout.level_column[1].tolist() == [3, 0, 1, 2, 3, 3]
    rewritten(model)
    np.testing.assert_array_equal(amiss.load(model).decision_scores_, detector.decision_scores_)


def replaced(name, change):
    def altered(arrays):
        arrays[name] = change(arrays[name])

    return altered


def without(name):
    return lambda arrays: arrays.pop(name)


def chain(length):
    """A forest whose only tree splits ``length`` times on the way to its last leaf, with bags to match."""

    def change(arrays):
        own = np.arange(2 * length + 1)
        is_leaf = (own % 2 == 1) | (own == 2 * length)
        for name in ("model.amounts.0.plain", "model.amounts.0.residual"):
            arrays[f"{name}.roots"] = np.zeros(1, dtype=np.int32)
            arrays[f"{name}.feature"] = np.where(is_leaf, -1, 0).astype(np.int32)
            arrays[f"{name}.threshold"] = np.where(is_leaf, 0.0, own)
            arrays[f"{name}.left"] = np.where(is_leaf, own, own + 1).astype(np.int32)
            arrays[f"{name}.right"] = np.where(is_leaf, own, own + 2).astype(np.int32)
            arrays[f"{name}.values"] = np.zeros((length + 1, 4))
        arrays["model.amounts.0.in_bag"] = arrays["model.amounts.0.in_bag"][:1]

    return change


def cycle(arrays):
    first, second = np.flatnonzero(arrays[f"{FOREST}.feature"] >= 0)[:2]
    arrays[f"{FOREST}.left"][second] = first


def two_parents(arrays):
    first = np.flatnonzero(arrays[f"{FOREST}.feature"] >= 0)[0]
    arrays[f"{FOREST}.left"][first] = arrays[f"{FOREST}.right"][first]


def many_trees(arrays):
    """One leaf each; rows are judged by all of them at once."""
    own = np.arange(5000, dtype=np.int32)
    for forest in ("model.amounts.0.plain", "model.amounts.0.residual"):
        arrays |= {f"{forest}.{name}": own for name in ("roots", "left", "right")}
        arrays |= {f"{forest}.feature": np.full(5000, -1, dtype=np.int32), f"{forest}.threshold": np.zeros(5000)}
        arrays |= {f"{forest}.values": np.zeros((5000, 4))}
    arrays["model.amounts.0.in_bag"] = np.zeros((5000, 10), dtype=np.uint8)


ARRAYS = {
    "a cycle": cycle,
    "a node with two parents": two_parents,
    "a chain of 1001": chain(1001),
    "too many trees": many_trees,
    "a column that is not there": replaced(f"{FOREST}.feature", lambda found: np.where(found >= 0, 99, found)),
    "a column below -1": replaced(f"{FOREST}.feature", lambda found: np.where(found < 0, -2, found)),
    "a root that is not there": setting(f"{FOREST}.roots", 0, 10**6),
    "no roots": replaced(f"{FOREST}.roots", lambda found: found[:0]),
    "a child that is not there": setting(f"{FOREST}.left", 0, 10**6),
    "an infinite threshold": setting(f"{FOREST}.threshold", 0, np.inf),
    "a value that is none": setting(f"{FOREST}.values", (0, 0), np.nan),
    "values in no order": setting(f"{FOREST}.values", (0, 0), 99.0),
    "too few values": replaced(f"{FOREST}.values", lambda found: found[:-1]),
    "three values of a leaf": replaced(f"{FOREST}.values", lambda found: found[:, :3].copy()),
    "no forest": without(f"{FOREST}.roots"),
    "half a forest": without(f"{FOREST}.left"),
    "a share of a third": setting("model.amounts.0.numbers", 0, 1 / 3),
    "another share": replaced("model.amounts.0.numbers", lambda found: np.array([1.5 - found[0], *found[1:]])),
    "a median that is none": setting("model.amounts.0.numbers", 1, np.nan),
    "a usual spread below 0": setting("model.amounts.0.numbers", 2, -1.0),
    "no least spread": setting("model.amounts.0.numbers", 3, 0.0),
    "columns in no order": replaced("model.amounts.0.columns", lambda found: found[::-1].copy()),
    "columns below 0": replaced("model.amounts.0.columns", lambda found: found - 1),
    "columns beyond the last": replaced("model.amounts.0.columns", lambda found: found + 1),
    "bags of too few trees": replaced("model.amounts.0.in_bag", lambda found: found[:-1]),
    "bags of too few rows": replaced("model.amounts.0.in_bag", lambda found: found[:, :-1].copy()),
    "bags as marks": replaced("model.amounts.0.in_bag", lambda found: found.astype(bool)),
    "no bags": without("model.amounts.0.in_bag"),
    "no amount": lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("model.amounts.0.")],
    "no line": without(f"{LINE}.coef"),
    "folds beyond the last": replaced(f"{LINE}.folds", lambda found: found + np.int8(100)),
    "folds below -1": setting(f"{LINE}.folds", 0, -2),
    "folds of too few rows": replaced(f"{LINE}.folds", lambda found: found[:-1]),
    "no coefficient": replaced(f"{LINE}.coef", lambda found: found[:, :0].copy()),
    "an infinite intercept": setting(f"{LINE}.intercept", 0, np.inf),
    "no model at all": lambda arrays: arrays.update(
        {f"{LINE}.intercept": np.empty(0), f"{LINE}.coef": np.empty((0, arrays[f"{LINE}.coef"].shape[1]))}
    ),
    "too few residuals": replaced("model.residuals", lambda found: found[:, :-1].copy()),
    "residuals that are none": setting("inputs.residuals", (0, 0), np.nan),
    "no choices": without("model.choices.coef"),
    "too few choices": replaced("model.choices.coef", lambda found: found[:, :-1].copy()),
    "choices that see too little": replaced("model.choices.coef", lambda found: found[:-1]),
    "no model of the inputs": lambda arrays: [
        arrays.pop(name) for name in list(arrays) if name.startswith("inputs.")
    ],
    "folds of too few choices": replaced("folds", lambda found: found[:, :-1].copy()),
    "a level beyond the last": setting("layout.level_column", 0, 4),
    "a level without a column": setting("layout.level_column", 0, -1),
    "a gap between levels": setting("layout.level_column", 3, 5),
    "unseen levels elsewhere": setting("layout.level_column", 5, 1),
    "too few levels": replaced("layout.level_column", lambda found: found[:-1]),
    "no scale": setting("layout.amounts", (1, 3), 0.0),
    "a scale below 0": setting("layout.amounts", (1, 3), -1.0),
    "a centre that is none": setting("layout.amounts", (0, 4), np.nan),
    "a usual share above 1": setting("expected.usual", 0, 1.5),
    "a usual share below 0": setting("expected.usual", 1, -0.5),
    "too few usual values": replaced("expected.usual", lambda found: found[:-1]),
    "a rate below 0": setting("expected.rates", 0, -0.5),
    "too short an average": replaced("average", lambda found: found[:-1]),
    "a tag of 2": setting("rows.Y", (0, 0), 2.0),
    "half a tag": setting("rows.Y", (0, 0), 0.5),
    "a level that is not there": setting("rows.Y", (0, 1), 5.0),
    "a grade below 0": setting("rows.Y", (0, 2), -1.0),
    "half a visit": setting("rows.Y", (0, 3), 0.5),
    "visits below 0": setting("rows.Y", (0, 3), -1.0),
    "an infinite dose": setting("rows.Y", (0, 4), np.inf),
    "outputs as marks": replaced("rows.Y", lambda found: np.nan_to_num(found).astype(np.uint8)),
    "no spread": setting("rows.by_all.spread", (0, 0), 0.0),
    "a spread below 0": setting("rows.by_inputs.spread", (0, 1), -1.0),
    "a centre of a row that is none": setting("rows.by_all.centre", (0, 0), np.nan),
    "too few forecasts": replaced("rows.by_all.choices", lambda found: found[:-1]),
    "no second view": without("rows.by_inputs.choices"),
    "no usual log-odds": without("rows.views.usual"),
    "a skill that is none": setting("rows.skill", 0, np.nan),
    "tails that never fall": setting("two_views.tails", (0, 1), 0.0),
    "no wrong rows": setting("two_views.tails", (1, 2), 0.0),
    "nothing but wrong rows": setting("two_views.tails", (1, 2), 1.0),
    "a mean below that of right rows": setting("two_views.tails", (0, 3), 0.5),
    "too unpredictable": setting("two_views.unpredictable", (0, 0), 1.5),
    "no outputs that count": without("two_views.included"),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_do_not_fit_are_refused(model, change):
    rewritten(model, change_arrays=change)
    assert_refused(model)


def test_a_deep_tree_that_is_one_is_read(model):
    """So the one above is refused for its depth."""
    rewritten(model, change_arrays=chain(1000))
    new_X, new_Y = table_of_kinds(20, seed=1)
    assert np.isfinite(amiss.load(model).decision_function(new_X, new_Y)).all()


TAG = {"kind": "binary", "levels": []}
DESCRIPTIONS = [
    {"kinds": []}, {"kinds": None}, {"kinds": [TAG] * 5}, {"kinds": [{"kind": "number", "levels": []}] * 5},
    {"kinds": {}}, {"kinds": [1] * 5}, {"mixed": None}, {"mixed": {}}, {"given": True}, {"rows": False},
    {"ties": {"classes": [[0, 99]], "copies": [], "opposites": [], "implications": []}}, {"outputs": ["a", "b"]},
]  # fmt: skip


@pytest.mark.parametrize("change", DESCRIPTIONS, ids=str)
def test_descriptions_that_do_not_fit_are_refused(model, change):
    rewritten(model, lambda said: said.update(change))
    assert_refused(model)


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"kind": "no such"}), (0, {"kind": 1}), (0, {"levels": ["a"]}), (0, {"more": 1}), (1, {"levels": []}),
        (1, {"levels": ["red"]}), (1, {"levels": ["red"] * 5}), (1, {"levels": [1, 2, 3, 4, 5]}), (4, TAG),
        (1, {"levels": 5}), (3, {"kind": "class"}), (1, {"kind": "number"}), (1, TAG), (0, {"kind": "count"}),
    ],
    ids=str,
)  # fmt: skip
def test_kinds_that_do_not_fit_are_refused(model, place, change):
    rewritten(model, lambda said: said["kinds"][place].update(change))
    assert_refused(model)


@pytest.mark.parametrize(
    "change",
    [{"n_rows": 81}, {"n_rows": 0}, {"n_rows": True}, {"n_rows": 80.0}, {"sees": 1}, {"sees": False}, {"more": 1}],
    ids=str,
)
def test_what_is_said_of_the_models_must_fit_too(model, change):
    rewritten(model, lambda said: said["mixed"].update(change))
    assert_refused(model)


@pytest.mark.parametrize(
    "asked",
    [[], "class", 5, {"dose": "text"}, {"dose": 1}, {"grade": ["low"]}, {"grade": ["a", "a"]}, {"grade": {}}],
    ids=str,
)
def test_kinds_that_nobody_can_ask_for_are_refused(model, asked):
    rewritten(model, lambda said: said["parameters"].update(output_kinds=asked))
    assert_refused(model)


@pytest.mark.parametrize(
    "change",
    [
        without("quality.skill"),
        without("model.residuals"),
        setting("model.residuals", (0, 0), np.inf),
        setting("two_views.tails", (0, 1), -1.0),
        setting("layout.amounts", (1, 3), 0.0),
        replaced("model.amounts.0.in_bag", lambda found: np.zeros((len(found), 10), dtype=np.uint8)),
    ],
)
def test_arrays_of_a_model_without_rows_that_do_not_fit_are_refused(saved, tmp_path, change):
    path = tmp_path / "m.amiss"
    path.write_bytes(saved["without"])
    amiss.load(path)
    rewritten(path, change_arrays=change)
    assert_refused(path)


def test_numbers_that_are_altered_at_random_are_refused_or_score(saved, tmp_path):
    """Rows then have other scores, but finite ones, and nothing warns."""
    from safetensors.numpy import load

    odd = (0.0, -1.0, 1e-300, 1e90, -1e90, 1e199, 1e300, np.nan)
    rng, path = np.random.default_rng(0), tmp_path / "m.amiss"
    new_X, new_Y = table_of_kinds(20, seed=1)
    outcomes = []
    for content in (saved["rows"], saved["without"]):
        names = [name for name, array in load(content).items() if array.dtype.kind in "fiu" and array.size]
        for name in names:
            if name.startswith("encoding."):
                continue

            def altered(arrays, name=name):
                values = arrays[name].reshape(-1)
                some = rng.integers(len(values), size=int(rng.integers(1, 4)))
                number = rng.choice(odd) if values.dtype.kind == "f" else rng.integers(0, 120)
                with np.errstate(over="ignore"):
                    values[some] = number

            path.write_bytes(content)
            rewritten(path, change_arrays=altered)
            try:
                scores = amiss.load(path).score_batch(new_X, new_Y).scores
            except DataError as error:
                outcomes.append("refused")
                assert "\n" not in str(error)
            else:
                outcomes.append("scores")
                assert np.isfinite(scores).all(), name
    assert outcomes.count("refused") > 20 and outcomes.count("scores") > 20
