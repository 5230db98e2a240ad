"""Kinds of model: linear, boosting and auto, on the paper's datasets and on errors that people made.

    python -m benchmarks.quality.models --data ../shared/data --real ../shared/real

ATPAR by the paper's protocol (1 % of the rows, 5 % of their outputs flipped), average precision over rows with 5 %
of the rows flipped, both as means over seeds, and seconds per fit; for errors of people, average precision over
cells and rows, as a mean over readers. Boosting 159 outputs of bibtex would take a day here, so of the larger
tables the benchmark takes ``--rows`` rows, and the ``--outputs`` outputs with most ones.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from amiss import MCODE
from amiss.arrays import Floats, Mask
from amiss.evaluation import atpar, inject
from amiss.output.cells import cell_scores
from amiss.paper.table2 import load
from benchmarks.quality.real import tables

DATASETS = ("birds", "yeast", "genbase", "enron", "mediamill", "bibtex", "yahoo-arts", "yahoo-business")
KINDS = ("linear", "boosting", "auto")


def part_of(folder: Path, name: str, rows: int, outputs: int) -> tuple[Any, Floats]:
    """A dataset, or a part of it that can be boosted here."""
    data = load(folder, name)
    Y = np.asarray(data.Y.values)
    some = np.sort(np.random.default_rng(0).permutation(len(Y))[:rows])
    most = np.sort(np.argsort(-Y[some].sum(axis=0), kind="stable")[:outputs])
    return data.X.take(some), Y[np.ix_(some, most)]


def fitted(kind: str, X: Any, Y: Floats, budget: float) -> tuple[MCODE, float]:
    """A detector, and how long the fit took."""
    begin = time.perf_counter()
    detector = MCODE(model=kind, time_budget=budget).fit(X, Y)
    return detector, time.perf_counter() - begin


def _ap(wrong: Mask, found: Floats) -> float:
    return float(average_precision_score(wrong.ravel(), found.ravel()))


def dataset(X: Any, Y: Floats, seed: int, kind: str, budget: float) -> list[float]:
    """ATPAR, average precision and seconds."""
    made, wrong = inject(Y, 0.01, 0.05, seed)
    first, _ = fitted(kind, X, made, budget)
    made, often = inject(Y, 0.05, 0.05, seed)
    second, seconds = fitted(kind, X, made, budget)
    return [float(atpar(first.decision_scores_, wrong)), _ap(often, second.decision_scores_), seconds]


def _print(name: str, figures: dict[str, list[list[float]]], titles: tuple[str, ...]) -> None:
    for place, title in enumerate(titles):
        means = {kind: float(np.mean([each[place] for each in found])) for kind, found in figures.items()}
        said = " ".join(f"{kind} {mean:8.3f}" for kind, mean in means.items())
        short = ""
        if title != "seconds" and {"linear", "boosting", "auto"} <= set(means):
            short = f"  auto - better {means['auto'] - max(means['linear'], means['boosting']):+.3f}"
        print(f"{name:15} {title:9} {said}{short}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--tables", default="ecg,relations")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rows", type=int, default=2500)
    parser.add_argument("--outputs", type=int, default=14)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--budget", type=float, default=600.0)
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    for name in given.datasets.split(",") if given.data else ():
        X, Y = part_of(given.data, name, given.rows, given.outputs)
        found: dict[str, list[list[float]]] = defaultdict(list)
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            for kind in kinds:
                found[kind].append(dataset(X, Y, seed, kind, given.budget))
        _print(f"{name} {len(Y)}x{Y.shape[1]}", found, ("ATPAR", "AP rows", "seconds"))
    if given.real:
        for name, (X, truth, readers) in tables(given.real).items():
            if name in given.tables.split(","):
                found = defaultdict(list)
                for Y in readers.values():
                    for kind in kinds:
                        detector, seconds = fitted(kind, X, Y, given.budget)
                        rows, wrong = detector.fitted_.training_rows, truth != Y
                        figures = [_ap(wrong, cell_scores(rows)), _ap(wrong.any(axis=1), rows.scores), seconds]
                        found[kind].append(figures)
                _print(name, found, ("AP cells", "AP rows", "seconds"))


if __name__ == "__main__":
    main()
