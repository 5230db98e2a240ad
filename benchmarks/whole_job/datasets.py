"""The eight datasets: total time, and how alike the lists of two versions are."""

from __future__ import annotations

import csv
from pathlib import Path

from scipy.stats import spearmanr

from benchmarks.find_all import DATASETS, Cost, measured, table


def compared(amiss: str, old: str | None, data: Path | None, folder: Path, repeats: int) -> None:
    """Print the time of each dataset, and the rank correlation of its two lists."""
    print("\n| dataset | old, s | new, s | rank correlation |\n| --- | --- | --- | --- |")
    total = {"old": 0.0, "new": 0.0}
    for name in DATASETS:
        arguments = table(name, data, folder, 0)
        seconds, lists = {}, {}
        for side, command in {"old": old, "new": amiss}.items():
            if command is None:
                continue
            lists[side] = folder / f"{side}.csv"
            written = ["-o", str(lists[side]), "-q"]
            runs = [measured([command, "find", *arguments, *written]) for _ in range(repeats)]
            seconds[side] = Cost.best(runs).seconds
            total[side] += seconds[side]
        alike = f"{correlation(lists['old'], lists['new']):.5f}" if old else ""
        print(f"| {name} | {seconds.get('old', 0):.1f} | {seconds['new']:.1f} | {alike} |", flush=True)
    print(f"| total | {total['old']:.1f} | {total['new']:.1f} | |")


def correlation(old: Path, new: Path) -> float:
    """Spearman's, of the scores of two lists of the same rows."""
    one, other = scores(old), scores(new)
    keys = sorted(one)
    return float(spearmanr([one[key] for key in keys], [other[key] for key in keys]).statistic)


def scores(path: Path) -> dict[str, float]:
    with path.open(newline="") as file:
        return {row["row"]: float(row["score"]) for row in csv.DictReader(file)}
