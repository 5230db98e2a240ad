"""All outputs, strengths and folds: ours against a loop of LogisticRegressionCV, in one run.

    python -m benchmarks.speed --data ../shared/data

Both get the same matrix [x, y without i], six strengths, the same five folds and both cores.
scikit-learn fits a sample of the outputs where all of them would take too long, and its time is
scaled by their number. Our objective is compared with that of scikit-learn at the strength we chose.

Then: how our time grows with rows and with outputs, the nearest rows, and the scoring of new rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.neighbors import NearestNeighbors

import amiss
from amiss.arrays import Floats, Matrix
from amiss.encoding.joint import joint
from amiss.models.folds import Folds, stratified_folds
from amiss.models.settings import STRENGTHS
from amiss.scoring import neighbors
from amiss.scoring.clustered_neighbors import ClusteredRows
from amiss.scoring.neighbors import NearestRows
from benchmarks.speed.fitting import Fitted, fit, fitted, loaded

RULES = ("rw", "lrw", "flip")
# How many outputs scikit-learn fits; None is all of them.
SAMPLED: dict[str, int | None] = {
    "yeast": None, "birds": None, "genbase": None, "enron": 20, "yahoo-arts": 8,
    "yahoo-business": 8, "bibtex": 16, "mediamill": 12,
}  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """What scikit-learn did for some of the outputs."""

    outputs: list[int]
    seconds: float
    strength: list[float]


def timed(work: Callable[..., object], *arguments: Any) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def sgemm_rate() -> float:
    """GFLOPS of a square product in single precision."""
    A = np.random.default_rng(0).normal(size=(3000, 3000)).astype(np.float32)
    return 2 * 3000**3 / min(timed(np.matmul, A, A) for _ in range(4)) / 1e9


def seen_by(X: Matrix, Y: Floats, i: int) -> Matrix:
    return joint(X, np.delete(Y, i, axis=1))


def twin(X: Matrix, Y: Floats, folds: Folds, outputs: list[int]) -> Twin:
    """The loop a person would write."""
    strengths, seconds = [], 0.0
    for i in outputs:
        Z, y = seen_by(X, Y, i), Y[:, i]
        splits = [(np.flatnonzero(folds[:, i] != k), np.flatnonzero(folds[:, i] == k)) for k in range(5)]
        model = LogisticRegressionCV(
            Cs=[1 / s for s in STRENGTHS], cv=splits, scoring="neg_log_loss", n_jobs=-1, max_iter=1000
        )
        start = time.perf_counter()
        model.fit(Z, y)
        seconds += time.perf_counter() - start
        strengths.append(1 / float(np.ravel(model.C_)[0]))
    return Twin(outputs, seconds, strengths)


def objective(Z: Matrix, y: Floats, coef: Floats, intercept: float, strength: float) -> float:
    f = Z @ coef + intercept
    return float(np.sum(np.logaddexp(0, f) - y * f) + strength / 2 * coef @ coef)


def excess(X: Matrix, Y: Floats, ours: Fitted, outputs: list[int]) -> float:
    """Largest relative excess of our objective over scikit-learn's at the same strength."""
    worst = -np.inf
    for i in outputs:
        Z, strength = seen_by(X, Y, i), float(ours.strength[i])
        rival = LogisticRegression(C=1 / strength, max_iter=1000).fit(Z, Y[:, i])
        theirs = objective(Z, Y[:, i], rival.coef_[0], rival.intercept_[0], strength)
        coef = np.delete(ours.coef[:, i], X.shape[1] + i)
        worst = max(worst, (objective(Z, Y[:, i], coef, ours.intercept[i], strength) - theirs) / theirs)
    return worst


def sample(Y: Floats, count: int | None) -> list[int]:
    """Outputs at even steps, leaving out those that scikit-learn refuses (no ones in a fold's rest)."""
    usable = np.flatnonzero(Y.sum(axis=0) >= 5)
    return [int(i) for i in (usable if count is None else usable[:: max(1, len(usable) // count)][:count])]


def table(*rows: tuple[str, ...]) -> None:
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def head(*cells: str) -> None:
    table(cells, ("---",) * len(cells))


def against_scikit_learn(folder: Path, names: list[str], rate: float) -> None:
    head(
        "dataset", "ours, s", "scikit-learn, s", "of outputs", "ratio", "peak MiB (data)", "share of SGEMM rate",
        "largest excess of our objective", "same strength", "same or next",
    )  # fmt: skip
    ratios = []
    for name in names:
        ours = fitted(folder, name)
        X, Y = loaded(folder, name)
        outputs = sample(Y, SAMPLED[name])
        rival = twin(X, Y, stratified_folds(Y, 5), outputs)
        theirs = rival.seconds / len(outputs) * Y.shape[1]
        ratios.append(theirs / ours.seconds)
        apart = np.abs(np.log10(ours.strength[outputs]) - np.log10(rival.strength))
        kind = "sparse" if sparse.issparse(X) else "dense"
        row = (
            f"{name} ({kind}, {X.shape[0]} x {X.shape[1]} + {Y.shape[1]})", f"{ours.seconds:.2f}", f"{theirs:.1f}",
            str(len(outputs)), f"{ratios[-1]:.1f}", f"{ours.peak_mib:.0f} ({ours.data_mib:.0f})",
            f"{ours.operations / ours.seconds / 1e9 / rate:.0%}", f"{excess(X, Y, ours, outputs):.0e}",
            f"{np.mean(apart < 0.5):.0%}", f"{np.mean(apart < 1.5):.0%}",
        )  # fmt: skip
        table(row)
    print(f"\nGeometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.1f}\n")


def growth(folder: Path) -> None:
    """Time against rows and against outputs, on parts of mediamill."""
    X, Y = loaded(folder, "mediamill")
    fit(X[:5000], Y[:5000])  # what is compiled or loaded the first time
    head("rows (101 outputs)", "s", "ms per row")
    for n in (5000, 10000, 20000, 40000):
        seconds = timed(fit, X[:n], Y[:n])
        table((str(n), f"{seconds:.2f}", f"{1000 * seconds / n:.3f}"))
    print()
    common = np.argsort(-Y.sum(axis=0), kind="stable")
    head("outputs (43907 rows, the commonest)", "s", "s per output")
    for d in (12, 25, 50, 100):
        seconds = timed(fit, X, Y[:, common[:d]])
        table((str(d), f"{seconds:.2f}", f"{seconds / d:.3f}"))
    print()


def search(rows: Matrix) -> None:
    NearestRows(rows).find(100, n_jobs=-1)


def nearest(folder: Path, rate: float) -> None:
    """The 100 nearest rows of joint mediamill and bibtex."""
    head(
        *("100 nearest rows", "ours, s", "without the sieve, s", "scikit-learn, s", "clusters, s", "their recall"),
        "share of SGEMM rate",
    )
    for name in ("mediamill", "bibtex"):
        X, Y = loaded(folder, name)
        Z: Any = joint(X, Y)
        ours = timed(search, Z)
        with patch.object(neighbors, "WORTH_SIFTING", np.inf):
            unsifted = timed(search, Z)
        rival = NearestNeighbors(n_neighbors=100, n_jobs=-1).fit(Z)
        theirs = timed(rival.kneighbors)
        cells = [name, f"{ours:.1f}", f"{unsifted:.1f}", f"{theirs:.1f}", "", "", ""]
        if not sparse.issparse(Z):
            start = time.perf_counter()
            nearly = ClusteredRows(Z, 100)
            nearly.find(100, n_jobs=-1)
            share = 2 * len(Z) ** 2 * Z.shape[1] / ours / 1e9 / rate
            cells[4:] = [f"{time.perf_counter() - start:.1f}", f"{nearly.recall:.3f}", f"{share:.0%}"]
        table(tuple(cells))
    print()


def scoring(folder: Path) -> None:
    """New rows, one by one and all at once: every second row is fitted, the others are scored."""
    head("scoring", "rule", "row by row, ms (median)", "all rows at once, ms", "µs per row", "GB/s of inputs")
    for name, rule in product(("yeast", "mediamill"), RULES):
        files = sorted((folder / name).glob("*.arff*"))
        data = amiss.read(*files, outputs=folder / name / f"{name}.xml")
        X, Y = np.asarray(data.X.values), np.asarray(data.Y.values)
        detector: Any = amiss.MCODE(rule=rule, strengths=(1.0,), crossfit=False).fit(X[1::2], Y[1::2])
        scored, X, Y = detector.decision_function, X[::2], Y[::2]
        scored(X[:1], Y[:1])
        singles = [timed(scored, X[i : i + 1], Y[i : i + 1]) for i in range(100)]
        batch = timed(scored, X, Y)
        table((
            name, rule, f"{1000 * np.median(singles):.2f}", f"{1000 * batch:.0f}", f"{1e6 * batch / len(X):.2f}",
            f"{(X.nbytes + Y.nbytes) / batch / 1e9:.2f}",
        ))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="fitting speed against a loop of LogisticRegressionCV")
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument("--datasets", nargs="*", default=list(SAMPLED))
    parser.add_argument("--only", choices=["fit", "growth", "nearest", "scoring"], help="one part of it")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's on convergence and deprecation
    rate = sgemm_rate()
    print(f"SGEMM: {rate:.0f} GFLOPS\n")
    parts: dict[str, Callable[[], None]] = {
        "fit": lambda: against_scikit_learn(arguments.data, arguments.datasets, rate),
        "growth": lambda: growth(arguments.data),
        "nearest": lambda: nearest(arguments.data, rate),
        "scoring": lambda: scoring(arguments.data),
    }
    for name, part in parts.items():
        if arguments.only in (None, name):
            part()


if __name__ == "__main__":
    main()
