"""Rows that belong together: are errors found that near copies share?

    python -m benchmarks.quality.groups --data ../shared/data

Of 5 % of the rows outputs are flipped. Then every wrong row gets four copies with the same outputs, and inputs
that differ by noise (a share of each column's standard deviation). Average precision over cells, mean over seeds:
without copies, with copies, with copies and ``groups=``, and with copies and ``groups="auto"``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score

from amiss import MCODE
from amiss.arrays import Floats, Mask, Rows
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.evaluation import inject
from amiss.evaluation.digits import TAGS
from amiss.output.cells import cell_scores
from amiss.paper.table2 import load

DATASETS = ("digits", "yeast", "birds")
COPIES = 4


def table(folder: Path | None, name: str) -> tuple[Floats, Floats]:
    """Dense inputs, and outputs."""
    if name == "digits":
        bunch = load_digits()
        tags = [[digit in members for digit in bunch.target] for members in TAGS.values()]
        return bunch.data, np.column_stack(tags).astype(float)
    assert folder is not None
    data = load(folder, name)
    X = fit_encoder(data.X, SCALINGS["none"], part=True).transform(data.X)
    return np.asarray(X), np.asarray(data.Y.values)


def with_copies(
    X: Floats, made: Floats, wrong: Mask, noise: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Mask, Rows]:
    """The table with copies of the wrong rows, which cells are wrong, and the groups."""
    rows = np.flatnonzero(wrong.any(axis=1))
    again = np.tile(rows, COPIES)
    jitter = noise * X.std(axis=0) * rng.normal(size=(len(again), X.shape[1]))
    groups = np.concatenate([np.arange(len(X)), again])
    return (
        np.vstack([X, X[again] + jitter]),
        np.vstack([made, made[again]]),
        np.vstack([wrong, wrong[again]]),
        groups,
    )


def cell_ap(X: Any, Y: Floats, wrong: Mask, groups: Rows | str | None = None) -> float:
    """Average precision over cells."""
    rows = MCODE().fit(X, Y, groups=groups).fitted_.training_rows
    return float(average_precision_score(wrong.ravel(), cell_scores(rows).ravel()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--noise", default="0.01,0.05")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(f"{'':8} {'noise':>6} {'alone':>8} {'copies':>8} {'groups':>8} {'auto':>8}")
    for name in given.datasets.split(","):
        X, Y = table(given.data, name)
        for noise in map(float, given.noise.split(",")):
            found = []
            for seed in range(given.first_seed, given.first_seed + given.seeds):
                made, _ = inject(Y, 0.05, 0.05, seed)
                wrong = made != Y
                copied = with_copies(X, made, wrong, noise, np.random.default_rng(seed))
                found.append([cell_ap(X, made, wrong), cell_ap(*copied[:3]), cell_ap(*copied)])
                found[-1].append(cell_ap(*copied[:3], "auto"))
            means = np.mean(found, axis=0)
            print(f"{name:8} {noise:6.2f} " + " ".join(f"{mean:8.3f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
