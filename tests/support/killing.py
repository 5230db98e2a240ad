"""Kill a run at a random moment, and see what stands where its result goes.

    cd tests && python -m support.killing find --kills 1000
    cd tests && python -m support.killing save --kills 1000

One process that has everything imported is forked for every run; the child writes the result over an old one, or
where there is none, and is killed (-9) at a random moment of the time such a run takes. Afterwards the target is
absent (if there was none), the old one, or the new one, each whole to the last byte. Half of the kills fall into
the last part of the run, where the file is written. Prints what was found as JSON.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

import numpy as np
import pandas as pd

from amiss import MCODE
from amiss.cli import cli
from support.tables import make_table

OLD = b"what was there before\n"
N_ROWS = 400


def runs(folder):
    """What is run, and where its result goes."""
    X, Y = make_table(N_ROWS)
    table = pd.DataFrame(np.column_stack([X, Y]), columns=[*"abcde", *(f"tag_{i}" for i in range(Y.shape[1]))])
    table.to_csv(folder / "t.csv", index=False)
    detector = MCODE(n_jobs=1, n_neighbors=1000).fit(*make_table(3000))  # a file that takes its time

    def find():
        options = ["--outputs", "tag_*", "-o", str(folder / "out.csv"), "-q", "--jobs", "1"]
        cli(["find", str(folder / "t.csv"), *options], standalone_mode=False)

    def save():
        detector.save(folder / "out.amiss")

    return {"find": (find, folder / "out.csv"), "save": (save, folder / "out.amiss")}


def forked(run):
    child = os.fork()
    if child == 0:
        try:
            run()
        finally:
            os._exit(0)
    return child


def kill_runs(what, kills, seed):
    rng, counts = random.Random(seed), collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run, target = runs(folder)[what]
        times = []
        for _ in range(5):
            start = time.perf_counter()
            os.waitpid(forked(run), 0)
            times.append(time.perf_counter() - start)
        new, usual = target.read_bytes(), float(np.median(times))
        for _ in range(kills):
            there = rng.random() < 0.5
            target.write_bytes(OLD) if there else target.unlink(missing_ok=True)
            share = rng.uniform(0, 1.2) if rng.random() < 0.5 else rng.uniform(0.8, 1.1)
            child = forked(run)
            time.sleep(share * usual)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            killed = os.WIFSIGNALED(status)
            counts["killed" if killed else "was done"] += 1
            usual *= 1.05 if killed else 0.82  # the machine is now faster, now slower
            found = target.read_bytes() if target.exists() else None
            if found == new:
                counts["new and whole"] += 1
            elif found == (OLD if there else None):
                counts["old and whole" if there else "absent"] += 1
            else:
                sys.exit(f"{what}: the target is neither: {len(found or b'')} bytes of {len(new)}")
            left = [path for path in folder.iterdir() if path.name not in ("t.csv", target.name)]
            counts["left a temporary file"] += bool(left)
            for path in left:
                path.unlink()
    return {"run": what, "kills": kills, **counts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["find", "save"])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(json.dumps(kill_runs(arguments.what, arguments.kills, arguments.seed)))
