"""Time and peak memory of `amiss find`, one process per table, with an older command beside it.

    python -m benchmarks.find_all --data ../shared/data                                        # this version
    python -m benchmarks.find_all --data ../shared/data --old /path/to/old/amiss --repeats 3   # beside another
    python -m benchmarks.find_all --data ../shared/data --tables all                           # all datasets
    python -m benchmarks.find_all --tables generated --rows 20000                              # a quick trial

Each run is `amiss find FILE --outputs … -o LIST -q`. The tables are mediamill, bibtex and "generated": a CSV file
of 500,000 rows with 30 numeric inputs and 10 binary outputs that depend on the inputs and on one another; one row
in a hundred has a flipped output. Old and new take turns, and the order changes from repeat to repeat.

It prints a Markdown table: for each table the best time, processor time and peak memory of the repeats, the ratios
of new to old, and whether both commands wrote the same list. The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

DATASETS = ("yeast", "birds", "genbase", "enron", "yahoo-arts", "yahoo-business", "bibtex", "mediamill")
IDENTIFIERS = {"genbase": "protein"}
GENERATED = "generated"
N_INPUTS, N_OUTPUTS, FLIPPED = 30, 10, 0.01
CHUNK = 10_000  # rows; a child's peak memory is at least that of its parent, so ours stays small


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    seconds: float
    cpu_seconds: float
    megabytes: float

    @classmethod
    def best(cls, runs: Sequence[Cost]) -> Cost:
        """The lowest of each figure."""
        return cls(
            min(run.seconds for run in runs),
            min(run.cpu_seconds for run in runs),
            min(run.megabytes for run in runs),
        )

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.cpu_seconds:.1f} s of processor time, {self.megabytes:.0f} MB"


def generate(path: Path, n_rows: int) -> None:
    """Write the generated table."""
    rng = np.random.default_rng(0)
    of_inputs = rng.normal(size=(N_INPUTS, N_OUTPUTS)) / np.sqrt(N_INPUTS)
    of_outputs = np.triu(rng.normal(size=(N_OUTPUTS, N_OUTPUTS)), k=1)  # an output depends on those before it
    names = [f"x{i}" for i in range(N_INPUTS)] + [f"y{i}" for i in range(N_OUTPUTS)]
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w") as file:
        file.write(",".join(names) + "\n")
        for start in range(0, n_rows, CHUNK):
            n_here = min(CHUNK, n_rows - start)
            X = rng.normal(size=(n_here, N_INPUTS))
            Y = np.zeros((n_here, N_OUTPUTS))
            for i in range(N_OUTPUTS):
                log_odds = 4 * X @ of_inputs[:, i] + 2 * (2 * Y - 1)[:, :i] @ of_outputs[:i, i] - 1
                Y[:, i] = log_odds + rng.logistic(size=n_here) > 0
            wrong = np.flatnonzero(rng.random(n_here) < FLIPPED)
            which = rng.integers(N_OUTPUTS, size=len(wrong))
            Y[wrong, which] = 1 - Y[wrong, which]
            np.savetxt(file, np.hstack([X, Y]), fmt=["%.5g"] * N_INPUTS + ["%d"] * N_OUTPUTS, delimiter=",")
    unfinished.replace(path)


def table(name: str, data: Path | None, folder: Path, n_rows: int) -> list[str]:
    """The arguments that name a table's files and outputs."""
    if name == GENERATED:
        path = folder / f"{GENERATED}-{n_rows}.csv"
        if not path.exists():
            generate(path, n_rows)
        return [str(path), "--outputs", "y*"]
    assert data is not None
    home = data / name
    files = sorted(map(str, home.glob("*.arff*")))
    if not files:
        sys.exit(f"{home}: no .arff file there")
    identifier = ["--id", IDENTIFIERS[name]] if name in IDENTIFIERS else []
    return [*files, "--outputs", str(home / f"{name}.xml"), *identifier]


def measured(command: list[str]) -> Cost:
    """Run a command; one that fails ends the benchmark."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)  # Linux counts KiB


def repeated(commands: dict[str, str], arguments: list[str], folder: Path, repeats: int) -> dict[str, Cost]:
    """The best of each command's runs; they take turns."""
    runs: dict[str, list[Cost]] = {side: [] for side in commands}
    for repeat in range(repeats):
        for side in list(commands)[:: -1 if repeat % 2 else 1]:
            written = ["-o", str(folder / f"{side}.csv"), "-q"]
            runs[side].append(measured([commands[side], "find", *arguments, *written]))
            print(f"{side}, run {repeat + 1}: {runs[side][-1]}", file=sys.stderr, flush=True)
    return {side: Cost.best(each) for side, each in runs.items()}


def same_list(old: Path, new: Path) -> str:
    """Whether two lists are the same; columns may have got other names."""
    with old.open() as ours, new.open() as theirs:
        same_header = next(ours, "") == next(theirs, "")
        if any(one != other for one, other in zip_longest(ours, theirs)):
            return "no"
    return "yes" if same_header else "yes, with another header"


def cells(name: str, best: dict[str, Cost], folder: Path) -> list[str]:
    """One line of the table."""
    new = best["new"]
    if "old" not in best:
        return [name, f"{new.seconds:.1f}", f"{new.cpu_seconds:.1f}", f"{new.megabytes:.0f}"]
    found = [name]
    for figure, digits in (("seconds", 1), ("cpu_seconds", 1), ("megabytes", 0)):
        before, after = getattr(best["old"], figure), getattr(new, figure)
        found += [f"{before:.{digits}f}", f"{after:.{digits}f}", f"{after / before:.2f}"]
    return [*found, same_list(folder / "old.csv", folder / "new.csv")]


def main() -> None:
    parser = argparse.ArgumentParser(description="time and peak memory of amiss find")
    parser.add_argument("--data", type=Path, help="folder with the paper's datasets")
    parser.add_argument("--tables", default=f"mediamill,bibtex,{GENERATED}", help="NAME,NAME or all")
    parser.add_argument("--old", metavar="AMISS", help="the command of another version to compare with")
    parser.add_argument("--new", metavar="AMISS", default=str(Path(sys.executable).parent / "amiss"))
    parser.add_argument("--repeats", type=int, default=1, help="runs per table and command; the best counts")
    parser.add_argument("--rows", type=int, default=500_000, help="rows of the generated table")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the generated table stays")
    arguments = parser.parse_args()
    names = (*DATASETS, GENERATED) if arguments.tables == "all" else arguments.tables.split(",")
    if arguments.data is None and set(names) != {GENERATED}:
        parser.error("--data is needed for the paper's datasets")
    commands = ({"old": arguments.old} if arguments.old else {}) | {"new": arguments.new}
    columns = ["table", "s", "CPU s", "MB"]
    if arguments.old:
        compared = [f"{unit}{side}" for unit in columns[1:] for side in (" old", " new", " new/old")]
        columns = ["table", *compared, "same list"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            rows = table(name, arguments.data, folder, arguments.rows)
            best = repeated(commands, rows, Path(temporary), arguments.repeats)
            print(f"| {' | '.join(cells(name, best, Path(temporary)))} |", flush=True)


if __name__ == "__main__":
    main()
