"""All outputs, strengths and folds: ours against a loop of LogisticRegressionCV, in one run.

    python -m benchmarks.speed --data ../shared/data

Both get the same matrix [x, y without i], six strengths, the same five folds and both cores.
scikit-learn fits a sample of the outputs where all of them would take too long, and its time is
scaled by their number. Our objective is compared with that of scikit-learn at the strength we chose.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

import amiss
from amiss.design import fit_encoding, joint, visible_outputs
from amiss.detector import STRENGTHS
from amiss.folds import Folds, stratified_folds
from amiss.model import LinearModel, fit_logistic
from amiss.table import Floats, Matrix

# How many outputs scikit-learn fits; None is all of them.
SAMPLED: dict[str, int | None] = {
    "yeast": None, "birds": None, "genbase": None, "enron": 20, "yahoo-arts": 6,
    "yahoo-business": 6, "bibtex": 16, "mediamill": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """What scikit-learn did for some of the outputs."""

    outputs: list[int]
    seconds: float
    strength: list[float]


def sgemm_rate() -> float:
    """GFLOPS of a square product in single precision."""
    A = np.random.default_rng(0).normal(size=(3000, 3000)).astype(np.float32)
    times = []
    for _ in range(4):
        start = time.perf_counter()
        A @ A
        times.append(time.perf_counter() - start)
    return 2 * 3000**3 / min(times) / 1e9


def loaded(folder: Path, name: str) -> tuple[Matrix, Floats]:
    files = sorted((folder / name).glob("*.arff*"))
    labels = folder / name / f"{name}.xml"
    data = amiss.read(*files, outputs=labels, id="protein" if name == "genbase" else None)
    return fit_encoding(data.X, "block").transform(data.X), np.asarray(data.Y.values)


def seen_by(X: Matrix, Y: Floats, i: int) -> Matrix:
    return joint(X, np.delete(Y, i, axis=1))


def twin(X: Matrix, Y: Floats, folds: Folds, outputs: list[int]) -> Twin:
    """The loop a person would write."""
    strengths, seconds = [], 0.0
    for i in outputs:
        Z = seen_by(X, Y, i)
        splits = [(np.flatnonzero(folds[:, i] != k), np.flatnonzero(folds[:, i] == k)) for k in range(5)]
        model = LogisticRegressionCV(
            Cs=[1 / s for s in STRENGTHS], cv=splits, scoring="neg_log_loss", n_jobs=-1, max_iter=1000
        )
        start = time.perf_counter()
        model.fit(Z, Y[:, i])
        seconds += time.perf_counter() - start
        strengths.append(1 / float(np.ravel(model.C_)[0]))
    return Twin(outputs, seconds, strengths)


def objective(Z: Matrix, y: Floats, coef: Floats, intercept: float, strength: float) -> float:
    f = Z @ coef + intercept
    return float(np.sum(np.logaddexp(0, f) - y * f) + strength / 2 * coef @ coef)


def excess(X: Matrix, Y: Floats, model: LinearModel, strength: Floats, outputs: list[int]) -> float:
    """Largest relative excess of our objective over scikit-learn's at the same strength."""
    worst = -np.inf
    for i in outputs:
        Z = seen_by(X, Y, i)
        rival = LogisticRegression(C=1 / strength[i], max_iter=1000).fit(Z, Y[:, i])
        theirs = objective(Z, Y[:, i], rival.coef_[0], rival.intercept_[0], strength[i])
        coef = np.delete(model.coef[:, i], X.shape[1] + i)
        ours = objective(Z, Y[:, i], coef, model.intercept[i], strength[i])
        worst = max(worst, (ours - theirs) / theirs)
    return worst


def sample(Y: Floats, count: int | None) -> list[int]:
    """Outputs at even steps, leaving out those that scikit-learn refuses (no ones in a fold's rest)."""
    usable = np.flatnonzero(Y.sum(axis=0) >= 5)
    return [int(i) for i in (usable if count is None else usable[:: max(1, len(usable) // count)][:count])]


def report(name: str, folder: Path) -> str:
    X, Y = loaded(folder, name)
    folds = stratified_folds(Y, 5)
    everyone = np.ones(Y.shape, dtype=bool)
    visible = visible_outputs("others", Y.shape[1], None)
    start = time.perf_counter()
    fit = fit_logistic(X, Y, everyone, visible, STRENGTHS, folds, n_jobs=-1)
    ours = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    outputs = sample(Y, SAMPLED[name])
    rival = twin(X, Y, folds, outputs)
    theirs = rival.seconds / len(outputs) * Y.shape[1]
    apart = np.abs(np.log10(fit.strength[outputs]) - np.log10(rival.strength))
    model: Any = fit.model
    more = excess(X, Y, model, fit.strength, outputs)
    kind = "sparse" if sparse.issparse(X) else "dense"
    cells = (
        f"{name} ({kind}, {X.shape[0]} x {X.shape[1]} + {Y.shape[1]})", f"{ours:.1f}", f"{theirs:.1f}",
        str(len(outputs)), f"{theirs / ours:.1f}", f"{memory:.0f}", f"{more:.0e}",
        f"{np.mean(apart < 0.5):.0%}", f"{np.mean(apart < 1.5):.0%}",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="fitting speed against a loop of LogisticRegressionCV")
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument("--datasets", nargs="*", default=list(SAMPLED))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's on convergence and deprecation
    print(f"SGEMM: {sgemm_rate():.0f} GFLOPS\n")
    head = ("dataset", "ours, s", "scikit-learn, s", "of outputs", "ratio", "peak MiB so far",
            "largest excess of our objective", "same strength", "same or next")  # fmt: skip
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for name in arguments.datasets:
        print(report(name, arguments.data), flush=True)


if __name__ == "__main__":
    main()
