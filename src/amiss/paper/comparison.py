"""Table 2 side by side: our figures, and the paper's in brackets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_rel

from amiss.arrays import Floats
from amiss.paper.cells import RATIO, Result
from amiss.paper.methods import OURS
from amiss.paper.table2 import PAPER_METHODS, TABLE
from amiss.version import __version__

LEVEL = 0.05
Cell = tuple[str, float, dict[str, list[Result]]]


def markdown(cells: Sequence[Cell], methods: Sequence[str], command: str) -> str:
    """The table, its means, and how it was made."""
    rows = [["dataset", "%", "repeats", *methods], ["---"] * (len(methods) + 3)]
    for dataset, percent, results in cells:
        best = as_good_as_the_best({method: _atpars(results[method]) for method in methods})
        entries = [
            _entry(dataset, percent, method, _atpars(results[method]), method in best) for method in methods
        ]
        rows.append([dataset, f"{percent:g}", str(len(results[methods[0]])), *entries])
    rows.append(["**mean**", "", "", *(_mean_entry(cells, method) for method in methods)])
    repeats = {len(found) for _, _, results in cells for found in results.values()}
    lines = [
        f"ATPAR in [0, {RATIO}], mean ± standard deviation over {_range(repeats)} repeats (the paper's mean).",
        f"Bold: the best, and those a paired t-test at {LEVEL} does not tell from it.",
        "",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        *_verdict(cells, methods),
        "The paper names no scaling; its methods have block scaling here, and one penalty for all columns.",
        f"Made by `{command}` with amiss {__version__}; a repeat's number, from 0 on, is the seed of its flips.",
    ]
    return "\n".join(lines) + "\n"


def as_good_as_the_best(atpars: dict[str, Floats]) -> set[str]:
    """The method with the highest mean, and those that do not differ from it significantly.

    >>> high, low = np.array([0.9, 0.8, 0.9, 0.8]), np.array([0.1, 0.2, 0.1, 0.3])
    >>> sorted(as_good_as_the_best({"a": high, "b": low, "c": high - [0.2, -0.2, 0.1, 0]}))
    ['a', 'c']
    """
    best = max(atpars, key=lambda method: float(atpars[method].mean()))
    return {method for method in atpars if not _differs(atpars[best], atpars[method])}


def _differs(best: Floats, other: Floats) -> bool:
    gap = best - other
    if len(gap) < 2:
        return bool(gap.mean() > 0)
    if np.ptp(gap) < 1e-12:  # no spread to compare the gap with
        return bool(abs(gap[0]) > 1e-12)
    return bool(ttest_rel(best, other).pvalue < LEVEL)


def paper_mean(dataset: str, percent: float, method: str) -> float:
    return TABLE[dataset][percent][PAPER_METHODS.index(method)][0]


def _entry(dataset: str, percent: float, method: str, atpars: Floats, bold: bool) -> str:
    spread = f" ± {atpars.std(ddof=1):.2f}" if len(atpars) > 1 else ""
    text = f"{atpars.mean():.2f}{spread}"
    text = f"**{text}**" if bold else text
    return text + (f" ({paper_mean(dataset, percent, method):.2f})" if method in PAPER_METHODS else "")


def _mean_entry(cells: Sequence[Cell], method: str) -> str:
    ours = np.mean([_atpars(results[method]).mean() for _, _, results in cells])
    if method not in PAPER_METHODS:
        return f"{ours:.3f}"
    return f"{ours:.3f} ({np.mean([paper_mean(dataset, percent, method) for dataset, percent, _ in cells]):.3f})"


def _verdict(cells: Sequence[Cell], methods: Sequence[str]) -> list[str]:
    """How the default detector stands against the best of the paper's methods, to the paper's two digits."""
    if OURS not in methods:
        return []
    short = []
    for dataset, percent, results in cells:
        reached = float(_atpars(results[OURS]).mean())
        best = max(mean for mean, _ in TABLE[dataset][percent])
        if round(reached, 2) < best:
            short.append(f"{dataset} {percent:g} % ({reached:.3f}, the paper's best {best:.2f})")
    reached_in = f"{len(cells) - len(short)} of {len(cells)} cells"
    text = f"To two digits, {OURS} is at or above the best of the paper's five methods in {reached_in}"
    best_mean = np.mean([max(mean for mean, _ in TABLE[dataset][percent]) for dataset, percent, _ in cells])
    text += f" (whose mean is {best_mean:.3f})"
    return [text + (f"; below it in {', '.join(short)}." if short else "."), ""]


def _atpars(results: list[Result]) -> Floats:
    return np.array([result.atpar for result in results])


def _range(repeats: set[int]) -> str:
    return str(max(repeats)) if len(repeats) == 1 else f"{min(repeats)} to {max(repeats)}"
