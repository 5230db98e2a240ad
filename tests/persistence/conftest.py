"""A small model file, to be damaged and altered."""

from __future__ import annotations

import pytest
from support.tables import fitted, make_table


@pytest.fixture
def model(tmp_path):
    X, Y = make_table(30)
    fitted(X, Y, n_neighbors=5).calibrate(X, Y).save(tmp_path / "m.amiss")
    return tmp_path / "m.amiss"
