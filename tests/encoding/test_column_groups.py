"""A large table is learned from and scaled a part at a time, with the same result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from amiss.data.convert import as_table
from amiss.encoding import column_groups
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS


@pytest.mark.parametrize("scaling", sorted(SCALINGS))
@pytest.mark.parametrize("missing", [False, True])
def test_a_large_table_is_encoded_a_part_at_a_time_to_the_same_bits(monkeypatch, scaling, missing):
    rng = np.random.default_rng(3)
    values = np.hstack([rng.normal(size=(300, 20)), rng.poisson(0.2, size=(300, 20))]) * 10.0 ** rng.integers(
        -3, 4, 40
    )
    if missing:
        values[rng.random(values.shape) < 0.1] = np.nan
    table = as_table(values)
    whole = fit_encoder(table, SCALINGS[scaling])
    expected = whole.transform(table)
    monkeypatch.setattr(column_groups, "WORTH_PARTS", 1)
    monkeypatch.setattr(column_groups, "CELLS", 1)
    parts = fit_encoder(table, SCALINGS[scaling])
    np.testing.assert_array_equal(parts.transform(table), expected)
    np.testing.assert_array_equal(table.values, values)
    own = replace(table, values=values.copy())
    np.testing.assert_array_equal(parts.transform(own, overwrite=True), expected)
