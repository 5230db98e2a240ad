"""The cells of Table 2: each repeat of each is computed once, and kept in a file of its own.

A cell is a dataset and a percentage of flipped outputs; a repeat is the seed of the flips. A run
that was stopped goes on where it stopped, and later runs only add the methods that are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from amiss.arrays import Floats
from amiss.data.dataset import Dataset
from amiss.detector import MCODE
from amiss.errors import DataError
from amiss.evaluation import atpar, inject, tpar
from amiss.files import atomic_write
from amiss.paper.methods import PAPER, refuse_missing_dependencies, scores_by_method
from amiss.paper.table2 import TABLE, files, load
from amiss.progress import Stages
from amiss.version import __version__

RATIO = 0.01
RATES = np.linspace(0.0005, 0.04, 80)


@dataclass(frozen=True)
class Job:
    """One repeat of one cell, and where its results are kept."""

    dataset: str
    percent: float
    repeat: int
    file: Path

    def kept(self) -> dict[str, Result]:
        """What is there of earlier runs of this version with these settings."""
        if not self.file.exists():
            return {}
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
            if (content["version"], content["settings"]) != (__version__, settings()):
                return {}
            return {name: Result.of(entry) for name, entry in content["methods"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{self.file}: not a file of amiss reproduce; delete it, or choose another -o"
            ) from error

    def keep(self, results: dict[str, Result]) -> None:
        """Add to the file, which is written atomically."""
        content = {
            "dataset": self.dataset,
            "percent": self.percent,
            "seed": self.repeat,
            "version": __version__,
            "settings": settings(),
            "methods": {name: vars(result) for name, result in {**self.kept(), **results}.items()},
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.file) as stream:
            stream.write(json.dumps(content).encode())


def settings() -> dict[str, str]:
    """Those of our default and of the paper's methods: results made with others are not kept."""
    default = {f"ours: {name}": repr(value) for name, value in MCODE().get_params().items()}
    return default | {f"paper: {name}": repr(value) for name, value in PAPER.items()}


@dataclass(frozen=True)
class Result:
    """One method's ATPAR, and its TPAR at each of ``RATES``."""

    atpar: float
    tpar: list[float]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Result:
        result = cls(float(entry["atpar"]), [float(value) for value in entry["tpar"]])
        if len(result.tpar) != len(RATES):
            raise ValueError("another number of alert rates")
        return result


def jobs(folder: Path, datasets: Sequence[str], repeats: int) -> list[Job]:
    """All that is asked for, dataset by dataset."""
    return [
        Job(name, percent, repeat, folder / "cells" / f"{name}-{percent:g}-{repeat}.json")
        for name in datasets
        for repeat in range(repeats)
        for percent in TABLE[name]
    ]


def run(data: Path, todo: Sequence[Job], methods: Sequence[str], stages: Stages) -> None:
    """Compute what is not kept yet."""
    missing = [(job, wanted) for job in todo if (wanted := [name for name in methods if name not in job.kept()])]
    if not missing:
        return
    loaded: dict[str, Dataset] = {}
    datasets = {job.dataset for job, _ in missing}
    for name in datasets:
        files(data, name)  # find out now that one is not there
    refuse_missing_dependencies({method for _, wanted in missing for method in wanted})
    cost = {name: _size(data, name) for name in datasets}
    with stages("cells", sum(cost[job.dataset] for job, _ in missing)) as advance:
        for job, wanted in missing:
            if job.dataset not in loaded:
                loaded = {job.dataset: load(data, job.dataset)}
            job.keep(measured(loaded[job.dataset], job, wanted))
            advance(cost[job.dataset])


def _size(data: Path, dataset: str) -> int:
    """Megabytes of a dataset, by which the time left is estimated."""
    return 1 + sum(file.stat().st_size for file in files(data, dataset)[0]) // 2**20


def measured(data: Dataset, job: Job, methods: Sequence[str]) -> dict[str, Result]:
    """Flip, fit and score once, and measure every method on the same flipped data."""
    clean = np.asarray(data.Y.values, dtype=float)
    Y, flipped = inject(clean, RATIO, job.percent / 100, job.repeat)
    return {
        method: Result(atpar(scores, flipped, RATIO), [tpar(scores, flipped, rate) for rate in RATES])
        for method, scores in scores_by_method(data.X, Y, methods).items()
    }


def collected(todo: Sequence[Job], methods: Sequence[str]) -> Iterator[tuple[str, float, dict[str, list[Result]]]]:
    """Results of each cell by method, over the repeats that all of them have."""
    cells: dict[tuple[str, float], dict[str, list[Result]]] = {}
    for job in todo:
        kept = job.kept()
        if not all(method in kept for method in methods):
            continue
        cell = cells.setdefault((job.dataset, job.percent), {method: [] for method in methods})
        for method in methods:
            cell[method].append(kept[method])
    for (dataset, percent), results in cells.items():
        yield dataset, percent, results


def curves(results: list[Result]) -> Floats:
    """TPAR at ``RATES`` of each repeat, ``(n_repeats, n_rates)``."""
    return np.array([result.tpar for result in results])
