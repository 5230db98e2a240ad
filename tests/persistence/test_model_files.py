"""Model files: what is saved comes back, what is not a model is refused, and nothing in a file is executed."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import stat
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from support.fuzz_models import signed
from support.tables import fitted, make_table, mixed_table

import amiss
from amiss import MCODE, DataError
from amiss.output.report import write_report
from amiss.persistence import container as store
from amiss.persistence import state
from amiss.persistence.state import _coarse

SAMPLES = Path(__file__).parent / "samples"
KINDS = [
    {},
    {"fdr": 0.2},
    {"score": "lrw", "weighting": "error"},
    {"score": "rw"},
    {"score": "prod", "crossfit": False},
    {"n_neighbors": 0},
    {"parents": "chain", "order": [3, 1, 0, 2]},
    {"exclude": ["y1"], "neighbor_space": "inputs"},
    {"exclude": 0.1, "scaling": "block"},
    {"score": "auto", "strengths": [1.0, 10.0]},
    {"neighbor_search": "approximate"},
    {"random_state": np.random.default_rng(3), "crossfit": "half", "cv": np.int64(3)},
]


def assert_same(one, other, X, Y):
    """Everything a user can ask of two detectors."""
    for name in ("decision_scores_", "labels_", "rho_", "weights_", "contributions_", "threshold_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert str(one.output_quality_) == str(other.output_quality_)
    assert one.rule_ == other.rule_ and one.output_names_ == other.output_names_
    for mine, theirs in zip(one.explain_rows([0, 7]), other.explain_rows([0, 7]), strict=True):
        assert mine.to_dict() == theirs.to_dict()
    one_batch, other_batch = one.score_batch(X, Y), other.score_batch(X, Y)
    assert one_batch.threshold == other_batch.threshold and one_batch.remarks() == other_batch.remarks()
    np.testing.assert_array_equal(one_batch.scores, other_batch.scores)
    np.testing.assert_array_equal(one_batch.p_values, other_batch.p_values)
    np.testing.assert_array_equal(one_batch.drift.z, other_batch.drift.z)


@pytest.mark.parametrize("parameters", KINDS)
def test_a_model_comes_back_as_it_was(tmp_path, parameters):
    X, Y = make_table(60)
    new_X, new_Y = make_table(20, seed=4)
    detector = fitted(X, Y, **parameters)
    for _ in range(2):
        detector.save(tmp_path / "m.amiss")
        again = amiss.load(tmp_path / "m.amiss")
        assert_same(detector, again, new_X, new_Y)
        if "score" in parameters or "scaling" in parameters:
            break
        detector.calibrate(X, Y)  # and once more, calibrated
    again.fit(X, Y)  # it is an ordinary detector
    if isinstance(parameters.get("random_state", 0), int):
        np.testing.assert_allclose(again.decision_scores_, detector.decision_scores_, rtol=1e-9)


def test_tables_with_everything_in_them(tmp_path):
    X, Y = mixed_table()
    new_X, new_Y = mixed_table(15, seed=1)
    detector = fitted(X, Y).calibrate(X, Y)
    detector.save(tmp_path / "m.amiss")
    assert_same(detector, amiss.load(tmp_path / "m.amiss"), new_X[new_X.columns[::-1]], new_Y)


def test_sparse_tables(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((60, 40)) < 0.06, 1.0, 0.0))
    Y = make_table(60)[1]
    detector = fitted(X, Y)
    detector.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    assert sparse.issparse(again._rows.design)
    assert_same(detector, again, X[:9], 1 - Y[:9])


def test_label_lists(tmp_path):
    X, Y = make_table(60)
    lists = [[f"tag{i}" for i in np.flatnonzero(row)] for row in Y]
    detector = fitted(X, lists)
    detector.save(tmp_path / "m.amiss")
    assert_same(detector, amiss.load(tmp_path / "m.amiss"), X[:5], [["tag1"]] * 5)


@pytest.mark.parametrize("parameters", [{"n_neighbors": 0}, {"score": "rw"}, {"score": "prod"}])
def test_a_model_without_rows(tmp_path, parameters):
    X, Y = mixed_table()
    new_X, new_Y = (each.iloc[4:] for each in mixed_table(15, seed=1))  # without the age row 3 might be in the fit
    detector = fitted(X, Y, **parameters).calibrate(X, Y)
    detector.save(tmp_path / "m.amiss", rows=False)
    again = amiss.load(tmp_path / "m.amiss")
    np.testing.assert_array_equal(detector.decision_function(new_X, new_Y), again.decision_function(new_X, new_Y))
    # Scores of rows are rounded up in it, so that nobody is known by them.
    assert (again.p_values(new_X, new_Y) >= detector.p_values(new_X, new_Y)).all()
    np.testing.assert_allclose(again.p_values(new_X, new_Y), detector.p_values(new_X, new_Y), atol=0.07)
    assert detector.threshold_ <= again.threshold_ <= 1.032 * detector.threshold_
    assert str(again.output_quality_) == str(detector.output_quality_)
    why = again.explain(new_X, new_Y, row=2)
    expected = detector.explain(new_X, new_Y, row=2)
    rounded = {"observed": 0, "threshold": 0, "rank": 0, "p_value": 0}
    assert why.to_dict() | rounded == expected.to_dict() | rounded
    # No row is in it, nor its fingerprint; that a batch was in the fit is told all the same.
    assert not any("rows." in name or name == "content" for name in header(tmp_path / "m.amiss"))
    batch = again.score_batch(X, Y)
    assert 50 <= batch.scored_as_seen <= 60
    assert "their scores may be too low" in batch.remarks()[-1]
    assert not again.score_batch(new_X, new_Y).scored_as_seen
    np.testing.assert_array_equal(again.dependence(), detector.dependence())
    asks = (
        lambda: again.explain(3),
        lambda: again.save(tmp_path / "x.amiss"),
        lambda: again.was_fitted_to(X, Y),
        lambda: write_report(tmp_path / "r.html", again, X, Y),
    )
    for ask in asks:
        with pytest.raises(DataError, match="without the rows"):
            ask()
    with pytest.raises(DataError, match="a calibration needs"):
        again.calibrate(X, Y)
    again.save(tmp_path / "twice.amiss", rows=False)
    assert (tmp_path / "twice.amiss").read_bytes() == (tmp_path / "m.amiss").read_bytes()


def test_scores_in_a_model_without_rows_do_not_say_whose_they_are(tmp_path):
    X, Y = make_table(300)
    others, calibrating = make_table(2000, seed=1), make_table(300, seed=2)
    detector = MCODE(crossfit=False, n_neighbors=0).fit(X, Y).calibrate(*calibrating)
    detector.save(tmp_path / "m.amiss", rows=False)
    again = amiss.load(tmp_path / "m.amiss")
    of_others = again.decision_function(*others)
    for kept, exact in (
        (again._training_scores, detector.decision_scores_),
        (again.calibration_.scores, detector.decision_function(*calibrating)),
    ):
        assert not np.isin(kept, exact).any()
        # Who looks whether a score is in the file, rounded as there, is as often wrong as right.
        assert np.isin(_coarse(of_others), kept).mean() > 0.3


def test_rows_that_never_were_in_the_fit_are_hardly_ever_said_to_be(tmp_path):
    X, Y = make_table(300)
    MCODE(n_neighbors=0, strengths=[1.0]).fit(X, Y).save(tmp_path / "m.amiss", rows=False)
    again = amiss.load(tmp_path / "m.amiss")
    new_X, new_Y = make_table(3000, seed=1)
    for size in (1, 3, 30):
        told = [
            bool(again.score_batch(new_X[i : i + size], new_Y[i : i + size]).scored_as_seen)
            for i in range(0, 100 * size, size)
        ]
        assert sum(told) <= 1
    assert again.score_batch(X[:3], Y[:3]).scored_as_seen == 3


def test_what_cannot_be_saved(tmp_path, table):
    X, Y = table
    with pytest.raises(DataError, match="neighbours, which are rows of the fit"):
        fitted(X, Y).save(tmp_path / "m.amiss", rows=False)
    with pytest.raises(DataError, match="base_estimator"):
        fitted(X, Y, base_estimator=LogisticRegression()).save(tmp_path / "m.amiss")
    assert list(tmp_path.iterdir()) == []


def header(path):
    content = path.read_bytes()
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def test_what_a_file_says_of_itself(tmp_path):
    X, Y = mixed_table()
    old = os.umask(0)
    try:
        fitted(X, Y, contamination=0.1).save(tmp_path / "m.amiss")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "m.amiss").stat().st_mode) == 0o600
    said = json.loads(header(tmp_path / "m.amiss")["__metadata__"]["amiss"])
    assert said["format"] == store.FORMAT and said["amiss"] == amiss.__version__
    assert said["inputs"] == ["age", "sex", "ward, main"] and said["outputs"] == ["a", "b", "c"]
    assert said["parameters"]["contamination"] == 0.1 and said["threshold"] > 0
    assert "n_jobs" not in said["parameters"]


def test_a_trace_does_not_give_a_row_away():
    """Rows that never were in the fit pass the filter too, one in ten."""
    rng = np.random.default_rng(0)
    content, others = (np.sort(rng.integers(0, 2**63, n, dtype=np.uint64)) for n in (2000, 50_000))
    traces = state._traces(content)
    assert traces[content % np.uint64(len(traces))].all()
    assert traces[others % np.uint64(len(traces))].mean() == pytest.approx(0.095, abs=0.01)


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


def test_who_was_flagged_is_kept_to_the_row(model):
    """Though another processor's logarithms may put a row at the threshold on its other side."""
    before = fitted(*make_table(60))
    before.save(model)
    at_threshold = int(np.flatnonzero(before.decision_scores_ == before.threshold_)[0])
    rewritten(model, change_arrays=_set("rows.flagged", at_threshold, True))
    assert amiss.load(model).labels_.sum() == before.labels_.sum() + 1
    rewritten(model, change_arrays=_set("rows.flagged", int(np.argmin(before.decision_scores_)), True))
    with pytest.raises(DataError, match="damaged or altered"):
        amiss.load(model)


def test_a_file_that_is_changed_while_it_is_read(model, monkeypatch):
    check = store._check

    def changing(stream, path, size):
        check(stream, path, size)
        path.write_bytes(path.read_bytes())

    monkeypatch.setattr(store, "_check", changing)
    with pytest.raises(DataError, match="changed while it was read"):
        amiss.load(model)


@pytest.mark.parametrize(
    "later",
    [
        {"n_neighbors": 3},
        {"score": "prod"},
        {"scaling": "none"},
        {"exclude": [0]},
        {"fdr": 0.1},
        {"contamination": 0.4},
        {"crossfit": False},
    ],
)
def test_parameters_that_are_set_after_the_fit_do_not_matter(tmp_path, later):
    X, Y = make_table(60)
    new_X, new_Y = make_table(20, seed=4)
    detector = fitted(X, Y)
    scores, flagged = detector.decision_function(new_X, new_Y), detector.predict(new_X, new_Y)
    held_out = fitted(X, Y).calibrate(X, Y)
    detector.set_params(**later).save(tmp_path / "m.amiss")
    for each in (detector, amiss.load(tmp_path / "m.amiss")):
        np.testing.assert_array_equal(each.decision_function(new_X, new_Y), scores)
        np.testing.assert_array_equal(each.predict(new_X, new_Y), flagged)
        each.calibrate(X, Y)
        np.testing.assert_array_equal(each.calibration_.scores, held_out.calibration_.scores)
        assert each.threshold_ == held_out.threshold_


@pytest.mark.parametrize(
    "parameters",
    [
        {"parents": "chain", "order": range(3, -1, -1)},
        {"exclude": {0}},
        {"strengths": {1.0, 10.0}},
        {"exclude": -np.inf},
        {"random_state": 2**63 + 5},
        {"random_state": np.random.RandomState(3)},
    ],
)
def test_parameters_of_any_kind_are_kept(tmp_path, parameters):
    X, Y = make_table(60)
    detector = fitted(X, Y, **parameters)
    detector.save(tmp_path / "m.amiss")
    assert_same(detector, amiss.load(tmp_path / "m.amiss"), X[:9] + 0.1, Y[:9])


def test_what_was_measured_and_named_comes_back(tmp_path):
    X, Y = mixed_table(80)
    X["empty"] = None
    detector = fitted(X, Y, rule="auto")
    detector.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    assert again.choice_.why == detector.choice_.why
    np.testing.assert_array_equal(again.choice_.precision, detector.choice_.precision)
    assert again.feature_names_in_.tolist() == detector.feature_names_in_.tolist()


def test_a_file_that_would_not_load_is_not_kept(tmp_path, table, monkeypatch):
    detector = fitted(*table)
    detector._model.coef[0, 0] = np.nan
    with pytest.raises(DataError, match=r"m\.amiss: what was written does not load again"):
        detector.save(tmp_path / "m.amiss")
    assert list(tmp_path.iterdir()) == []


def test_a_header_that_would_fill_the_memory(model):
    content = model.read_bytes()
    length = int.from_bytes(content[:8], "little")
    padded = content[8 : 8 + length].replace(b"{", b'{"x":{"dtype":[' + b"[]," * store.MOST_NESTED + b"[]]},", 1)
    model.write_bytes(signed(len(padded).to_bytes(8, "little") + padded + content[8 + length :]))
    with pytest.raises(DataError, match="damaged"):
        amiss.load(model)


def test_fortran_order_survives(tmp_path):
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    store.write(tmp_path / "f.amiss", {}, {"array": array}, lambda path: None)
    with store.opened(tmp_path / "f.amiss") as (_, file):
        np.testing.assert_array_equal(file.get_tensor("array"), array)


@pytest.fixture
def model(tmp_path):
    X, Y = make_table(30)
    fitted(X, Y, n_neighbors=5).calibrate(X, Y).save(tmp_path / "m.amiss")
    return tmp_path / "m.amiss"


class Boom:
    """What a pickle can do."""

    def __reduce__(self):
        return os.system, ("touch /tmp/amiss-was-here",)


def test_a_pickle_is_not_opened(tmp_path):
    path = tmp_path / "p.amiss"
    path.write_bytes(pickle.dumps(Boom()))
    with pytest.raises(DataError, match=r"p\.amiss: this is not a model file of amiss \(pickles"):
        amiss.load(path)
    assert not Path("/tmp/amiss-was-here").exists()


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


def test_every_cut_and_every_changed_byte_is_noticed(model):
    content = model.read_bytes()
    rng = np.random.default_rng(0)
    for length in [*range(40), *rng.integers(0, len(content), 60), len(content) - 1]:
        model.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"m\.amiss: "):
            amiss.load(model)
    model.write_bytes(content + b"\0")
    with pytest.raises(DataError, match="damaged"):
        amiss.load(model)
    for place in [*range(60), *rng.integers(0, len(content), 200)]:
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        model.write_bytes(changed)
        with pytest.raises(DataError, match=r"m\.amiss: "):
            amiss.load(model)


def rewritten(path, change_description=lambda said: None, change_arrays=lambda arrays: None):
    """A file somebody has changed on purpose, with a right checksum."""
    from safetensors import safe_open
    from safetensors.numpy import save

    with safe_open(path, framework="np") as file:
        said = json.loads(file.metadata()["amiss"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change_description(said)
    change_arrays(arrays)
    content = save(arrays, metadata={"amiss": json.dumps(said)})
    path.write_bytes(signed(content))


def test_a_later_format_asks_for_an_upgrade(model):
    rewritten(model, lambda said: said.update(format=store.FORMAT + 1))
    with pytest.raises(DataError, match=r"by a later amiss .*upgrade"):
        amiss.load(model)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0}, {"format": "1"}, {"format": True}, {"inputs": []}, {"inputs": ["a", "a"]}, {"inputs": 5},
        {"outputs": ["y0", "y1", "y2", 3]}, {"named": [1, 2]}, {"named": [True]}, {"score": "sum"},
        {"score": "rw"}, {"threshold": "1"}, {"threshold": float("inf")},
        {"levels": {"99": ["a", "b"]}}, {"levels": {"x": ["a"]}},
        {"indicated": [-1]}, {"indicated": [0]}, {"sparse": True}, {"rows": False}, {"label_lists": 1},
        {"parameters": {"n_neighbors": -1}}, {"parameters": {"no such": 1}}, {"parameters": {"random_state": -1}},
        {"parameters": {}}, {"parameters": {"base_estimator": 1, "random_state": 0}}, {"reading": {"run": "rm"}},
        {"indicated": [0, 0]}, {"parameters": {"strengths": [1.0] * 1001, "random_state": 0}},
        {"parameters": {"exclude": {"0": 1}, "random_state": 0}}, {"reading": {"drop": [1]}}, {"more": 1},
        {"choice": 5}, {"choice": {}}, {"frame": 1},
    ],
)  # fmt: skip
def test_descriptions_that_do_not_fit_are_refused(model, change):
    rewritten(model, lambda said: said.update(change))
    with pytest.raises(DataError, match=r"m\.amiss: the model file is damaged or altered"):
        amiss.load(model)


def _set(name, place, value):
    def change(arrays):
        arrays[name][place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("model.coef"),
        lambda arrays: arrays.update({"model.coef": arrays["model.coef"][:-1]}),
        lambda arrays: arrays.update({"model.coef": arrays["model.coef"].astype(np.float32)}),
        lambda arrays: arrays.update({"encoding.knot_counts": arrays["encoding.knot_counts"] * -1}),
        lambda arrays: arrays.update({"encoding.knots": arrays["encoding.knots"][::-1].copy()}),
        lambda arrays: arrays.update({"content": arrays["content"][::-1].copy()}),
        lambda arrays: arrays.update({"content": arrays["content"][:0]}),
        lambda arrays: arrays.update({"folds": arrays["folds"] + 9}),
        _set("model.coef", (0, 0), np.inf),
        _set("rows.log_odds", (0, 0), np.nan),
        _set("rows.Y", (0, 0), 3),
        _set("errors.count", 0, -1),
        _set("errors.deviation", 0, -1),
        lambda arrays: arrays["converged"].view(np.uint8).fill(255),
        _set("rows.place", 0, 5),
        _set("rows.neighbors", (0, 0), 10_000),
        _set("rows.neighbors", (0, 0), -1),
        _set("calibration.parts", (3, 0), np.nan),
        _set("calibration.scores", 0, 99.0),
        _set("encoding.unit", 0, 0.0),
        lambda arrays: arrays.update(
            {
                "calibration.scores": arrays["calibration.scores"][:0],
                "calibration.parts": arrays["calibration.parts"][:0],
            }
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(model, change):
    rewritten(model, change_arrays=change)
    with pytest.raises(DataError, match=r"m\.amiss: the model file is damaged or altered"):
        amiss.load(model)


def test_a_failed_save_leaves_the_old_model(model, monkeypatch):
    before = hashlib.sha256(model.read_bytes()).hexdigest()
    X, Y = make_table(40, seed=3)
    detector = fitted(X, Y)
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match=r"No space left on device: '.*m\.amiss'"):
        detector.save(model)
    assert hashlib.sha256(model.read_bytes()).hexdigest() == before
    assert [path.name for path in model.parent.iterdir()] == ["m.amiss"]


# Old formats stay loadable: one sample of each, and what it said when it was made.


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.amiss")), ids=lambda path: path.stem)
def test_samples_of_old_formats(sample):
    expected = json.loads(sample.with_suffix(".json").read_text())
    detector = amiss.load(sample)
    X = pd.DataFrame(expected["X"]).astype({"age": float})
    Y = pd.DataFrame(expected["Y"], dtype=float)
    batch = detector.score_batch(X, Y)
    np.testing.assert_allclose(batch.scores, expected["scores"], rtol=1e-9)
    np.testing.assert_allclose(batch.p_values, expected["p_values"])
    assert batch.threshold == pytest.approx(expected["threshold"])
    if expected["fit_scores"] is not None:
        np.testing.assert_allclose(detector.decision_scores_, expected["fit_scores"], rtol=1e-9)


def test_there_is_a_sample_of_every_format():
    formats = {json.loads(header(path)["__metadata__"]["amiss"])["format"] for path in SAMPLES.glob("*.amiss")}
    assert formats == set(range(1, store.FORMAT + 1))


def test_a_nan_that_signals_is_a_nan(model):
    """Arithmetic warns of it; fuzzing found that."""
    rewritten(model, change_arrays=lambda arrays: arrays["encoding.low"].view(np.uint64).fill(0x7FF0000000000001))
    X, Y = make_table(20, seed=4)
    assert np.isfinite(amiss.load(model).score_batch(X, Y).scores).all()


def test_a_thin_table_has_no_ranks(tmp_path):
    X = np.where(np.random.default_rng(0).random((60, 30)) < 0.05, 1.0, 0.0)
    path = tmp_path / "m.amiss"
    fitted(X, make_table(60)[1]).save(path)

    def ranked(arrays):
        arrays["encoding.knot_counts"][0] = 1
        arrays["encoding.knots"], arrays["encoding.ranks"] = np.zeros(1), np.zeros(1)

    amiss.load(path).score_batch(X[:3], make_table(3)[1])
    rewritten(path, change_arrays=ranked)
    with pytest.raises(DataError, match="damaged or altered"):
        amiss.load(path)
