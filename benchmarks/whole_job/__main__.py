"""The whole job, from a file to a list: time and memory, side by side in one run.

    python -m benchmarks.whole_job                                  # everything but the paper's datasets
    python -m benchmarks.whole_job --parts script --rows 10000,100000
    python -m benchmarks.whole_job --parts commands --data ../shared/data
    python -m benchmarks.whole_job --parts datasets --data ../shared/data --old /path/to/old/amiss

| part | what is compared |
| --- | --- |
| script | `amiss find` with a script of pandas, scikit-learn and cleanlab |
| growth | `amiss find` on more and more rows: time per row, peak memory against the file |
| survey | the same for three categories and four outputs |
| outputs | `amiss find --parents none` on more and more outputs |
| stages | where the time of `amiss find` goes |
| reading | `amiss.read` with pyarrow.csv and pandas.read_csv |
| commands | fit, score, find --fdr and find --report with find; one row, and what of it is imports |
| datasets | `amiss find` on the eight datasets, with an older version beside it, and how alike the lists are |

Every run is a process of its own; sides take turns, and the best of ``--repeats`` counts. The machine should have
nothing else to do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.find_all import Cost, measured
from benchmarks.whole_job import commands, datasets, tables
from benchmarks.whole_job.reading import reading
from benchmarks.whole_job.stages import stages

AMISS = str(Path(sys.executable).parent / "amiss")


def find(path: Path, folder: Path, *options: str) -> list[str]:
    """The command that finds the rows of a table and writes the list."""
    return [AMISS, "find", str(path), "--outputs", "y*", "-o", str(folder / "list.csv"), "-q", *options]


def best(sides: dict[str, list[str]], repeats: int) -> dict[str, Cost]:
    """The best of each side's runs; they take turns."""
    runs: dict[str, list[Cost]] = {side: [] for side in sides}
    for repeat in range(repeats):
        for side in list(sides)[:: -1 if repeat % 2 else 1]:
            runs[side].append(measured(sides[side]))
            print(f"{side}: {runs[side][-1]}", file=sys.stderr, flush=True)
    return {side: Cost.best(each) for side, each in runs.items()}


def header(*columns: str) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)


def row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def times_file(cost: Cost, path: Path) -> str:
    return f"{cost.megabytes / (path.stat().st_size / 2**20):.1f}"


def beside_script(folder: Path, rows: list[int], repeats: int) -> None:
    memory = "script, times the file", "amiss find, times the file"
    header("rows", "script, s", "amiss find, s", "ratio", "of CPU time", *memory)
    for n_rows in rows:
        path = tables.numbers(folder, n_rows)
        by_hand = [sys.executable, "-m", "benchmarks.whole_job.script", str(path), str(folder / "script.csv")]
        cost = best({"script": by_hand, "find": find(path, folder)}, repeats)
        script, ours = cost["script"], cost["find"]
        row(
            n_rows,
            f"{script.seconds:.1f}",
            f"{ours.seconds:.1f}",
            f"{script.seconds / ours.seconds:.2f}",
            f"{script.cpu_seconds / ours.cpu_seconds:.2f}",
            times_file(script, path),
            times_file(ours, path),
        )


def growth(made: Callable[[Path, int], Path], folder: Path, rows: list[int], repeats: int) -> None:
    header("rows", "s", "µs per row", "of the first", "peak MB", "times the file")
    first = None
    for n_rows in rows:
        path = made(folder, n_rows)
        cost = best({"find": find(path, folder)}, repeats)["find"]
        per_row = cost.seconds / n_rows * 1e6
        first = first or per_row
        row(
            n_rows,
            f"{cost.seconds:.1f}",
            f"{per_row:.0f}",
            f"{per_row / first:.2f}",
            f"{cost.megabytes:.0f}",
            times_file(cost, path),
        )


def many_outputs(folder: Path, counts: list[int], repeats: int) -> None:
    header("outputs", "s", "ms per output", "peak MB")
    for n_outputs in counts:
        path = tables.many_outputs(folder, n_outputs)
        cost = best({"find": find(path, folder, "--parents", "none")}, repeats)["find"]
        row(n_outputs, f"{cost.seconds:.2f}", f"{cost.seconds / n_outputs * 1e3:.1f}", f"{cost.megabytes:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", default="script,stages,growth,survey,outputs,reading,commands")
    parser.add_argument("--rows", default="10000,100000,500000", help="of the table beside the script")
    parser.add_argument("--growth", default="10000,100000,1000000", help="rows of the growing tables")
    parser.add_argument("--data", type=Path, help="folder with the paper's datasets")
    parser.add_argument("--old", metavar="AMISS", help="the command of another version, for the datasets")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the tables stay")
    arguments = parser.parse_args()
    rows, more = (list(map(int, text.split(","))) for text in (arguments.rows, arguments.growth))
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        repeats = arguments.repeats
        parts: dict[str, Callable[[], None]] = {
            "script": lambda: beside_script(folder, rows, repeats),
            "stages": lambda: stages([tables.numbers(folder, n_rows) for n_rows in rows], folder),
            "growth": lambda: growth(tables.numbers, folder, more, repeats),
            "survey": lambda: growth(tables.survey, folder, more, repeats),
            "outputs": lambda: many_outputs(folder, [10, 100, 1000], repeats),
            "reading": lambda: reading(tables.numbers(folder, rows[-1]), repeats),
            "commands": lambda: commands.beside_find(AMISS, tables.numbers(folder, 20_000), folder, repeats),
            "datasets": lambda: datasets.compared(AMISS, arguments.old, arguments.data, folder, repeats),
        }
        for name in arguments.parts.split(","):
            print(f"\n{name}", flush=True)
            parts[name]()


if __name__ == "__main__":
    main()
