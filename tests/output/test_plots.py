"""Pictures are made from arrays, and say what they show."""

from __future__ import annotations

import io

import numpy as np

from amiss.output.plots import precision_at_rates, rho_space, save, tpar_curves


def drawn(figure):
    target = io.BytesIO()
    figure.savefig(target, format="png")
    return target.getvalue()


def test_curves_have_a_line_and_a_band_per_method_and_the_line_of_the_injected_share():
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


def test_a_picture_is_saved_as_png(tmp_path):
    figure = precision_at_rates({"flip": np.array([[0.5]])}, (0.01,), "t")
    save(figure, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]
