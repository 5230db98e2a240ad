"""Small files for the tests of the readers."""

from __future__ import annotations

import amiss


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def read_text(tmp_path, text, suffix=".csv", **options):
    options.setdefault("outputs", "y*")
    return amiss.read(written(tmp_path / f"t{suffix}", text), **options)
