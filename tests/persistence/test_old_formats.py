"""Files of every format load, say what they said when they were made, and become files of the present format.

Samples are never made again (``make_samples.py``).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.model_files import assert_same_batch, assert_same_detector, description, header, rewritten, setting

import amiss
from amiss import DataError
from amiss.persistence.container import FORMAT
from amiss.persistence.fields import Fields
from amiss.persistence.migrations import STEPS

FOLDER = Path(__file__).parent / "samples"
SAMPLES = sorted(FOLDER.glob("*.amiss"))
UNROUNDED = FOLDER / "format-1-without-rows.amiss"
OF_FORMAT_1 = [path for path in SAMPLES if path.name.startswith("format-1-")]
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
each_of_format_1 = pytest.mark.parametrize("sample", OF_FORMAT_1, ids=lambda path: path.stem)


def said_when_made(sample):
    """What is known of a sample, and its new rows."""
    expected = json.loads(sample.with_suffix(".json").read_text())
    outputs = {} if "-kinds" in sample.stem else {"dtype": float}
    return expected, pd.DataFrame(expected["X"]), pd.DataFrame(expected["Y"], **outputs)


def assert_as_when_made(detector, sample):
    expected, X, Y = said_when_made(sample)
    batch = detector.score_batch(X, Y)
    np.testing.assert_allclose(batch.scores, expected["scores"], rtol=1e-9)
    np.testing.assert_allclose(batch.p_values, expected["p_values"])
    assert batch.threshold == pytest.approx(expected["threshold"])
    assert_fit_as_when_made(detector, expected)


def assert_fit_as_when_made(detector, expected):
    assert detector.rule_ == expected.get("rule", "flip")
    if expected["fit_scores"] is not None:
        np.testing.assert_allclose(detector.decision_scores_, expected["fit_scores"], rtol=1e-9)
    if expected.get("fit_labels") is not None:
        np.testing.assert_array_equal(detector.labels_, expected["fit_labels"])
    if expected.get("fit_p_values") is not None:
        np.testing.assert_allclose(detector.p_values_, expected["fit_p_values"])
    if expected.get("precision") is not None:
        np.testing.assert_allclose(detector.choice_.precision.mean(axis=2), expected["precision"])


def test_there_is_a_sample_of_every_format():
    assert {description(path)["format"] for path in SAMPLES} == set(range(1, FORMAT + 1))
    for kind in ("rows", "without-rows", "auto", "fdr"):
        assert len([path for path in SAMPLES if path.stem.endswith(f"-{kind}")]) >= FORMAT
    assert len([path for path in SAMPLES if path.stem.endswith("-trees")]) > FORMAT - 4
    for kind in ("kinds", "kinds-without-rows"):
        assert len([path for path in SAMPLES if path.stem.endswith(f"-{kind}")]) > FORMAT - 5


def test_there_is_a_step_from_every_old_format():
    assert set(STEPS) == set(range(1, FORMAT))


@each_sample
def test_a_sample_says_what_it_said_when_it_was_made(sample):
    assert_as_when_made(amiss.load(sample), sample)


@pytest.mark.parametrize("sample", [path for path in SAMPLES if path != UNROUNDED], ids=lambda path: path.stem)
def test_a_sample_is_saved_again_in_the_present_format(sample, tmp_path):
    path, detector = tmp_path / "again.amiss", amiss.load(sample)
    rows = detector.fitted_.training is not None
    detector.save(path, rows=rows)
    assert description(path)["format"] == FORMAT
    again = amiss.load(path)
    assert_as_when_made(again, sample)
    _, X, Y = said_when_made(sample)
    if rows:
        assert_same_detector(detector, again, X, Y)
    assert_same_batch(detector.score_batch(X, Y), again.score_batch(X, Y))
    assert str(detector.output_quality_) == str(again.output_quality_)
    assert detector.get_params() == again.get_params()
    again.save(tmp_path / "twice.amiss", rows=rows)
    assert (tmp_path / "twice.amiss").read_bytes() == path.read_bytes()


def test_the_first_model_without_rows_is_rounded_when_it_is_saved_again(tmp_path):
    """It held exact scores of rows, which later files do not."""
    path, detector = tmp_path / "again.amiss", amiss.load(UNROUNDED)
    detector.save(path, rows=False)
    assert description(path)["format"] == FORMAT
    again = amiss.load(path)
    expected, X, Y = said_when_made(UNROUNDED)
    assert_fit_as_when_made(again, expected)
    np.testing.assert_allclose(again.decision_function(X, Y), expected["scores"], rtol=1e-9)
    rise = again.p_values(X, Y) - expected["p_values"]
    assert (rise >= 0).all() and rise.max() < 0.07
    assert expected["threshold"] <= again.threshold_ <= 1.032 * expected["threshold"]
    assert not np.isin(again.fitted_.training_scores, detector.fitted_.training_scores).any()
    assert str(detector.output_quality_) == str(again.output_quality_)
    again.save(tmp_path / "twice.amiss", rows=False)
    assert (tmp_path / "twice.amiss").read_bytes() == path.read_bytes()


def test_nothing_of_format_1_is_left_in_what_is_saved_again(tmp_path):
    for sample in OF_FORMAT_1:
        detector = amiss.load(sample)
        detector.save(tmp_path / "m.amiss", rows=detector.fitted_.training is not None)
        fresh = sample.with_name(sample.name.replace("format-1", f"format-{FORMAT}"))
        assert set(description(tmp_path / "m.amiss")) == set(description(fresh))
        new = (
            "hypotheses.",
            "inputs.",
            "rows.views.",
            "weights.by_inputs",
        )  # of rules that there were not then
        assert set(header(tmp_path / "m.amiss")) == {name for name in header(fresh) if not name.startswith(new)}


# What the step from 1 to 2 translates.


@pytest.fixture
def old_file(tmp_path):
    """A copy of a sample of format 1."""

    def copied(kind="rows"):
        return Path(shutil.copy(FOLDER / f"format-1-{kind}.amiss", tmp_path / "m.amiss"))

    return copied


def test_the_score_of_format_1_is_the_rule(old_file):
    path = old_file("auto")
    assert description(path)["score"] == "flip" and description(path)["parameters"]["score"] == "auto"
    detector = amiss.load(path)
    assert detector.rule_ == "flip" and detector.rule == "auto"
    assert detector.choice_.rules == tuple(description(path)["choice"]["scores"])
    assert amiss.load(old_file("fdr")).rule == "lrw"


def test_half_is_a_share(old_file):
    path = old_file("auto")
    assert description(path)["parameters"]["crossfit"] == "half"
    detector = amiss.load(path)
    assert detector.crossfit == 0.5 and detector.fitted_.settings.scoring.out_of_fold_share == 0.5


def test_flags_that_the_first_files_did_not_hold_are_those_above_the_threshold(old_file):
    path = old_file("rows")
    assert "rows.flagged" not in header(path)
    rewritten(path, lambda said: said.update(threshold=0.6))
    detector = amiss.load(path)
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > 0.6)
    assert 0 < detector.labels_.sum() < 60


def test_flags_that_later_files_hold_are_taken_from_them(old_file):
    path = old_file("fdr")
    assert "rows.flagged" in header(path)
    highest = int(np.argmax(amiss.load(path).decision_scores_))
    rewritten(path, change_arrays=setting("rows.flagged", highest, False))
    with pytest.raises(DataError, match="damaged or altered"):
        amiss.load(path)


def test_how_a_table_was_read_may_be_empty_or_list_categories(old_file):
    path = old_file()
    for found, expected in (
        ({}, {"id": None, "drop": ()}),
        ({"id": "name"}, {"id": "name", "drop": ()}),
        ({"id": "name", "drop": ["a", "b"], "categorical": ["c"]}, {"id": "name", "drop": ("a", "b")}),
    ):
        rewritten(path, lambda said, found=found: said.update(reading=found))
        assert amiss.load(path).fitted_.reading == expected | {"probabilities": ()}


def test_a_file_without_a_calibration_is_not_calibrated(old_file):
    path = old_file()
    assert amiss.load(path).calibration_ is not None
    rewritten(
        path, change_arrays=lambda arrays: [arrays.pop(f"calibration.{name}") for name in ("scores", "parts")]
    )
    assert amiss.load(path).calibration_ is None


def test_parameters_that_format_1_did_not_have_yet_have_their_defaults(old_file):
    path = old_file()
    rewritten(path, lambda said: said["parameters"].pop("parent_penalty"))
    assert amiss.load(path).parent_penalty == 4.0


def test_before_format_5_every_output_was_0_or_1(tmp_path):
    path = Path(shutil.copy(FOLDER / "format-4-rows.amiss", tmp_path / "m.amiss"))
    detector = amiss.load(path)
    assert detector.output_kinds is None and detector.fitted_.columns.kinds == ()
    assert detector.output_quality_.kind == ("binary",) * 3
    for change in ({"kinds": []}, {"mixed": None}):
        rewritten(path, lambda said, change=change: said.update(change))
        with pytest.raises(DataError, match="damaged or altered"):
            amiss.load(path)
        shutil.copy(FOLDER / "format-4-rows.amiss", path)
    rewritten(path, lambda said: said["parameters"].update(output_kinds={"a": "class"}))
    with pytest.raises(DataError, match="damaged or altered"):
        amiss.load(path)


# Altered files of format 1 are refused as those of the present format are.


@each_of_format_1
def test_every_changed_byte_of_an_old_file_is_noticed(sample, tmp_path):
    content, rng, path = sample.read_bytes(), np.random.default_rng(0), tmp_path / "m.amiss"
    for place in [*range(20), *rng.integers(0, len(content), 40)]:
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        with pytest.raises(DataError, match=r"m\.amiss: "):
            amiss.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2}, {"score": "sum"}, {"score": "rw"}, {"score": None}, {"rule": "flip"}, {"calibrated": True},
        {"flagged": "stored"}, {"more": 1}, {"parameters": 5}, {"parameters": {}}, {"reading": []}, {"rows": 1},
        {"reading": {"run": "rm"}}, {"reading": {"drop": [1]}}, {"choice": 5}, {"choice": {}}, {"choice": []},
        {"rows": False}, {"threshold": float("nan")}, {"inputs": ["a", "a", "b"]},
    ],
    ids=str,
)  # fmt: skip
def test_descriptions_of_format_1_that_do_not_fit_are_refused(old_file, change):
    path = old_file()
    rewritten(path, lambda said: said.update(change))
    with pytest.raises(DataError, match=r"m\.amiss: the model file is damaged or altered"):
        amiss.load(path)


@pytest.mark.parametrize(
    "change",
    [{"rule": "flip"}, {"score": "rw"}, {"crossfit": "third"}, {"no such": 1}, {"n_jobs": 1}, {"n_neighbors": 11}],
    ids=str,
)
def test_parameters_of_format_1_that_do_not_fit_are_refused(old_file, change):
    path = old_file()
    rewritten(path, lambda said: said["parameters"].update(change))
    with pytest.raises(DataError, match=r"m\.amiss: the model file is damaged or altered"):
        amiss.load(path)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("rows", lambda arrays: arrays.pop("content")),
        ("rows", lambda arrays: arrays.update({"rows.fingerprints": arrays.pop("content")})),
        ("rows", lambda arrays: arrays.update({"content": arrays["content"][::-1].copy()})),
        ("rows", lambda arrays: arrays.pop("calibration.parts")),
        ("rows", lambda arrays: arrays.update({"calibration.contributions": arrays.pop("calibration.parts")})),
        ("rows", setting("calibration.parts", (3, 0), np.nan)),
        ("rows", setting("model.coef", (0, 0), np.inf)),
        ("rows", lambda arrays: arrays.update({"rows.flagged": np.ones(60, dtype=bool)})),
        ("fdr", lambda arrays: arrays.pop("rows.p_values")),
        ("without-rows", lambda arrays: arrays.pop("traces")),
        ("without-rows", lambda arrays: arrays.update({"membership": arrays.pop("traces")})),
        ("without-rows", lambda arrays: arrays.pop("quality.strength")),
        ("without-rows", lambda arrays: arrays["quality.converged"].view(np.uint8).fill(255)),
        ("without-rows", setting("weights", 0, 0.4)),
    ],
)
def test_arrays_of_format_1_that_do_not_fit_are_refused(old_file, kind, change):
    path = old_file(kind)
    rewritten(path, change_arrays=change)
    with pytest.raises(DataError, match=r"m\.amiss: the model file is damaged or altered"):
        amiss.load(path)


def test_names_of_arrays_are_followed_through_several_steps():
    first = Fields({"format": 1}, {"a": 1, "kept": 2}, {"b": "a", "same": "kept"})
    last = first.migrated({"format": 2}, {"c": "b"}).migrated({"format": 3}, {"d": "c"})
    assert last.description == {"format": 3}
    assert last.renamed == {"d": "a", "same": "kept"}
    assert last.has("d") and last.has("same") and not last.has("b") and not last.has("c")
