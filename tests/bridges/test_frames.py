"""What was found, as frames: the same as the files, in three libraries, with missing values missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from support.tables import make_table

import amiss
from amiss.output import frame_libraries

KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
TO_PANDAS = {"pandas": lambda frame: frame, "polars": pl.DataFrame.to_pandas, "pyarrow": pa.Table.to_pandas}


@pytest.fixture(scope="module")
def detector():
    X, Y = make_table(80)
    Y[17] = 1 - Y[17]
    return amiss.MCODE(exclude=[0]).fit(X, Y)


@pytest.fixture(scope="module")
def batch(detector):
    X, Y = make_table(80)
    return detector.score_batch(X[:30] + 0.01, Y[:30])


def columns(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def dicts(frame):
    return frame.to_dicts() if isinstance(frame, pl.DataFrame) else frame.to_pylist()


@pytest.mark.parametrize("library", KINDS)
def test_frames_say_what_the_command_writes(amiss, records, tmp_path, library):
    from amiss import MCODE, cell_frame, read, row_frame

    asked = ["find", "records.csv", "--outputs", "tag_*", "--id", "name", "-q"]
    assert amiss(*asked, "-o", "found.csv").code == amiss(*asked, "--cells", "-o", "cells.csv").code == 0
    data = read(tmp_path / "records.csv", outputs="tag_*", id="name")
    fitted = MCODE().fit(data.X, data.Y)
    for make, file in ((row_frame, "found.csv"), (cell_frame, "cells.csv")):
        frame = make(fitted, ids=data.ids, library=library)
        assert isinstance(frame, KINDS[library])
        written = pd.read_csv(tmp_path / file).drop(columns="line")
        pd.testing.assert_frame_equal(TO_PANDAS[library](frame), written, check_dtype=False)


@pytest.mark.parametrize("library", KINDS)
def test_rows_of_a_batch_are_listed_as_the_command_lists_them(detector, batch, library):
    frame = amiss.row_frame(detector, batch=batch, n=4, reasons=1, library=library)
    assert columns(frame) == [
        "rank", "row", "score", "flagged", "p_value", "in_fit",
        "output_1", "observed_1", "probability_1", "contribution_1", "p_value_1",
    ]  # fmt: skip
    found = TO_PANDAS[library](frame)
    np.testing.assert_array_equal(found["row"], np.argsort(-batch.scores, kind="stable")[:4] + 1)
    assert found["p_value"].isna().all()
    cells = TO_PANDAS[library](amiss.cell_frame(detector, batch=batch, n=4, library=library))
    assert len(cells) == 4 and cells["row"].max() <= 30


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_what_is_missing_stays_missing(detector, library):
    """One of four outputs is left out, so every row lacks the fourth reason."""
    first = dicts(amiss.row_frame(detector, n=1, reasons=4, library=library))[0]
    assert first["output_3"] is not None
    assert [first[f"{name}_4"] for name in ("output", "observed", "probability", "contribution")] == [None] * 4


def test_in_pandas_whole_numbers_stay_whole_beside_missing_ones(detector):
    frame = amiss.row_frame(detector, reasons=4, library="pandas")
    assert str(frame["row"].dtype) == str(frame["flagged"].dtype) == "int64"
    assert str(frame["observed_4"].dtype) == "Int64" and frame["observed_4"].isna().all()
    assert frame["output_4"].isna().all() and frame["contribution_4"].isna().all()
    assert str(frame["probability_4"].dtype) == "float64"


@pytest.mark.parametrize("library", KINDS)
@pytest.mark.parametrize("make", [amiss.row_frame, amiss.cell_frame])
def test_a_frame_without_rows_has_all_columns(detector, make, library):
    empty, some = (make(detector, n=n, ids=range(80), library=library) for n in (0, 2))
    assert len(empty) == 0 and len(some) == 2
    assert columns(empty) == columns(some)


@pytest.mark.parametrize("library", KINDS)
def test_ids_that_are_numbers_stay_numbers_and_others_become_texts(detector, library):
    numbers = TO_PANDAS[library](amiss.row_frame(detector, ids=np.arange(80) * 10, library=library))
    np.testing.assert_array_equal(numbers["id"], (numbers["row"] - 1) * 10)
    mixed = [f"row {i}" if i else 0 for i in range(80)]
    texts = TO_PANDAS[library](amiss.cell_frame(detector, ids=mixed, library=library))
    assert list(texts["id"]) == [str(mixed[row - 1]) for row in texts["row"]]
    assert list(texts.columns[:3]) == ["rank", "row", "id"]


def test_the_first_library_that_is_installed_is_the_default(detector, monkeypatch):
    installed = list(KINDS)
    monkeypatch.setattr(frame_libraries, "find_spec", lambda name: name in installed or None)
    for kind in KINDS.values():
        assert isinstance(amiss.cell_frame(detector, n=1), kind)
        del installed[0]
    with pytest.raises(amiss.MissingDependencyError, match="a frame needs pandas, polars or pyarrow"):
        amiss.row_frame(detector)


@pytest.mark.parametrize(
    ("library", "message"),
    [
        ("pandas", "a pandas DataFrame needs pandas; install it with pip install pandas"),
        ("polars", "a polars DataFrame needs polars; install it with pip install polars"),
        ("pyarrow", r"a pyarrow Table needs pyarrow; install it with pip install pyarrow"),
    ],
)
def test_a_library_that_is_missing_is_named(detector, monkeypatch, library, message):
    monkeypatch.setattr(frame_libraries, "find_spec", lambda name: None)
    with pytest.raises(amiss.MissingDependencyError, match=message):
        amiss.row_frame(detector, library=library)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"library": "excel"}, "library must be one of 'pandas', 'polars', 'pyarrow'; got 'excel'"),
        ({"n": -1}, "n must be a whole number, at least 0; got -1"),
        ({"reasons": 0}, "reasons must be a whole number, at least 1; got 0"),
        ({"ids": ["a"]}, "there are 1 ids and 80 rows; give one id per row"),
    ],
)
def test_what_makes_no_sense_is_refused(detector, asked, message):
    with pytest.raises(ValueError, match=message):
        amiss.row_frame(detector, **asked)


def test_a_batch_goes_with_its_detector(batch):
    X, Y = make_table(80)
    other = amiss.MCODE().fit(X, Y[:, :2])
    with pytest.raises(amiss.DataError, match="pass the detector that scored it"):
        amiss.row_frame(other, batch=batch)


def test_a_detector_without_rows_lists_only_batches(tmp_path):
    X, Y = make_table(80)
    amiss.MCODE(n_neighbors=0).fit(X, Y).save(tmp_path / "model.amiss", rows=False)
    detector = amiss.load(tmp_path / "model.amiss")
    with pytest.raises(amiss.DataError, match="without"):
        amiss.row_frame(detector)
    assert len(amiss.row_frame(detector, batch=detector.score_batch(X[:5] + 0.01, Y[:5]))) == 5
    with pytest.raises(NotFittedError):
        amiss.cell_frame(amiss.MCODE())
