"""Given probabilities: what do we find on top of them, and what does cleanlab?

    python -m benchmarks.quality.given --data ../shared/data --real ../shared/real --keep given > given.txt

Out-of-fold probabilities of logistic regressions, boosted trees and extra trees, fitted to outputs with errors: of
every kind in 5 % of the rows (birds, yeast, enron), or made by people (the ECGs, whose inputs are the logits of
networks, and the relations). Average precision over cells and over rows, of cleanlab on these probabilities
(cells: self-confidence), of ``MCODE.from_probabilities(P, Y)`` and of ``MCODE().fit(X, Y, probabilities=P)``. A
line ends with what is below cleanlab. Trees are smaller than their defaults: there are thousands to be fitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score

from amiss import MCODE
from amiss.arrays import Floats, Mask
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.evaluation import inject
from amiss.evaluation.registry import OF_TAGS
from amiss.output.cells import cell_scores
from amiss.paper.table2 import load
from benchmarks.quality.peers import cleanlab_rows, held_out, surprise
from benchmarks.quality.real import tables

DATASETS = ("birds", "yeast", "enron")
SMALLER: dict[str, Any] = {
    "boosting": HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, max_bins=63, random_state=0),
    "extra trees": ExtraTreesClassifier(100, n_jobs=2, random_state=0),
}
PEERS = ("logistic", "boosting", "extra trees")
Subject = tuple[str, str, Any, Floats, Mask]


def subjects(data: Path | None, real: Path | None, datasets: str, kinds: str, seed: int) -> Iterator[Subject]:
    """Tables with wrong outputs: name, kind or reader, inputs, outputs, and which cells are wrong."""
    if real is not None:
        for name, (X, truth, readers) in tables(real).items():
            for who, Y in readers.items() if name in ("ecg", "relations") else ():
                yield name, who, X, Y, truth != Y
    for name in datasets.split(",") if datasets else ():
        if data is None:
            return
        table = load(data, name)
        X, Y = fit_encoder(table.X, SCALINGS["none"], part=True).transform(table.X), np.asarray(table.Y.values)
        for kind in kinds.split(","):
            made, _ = inject(Y, 0.05, 0.05, seed, kind=kind)
            yield name, kind, X, made, made != Y


def probabilities(keep: Path | None, key: str, X: Any, Y: Floats, peer: str) -> Floats:
    """Those of a peer, out of fold; kept in a file, so that a run can go on later."""
    path = None if keep is None else keep / f"{key}-{peer}.npy".replace(" ", "_")
    if path is not None and path.exists():
        return np.asarray(np.load(path))
    found = held_out(X, Y, peer, SMALLER.get(peer))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, found)
    return found


def both(cells: Floats, rows: Floats, wrong: Mask) -> tuple[float, float]:
    """Average precision over cells and over rows."""
    by_cell = average_precision_score(wrong.ravel(), cells.ravel())
    return float(by_cell), float(average_precision_score(wrong.any(axis=1), rows))


def ours(detector: MCODE, wrong: Mask) -> tuple[float, float]:
    rows = detector.fitted_.training_rows
    return both(cell_scores(rows), rows.scores, wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--kinds", default=",".join(OF_TAGS))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{'cells/rows':46} {'cleanlab':>13} {'P alone':>13} {'P and X':>13}", flush=True)
    for name, kind, X, Y, wrong in subjects(given.data, given.real, given.datasets, given.kinds, given.seed):
        for peer in given.peers.split(","):
            P = probabilities(given.keep, f"{name}-{kind}-{given.seed}", X, Y, peer)
            cleanlab = both(surprise(P, Y), cleanlab_rows(P, Y), wrong)
            alone = ours(MCODE.from_probabilities(P, Y), wrong)
            beside = ours(MCODE().fit(X, Y, probabilities=P), wrong)
            below = [
                f"{what} {title}"
                for what, found in (("P alone", alone), ("P and X", beside))
                for title, mine, theirs in zip(("cells", "rows"), found, cleanlab, strict=True)
                if mine < theirs
            ]
            said = " ".join(f"{cells:.3f}/{rows:.3f}  " for cells, rows in (cleanlab, alone, beside))
            print(
                f"{name:10} {kind:22} {peer:12} {said} {'below: ' + ', '.join(below) if below else ''}", flush=True
            )


if __name__ == "__main__":
    main()
