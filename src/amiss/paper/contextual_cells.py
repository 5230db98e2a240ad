"""The cells of the contextual benchmark: every method on the same errors, table by table and kind by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.metrics import average_precision_score

from amiss.arrays import Floats
from amiss.paper.contextual import KINDS, ContextualTable, Trial, load
from amiss.paper.contextual_methods import SCORERS
from amiss.progress import Stages


@dataclass(frozen=True)
class Result:
    """One method's average precision over rows (PR-AUC) in one trial, and how long it took."""

    average_precision: float
    seconds: float


@dataclass(frozen=True)
class Cell:
    """Results of one kind of error in one table, by method; one result per repeat."""

    table: str
    kind: str
    results: dict[str, list[Result]]

    def average_precisions(self, method: str) -> Floats:
        return np.array([result.average_precision for result in self.results[method]])


def measured(trial: Trial, methods: Sequence[str]) -> dict[str, Result]:
    """Every method on the same errors."""
    results = {}
    for method in methods:
        start = perf_counter()
        scores = SCORERS[method](trial.X, trial.Y)
        seconds = perf_counter() - start
        results[method] = Result(float(average_precision_score(trial.wrong_rows, scores)), seconds)
    return results


def run(
    folder: Path,
    tables: Sequence[str],
    methods: Sequence[str],
    seeds: Sequence[int],
    stages: Stages,
    kinds: Sequence[str] = tuple(KINDS),
) -> Iterator[Cell]:
    """The cells of the tables, each as soon as it is finished; all tables are read before the work begins."""
    loaded = [load(folder, name) for name in tables]
    cells = [(table, kind) for table in loaded for kind in kinds if KINDS[kind].fits(table)]
    with stages("cells", sum(_cost(table, kind, seeds) for table, kind in cells)) as advance:
        for table, kind in cells:
            results: dict[str, list[Result]] = {method: [] for method in methods}
            for seed in _seeds(kind, seeds):
                for method, result in measured(KINDS[kind].make(table, seed), methods).items():
                    results[method].append(result)
                advance(table.Y.size)
            yield Cell(table.name, kind, results)


def _seeds(kind: str, seeds: Sequence[int]) -> Sequence[int]:
    """Errors that are not drawn are the same for every seed."""
    return seeds if KINDS[kind].drawn else seeds[:1]


def _cost(table: ContextualTable, kind: str, seeds: Sequence[int]) -> int:
    """Cells of the outputs, by which the time left is estimated."""
    return len(_seeds(kind, seeds)) * table.Y.size


def mean_of_tables(cells: Sequence[Cell], kind: str, method: str) -> float:
    """Average precision of one kind of error: the mean over repeats, then over tables."""
    return float(np.mean([cell.average_precisions(method).mean() for cell in cells if cell.kind == kind]))
