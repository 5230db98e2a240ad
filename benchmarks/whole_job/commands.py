"""The other commands beside `amiss find`, and one new row."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.find_all import Cost, measured

# What `amiss score` of one row does after its imports: they are made by a first call.
ONE_ROW = """
import sys, time
from amiss.cli import main
sys.argv = ["amiss", "score", *sys.argv[1:], "-q"]
seconds = []
for _ in range(6):
    start = time.perf_counter()
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, ended.code
    seconds.append(time.perf_counter() - start)
print(min(seconds[1:]))
"""


def beside_find(amiss: str, path: Path, folder: Path, repeats: int) -> None:
    """Print the time of each command, and how many times that of find it is."""
    table = [str(path), "--outputs", "y*", "-q"]
    listed = ["-o", str(folder / "list.csv")]
    model = str(folder / "model.amiss")
    sides = {
        "find": [amiss, "find", *table, *listed],
        "find --fdr 0.1": [amiss, "find", *table, *listed, "--fdr", "0.1"],
        "find --report": [amiss, "find", *table, *listed, "--report", str(folder / "report.html")],
        "fit": [amiss, "fit", *table, "-o", model],
        "score": [amiss, "score", model, str(path), *listed, "-q"],
    }
    print("\n| command | s | times find | CPU, times find | peak MB |\n|" + " --- |" * 5)
    cost: dict[str, Cost] = {}
    for side, command in sides.items():
        cost[side] = Cost.best([measured(command) for _ in range(repeats)])
        ratio = f"{cost[side].seconds / cost['find'].seconds:.2f}"
        work = f"{cost[side].cpu_seconds / cost['find'].cpu_seconds:.2f}"
        print(f"| {side} | {cost[side].seconds:.2f} | {ratio} | {work} | {cost[side].megabytes:.0f} |", flush=True)
    _one_row(amiss, path, folder, model)


def _one_row(amiss: str, path: Path, folder: Path, model: str) -> None:
    one = folder / "one.csv"
    with path.open() as table:
        one.write_text(next(table) + next(table))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([amiss, "score", model, str(one), "-q"], check=True)
        seconds.append(time.perf_counter() - start)
    after = subprocess.run(
        [sys.executable, "-c", ONE_ROW, model, str(one)], capture_output=True, text=True, check=True
    )
    print(f"\none row: {min(seconds):.2f} s, of which {float(after.stdout):.3f} s after imports", flush=True)
