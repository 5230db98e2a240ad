"""Batches that are sorted by an output, or hold one value of it, and levels that are promised on them."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import fitted, make_table

from amiss.data.remark import Code
from amiss.monitoring.row_order import remarks_on_order


@pytest.fixture(scope="module")
def detector():
    X, Y = make_table(400)
    return fitted(X[:300], Y[:300]), X[300:], Y[300:]


def said(detector, X, Y, code, **request):
    return [remark.text for remark in detector.score_batch(X, Y, **request).coded_remarks() if remark.code == code]


def test_a_sorted_batch_is_named_and_a_shuffled_one_is_not(detector):
    fit, X, Y = detector
    assert said(fit, X, Y, Code.SORTED) == []
    for order in (np.argsort(Y[:, 2], kind="stable"), np.argsort(-Y[:, 2], kind="stable")):
        (text,) = said(fit, X[order], Y[order], Code.SORTED)
        assert text.startswith("The rows are sorted by y2. ") and "shuffle the file" in text


def test_a_batch_with_one_value_of_a_common_output(detector):
    fit, X, Y = detector
    ones = Y[:, 1] == 1
    (text,) = said(fit, X[ones], Y[ones], Code.SORTED)
    assert text.startswith("Only one value occurs: y1 = 1 in all rows (")
    few = np.flatnonzero(ones)[:4]
    assert said(fit, X[few], Y[few], Code.SORTED) == []  # four ones in a row are nothing


def test_amounts_and_classes_are_sorted_too():
    from amiss.data.output_kinds import CLASS, NUMBER, OutputColumn

    columns = OutputColumn("dose", NUMBER), OutputColumn("ward", CLASS, ("u", "v", "w"))
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60)])
    assert remarks_on_order(Y, columns, np.array([0.5, 0.5])) == []
    both = np.column_stack([np.sort(Y[:, 0]), np.repeat([2.0, 0.0, 1.0], 20)])
    (text,) = remarks_on_order(both, columns, np.array([0.5, 0.5]))
    assert "sorted by dose and by ward" in text


def test_a_level_is_doubted_on_a_batch_that_changed_and_only_there(detector):
    fit, X, Y = detector
    assert said(fit, X, Y, Code.DRIFTED_LEVEL, fdr=0.1) == []
    (text,) = said(fit, X + 5, Y, Code.DRIFTED_LEVEL, fdr=0.1)
    assert "The level of 10% holds only if" in text and "5 inputs changed" in text and "--alerts" in text
    assert said(fit, X + 5, Y, Code.DRIFTED_LEVEL) == []
    assert said(fit, X + 5, Y, Code.DRIFTED_LEVEL, alerts=3) == []
