"""Pictures: functions from arrays to matplotlib figures, usable alone from a notebook (extra ``plot``)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.errors import MissingDependencyError
from amiss.files import atomic_write
from amiss.wording import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart; lines also differ in their dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A4B1F", "#8C8C8C", "#B8A800")
DASHES = ("-", "--", "-.", ":")
ORDINARY, WRONG = "#9AA5B1", "#D55E00"


def require_matplotlib() -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError("pictures need matplotlib: pip install 'amiss[plot]'")


def new_figure(**options: Any) -> Figure:
    """A figure that belongs to no window and no global state."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **options)


def save(figure: Figure, path: Path) -> None:
    """Write a PNG file, completely or not at all."""
    with atomic_write(path) as stream:
        figure.savefig(stream, format="png", dpi=120)


def _literal(text: str) -> str:
    """Text in which a dollar sign begins no formula, and that is not too long."""
    return printable(text, 30).replace("$", r"\$")


def tpar_curves(
    panels: Mapping[str, Mapping[str, Floats]],
    rates: Floats,
    title: str,
    injected: float = 0.01,
    stressed: str = "",
) -> Figure:
    """TPAR against alert rate, one panel for each title of ``panels``.

    A panel maps a method to its TPAR at ``rates`` in each repeat, ``(n_repeats, n_rates)``: the line
    is the mean, the band one standard deviation. The vertical line is the share of flipped rows; the
    method ``stressed`` has a thick black line.
    """
    figure = new_figure(figsize=(4.2 * len(panels) + 1.8, 3.6))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (name, curves) in zip(axes, panels.items(), strict=True):
        axis.axvline(injected, color="#777777", linewidth=1)
        for number, (method, values) in enumerate(curves.items()):
            colour, dashes, width = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)], 1.6
            if method == stressed:
                colour, dashes, width = "#000000", "-", 2.6
            mean = values.mean(axis=0)
            axis.plot(rates, mean, dashes, color=colour, linewidth=width, label=method, zorder=2 + width)
            if len(values) > 1:
                spread = values.std(axis=0, ddof=1)
                axis.fill_between(
                    rates, mean - spread, np.minimum(mean + spread, 1), color=colour, alpha=0.12, linewidth=0
                )
        axis.set(title=name, xlabel="alert rate", xlim=(0, rates[-1]), ylim=(0, 1.02))
        axis.set_xticks(np.linspace(0, rates[-1], 5))
    axes[0].set_ylabel("TPAR (precision)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle(title)
    return figure


def rho_space(
    places: Floats, outputs: Floats, rho: Floats, flipped: Mask, names: Sequence[str], title: str
) -> Figure:
    """The paper's first figure: rows where their inputs put them, and where the models put them.

    ``places`` is ``(n_rows, 2)``; ``outputs`` and ``rho`` are those of two outputs, ``(n_rows, 2)``.
    """
    names = [_literal(name) for name in names]
    figure = new_figure(figsize=(10.5, 5.6))
    left, right = figure.subplots(1, 2)
    kinds = [(a, b) for a in (0, 1) for b in (0, 1)]
    for (a, b), marker, colour in zip(kinds, "o^sD", ("#B9C2CC", "#56B4E9", "#009E73", "#0072B2"), strict=True):
        mine = (outputs[:, 0] == a) & (outputs[:, 1] == b)
        left.scatter(*places[mine].T, s=9, marker=marker, color=colour, linewidth=0,
                     label=f"{names[0]} = {a}, {names[1]} = {b}")  # fmt: skip
    left.set(xlabel="first principal axis of the inputs", ylabel="second", title="the rows")
    right.scatter(*rho[~flipped].T, s=9, color=ORDINARY, linewidth=0, label="as it was")
    for axis, at in ((left, places), (right, rho)):
        axis.scatter(*at[flipped].T, s=42, facecolor="none", edgecolor=WRONG, linewidth=1.6, label="flipped")
    right.set(xlabel=f"rho of {names[0]}", ylabel=f"rho of {names[1]}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03),
              title="their rho")  # fmt: skip
    for axis in (left, right):
        axis.legend(fontsize="small", frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    figure.suptitle(title)
    return figure


def precision_at_rates(precision: Mapping[str, Floats], rates: Sequence[float], title: str) -> Figure:
    """Expected precision of each rule at a few alert rates, with the spread over trials as whiskers.

    ``precision`` maps a rule to ``(n_trials, n_rates)``.
    """
    figure = new_figure(figsize=(7.2, 3.8))
    axis = figure.subplots()
    width = 0.8 / len(precision)
    for number, (rule, values) in enumerate(precision.items()):
        at = np.arange(len(rates)) + (number - (len(precision) - 1) / 2) * width
        spread = values.std(axis=0, ddof=1) if len(values) > 1 else None
        axis.bar(at, values.mean(axis=0), width * 0.92, yerr=spread, capsize=2, ecolor="#555555",
                 color=COLOURS[number % len(COLOURS)], label=rule)  # fmt: skip
    axis.set_xticks(np.arange(len(rates)), [f"{rate:.1%}" for rate in rates])
    axis.set(xlabel="share of rows looked at", ylabel="precision", ylim=(0, 1.05), title=title)
    axis.legend(frameon=False, ncols=len(precision), loc="upper right", fontsize="small")
    return figure
