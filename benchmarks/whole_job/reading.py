"""Reading a clean file: ours beside pyarrow's and pandas' reader, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# The clock starts after the imports: the sides import different things.
TIMED = (
    "import sys, time; path = sys.argv[1]; {imports}; start = time.perf_counter(); "
    "{work}; print(time.perf_counter() - start)"
)
SIDES = {
    "pyarrow.csv": ("from pyarrow import csv", "csv.read_csv(path)"),
    "pandas": ("import pandas", "pandas.read_csv(path)"),
    "amiss.read": (
        "import amiss, amiss.readers.fast_delimited, pyarrow.csv",
        "data = amiss.read(path, outputs='y*'); data.X, data.Y",
    ),
}


def reading(path: Path, repeats: int) -> None:
    """Print the seconds of each, and how many times pyarrow's they are."""
    print("\n| reader | s | times pyarrow |\n| --- | --- | --- |")
    seconds: dict[str, float] = {}
    for _ in range(repeats):
        for side, (imports, work) in SIDES.items():
            program = TIMED.format(imports=imports, work=work)
            done = subprocess.run(
                [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
            )
            seconds[side] = min(seconds.get(side, float("inf")), float(done.stdout))
    for side, taken in seconds.items():
        print(f"| {side} | {taken:.2f} | {taken / seconds['pyarrow.csv']:.2f} |", flush=True)
