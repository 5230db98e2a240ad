"""The container: what a file says of itself, and how it is written and opened."""

from __future__ import annotations

import hashlib
import os
import stat

import numpy as np
import pytest
from support.model_files import description, rewritten, signed
from support.tables import fitted, make_table, mixed_table

import amiss
from amiss import DataError
from amiss.persistence import container


def test_what_a_file_says_of_itself(tmp_path):
    X, Y = mixed_table()
    old = os.umask(0)
    try:
        fitted(X, Y, contamination=0.1).save(tmp_path / "m.amiss")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "m.amiss").stat().st_mode) == 0o600
    said = description(tmp_path / "m.amiss")
    assert said["format"] == container.FORMAT and said["amiss"] == amiss.__version__
    assert said["inputs"] == ["age", "sex", "ward, main"] and said["outputs"] == ["a", "b", "c"]
    assert said["rule"] == "mixture" and said["calibrated"] is False and said["flagged"] == "stored"
    assert said["parameters"]["contamination"] == 0.1 and said["threshold"] > 0
    assert not {"n_jobs", "verbose"} & set(said["parameters"])


def test_fortran_order_survives(tmp_path):
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    container.write(tmp_path / "f.amiss", {}, {"array": array}, lambda path: None)
    with container.opened(tmp_path / "f.amiss") as (_, file):
        np.testing.assert_array_equal(file.get_tensor("array"), array)


def test_names_that_no_header_can_hold_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"m\.amiss: the names of columns and categories are too many"):
        container.write(tmp_path / "m.amiss", {"inputs": ["x" * container.LONGEST_HEADER]}, {}, lambda path: None)
    assert list(tmp_path.iterdir()) == []


def test_a_later_format_asks_for_an_upgrade(model):
    rewritten(model, lambda said: said.update(format=container.FORMAT + 1))
    with pytest.raises(DataError, match=r"by a later amiss .*upgrade"):
        amiss.load(model)


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


def test_a_file_that_is_changed_while_it_is_read(model, monkeypatch):
    """Between the check of its bytes and the moment when its arrays are opened."""
    import safetensors

    opened = safetensors.safe_open

    def changing(path, **options):
        path.write_bytes(path.read_bytes())
        return opened(path, **options)

    monkeypatch.setattr(safetensors, "safe_open", changing)
    with pytest.raises(DataError, match="changed while it was read"):
        amiss.load(model)


def test_a_header_that_would_fill_the_memory(model):
    content = model.read_bytes()
    length = int.from_bytes(content[:8], "little")
    many = b"[]," * container.MOST_NESTED
    padded = content[8 : 8 + length].replace(b"{", b'{"x":{"dtype":[' + many + b"[]]},", 1)
    model.write_bytes(signed(len(padded).to_bytes(8, "little") + padded + content[8 + length :]))
    with pytest.raises(DataError, match="damaged"):
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
