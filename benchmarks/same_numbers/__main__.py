"""Every score, flag, p-value and explanation of the old code beside that of the new.

    python -m benchmarks.same_numbers --old /path/to/old/python --data ../shared/data
    python -m benchmarks.same_numbers --old … --data … --datasets yeast,birds --keep numbers --brief

The old interpreter and the present one each write their numbers into a folder (``pieces.py``), and then the two
folders are compared. One line per dataset and quantity says "identical to the last bit", or gives the largest
difference, absolute and relative. With ``--brief`` there is one line per piece of work, and one for each quantity
that is not identical. The exit code is 1 if a difference exceeds ``--tolerance`` both in absolute and in relative
terms, or if a quantity is missing on one side.

``--keep FOLDER`` keeps the numbers, in ``FOLDER/old`` and ``FOLDER/new``. An interrupted run goes on where it
stopped. The new numbers are computed again when the source of amiss or a library below it has changed. If you
change what a piece computes, delete its files. Without ``--old`` the numbers in ``FOLDER/old`` are used as they
are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.same_numbers import pieces
from benchmarks.same_numbers.pieces import Numbers, pieces_of


def run(python: str, folder: Path, arguments: argparse.Namespace, *options: str) -> None:
    """Have an interpreter compute its numbers, on one core and with the amiss that is installed there."""
    assert pieces.__file__ is not None
    command = [python, "-P", str(Path(pieces.__file__).resolve()), str(folder), *options]
    command += ["--data", str(arguments.data), "--datasets", ",".join(arguments.datasets)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    subprocess.run(command + ["--full"] * arguments.full, check=True, env=environment | one_core)


@dataclass(frozen=True)
class Difference:
    """Two arrays beside each other; what cannot be subtracted differs infinitely."""

    identical: bool
    absolute: float = 0.0
    relative: float = 0.0
    why: str = ""

    @classmethod
    def between(cls, old: npt.NDArray[Any] | None, new: npt.NDArray[Any] | None) -> Difference:
        if old is None or new is None:
            return cls(False, np.inf, np.inf, f"missing in the {'old' if old is None else 'new'} code")
        if old.shape != new.shape:
            return cls(False, np.inf, np.inf, f"shape {old.shape} against {new.shape}")
        if old.dtype.kind == "U" or new.dtype.kind == "U":
            n_apart = int(np.count_nonzero(old.astype(np.str_) != new.astype(np.str_)))
            return cls(False, np.inf, np.inf, f"{n_apart} of {old.size} texts differ") if n_apart else cls(True)
        if (np.isnan(old) != np.isnan(new)).any():
            return cls(False, np.inf, np.inf, "not missing in the same places")
        there = ~np.isnan(old)
        old, new = old[there], new[there]
        n_apart = int(np.count_nonzero(old.view(np.uint64) != new.view(np.uint64)))
        apart = old != new  # zeros of either sign are equal
        gap = np.abs(old[apart] - new[apart])
        with np.errstate(invalid="ignore"):  # an infinite gap is told as such
            relative = gap / np.maximum(np.abs(old[apart]), np.abs(new[apart]))
        said = f"{n_apart} of {old.size} values differ"
        return cls(not n_apart, float(gap.max(initial=0.0)), float(relative.max(initial=0.0)), said)

    def __str__(self) -> str:
        if self.identical:
            return "identical to the last bit"
        if np.isinf(self.absolute):
            return self.why
        return f"largest difference {self.absolute:.2g}, relative {self.relative:.2g} ({self.why})"


def loaded(path: Path) -> Numbers:
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def compared(folder: Path, name: str, piece: str) -> dict[str, Difference]:
    """Every quantity of one piece of work."""
    old, new = (loaded(folder / side / name / f"{piece}.npz") for side in ("old", "new"))
    if not old or not new:
        return {"everything": Difference(False, np.inf, np.inf, f"missing in the {'new' if old else 'old'} code")}
    return {quantity: Difference.between(old.get(quantity), new.get(quantity)) for quantity in {**old, **new}}


def report(name: str, piece: str, found: dict[str, Difference], brief: bool) -> None:
    """One line per quantity; or one per piece, and one for each quantity that is not identical."""
    same = [quantity for quantity, difference in found.items() if difference.identical]
    if brief and same:
        print(f"{name}, {piece}: {len(same)} of {len(found)} quantities identical to the last bit", flush=True)
    for quantity, difference in found.items():
        if not (brief and difference.identical):
            print(f"{name}, {piece}, {quantity}: {difference}", flush=True)


def compare(folder: Path, arguments: argparse.Namespace) -> bool:
    """Print the comparison; whether every difference is within the tolerance."""
    for side in ("old", "new"):
        known = json.loads((folder / side / "code.json").read_text())
        print(f"{side}: {', '.join(f'{key} {value}' for key, value in known.items())}")
    everything: list[Difference] = []
    for name in arguments.datasets:
        for piece in pieces_of(name, arguments.full):
            found = compared(folder, name, piece)
            report(name, piece, found, arguments.brief)
            everything += found.values()
    n_same = sum(difference.identical for difference in everything)
    print(f"{n_same} of {len(everything)} quantities are identical to the last bit.")
    worst = max(everything, key=lambda difference: min(difference.absolute, difference.relative))
    if n_same < len(everything):
        print(f"The worst of the others: {worst}.")
    return min(worst.absolute, worst.relative) <= arguments.tolerance


def main() -> None:
    parser = argparse.ArgumentParser(description="numbers of the old amiss and of the new, side by side")
    parser.add_argument("--old", metavar="PYTHON", help="interpreter of an environment with the old amiss")
    pieces.add_choices(parser)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the numbers here, and use them again")
    parser.add_argument("--brief", action="store_true", help="one line per piece of work")
    parser.add_argument("--tolerance", type=float, default=0.0, help="the largest difference allowed (default 0)")
    arguments = parser.parse_args()
    if arguments.old is None and not (arguments.keep and (arguments.keep / "old" / "code.json").exists()):
        parser.error("name the old interpreter (--old), or a folder with its numbers (--keep)")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        if arguments.old is not None:
            run(arguments.old, folder / "old", arguments)
        run(sys.executable, folder / "new", arguments, "--replace")
        sys.exit(0 if compare(folder, arguments) else 1)


if __name__ == "__main__":
    main()
