"""The names that ``import amiss`` offers."""

from __future__ import annotations

import pytest

import amiss


def test_public_names_are_there_when_asked_for():
    assert set(amiss.__all__) <= set(dir(amiss))
    for name in amiss.__all__:
        assert getattr(amiss, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        amiss.nothing  # noqa: B018
