"""Neighbours among all rows, in clusters, and among a sample: what each does to the list.

    python -m benchmarks.quality.neighborhoods --data ../shared/data --seeds 1

One output is flipped in 2 % of the rows of mediamill, and of a generated table. It prints the average precision
with which these rows are found, Spearman's correlation of the scores with those by an exact search, and the share
of the first 2 % of the exact list that is among the first 2 %. A sample is one of as many rows at even steps, in
the order of their fingerprints.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score

import amiss
from amiss.arrays import Floats, Rows
from amiss.paper.table2 import load
from amiss.scoring.clustered_neighbors import ClusteredRows
from benchmarks.whole_job import tables

WRONG = 0.02


@contextmanager
def sampled(n_rows: int) -> Iterator[None]:
    """Every query is compared with the same rows."""
    before = ClusteredRows._near

    def same(self: ClusteredRows, cluster: int) -> Rows:
        return np.linspace(0, len(self.rows) - 1, n_rows).astype(np.intp)

    ClusteredRows._near = same  # type: ignore[method-assign]
    try:
        yield
    finally:
        ClusteredRows._near = before  # type: ignore[method-assign]


def flipped(Y: Floats, seed: int) -> tuple[Floats, Floats]:
    """Outputs with errors, and which rows are wrong."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(Y), round(WRONG * len(Y)), replace=False)
    columns = rng.integers(Y.shape[1], size=len(rows))
    Y, wrong = Y.copy(), np.zeros(len(Y))
    Y[rows, columns] = 1 - Y[rows, columns]
    wrong[rows] = 1
    return Y, wrong


def fitted(X: Any, Y: Floats, **parameters: Any) -> Floats:
    return np.asarray(amiss.MCODE(**parameters).fit(X, Y).decision_scores_)


def compared(name: str, X: Any, Y: Floats, wrong: Floats) -> None:
    exact = fitted(X, Y, neighbor_search="exact")
    first = round(WRONG * len(Y))

    def line(search: str, scores: Floats, seconds: float) -> None:
        alike = spearmanr(exact, scores).statistic
        shared = np.isin(np.argsort(-exact)[:first], np.argsort(-scores)[:first]).mean()
        found = average_precision_score(wrong, scores)
        print(f"| {name} | {search} | {found:.4f} | {alike:.5f} | {shared:.3f} | {seconds:.1f} |", flush=True)

    line("exact", exact, float("nan"))
    start = time.process_time()
    line("clusters", fitted(X, Y, neighbor_search="approximate"), time.process_time() - start)
    for n_rows in (6_000, 12_000):
        start = time.process_time()
        with sampled(n_rows):
            line(f"sample of {n_rows:,}", fitted(X, Y, neighbor_search="approximate"), time.process_time() - start)
    line("none", fitted(X, Y, n_neighbors=0), float("nan"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=60_000, help="of the generated table")
    arguments = parser.parse_args()
    print("| table | neighbours | AP | correlation | shared | CPU s |\n|" + " --- |" * 6, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        generated = amiss.read(tables.numbers(Path(folder), arguments.rows), outputs="y*")
    mediamill = load(arguments.data, "mediamill")
    for seed in range(arguments.seeds):
        for name, data in {"generated": generated, "mediamill": mediamill}.items():
            X = data.X if name == "mediamill" else np.asarray(generated.X.values)
            compared(name, X, *flipped(np.asarray(data.Y.values, dtype=float), seed))


if __name__ == "__main__":
    main()
