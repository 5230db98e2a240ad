"""Where the time of ``amiss find`` goes, stage by stage."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

# Each stage by the functions that do it, as the caller knows them.
STAGES = {
    "reading": ["amiss.readers.reading:read"],
    "models": ["amiss.fitted:fit_models"],
    "clusters of rows": ["amiss.fitted:neighborhood_of"],
    "neighbours and weights": ["amiss.scoring.training:training_weights"],
    "scores": ["amiss.fitted:score_training_rows"],  # without the weights
    "remarks": ["amiss.fitted:remarks_on_table", "amiss.fitted:remarks_on_fit", "amiss.fitted:near_copy_groups"],
    "reasons of flagged rows": ["amiss.output.ranking:flagged_suspects"],
    "list": ["amiss.output.lists:write_list"],
}
TIMED = """
import importlib, json, sys, time
stages, target, *arguments = json.loads(sys.argv[1])
seconds = {}
def timed(stage, function):
    def call(*given, **named):
        start = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start
    return call
for stage, functions in stages.items():
    for function in functions:
        module, name = function.split(":")
        module = importlib.import_module(module)
        setattr(module, name, timed(stage, getattr(module, name)))
from amiss.cli import main
sys.argv = ["amiss", *arguments]
try:
    main()
except SystemExit:
    pass
json.dump(seconds, open(target, "w"))
"""


def stages(paths: list[Path], folder: Path) -> None:
    """Print the seconds of each stage of each table; what is left is start-up, with the imports, and all else."""
    for path in paths:
        print(f"\n{path.name}", flush=True)
        _stages(path, folder)


def _stages(path: Path, folder: Path) -> None:
    target = folder / "stages.json"
    arguments = ["find", str(path), "--outputs", "y*", "-o", str(folder / "list.csv"), "-q"]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", TIMED, json.dumps([STAGES, str(target), *arguments])], check=True)
    total = time.perf_counter() - start
    seconds = json.loads(target.read_text())
    seconds["scores"] -= seconds["neighbours and weights"]
    seconds["start-up and the rest"] = total - sum(seconds.values())
    print("\n| stage | s | share |\n| --- | --- | --- |")
    for stage, taken in seconds.items():
        print(f"| {stage} | {taken:.2f} | {taken / total:.0%} |", flush=True)
    print(f"| total | {total:.2f} | |")
