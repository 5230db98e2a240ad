"""How long a report takes beside the fit it reports on, and how large it is.

python -m benchmarks.report --rows 10000 --outputs 100
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from amiss import MCODE


def main() -> None:
    parser = argparse.ArgumentParser(description="time and size of a report")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--inputs", type=int, default=50)
    parser.add_argument("--outputs", type=int, default=100)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, arguments.inputs))
    signal = X @ rng.normal(size=(arguments.inputs, arguments.outputs))
    Y = (signal + 4 * rng.normal(size=signal.shape) > 3).astype(float)
    start = time.perf_counter()
    detector = MCODE().fit(X, Y)
    fitted = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        detector.write_report(path, X, Y, ids=[f"row-{row:06d}" for row in range(len(X))])
        written, size = time.perf_counter(), path.stat().st_size
    print(f"{arguments.rows} rows, {arguments.inputs} inputs, {arguments.outputs} outputs")
    took, beyond = fitted - start, written - fitted
    print(f"fit {took:.1f} s, report {beyond:.1f} s, ratio {beyond / took:.2f}")
    print(f"size {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
