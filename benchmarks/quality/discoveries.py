"""Is the false-discovery level kept, and how much is found?

    python -m benchmarks.quality.discoveries --data ../shared/data --seeds 50 -o discoveries.jsonl

A table is cut in two halves at random. A detector is fitted to and calibrated on one; in the other outputs are
flipped in some rows (10 % of the outputs, at least one), and those rows are judged at levels of 5, 10 and 20 %
against rows held out of the fit ("rows") and against outputs drawn from the models ("models"). Under "fit" the
rows of the fit are judged themselves: outputs are flipped in the half the detector is fitted to. A row that was
not flipped counts as a false discovery, though it may have been wrong before.

Also with 5 % of wrong rows in both halves ("fit dirty"), which makes the level against rows careful: how careful,
the table shows. Every seed is kept as soon as it is done, and not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from amiss import MCODE
from amiss.decide import discoveries
from amiss.evaluate import inject
from amiss.table import Floats, Mask, Table
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


def results(X: Table, Y: Floats, seed: int, only_new: bool) -> Iterator[dict[str, Any]]:
    """What every level gives, in every setting; ``only_new`` leaves out fits to flipped rows."""
    half = np.random.default_rng(seed).permutation(len(Y))
    mine, theirs = np.sort(half[: len(Y) // 2]), np.sort(half[len(Y) // 2 :])
    X_mine, X_theirs = X.take(mine), X.take(theirs)
    clean = MCODE().fit(X_mine, Y[mine]).calibrate(X_mine, Y[mine])
    for ratio in RATIOS:
        flipped, wrong = inject(Y[theirs], ratio, DIMENSIONALITY, seed)
        soiled, soil = inject(Y[mine], ratio, DIMENSIONALITY, seed + 10_000)
        fits = {"": clean}
        if ratio == DIRTY and not only_new:
            fits[", fit dirty"] = MCODE().fit(X_mine, soiled).calibrate(X_mine, soiled)
        for level, against, (which, detector) in product(LEVELS, AGAINST, fits.items()):
            flagged = detector.judge(X_theirs, flipped, fdr=level, against=against).flagged
            yield {"setting": against + which, "ratio": ratio, "level": level, **judged(flagged, wrong)}
        if only_new:
            continue
        within = MCODE(fdr=LEVELS[-1]).fit(X_mine, soiled)
        for level in LEVELS:
            flagged = discoveries(within.p_values_, level)
            yield {"setting": "fit", "ratio": ratio, "level": level, **judged(flagged, soil)}


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
    parser.add_argument("--datasets", default="digits,yeast,genbase,enron")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument(
        "--only-new", action="store_true", help="leave out fits to flipped rows, which take longer"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="where each seed's results are kept")
    arguments = parser.parse_args()
    lines = []
    if arguments.output.exists():
        lines = [json.loads(line) for line in arguments.output.read_text().splitlines()]
    done = {(line["dataset"], line["seed"]) for line in lines}
    for name in arguments.datasets.split(","):
        data, Y = table(name, arguments.data)
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            if (name, seed) in done:
                continue
            fresh = [
                {"dataset": name, "seed": seed, **result}
                for result in results(data.X, Y, seed, arguments.only_new)
            ]
            with arguments.output.open("a") as stream:
                stream.write("".join(json.dumps(line) + "\n" for line in fresh))
            lines += fresh
    printed(lines)


if __name__ == "__main__":
    main()
