"""Columns of texts that identify rows are refused."""

from __future__ import annotations

import numpy as np
import pytest

from amiss.data.table import Table
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError


def test_a_column_that_differs_in_every_row_is_refused_as_an_identifier():
    table = Table(np.arange(30.0)[:, None], ("protein",), {0: tuple(f"P{i}" for i in range(30))})
    with pytest.raises(DataError, match=r"'protein'.*--id"):
        fit_encoder(table, SCALINGS.named("block"))


def test_declared_levels_that_do_not_occur_make_no_identifier():
    levels = {0: tuple(f"L{i}" for i in range(50))}
    fit_encoder(Table(np.arange(60.0)[:, None] % 3, ("kind",), levels), SCALINGS.named("block"))


def test_a_part_of_a_table_may_have_texts_that_all_differ():
    table = Table(np.arange(30.0)[:, None], ("protein",), {0: tuple(f"P{i}" for i in range(30))})
    assert fit_encoder(table, SCALINGS.named("block"), part=True).n_columns == 30


def test_all_columns_that_look_like_identifiers_are_named_in_one_message():
    cells = np.column_stack([np.arange(30.0), np.arange(30.0), np.arange(30) % 2])
    texts = tuple(f"P{i}" for i in range(30))
    table = Table(cells, ("protein", "gene: name", "kind"), {0: texts, 1: texts, 2: ("a", "b")})
    with pytest.raises(
        DataError, match=r"'protein' \(30\), 'gene: name' \(30\); make one of them the id"
    ) as refused:
        fit_encoder(table, SCALINGS.named("block"))
    assert "kind" not in str(refused.value)
