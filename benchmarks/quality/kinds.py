"""Kinds of error: which of them does the default find, and how many does it say there are?

    python -m benchmarks.quality.kinds --data ../shared/data --seeds 3 > kinds.txt

Average precision over rows, for each table and kind, as a mean over seeds (from 0 on); "mutual information" is
Σ_i log base_i - log rho_i of models of the inputs alone, out of fold. Then how many wrong rows are estimated (and
how often the interval holds the truth, or the estimate is within a factor of 1.5), and F1 of the automatic cut
against cleanlab's find_label_issues on the same probabilities as the logistic regression's.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score

from amiss import MCODE, Settings
from amiss.arrays import Floats, Mask
from amiss.data.columns import Columns
from amiss.decisions.decision import AUTO_CHANCE
from amiss.evaluation import inject
from amiss.evaluation.digits import TAGS
from amiss.evaluation.one_fit import OneFit, Subject
from amiss.evaluation.registry import OF_TAGS
from amiss.models.projection import log_rho
from amiss.paper.table2 import load
from benchmarks.quality.peers import cleanlab_issues, cleanlab_rows, f1
from benchmarks.quality.real import OLD

DATASETS = ("birds", "yeast", "enron", "genbase", "digits", "one-hot digits")
OURS: dict[str, dict[str, Any]] = {
    "default": {},
    "0.1.0": OLD,
    "0.1.0 none": OLD | {"parents": "none"},
    "prod": {"rule": "prod"},
    "prod none": {"rule": "prod", "parents": "none"},
}


def table(folder: Path, name: str) -> tuple[Any, Floats]:
    """Inputs and outputs of a dataset."""
    if "digits" in name:
        bunch = load_digits()
        if name != "digits":
            return bunch.data, np.eye(10)[bunch.target]
        tags = [[digit in members for digit in bunch.target] for members in TAGS.values()]
        return bunch.data, np.column_stack(tags).astype(float)
    data = load(folder, name)
    return data.X, np.asarray(data.Y.values)


def by_inputs_alone(X: Any, Y: Floats) -> Floats:
    """Out-of-fold log-odds of logistic regressions on the inputs; the solver of the package, block scaling."""
    _, inputs, outputs = Columns.of(X, Y)
    result = OneFit(Settings.of(**OLD | {"parents": "none", "scaling": "block"}), Subject(inputs, outputs)).result
    assert result.out_of_fold is not None
    return np.asarray(result.out_of_fold[result.models.training_rows.place])


def trial(X: Any, Y: Floats, wrong: Mask) -> dict[str, float]:
    """Average precision of every method, and the estimates."""
    found: dict[str, float] = {}
    fits = {name: MCODE(**parameters).fit(X, Y) for name, parameters in OURS.items()}
    for name, fit in fits.items():
        found[name] = _ap(wrong, fit.decision_scores_)
    log_odds = by_inputs_alone(X, Y)
    surprises, base = -log_rho(log_odds, Y), (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    found["logistic"] = _ap(wrong, surprises.sum(axis=1))
    found["mutual"] = _ap(wrong, (np.where(Y == 1, np.log(base), np.log1p(-base)) + surprises).sum(axis=1))
    chance = 1 / (1 + np.exp(-log_odds))
    found["cleanlab"] = _ap(wrong, cleanlab_rows(chance, Y))
    default, n_wrong = fits["default"], int(wrong.sum())
    assert default.error_estimate_ is not None
    estimate = default.error_estimate_.rows
    flagged = -np.expm1(-default.decision_scores_) > AUTO_CHANCE  # as contamination="auto" does
    found["ratio"] = estimate.estimate / n_wrong
    near = 2 / 3 <= found["ratio"] <= 1.5
    found["covered"] = float(near or estimate.low <= n_wrong <= estimate.high)
    found["F1"], found["F1 cleanlab"] = f1(flagged, wrong), f1(cleanlab_issues(chance, Y), wrong)
    return found


def _ap(wrong: Mask, scores: Floats) -> float:
    return float(average_precision_score(wrong, scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--kinds", default=",".join(OF_TAGS))
    parser.add_argument("--ratios", default="0.01,0.05,0.1")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    printed = False
    for name in arguments.datasets.split(","):
        X, Y = table(arguments.data, name)
        for kind in arguments.kinds.split(","):
            for ratio in map(float, arguments.ratios.split(",")):
                total: dict[str, list[float]] = defaultdict(list)
                for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
                    made, wrong = inject(Y, ratio, 0.05, seed, kind=kind)
                    for method, value in trial(X, made, wrong).items():
                        total[method].append(value)
                if not printed:
                    print(f"{'':32}" + "".join(f"{method:>12}" for method in total), flush=True)
                    printed = True
                means = "".join(f"{np.mean(values):12.3f}" for values in total.values())
                print(f"{name:15} {kind:11} {ratio:4.0%}{means}", flush=True)


if __name__ == "__main__":
    main()
