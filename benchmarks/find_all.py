"""`amiss find` on each of the paper's eight datasets, one command each: time and peak memory.

python -m benchmarks.find_all --data ../shared/data
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATASETS = ("yeast", "birds", "genbase", "enron", "yahoo-arts", "yahoo-business", "bibtex", "mediamill")
EXTRA = {"genbase": ["--id", "protein"]}


def measured(command: list[str]) -> tuple[str, float, float]:
    """First line of output, seconds and peak MiB of one command."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return output.splitlines()[0], time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="amiss find on each of the paper's datasets")
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    arguments = parser.parse_args()
    print("| dataset | seconds | peak MiB | says |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.datasets:
            files = sorted(map(str, (arguments.data / name).glob("*.arff*")))
            labels = str(arguments.data / name / f"{name}.xml")
            command = [str(Path(sys.executable).parent / "amiss"), "find", *files, "--outputs", labels]
            command += [*EXTRA.get(name, []), "-o", f"{folder}/{name}.csv"]
            says, seconds, memory = measured(command)
            print(f"| {name} | {seconds:.1f} | {memory:.0f} | {says} |", flush=True)


if __name__ == "__main__":
    main()
