"""Pictures are made from arrays, and say what they show."""

from __future__ import annotations

import io

import numpy as np
import pytest
from support.tables import fitted, make_table

from amiss.output.plots import (
    calibration_curve,
    dependence_map,
    precision_at_rates,
    rho_pair,
    rho_space,
    score_histogram,
    share_bars,
    tpar_curves,
)


def drawn(figure):
    target = io.BytesIO()
    figure.savefig(target, format="png")
    return target.getvalue()


def test_curves_have_a_line_and_a_band_a_method_and_the_line_of_the_injected_share():
    rates = np.linspace(0.001, 0.04, 40)
    methods = {"ours": np.random.default_rng(0).random((5, 40)), "theirs": np.zeros((5, 40))}
    figure = tpar_curves({"5 %": methods, "10 %": methods}, rates, "data", 0.01, stressed="ours")
    assert len(figure.axes) == 2
    for axis in figure.axes:
        upright, ours, theirs = axis.lines
        np.testing.assert_allclose(upright.get_xdata(), 0.01)
        np.testing.assert_allclose(ours.get_ydata(), methods["ours"].mean(axis=0))
        assert ours.get_linewidth() > theirs.get_linewidth()
        assert len(axis.collections) == 2
        assert axis.get_xlim() == (0, 0.04)
    assert drawn(figure)


def test_rho_space_marks_the_flipped_rows_in_both_pictures():
    rng = np.random.default_rng(0)
    flipped = np.arange(30) < 4
    figure = rho_space(
        rng.normal(size=(30, 2)), rng.integers(0, 2, (30, 2)), rng.random((30, 2)), flipped, ["$a", "b" * 99], "t"
    )
    for axis in figure.axes:
        assert len(axis.collections[-1].get_offsets()) == 4
    assert drawn(figure)  # a dollar in a name begins no formula


def test_precisions_are_bars_with_whiskers():
    figure = precision_at_rates(
        {"flip": np.array([[0.5, 0.2], [0.7, 0.4]]), "lrw": np.zeros((2, 2))}, (0.01, 0.04), "t"
    )
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    np.testing.assert_allclose(heights, [0.6, 0.3, 0, 0])
    assert drawn(figure)


def test_the_histogram_counts_every_row_and_marks_the_threshold():
    scores = np.random.default_rng(0).exponential(size=500)
    figure = score_histogram(scores, 3.0)
    axis = figure.axes[0]
    assert sum(bar.get_height() for bar in axis.patches) == 500
    np.testing.assert_allclose(axis.lines[0].get_xdata(), 3.0)
    assert drawn(figure) and drawn(score_histogram(np.ones(4), 1.0))


def test_an_explained_row_is_a_bar_an_output():
    X, Y = make_table(80)
    why = fitted(X, Y).explain(3)
    figure = share_bars(
        [output.output for output in why.outputs],
        np.array([output.share for output in why.outputs]),
        [output.observed for output in why.outputs],
        [output.expected for output in why.outputs],
        why.label,
    )
    axis = figure.axes[0]
    assert sum(bar.get_width() for bar in axis.patches) == pytest.approx(why.score)
    assert axis.get_yticklabels()[0].get_text().startswith(why.outputs[0].output)
    assert drawn(figure)


def test_calibration_dependence_and_pairs_are_drawn_from_arrays():
    rng = np.random.default_rng(0)
    probability = rng.random(400)
    figure = calibration_curve(probability, (rng.random(400) < probability).astype(float), "$a")
    assert np.abs(np.diff(figure.axes[0].lines[1].get_xydata(), axis=1)).max() < 0.2
    assert drawn(figure)
    figure = dependence_map(np.array([[0, 2.0], [-1.0, 0]]), ["a", "b" * 99])
    assert figure.axes[0].images[0].get_clim() == (-2, 2)
    assert drawn(figure) and drawn(dependence_map(np.zeros((1, 1)), ["a"]))
    flagged = np.arange(30) < 4
    figure = rho_pair(rng.random((30, 2)), flagged, ["a", "$b"])
    assert [len(dots.get_offsets()) for dots in figure.axes[0].collections] == [26, 4]
    assert drawn(figure)
