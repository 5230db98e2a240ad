"""Model files taken apart and put together again, and what must be the same in two detectors."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from amiss.persistence.container import DIGEST, UNSIGNED


def header(path):
    """The table of arrays in a model file, by name."""
    content = path.read_bytes()
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def description(path):
    """What a model file says of itself."""
    return json.loads(header(path)["__metadata__"]["amiss"])


def signed(content: bytes) -> bytes:
    """The file with a right checksum, if it has a place for one."""
    place = DIGEST.search(content)
    if place is None:
        return content
    bare = content[: place.start(1)] + UNSIGNED.encode() + content[place.end(1) :]
    digest = hashlib.sha256(bare).hexdigest().encode()
    return content[: place.start(1)] + digest + content[place.end(1) :]


def rewritten(path, change_description=lambda said: None, change_arrays=lambda arrays: None):
    """A file somebody has changed on purpose, with a right checksum."""
    from safetensors import safe_open
    from safetensors.numpy import save

    with safe_open(path, framework="np") as file:
        said = json.loads(file.metadata()["amiss"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change_description(said)
    change_arrays(arrays)
    path.write_bytes(signed(save(arrays, metadata={"amiss": json.dumps(said)})))


def setting(name, place, value):
    """A change of one number of one array."""

    def change(arrays):
        arrays[name][place] = value

    return change


def assert_same_detector(one, other, X, Y):
    """Everything a user can ask of two detectors is the same, to the last bit."""
    for name in ("decision_scores_", "labels_", "probabilities_", "weights_", "contributions_", "threshold_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert str(one.output_quality_) == str(other.output_quality_)
    assert one.rule_ == other.rule_ and one.output_names_ == other.output_names_
    for mine, theirs in zip(one.explain_rows([0, 7]), other.explain_rows([0, 7]), strict=True):
        assert mine.to_dict() == theirs.to_dict()
    assert_same_batch(one.score_batch(X, Y), other.score_batch(X, Y))


def assert_same_batch(one, other):
    """Two detectors say the same of a batch of new rows."""
    assert one.threshold == other.threshold and one.remarks() == other.remarks()
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.flagged, other.flagged)
    np.testing.assert_array_equal(one.p_values, other.p_values)
    np.testing.assert_array_equal(one.drift.z, other.drift.z)
