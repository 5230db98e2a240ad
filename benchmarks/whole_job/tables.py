"""Tables that the benchmark writes: numbers, and a survey of a few answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.find_all import CHUNK, generate

LEVELS = (("never", "seldom", "often", "always"), ("north", "south", "west"), ("young", "middle", "old"))


def numbers(folder: Path, n_rows: int) -> Path:
    """30 inputs and 10 outputs that depend on them and on each other."""
    path = folder / f"numbers-{n_rows}.csv"
    if not path.exists():
        generate(path, n_rows)
    return path


def survey(folder: Path, n_rows: int) -> Path:
    """Three categories as inputs, four outputs: nearly all rows have many equals."""
    path = folder / f"survey-{n_rows}.csv"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    effects = [rng.normal(size=(len(levels), 4)) for levels in LEVELS]
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w") as file:
        file.write("how_often,region,age," + ",".join(f"y{i}" for i in range(4)) + "\n")
        for start in range(0, n_rows, CHUNK):
            n_here = min(CHUNK, n_rows - start)
            answers = [rng.integers(len(levels), size=n_here) for levels in LEVELS]
            log_odds = sum(effect[answer] for effect, answer in zip(effects, answers, strict=True))
            Y = (log_odds + rng.logistic(size=(n_here, 4)) > 0).astype(int)
            for row in range(n_here):
                words = [levels[answer[row]] for levels, answer in zip(LEVELS, answers, strict=True)]
                file.write(",".join([*words, *map(str, Y[row])]) + "\n")
    unfinished.replace(path)
    return path


def many_outputs(folder: Path, n_outputs: int, n_rows: int = 3_000, n_inputs: int = 20) -> Path:
    """Outputs that depend on the inputs alone."""
    path = folder / f"outputs-{n_outputs}.csv"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_inputs))
    log_odds = 2 * X @ rng.normal(size=(n_inputs, n_outputs)) / np.sqrt(n_inputs) - 1
    Y = log_odds + rng.logistic(size=(n_rows, n_outputs)) > 0
    header = ",".join([f"x{i}" for i in range(n_inputs)] + [f"y{i}" for i in range(n_outputs)])
    table = np.hstack([X, Y])
    np.savetxt(
        path, table, fmt=["%.5g"] * n_inputs + ["%d"] * n_outputs, delimiter=",", header=header, comments=""
    )
    return path
