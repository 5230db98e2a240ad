"""Numeric outputs: which errors does the default find, and how long does it take?

    python -m benchmarks.quality.numeric --data ../shared/numeric --seeds 3 > numeric.txt

Average precision over rows (PR-AUC) for each table and kind of error of the contextual benchmark, as a mean over
seeds (from 0 on; stored errors have none), seconds per fit and table, and the means of each kind over the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from amiss import progress
from amiss.paper.contextual import KINDS, names_of_tables
from amiss.paper.contextual_cells import Cell, mean_of_tables, run
from amiss.paper.contextual_comparison import elsewhere
from amiss.paper.contextual_methods import SCORERS


def line(title: str, detail: str, values: Sequence[float], digits: int) -> None:
    print(f"{title:18} {detail:11}" + "".join(f"{value:23.{digits}f}" for value in values), flush=True)


def seconds(cells: Sequence[Cell], method: str) -> float:
    """The mean of one method's fits."""
    return float(np.mean([result.seconds for cell in cells for result in cell.results[method]]))


def listed(text: str | None, known: Sequence[str], refuse: Callable[[str], object]) -> list[str]:
    """The names that an option lists, by default all."""
    names = list(known) if text is None else text.split(",")
    if unknown := [name for name in names if name not in known]:
        refuse(f"there is no {', '.join(unknown)}; choose from {', '.join(known)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets")
    parser.add_argument("--kinds")
    parser.add_argument("--methods")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    tables = listed(given.datasets, names_of_tables(given.data), parser.error)
    kinds = listed(given.kinds, tuple(KINDS), parser.error)
    methods = listed(given.methods, tuple(SCORERS), parser.error)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    print(f"{'':30}" + "".join(f"{method:>23}" for method in methods), flush=True)
    cells: list[Cell] = []
    found = run(given.data, tables, methods, seeds, progress.silent, kinds)
    for table, group in groupby(found, key=lambda cell: cell.table):
        of_table = []
        for cell in group:
            of_table.append(cell)
            line(table, cell.kind, [cell.average_precisions(method).mean() for method in methods], 3)
        line(table, "seconds", [seconds(of_table, method) for method in methods], 1)
        cells += of_table
    for kind in (kind for kind in kinds if any(cell.kind == kind for cell in cells)):
        line("mean", kind, [mean_of_tables(cells, kind, method) for method in methods], 3)
    print(elsewhere())


if __name__ == "__main__":
    main()
