"""Is the false-discovery level kept, and how much is found?

    python -m benchmarks.quality.discoveries --data ../shared/data --seeds 50 -o discoveries.jsonl

A table is cut in two halves at random. A detector is fitted to and calibrated on one; in the other outputs are
flipped in some rows (10 % of the outputs, at least one), and those rows are judged at levels of 5, 10 and 20 %
against rows held out of the fit ("rows") and against outputs drawn from the models ("models"). A row that was
not flipped counts as a false discovery, though it may have been wrong before. ``--settings`` says of which fit:

- new: MCODE() on a half as it is;
- dirty: on one with 5 % of wrong rows too, which makes the level against rows careful (the table shows how much);
- fdr: MCODE(fdr=0.2), whose rows are scored by models that did not see them;
- fit: the rows of the fit themselves, in which outputs are flipped, as amiss find --fdr judges them.

Every seed is kept as soon as it is done, and not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from amiss import MCODE
from amiss.arrays import Floats, Mask
from amiss.data.table import Table
from amiss.decisions.p_values import discoveries
from amiss.evaluation import inject
from benchmarks.quality.naming import table

LEVELS = (0.05, 0.1, 0.2)
RATIOS = (0.02, 0.05, 0.1)
DIRTY = 0.05  # of the rows of the fit are flipped too, where it is dirty
DIMENSIONALITY = 0.1
AGAINST: tuple[Literal["rows", "models"], ...] = ("rows", "models")


def judged(flagged: Mask, wrong: Mask) -> dict[str, float]:
    """The share of false discoveries, the share of wrong rows that are found, and the number of discoveries."""
    found = int(flagged.sum())
    false = float((flagged & ~wrong).sum() / max(1, found))
    return {"false": false, "power": float(flagged[wrong].mean()), "found": found}


@dataclass(frozen=True)
class Halves:
    """A table cut in two at random: one half to fit, one to judge."""

    X: Table
    Y: Floats
    X_new: Table
    Y_new: Floats
    seed: int

    @classmethod
    def of(cls, X: Table, Y: Floats, seed: int) -> Halves:
        half = np.random.default_rng(seed).permutation(len(Y))
        mine, theirs = np.sort(half[: len(Y) // 2]), np.sort(half[len(Y) // 2 :])
        return cls(X.take(mine), Y[mine], X.take(theirs), Y[theirs], seed)

    def flipped(self, ratio: float) -> tuple[Floats, Mask]:
        """Outputs to judge, and which rows of them are wrong."""
        return inject(self.Y_new, ratio, DIMENSIONALITY, self.seed)

    def soiled(self, ratio: float) -> tuple[Floats, Mask]:
        """Outputs to fit to, and which rows of them are wrong."""
        return inject(self.Y, ratio, DIMENSIONALITY, self.seed + 10_000)

    def judged_new(self, detector: MCODE, called: str, ratios: tuple[float, ...]) -> Iterator[dict[str, Any]]:
        for ratio, level, against in product(ratios, LEVELS, AGAINST):
            flipped, wrong = self.flipped(ratio)
            flagged = detector.score_batch(self.X_new, flipped, fdr=level, against=against).flagged
            yield {"setting": against + called, "ratio": ratio, "level": level, **judged(flagged, wrong)}


def clean(halves: Halves) -> Iterator[dict[str, Any]]:
    detector = MCODE().fit(halves.X, halves.Y).calibrate(halves.X, halves.Y)
    yield from halves.judged_new(detector, "", RATIOS)


def dirty(halves: Halves) -> Iterator[dict[str, Any]]:
    soiled, _ = halves.soiled(DIRTY)
    detector = MCODE().fit(halves.X, soiled).calibrate(halves.X, soiled)
    yield from halves.judged_new(detector, ", fit dirty", (DIRTY,))


def with_level(halves: Halves) -> Iterator[dict[str, Any]]:
    detector = MCODE(fdr=LEVELS[-1]).fit(halves.X, halves.Y).calibrate(halves.X, halves.Y)
    yield from halves.judged_new(detector, ", fit by fdr", RATIOS)


def within(halves: Halves) -> Iterator[dict[str, Any]]:
    for ratio in RATIOS:
        soiled, wrong = halves.soiled(ratio)
        detector = MCODE(fdr=LEVELS[0]).fit(halves.X, soiled)
        for level in LEVELS:
            flagged = discoveries(detector.p_values_, level)
            yield {"setting": "fit", "ratio": ratio, "level": level, **judged(flagged, wrong)}


SETTINGS = {"new": clean, "dirty": dirty, "fdr": with_level, "fit": within}


def printed(lines: list[dict[str, Any]]) -> None:
    """Share of false discoveries, mean and spread over seeds; in brackets the share of wrong rows found."""
    cells: dict[tuple[Any, ...], dict[float, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        cells[line["dataset"], line["setting"], line["ratio"]][line["level"]].append(line)
    print(f"| dataset | against | flipped | {' | '.join(f'level {level:.0%}' for level in LEVELS)} | seeds |")
    print(f"| --- | --- | --- |{' --- |' * (len(LEVELS) + 1)}")
    for (name, setting, ratio), levels in sorted(cells.items()):
        said = []
        for level in LEVELS:
            false, power = (np.array([line[key] for line in levels[level]]) for key in ("false", "power"))
            mark = "**" if false.mean() > level else ""
            said.append(f"{mark}{false.mean():.3f}{mark} ± {false.std():.3f} ({power.mean():.2f})")
        print(f"| {name} | {setting} | {ratio:.0%} | {' | '.join(said)} | {len(levels[LEVELS[0]])} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="is the false-discovery level kept, and how much is found?")
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument("--datasets", default="digits,yeast,genbase,birds")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--settings", default="new,dirty,fit", help="some of " + ", ".join(SETTINGS))
    parser.add_argument("-o", "--output", type=Path, required=True, help="where each seed's results are kept")
    arguments = parser.parse_args()
    lines = []
    if arguments.output.exists():
        lines = [json.loads(line) for line in arguments.output.read_text().splitlines()]
    done = {(line["dataset"], line["seed"], line["kind"]) for line in lines}
    for name in arguments.datasets.split(","):
        data, Y = table(name, arguments.data)
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        for seed, kind in product(seeds, arguments.settings.split(",")):
            if (name, seed, kind) in done:
                continue
            said = {"dataset": name, "seed": seed, "kind": kind}
            fresh = [said | result for result in SETTINGS[kind](Halves.of(data.X, Y, seed))]
            with arguments.output.open("a") as stream:
                stream.write("".join(json.dumps(line) + "\n" for line in fresh))
            lines += fresh
    printed(lines)


if __name__ == "__main__":
    main()
