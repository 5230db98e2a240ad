"""How long the default fit takes, beside the default of version 0.1.0 on the same code.

    python -m benchmarks.speed.default --data ../shared/data

Both take turns in one process, after a fit that is not timed; the best of ``--repeats`` counts. The machine should
have nothing else to do.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from amiss import MCODE
from amiss.paper.table2 import load
from benchmarks.find_all import DATASETS
from benchmarks.quality.real import OLD

SETTINGS: dict[str, dict[str, Any]] = {"0.1.0": OLD, "default": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print("| dataset | 0.1.0, s | default, s | ratio |\n| --- | --- | --- | --- |")
    for name in arguments.datasets.split(","):
        data = load(arguments.data, name)
        X, Y = data.X, np.asarray(data.Y.values)
        MCODE(**SETTINGS["0.1.0"]).fit(X, Y)
        best = dict.fromkeys(SETTINGS, np.inf)
        for _ in range(arguments.repeats):
            for called, parameters in SETTINGS.items():
                start = time.perf_counter()
                MCODE(**parameters).fit(X, Y)
                best[called] = min(best[called], time.perf_counter() - start)
        old, new = best.values()
        print(f"| {name} | {old:.2f} | {new:.2f} | {new / old:.2f} |", flush=True)


if __name__ == "__main__":
    main()
