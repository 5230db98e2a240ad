"""Model files with trees, averages, given probabilities and groups: what is saved comes back, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from support.forests import table_with_everything
from support.model_files import assert_same_detector, header, rewritten, setting
from support.tables import UNMEASURED

import amiss
from amiss import DataError

X, Y, P, GROUPS = table_with_everything()
NEW_X, NEW_Y, NEW_P, _ = table_with_everything(40, seed=1)
PARAMETERS = {"cv": 3, "n_neighbors": 20, "n_jobs": 1}


@pytest.fixture(scope="module", params=["boosting", "auto"])
def detector(request):
    return amiss.MCODE(model=request.param, **PARAMETERS).fit(X, Y, groups=GROUPS)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The files of a boosting and of an auto model."""
    folder, result = tmp_path_factory.mktemp("models"), {}
    for kind in ("boosting", "auto"):
        amiss.MCODE(model=kind, **PARAMETERS).fit(X, Y).save(folder / f"{kind}.amiss")
        result[kind] = (folder / f"{kind}.amiss").read_bytes()
    return result


@pytest.fixture
def model(saved, tmp_path):
    path = tmp_path / "m.amiss"
    path.write_bytes(saved["boosting"])
    return path


@pytest.fixture
def average(saved, tmp_path):
    path = tmp_path / "a.amiss"
    path.write_bytes(saved["auto"])
    return path


def test_a_model_of_trees_comes_back_as_it_was(detector, tmp_path):
    detector.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    assert_same_detector(detector, again, NEW_X, NEW_Y)
    assert again.explain(NEW_X, NEW_Y, row=3).to_dict() == detector.explain(NEW_X, NEW_Y, row=3).to_dict()
    assert again.fitted_.notes == detector.fitted_.notes
    np.testing.assert_array_equal(
        again.fitted_.models.training_rows.groups, detector.fitted_.models.training_rows.groups
    )
    again.save(tmp_path / "again.amiss")
    assert (tmp_path / "again.amiss").read_bytes() == (tmp_path / "m.amiss").read_bytes()


def test_groups_are_kept_for_a_later_calibration(tmp_path):
    linear = amiss.MCODE(**PARAMETERS).fit(X, Y, groups=GROUPS)
    linear.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    assert_same_detector(linear, again, NEW_X, NEW_Y)
    again.n_jobs = 1
    np.testing.assert_array_equal(
        again.calibrate(X, Y).calibration_.scores, linear.calibrate(X, Y).calibration_.scores
    )


def test_trees_are_kept_without_the_rows(tmp_path):
    whole = amiss.MCODE(model="boosting", **{**PARAMETERS, "n_neighbors": 0}).fit(X, Y)
    whole.save(tmp_path / "m.amiss", rows=False)
    again = amiss.load(tmp_path / "m.amiss")
    np.testing.assert_array_equal(again.decision_function(NEW_X, NEW_Y), whole.decision_function(NEW_X, NEW_Y))
    assert again.explain(NEW_X, NEW_Y, row=3).suspects[0].grounds is not None
    assert not [name for name in header(tmp_path / "m.amiss") if name.startswith(("rows.", "folds"))]
    with pytest.raises(DataError, match="saved without the rows"):
        again.explain(0)


LOADING = """
import sys, numpy as np
def guard(event, arguments):
    if event == "pickle.find_class":
        raise RuntimeError("something was unpickled")
import sklearn.ensemble  # whatever libraries unpickle at their import is not ours
import amiss
model, table = sys.argv[1:]
arrays = np.load(table)
sys.addaudithook(guard)
detector = amiss.load(model)
np.save(sys.argv[2] + ".scores.npy", detector.decision_function(arrays["X"], arrays["Y"]))
print(detector.explain(3).sentences()[0])
"""


def test_nothing_is_unpickled_in_loading_and_scoring(model, tmp_path):
    np.savez(tmp_path / "new.npz", X=NEW_X, Y=NEW_Y)
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(model), str(tmp_path / "new.npz")],
        capture_output=True, text=True, env=UNMEASURED, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = np.load(tmp_path / "new.npz.scores.npy")
    np.testing.assert_array_equal(scores, amiss.load(model).decision_function(NEW_X, NEW_Y))


def assert_refused(path):
    with pytest.raises(DataError, match=rf"{path.name}: the model file is damaged or altered") as refused:
        amiss.load(path)
    assert "\n" not in str(refused.value)


def split(arrays, name="model"):
    """The first two nodes that split; the second lies below the first or in another tree."""
    return np.flatnonzero(arrays[f"{name}.feature"] >= 0)[:2]


def cycle(arrays):
    first, second = split(arrays)
    arrays["model.left"][second] = first


def itself(arrays):
    first, _ = split(arrays)
    arrays["model.left"][first] = first


def two_parents(arrays):
    first, _ = split(arrays)
    arrays["model.left"][first] = arrays["model.right"][first]


def below_its_parent(arrays):
    """Two nodes change places, so that a child stands before its parent."""
    first, _ = split(arrays)
    child = arrays["model.left"][first]
    arrays["model.roots"][arrays["model.roots"] == first] = child
    arrays["model.left"][child], arrays["model.right"][child] = first, arrays["model.right"][first]
    for name in ("left", "right"):
        arrays[f"model.{name}"][first] = first
    feature = arrays["model.feature"]
    feature[child], feature[first] = feature[first], -1


def leaf_that_leads_on(arrays):
    leaf = np.flatnonzero(arrays["model.feature"] < 0)[0]
    arrays["model.left"][leaf] = leaf + 1


def chain(length):
    """One tree of one output that splits ``length`` times on the way to its last leaf."""

    def change(arrays):
        n_outputs = len(arrays["model.base"])
        n_nodes = 2 * length + 1
        own = np.arange(n_nodes)
        is_leaf = (own % 2 == 1) | (own == n_nodes - 1)
        arrays["model.first_trees"] = np.array([0, *[1] * n_outputs], dtype=np.int32)
        arrays["model.roots"] = np.zeros(1, dtype=np.int32)
        arrays["model.feature"] = np.where(is_leaf, -1, 0).astype(np.int32)
        arrays["model.threshold"] = np.where(is_leaf, 0.0, own)
        arrays["model.left"] = np.where(is_leaf, own, own + 1).astype(np.int32)
        arrays["model.right"] = np.where(is_leaf, own, own + 2).astype(np.int32)
        arrays["model.value"] = np.zeros(n_nodes)
        arrays["model.cover"] = np.full(n_nodes, 5.0)

    return change


def replaced(name, change):
    def altered(arrays):
        arrays[name] = change(arrays[name])

    return altered


HOSTILE = {
    "a cycle": cycle,
    "a node below itself": itself,
    "a node with two parents": two_parents,
    "a child before its parent": below_its_parent,
    "a leaf that leads on": leaf_that_leads_on,
    "a chain of 65": chain(65),
    "a column that is not there": replaced("model.feature", lambda found: np.where(found >= 0, 6, found)),
    "a column below -1": replaced("model.feature", lambda found: np.where(found < 0, -2, found)),
    "a root that is not there": setting("model.roots", 0, 10**6),
    "a root below 0": setting("model.roots", 0, -1),
    "a child that is not there": setting("model.left", 0, 10**6),
    "a child below 0": setting("model.right", 0, -1),
    "no cover": setting("model.cover", 3, 0.0),
    "infinite cover": setting("model.cover", 3, np.inf),
    "an infinite value": setting("model.value", 3, np.inf),
    "a value that is none": setting("model.value", 3, np.nan),
    "an infinite threshold": setting("model.threshold", 0, np.inf),
    "trees that do not begin at 0": setting("model.first_trees", 0, 1),
    "trees in no order": replaced("model.first_trees", lambda found: found[[0, 2, 1, 3]]),
    "too many trees": setting("model.first_trees", -1, 10**6),
    "wide numbers": replaced("model.feature", lambda found: found.astype(np.int64)),
    "too few values": replaced("model.value", lambda found: found[:-1]),
    "too few outputs": replaced("model.base", lambda found: found[:-1]),
    "no thresholds": lambda arrays: arrays.pop("model.threshold"),
    "a fold without its model": lambda arrays: arrays.pop("folds.1.base"),
    "a fold with half a model": lambda arrays: arrays.pop("folds.0.value"),
    "folds that are not there": replaced("folds", lambda found: found + np.int8(100)),
    "by heart or not": replaced("folds.by_heart", lambda found: np.concatenate([found, found])),
    "hostile trees in a fold": setting("folds.1.left", 0, 0),
    "groups out of range": lambda arrays: arrays.update({"rows.groups": np.full(len(X), 10**6)}),
    "groups below 0": lambda arrays: arrays.update({"rows.groups": np.full(len(X), -1)}),
    "too few groups": lambda arrays: arrays.update({"rows.groups": np.zeros(3, dtype=np.int64)}),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_trees_that_are_none_are_refused(model, change):
    rewritten(model, change_arrays=change)
    assert_refused(model)


def test_a_deep_tree_that_is_one_is_read(model):
    """So the one above is refused for its depth."""
    rewritten(model, change_arrays=chain(64))
    assert amiss.load(model).fitted_.models.model.depth == 64


PARTS = {
    "a share above 1": setting("model.shares", (0, 0), 1.5),
    "a share below 0": setting("model.shares", (1, 0), -0.5),
    "no first model": lambda arrays: arrays.pop("model.0.coef"),
    "no second model": lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("model.1.")],
    "three shares": replaced("model.shares", lambda found: np.vstack([found, found[:1]])),
    "no folds of the first": lambda arrays: arrays.pop("folds.0"),
    "no folds of the second": lambda arrays: arrays.pop("folds.1"),
    "shares of folds above 1": setting("folds.shares", (0, 0), 2.0),
}


@pytest.mark.parametrize("change", PARTS.values(), ids=PARTS)
def test_an_average_without_its_parts_is_refused(average, change):
    rewritten(average, change_arrays=change)
    assert_refused(average)


@pytest.mark.parametrize("path", ["model", "average"])
def test_a_file_rewritten_without_a_change_loads(path, request):
    """So what is refused above is what was changed."""
    found = request.getfixturevalue(path)
    before = amiss.load(found).decision_scores_
    rewritten(found)
    np.testing.assert_array_equal(amiss.load(found).decision_scores_, before)


def test_a_model_that_says_it_was_given_probabilities_must_have_room_for_them(model):
    rewritten(model, lambda said: said.update(given="yes"))
    assert_refused(model)
