"""The benchmark of numeric tables, printed: each table and kind of error, and means."""

from __future__ import annotations

from collections.abc import Sequence

from amiss.arrays import Floats
from amiss.paper.comparison import LEVEL, as_good_as_the_best
from amiss.paper.contextual import KINDS
from amiss.paper.contextual_cells import Cell, mean_of_tables
from amiss.version import __version__

# Means over all twenty tables as stored, and over the twelve with several outputs whose errors are independent.
ELSEWHERE = {
    "QCAD": (0.853, 0.945),
    "ROCOD": (0.718, 0.798),
    "CAD": (0.602, 0.870),
    "LoPAD": (0.141, 0.102),
}


def markdown(cells: Sequence[Cell], methods: Sequence[str], command: str) -> str:
    """The table, its means, and how it was made."""
    rows = [["table", "error", "repeats", *methods], ["---"] * (len(methods) + 3)]
    rows += [_row(cell, methods) for cell in cells]
    kinds = [kind for kind in KINDS if any(cell.kind == kind for cell in cells)]
    rows += [_mean_row(cells, kind, methods) for kind in kinds]
    lines = [
        "PR-AUC: average precision over rows, mean ± standard deviation over repeats.",
        f"Bold: the best, and those a paired t-test at {LEVEL} does not tell from it.",
        "",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        *(f"{kind}: {KINDS[kind].description}." for kind in kinds),
        elsewhere(),
        f"Made by `{command}` with amiss {__version__}; a repeat's number, from 0 on, is the seed of its errors.",
    ]
    return "\n".join(lines) + "\n"


def elsewhere() -> str:
    """The figures of methods that do not run here, with what keeps them from being compared."""
    figures = "; ".join(f"{method} {one:.3f} and {two:.3f}" for method, (one, two) in ELSEWHERE.items())
    return (
        "Not to be compared directly, because these are means over other and more tables (all twenty of Li and "
        f"van Leeuwen, 2023, as stored; and the twelve with several outputs, independent): {figures}."
    )


def _row(cell: Cell, methods: Sequence[str]) -> list[str]:
    found = {method: cell.average_precisions(method) for method in methods}
    best = as_good_as_the_best(found)
    entries = [_entry(found[method], method in best) for method in methods]
    return [cell.table, cell.kind, str(len(found[methods[0]])), *entries]


def _mean_row(cells: Sequence[Cell], kind: str, methods: Sequence[str]) -> list[str]:
    return ["**mean**", kind, "", *(f"{mean_of_tables(cells, kind, method):.3f}" for method in methods)]


def _entry(found: Floats, bold: bool) -> str:
    spread = f" ± {found.std(ddof=1):.2f}" if len(found) > 1 else ""
    text = f"{found.mean():.2f}{spread}"
    return f"**{text}**" if bold else text
