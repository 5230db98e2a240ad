"""Errors that people really made: how well are they found, by us and by what people use instead?

    python -m benchmarks.quality.real --data ../shared/real
    python -m benchmarks.quality.real --data ../shared/real --tables ecg+,ecg-none,relations+ --peers logistic

Average precision over cells and over rows, per reader and as a mean; then precision, recall and F1 of the
automatic cut (``contamination="auto"``) and of cleanlab's ``find_label_issues``, and how many wrong rows are
estimated. The detector sees a reader's outputs, never the truth. Settings of ours were tuned on these two tables.

In "ecg+", "ecg-none" and "relations+" outputs are added that follow from the others by definition (categories
above them, "none of these"), in what readers wrote down as in the truth. So every error comes in a bundle.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score

from amiss import MCODE
from amiss.arrays import Floats, Mask
from amiss.output.cells import cell_scores
from benchmarks.quality.peers import PEERS, cleanlab_issues, cleanlab_rows, f1, held_out, surprise

OLD = {"rule": "flip", "parents": "others", "scaling": "rank"}
OURS: dict[str, dict[str, Any]] = {
    "amiss": {},
    "amiss 0.1.0": OLD,
    "0.1.0, parents none": OLD | {"parents": "none"},
    "0.1.0, scaling block": OLD | {"scaling": "block"},
    "0.1.0, both": OLD | {"parents": "none", "scaling": "block"},
    "rule prod": {"rule": "prod"},
    "parents none": {"parents": "none"},
}


def tables(folder: Path) -> dict[str, tuple[Any, Floats, dict[str, Floats]]]:
    """Inputs, truth, and what each reader wrote down."""
    result = {}
    for name in ("ecg", "relations"):
        file = np.load(folder / f"{name}.npz", allow_pickle=False)
        X = file["X"] if "X" in file.files else _sparse(file)
        readers = {each.removeprefix("reader_"): file[each] for each in file.files if each.startswith("reader_")}
        result[name] = X, file["truth"].astype(float), {who: Y.astype(float) for who, Y in readers.items()}
    for name, (of, define) in DERIVED.items():
        X, truth, by_reader = result[of]
        result[name] = X, define(truth), {who: define(Y) for who, Y in by_reader.items()}
    return result


def _with_unions(Y: Floats, *groups: slice) -> Floats:
    return np.column_stack([Y, *((Y[:, group] == 1).any(axis=1) for group in groups)]).astype(float)


def _with_none(Y: Floats) -> Floats:
    return np.column_stack([Y, ~(Y == 1).any(axis=1)]).astype(float)


DERIVED: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "ecg+": ("ecg", lambda Y: _with_unions(Y, slice(0, 3), slice(3, 6))),  # conduction, rhythm
    "ecg-none": ("ecg", lambda Y: _with_none(_with_unions(Y, slice(0, 3), slice(3, 6)))),
    "relations+": ("relations", lambda Y: _with_unions(Y, slice(0, 5), slice(5, 10))),
}


def _sparse(file: Any) -> Any:
    return sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))


def measured(X: Any, Y: Floats, wrong: Mask, peers: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Average precision over cells and rows, by every method, and what the cuts are worth."""
    found: dict[str, tuple[float, ...]] = {}
    rows = np.asarray(wrong.any(axis=1))
    for name, parameters in OURS.items():
        scored = MCODE(**parameters).fit(X, Y).fitted_.training_rows
        found[name] = _both(cell_scores(scored), scored.scores, wrong)
    for peer in peers:
        chance = held_out(X, Y, peer)
        surprises = surprise(chance, Y)
        found[peer] = _both(surprises, surprises.sum(axis=1), wrong)
        if peer == "logistic":
            cleanlab = average_precision_score(rows, cleanlab_rows(chance, Y))
            found["cleanlab"] = found[peer][0], float(cleanlab)
            auto = MCODE(contamination="auto").fit(X, Y)
            found["cut: amiss"] = cut(auto.labels_ == 1, rows)
            found["cut: cleanlab"] = cut(cleanlab_issues(chance, Y), rows)
            assert auto.error_estimate_ is not None
            estimate = auto.error_estimate_.rows
            found["rows: estimate, low, high, wrong"] = (*map(float, vars(estimate).values()), float(rows.sum()))
    return found


def cut(flagged: Mask, wrong: Mask) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    hits = int((flagged & wrong).sum())
    return hits / max(1, int(flagged.sum())), hits / max(1, int(wrong.sum())), f1(flagged, wrong)


def _both(cells: Floats, rows: Floats, wrong: Mask) -> tuple[float, float]:
    by_cell = average_precision_score(wrong.ravel(), cells.ravel())
    return float(by_cell), float(average_precision_score(wrong.any(axis=1), rows))


def _print(table: str, who: str, method: str, figures: Sequence[float] | Floats) -> None:
    said = " ".join(f"{each:.3f}" if each <= 1 else f"{each:.0f}" for each in figures)
    print(f"{table:10} {who:24} {method:22} {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", default="ecg,relations")
    parser.add_argument("--peers", default=",".join(PEERS))  # boosting takes minutes on the words of relations
    arguments = parser.parse_args()
    for name, (X, truth, readers) in tables(arguments.data).items():
        if name not in arguments.tables.split(","):
            continue
        total: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for who, Y in readers.items():
            found = measured(X, Y, truth != Y, arguments.peers.split(","))
            for method, figures in found.items():
                total[method].append(figures)
                _print(name, who, method, figures)
        for method, several in total.items():
            _print(name, "mean", method, np.mean(several, axis=0))


if __name__ == "__main__":
    main()
