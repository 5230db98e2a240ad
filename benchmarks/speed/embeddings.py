"""Embeddings: 50,000 rows of 768 and of 2,048 float32 columns with 20 outputs, by the old code and by the new.

    python -m benchmarks.speed.embeddings --old /path/to/old/src
    python -m benchmarks.speed.embeddings --columns 768 --rows 10000

Every fit runs in a process of its own; those of the old and of the new code take turns on the same table. It
has 64 factors of falling variance, in all columns at once and with noise; an output is a noisy linear function of
twelve of them. One output is flipped in 2 % of the rows, and the average precision says how well these rows are
found. Memory is the peak of the whole process: the interpreter, its libraries, the table, and what the fit adds;
and the same without interpreter and libraries, which are there before the table is made. Seconds of the processor
tell more than those of the clock where others use the machine too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

N_OUTPUTS, N_FACTORS, TOLD_BY = 20, 64, 12
FLIPPED = 50  # one row in so many
BLOCK = 4096
TRIES = 5

Single = npt.NDArray[np.float32]


def embeddings(n_rows: int, n_columns: int, seed: int = 0) -> tuple[Single, npt.NDArray[Any], npt.NDArray[Any]]:
    """Inputs, outputs, and which rows have a flipped output."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_rows, N_FACTORS), dtype=np.float32)
    spread = (1 / np.sqrt(1 + np.arange(N_FACTORS))).astype(np.float32)
    told = np.zeros((N_FACTORS, N_OUTPUTS), dtype=np.float32)
    for output in range(N_OUTPUTS):
        told[rng.permutation(N_FACTORS)[:TOLD_BY], output] = rng.standard_normal(TOLD_BY)
    axes = (rng.standard_normal((N_FACTORS, n_columns)) / np.sqrt(n_columns)).astype(np.float32)
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for start in range(0, n_rows, BLOCK):
        rows = slice(start, min(start + BLOCK, n_rows))
        noise = rng.standard_normal(X[rows].shape, dtype=np.float32)
        X[rows] = (factors[rows] * spread) @ axes + noise * (spread[-1] / np.float32(np.sqrt(n_columns)))
    log_odds = 2.5 * (factors @ told) + rng.normal(-2.0, 1.0, N_OUTPUTS)
    Y = (rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(float)
    wrong = rng.permutation(n_rows)[: n_rows // FLIPPED]
    column = rng.integers(0, N_OUTPUTS, len(wrong))
    Y[wrong, column] = 1 - Y[wrong, column]
    flipped = np.zeros(n_rows, dtype=bool)
    flipped[wrong] = True
    return X, Y, flipped


def memory(which: str) -> int:
    """Bytes of this process: "VmRSS" now, "VmHWM" at most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which))


def measured(n_rows: int, n_columns: int) -> dict[str, Any]:
    """One fit and some new rows, in this process."""
    from sklearn.metrics import average_precision_score

    import amiss
    import amiss.fitted  # all that a fit loads but numba

    before = memory("VmRSS")
    X, Y, flipped = embeddings(n_rows, n_columns)
    begun, used = time.perf_counter(), time.process_time()
    detector = amiss.MCODE().fit(X, Y)
    seconds, processor, peak = time.perf_counter() - begun, time.process_time() - used, memory("VmHWM")
    rng = np.random.default_rng(1)
    new = X[:101] + rng.standard_normal(X[:101].shape, dtype=np.float32) * np.float32(0.01 * X[:101].std())
    detector.decision_function(new[100:], Y[100:101])  # what is made at the first call
    waits = {}
    for count in (1, 100):
        times = []
        for _ in range(TRIES):
            begun = time.perf_counter()
            detector.decision_function(new[:count], Y[:count])
            times.append(time.perf_counter() - begun)
        waits[f"ms for {count}"] = 1000 * float(np.median(times))
    found = float(average_precision_score(flipped, detector.decision_scores_))
    figures = {"s": seconds, "CPU s": processor, "peak MB": peak / 1e6, "times X": peak / X.nbytes}
    figures["less libraries"] = (peak - before) / X.nbytes
    return figures | waits | {"AP": found, "code": str(Path(amiss.__file__).parent)}


def in_a_child(source: str | None, n_rows: int, n_columns: int) -> dict[str, Any]:
    """Measured in a process of its own, with the amiss in the folder ``source``, or with the present one."""
    here = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([source or str(here / "src"), str(here)])
    command = [sys.executable, "-m", "benchmarks.speed.embeddings", "--child", "--rows", str(n_rows)]
    command += ["--columns", str(n_columns)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, cwd=here, stdout=subprocess.PIPE, check=True
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description="fits of embeddings, by the old code and by the new")
    parser.add_argument("--old", metavar="FOLDER", help="the src folder of the old code")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", default="768,2048", help="numbers of columns, with commas between them")
    parser.add_argument("--runs", type=int, default=1, help="of each code and table")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    columns = [int(count) for count in arguments.columns.split(",")]
    if arguments.child:
        print(json.dumps(measured(arguments.rows, columns[0])))
        return
    names = ("s", "CPU s", "peak MB", "times X", "less libraries", "ms for 1", "ms for 100", "AP")
    print("| table | code | " + " | ".join(names) + " |")
    print("| --- " * (len(names) + 2) + "|")
    sources = {"old": arguments.old, "new": None} if arguments.old else {"new": None}
    for count in columns:
        for _ in range(arguments.runs):
            for code, source in sources.items():
                figures = in_a_child(source, arguments.rows, count)
                cells = " | ".join(f"{figures[name]:.4g}" for name in names)
                print(f"| {arguments.rows} x {count} | {code} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
