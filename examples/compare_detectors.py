"""Compare detectors on your own table: flip outputs, fit to the flipped table, and see who finds the flips.

    python examples/compare_detectors.py

Ours, the paper's best method, and scikit-learn's isolation forest, on the digits. ATPAR is the mean precision
among the most unusual 1 % of the rows. Any other detector that gives one score per row can join.
"""

import numpy as np
from sklearn.ensemble import IsolationForest

import amiss
from amiss.evaluation import atpar, inject
from amiss.evaluation.digits import tagged_digits


def isolation_forest(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    rows = np.hstack([X, Y])
    return -IsolationForest(random_state=0).fit(rows).score_samples(rows)


DETECTORS = {
    "amiss": lambda X, Y: amiss.MCODE().fit(X, Y).decision_scores_,
    "the paper's M-LRW": lambda X, Y: amiss.paper.method("M-LRW").fit(X, Y).decision_scores_,
    "isolation forest": isolation_forest,
}


def main() -> None:
    data = tagged_digits().data
    X, given = np.asarray(data.X), np.asarray(data.Y)
    found: dict[str, list[float]] = {name: [] for name in DETECTORS}
    for seed in range(3):
        Y, is_wrong = inject(given, ratio=0.01, dimensionality=0.3, random_state=seed)
        for name, scores in DETECTORS.items():
            found[name].append(atpar(scores(X, Y), is_wrong))
    for name, values in found.items():
        print(f"{name:18}  {np.mean(values):.2f}")


if __name__ == "__main__":
    main()
