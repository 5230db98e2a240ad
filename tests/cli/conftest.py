"""What tests of several commands share: new rows beside the records, and a model that was fitted to these."""

from __future__ import annotations

import pandas as pd
import pytest
from support.tables import make_table

OUTPUTS = ("--outputs", "tag_*", "--id", "name")


@pytest.fixture
def tables(tmp_path, records):
    """records.csv to fit to, and new.csv with other rows of the same world, one of them all wrong."""
    X, Y = make_table(160)
    new = pd.DataFrame(X[120:], columns=[f"in{i}" for i in range(5)])
    Y[125] = 1 - Y[125]
    new.insert(0, "name", [f"new {i}" for i in range(40)])
    for i in range(4):
        new[f"tag_{i}"] = Y[120:, i].astype(int)
    new.to_csv(tmp_path / "new.csv", index=False)
    return records, new


FITTED: dict[str, bytes] = {}  # by the first test that wants it


@pytest.fixture
def model(tmp_path, tables, amiss):
    """m.amiss, fitted to records.csv."""
    path = tmp_path / "m.amiss"
    if not FITTED:
        done = amiss("fit", "records.csv", *OUTPUTS, "-o", "m.amiss", "--neighbors", 30)
        assert done.code == 0, done.err
        FITTED["model"] = path.read_bytes()
    path.write_bytes(FITTED["model"])
    return path
