"""What is not a model is refused, so is one whose parts do not fit, and nothing in a file is executed."""

from __future__ import annotations

import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from support.model_files import rewritten, setting
from support.tables import fitted, make_table

import amiss
from amiss import DataError


def assert_refused(path):
    with pytest.raises(DataError, match=rf"{path.name}: the model file is damaged or altered"):
        amiss.load(path)


class Boom:
    """What a pickle can do."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def test_a_pickle_is_not_opened(tmp_path):
    path, trace = tmp_path / "p.amiss", tmp_path / "was here"
    path.write_bytes(pickle.dumps(Boom(trace)))
    with pytest.raises(DataError, match=r"p\.amiss: this is not a model file of amiss \(pickles"):
        amiss.load(path)
    assert not trace.exists()
    pickle.loads(path.read_bytes())
    assert trace.exists()  # it would have been


def test_a_zip_bomb_is_not_opened(tmp_path):
    path = tmp_path / "z.amiss"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"\0" * 10_000_000)
    with pytest.raises(DataError, match="not a model file"):
        amiss.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a model file"),
        (b"\x05", "not a model file"),
        (b"\x02" + bytes(7) + b"{}", "a safetensors file, but not"),
        (b"\xff" * 8 + b"{}", "not a model file"),
        ((10**9).to_bytes(8, "little") + b"{}", "not a model file"),
        (b"GIF89a and more", "not a model file"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "o.amiss"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        amiss.load(path)


def test_places_without_a_file(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        amiss.load(tmp_path / "none.amiss")
    with pytest.raises(DataError, match="this is a folder"):
        amiss.load(tmp_path)


def test_a_file_rewritten_without_a_change_loads(model):
    """So what the tests below refuse is what they change."""
    before = amiss.load(model)
    rewritten(model)
    np.testing.assert_array_equal(amiss.load(model).decision_scores_, before.decision_scores_)


ODD_COLUMNS = (
    [], {"a": 1}, {"a": {"run": "rm"}}, {"a": {"kind": "other"}}, {"a": {"true": [[]]}}, {"a": {"words": {}}},
    {"a": {"parts": ["hour"]}}, {"a": {"kind": "date", "format": "Y"}}, {"a": {"bare": 1}},
)  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0}, {"format": "1"}, {"format": True}, {"inputs": []}, {"inputs": ["a", "a"]}, {"inputs": 5},
        {"outputs": ["y0", "y1", "y2", 3]}, {"named": [1, 2]}, {"named": [True]}, {"rule": "sum"},
        {"rule": "rw"}, {"rule": None}, {"threshold": "1"}, {"threshold": float("inf")},
        {"levels": {"99": ["a", "b"]}}, {"levels": {"x": ["a"]}},
        {"indicated": [-1]}, {"indicated": [0]}, {"sparse": True}, {"rows": False}, {"label_lists": 1},
        {"parameters": {}}, {"parameters": 5}, {"reading": {"run": "rm"}}, {"reading": {}},
        {"indicated": [0, 0]}, {"reading": {"id": None, "drop": [1]}},
        *({"reading": {"id": None, "drop": [], "probabilities": [], "columns": each}} for each in ODD_COLUMNS),
        {"reading": {"id": 1, "drop": []}},
        {"reading": {"id": None, "drop": [], "categorical": []}}, {"more": 1}, {"score": "flip"},
        {"choice": 5}, {"choice": {}}, {"frame": 1}, {"calibrated": 1}, {"calibrated": None}, {"flagged": "maybe"},
        {"flagged": True}, {"scaling": "no such"}, {"ties": []}, {"ties": {}},
        {"ties": {"classes": [[0, 0, 1]], "copies": [], "opposites": [], "implications": []}},
        {"ties": {"classes": [[0, 99, 1]], "copies": [], "opposites": [], "implications": []}},
        {"ties": {"classes": [], "copies": [[0]], "opposites": [], "implications": []}},
        {"ties": {"classes": [], "copies": [], "opposites": ["0"], "implications": []}},
    ],
    ids=str,
)  # fmt: skip
def test_descriptions_that_do_not_fit_are_refused(model, change):
    rewritten(model, lambda said: said.update(change))
    assert_refused(model)


@pytest.mark.parametrize(
    "change",
    [
        {"n_neighbors": -1}, {"no such": 1}, {"score": "flip"}, {"rule": "rw"}, {"rule": "sum"},
        {"random_state": -1}, {"random_state": None}, {"random_state": 2**63}, {"random_state": True},
        {"model": 1}, {"model": None}, {"model": "forest"}, {"time_budget": -1}, {"n_jobs": 1},
        {"strengths": [1.0] * 1001}, {"strengths": []}, {"strengths": 5}, {"exclude": {"0": 1}},
        {"crossfit": "half"}, {"crossfit": 2}, {"scaling": "no such"}, {"parents": 1}, {"fdr": 0.1},
    ],
    ids=lambda change: str(change)[:40],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_refused(model, change):
    rewritten(model, lambda said: said["parameters"].update(change))
    assert_refused(model)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("model.coef"),
        lambda arrays: arrays.update({"model.coef": arrays["model.coef"][:-1]}),
        lambda arrays: arrays.update({"model.coef": arrays["model.coef"].astype(np.float32)}),
        lambda arrays: arrays.update({"encoding.knot_counts": arrays["encoding.knot_counts"] * -1}),
        lambda arrays: arrays.update({"encoding.knots": arrays["encoding.knots"][::-1].copy()}),
        lambda arrays: arrays.update({"rows.fingerprints": arrays["rows.fingerprints"][::-1].copy()}),
        lambda arrays: arrays.update({"rows.fingerprints": arrays["rows.fingerprints"][:0]}),
        lambda arrays: arrays.update({"content": arrays.pop("rows.fingerprints")}),
        lambda arrays: arrays.update({"calibration.parts": arrays.pop("calibration.contributions")}),
        lambda arrays: arrays.update({"folds": arrays["folds"] + 9}),
        lambda arrays: arrays.update({"hypotheses.shares": arrays["hypotheses.shares"] - 1}),
        lambda arrays: arrays.update({"hypotheses.doubt": arrays["hypotheses.doubt"] - 1}),
        lambda arrays: arrays.update({"hypotheses.base_rates": arrays["hypotheses.base_rates"] * 0}),
        lambda arrays: arrays.update({"hypotheses.unpredictable": arrays["hypotheses.unpredictable"] + 2}),
        lambda arrays: arrays.pop("rows.views.by_inputs"),
        lambda arrays: arrays.pop("hypotheses.unrelated"),
        lambda arrays: arrays.pop("rows.flagged"),
        setting("model.coef", (0, 0), np.inf),
        setting("rows.log_odds", (0, 0), np.nan),
        setting("rows.Y", (0, 0), 3),
        setting("errors.count", 0, -1),
        setting("errors.deviation", 0, -1),
        lambda arrays: arrays["converged"].view(np.uint8).fill(255),
        setting("rows.place", 0, 5),
        setting("rows.neighbors", (0, 0), 10_000),
        setting("rows.neighbors", (0, 0), -1),
        setting("calibration.contributions", (3, 0), np.nan),
        setting("calibration.scores", 0, 99.0),
        setting("encoding.unit", 0, 0.0),
        lambda arrays: arrays.update(
            {
                "calibration.scores": arrays["calibration.scores"][:0],
                "calibration.contributions": arrays["calibration.contributions"][:0],
            }
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(model, change):
    rewritten(model, change_arrays=change)
    assert_refused(model)


def test_arrays_that_do_not_fit_are_refused_in_a_model_without_rows(tmp_path):
    path = tmp_path / "m.amiss"
    fitted(*make_table(30), n_neighbors=0).save(path, rows=False)
    content = path.read_bytes()
    changes = [
        lambda arrays: arrays.pop("membership"),
        lambda arrays: arrays.update({"membership": arrays["membership"][1:]}),
        lambda arrays: arrays.update({"scores": arrays["scores"][::-1].copy()}),
        lambda arrays: arrays.update({"scores": arrays["scores"][:0], "membership": arrays["membership"][:0]}),
        lambda arrays: arrays.pop("strength"),
        lambda arrays: arrays.pop("quality.skill"),
        setting("weights", 0, 0.4),
        setting("weights", 0, np.nan),
    ]
    for change in changes:
        path.write_bytes(content)
        amiss.load(path)
        rewritten(path, change_arrays=change)
        assert_refused(path)


def test_a_thin_table_has_no_ranks(tmp_path):
    X = np.where(np.random.default_rng(0).random((60, 30)) < 0.05, 1.0, 0.0)
    path = tmp_path / "m.amiss"
    fitted(X, make_table(60)[1]).save(path)

    def ranked(arrays):
        arrays["encoding.knot_counts"][0] = 1
        arrays["encoding.knots"], arrays["encoding.ranks"] = np.zeros(1), np.zeros(1)

    amiss.load(path).score_batch(X[:3], make_table(3)[1])
    rewritten(path, change_arrays=ranked)
    assert_refused(path)


def test_long_names_take_no_more_room_than_in_the_file(model):
    """A name stands before each of its thousand levels; nothing may spell that out."""
    levels = {"0": [str(level) for level in range(1000)]}
    rewritten(model, lambda said: said.update(levels=levels, inputs=["x" * 2_000_000, *said["inputs"][1:]]))
    tracemalloc.start()
    with pytest.raises(DataError, match="damaged or altered"):
        amiss.load(model)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60_000_000


@pytest.mark.usefixtures("few_trials")
def test_what_was_measured_must_fit_too(tmp_path):
    path = tmp_path / "m.amiss"
    fitted(*make_table(60), rule="auto", strengths=[1.0]).save(path)
    content = path.read_bytes()
    for change in ({"flips": [0]}, {"n_rows": 1.5}, {"rules": ["flip"]}, {"rates": [2.0]}, {"atpar": [[]]}):
        path.write_bytes(content)
        amiss.load(path)
        rewritten(path, lambda said, change=change: said["choice"].update(change))
        assert_refused(path)
