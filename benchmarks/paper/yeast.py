"""One cell of the paper's Table 2, with the paper's settings: yeast, 10 % of the outputs flipped.

    python -m benchmarks.paper.yeast --data ../shared/data

Ten repeats; 1 % of the rows perturbed; raw inputs, in-sample rho, inverse mean errors as weights,
100 neighbours in the joint space. The same perturbed data serve every method of a repeat.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import amiss
from amiss.baselines import lof
from amiss.evaluate import atpar, inject
from amiss.table import Floats, Table

PAPER = {"LOF": 0.08, "I-PROD": 0.04, "M-PROD": 0.45, "M-RW": 0.64, "M-LRW": 0.63}


def methods(X: Table, Y: Floats) -> dict[str, Floats]:
    """Scores of each of the paper's methods, and of our default."""
    paper: dict[str, Any] = {"crossfit": False, "scaling": "none", "weighting": "error", "parent_penalty": 1.0}
    detectors = {
        "I-PROD": amiss.MCODE(parents="none", score="prod", **paper),
        "M-PROD": amiss.MCODE(score="prod", **paper),
        "M-RW": amiss.MCODE(score="rw", **paper),
        "M-LRW": amiss.MCODE(score="lrw", **paper),
        "default": amiss.MCODE(),
    }
    found = {name: detector.fit(X, Y).decision_scores_ for name, detector in detectors.items()}
    return {"LOF": lof(X, Y, scaling="none"), **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    folder = arguments.data / "yeast"
    data = amiss.read(folder / "yeast.arff", outputs=folder / "yeast.xml")
    results: dict[str, list[float]] = {}
    for repeat in range(arguments.repeats):
        Y, is_outlier = inject(np.asarray(data.Y), ratio=0.01, dimensionality=0.10, random_state=repeat)
        for name, scores in methods(data.X, Y).items():
            results.setdefault(name, []).append(atpar(scores, is_outlier))
    print(f"ATPAR, yeast, 10 % of the outputs flipped in 1 % of the rows, {arguments.repeats} repeats")
    for name, values in results.items():
        paper = f"(paper {PAPER[name]:.2f})" if name in PAPER else ""
        print(f"{name:8} {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f} {paper}".rstrip())


if __name__ == "__main__":
    main()
