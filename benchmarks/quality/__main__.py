"""What was tried for the default detector: its settings one by one, and other scores on the same models.

    python -m benchmarks.quality --data ../shared/data --datasets birds,genbase,yeast,enron --seeds 5

Seeds begin at 1000: they are not those of the reported table. ATPAR of each variant, averaged over a
dataset's cells of the paper's Table 2 and over the seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp

from amiss import Dataset, Settings
from amiss.arrays import Floats
from amiss.data.columns import Columns
from amiss.evaluation import atpar, inject
from amiss.evaluation.one_fit import OneFit, Subject
from amiss.models.projection import errors, log_rho
from amiss.paper.table2 import TABLE, load
from amiss.scoring.registry import RULES, WEIGHTINGS
from amiss.scoring.weights import PRIOR_ERRORS, PRIOR_ROWS, local_weights

FIRST_SEED = 1000
Score = Callable[[OneFit], Floats]


def other(**changes: Any) -> Score:
    """Another rule or share of the package, on the models of the default."""

    def scored(fit: OneFit) -> Floats:
        return fit.scored(**changes).rows.scores

    return scored


def own(formula: Callable[[Floats, Floats], Floats]) -> Score:
    """A score from -log rho and the plain local mean errors, both ``(n_rows, n_outputs)``."""

    def scored(fit: OneFit) -> Floats:
        return formula(*_terms(fit, 0.6))[fit.result.models.training_rows.place]

    return scored


def _terms(fit: OneFit, share: float) -> tuple[Floats, Floats]:
    log_odds, Y = fit.result.log_odds(share), fit.result.models.training_rows.Y
    assert fit.neighborhood is not None
    near = fit.neighborhood.of_rows(np.arange(len(Y)), -1)
    return -log_rho(log_odds, Y), 1 / local_weights(errors(log_odds, Y), ~np.isnan(Y), near)


def _flip(surprise: Floats, error: Floats, chance: float = 1.0) -> Floats:
    rho = np.exp(-surprise)
    return np.asarray(np.log1p(chance * (1 - rho) / (surprise.shape[1] * (rho + error))).sum(axis=1))


def _smoothed(error: Floats, k: int = 100) -> Floats:
    """Nearly the default's: the mean of local errors stands for that of all rows."""
    prior = PRIOR_ROWS * error.mean(axis=0) + PRIOR_ERRORS
    return (k * error + prior) / (k + PRIOR_ROWS + PRIOR_ERRORS)


def three_ranks(fit: OneFit) -> Floats:
    """Sum of -log(rank / N) of in-sample LRW, the three largest terms of half PROD, out-of-fold LRW."""
    rows = fit.result.models.training_rows
    total = np.zeros(len(rows.Y))
    for crossfit in (0.0, 0.5, 1.0):
        surprise, error = _terms(fit, crossfit)
        lrw = (surprise / np.sqrt(error)).sum(axis=1)
        score = np.sort(surprise, axis=1)[:, -3:].sum(axis=1) if crossfit == 0.5 else lrw
        rank = np.empty(len(score))
        rank[np.argsort(-score, kind="stable")] = np.arange(1, len(score) + 1)
        total -= np.log(rank / len(score))
    return np.asarray(total[rows.place])


# What a fit must do anew, and what can be tried on the models of one fit.
FITS: dict[str, dict[str, Any]] = {
    "default": {},
    "scaling='block'": {"scaling": "block"},
    "scaling='none'": {"scaling": "none"},
    "parent_penalty=1": {"parent_penalty": 1.0},
    "parent_penalty=9": {"parent_penalty": 9.0},
    "neighbor_space='inputs'": {"neighbor_space": "inputs"},
    "n_neighbors=30": {"n_neighbors": 30},
}
SCORES: dict[str, Score] = {
    "n_neighbors=0, as in models without rows": other(n_neighbors=0),
    "crossfit=False": other(out_of_fold_share=0.0),
    "crossfit=0.5": other(out_of_fold_share=0.5),
    "crossfit=True": other(out_of_fold_share=1.0),
    "rule='lrw'": other(rule=RULES["lrw"]),
    "rule='rw'": other(rule=RULES["rw"]),
    "rule='prod'": other(rule=RULES["prod"]),
    "the paper's M-LRW": other(rule=RULES["lrw"], out_of_fold_share=0.0, weighting=WEIGHTINGS["error"]),
    "flip, plain local errors": own(_flip),
    "flip, no local errors": own(lambda surprise, error: _flip(surprise, 0 * error)),
    "flip, chance 1/(2d)": own(lambda surprise, error: _flip(surprise, _smoothed(error), 0.5)),
    "flip, chance 2/d": own(lambda surprise, error: _flip(surprise, _smoothed(error), 2.0)),
    "log of the sum of odds": own(lambda surprise, _: logsumexp(np.log(np.expm1(surprise) + 1e-300), axis=1)),
    "three largest terms": own(lambda surprise, _: np.sort(surprise, axis=1)[:, -3:].sum(axis=1)),
    "largest weighted term": own(lambda surprise, error: (surprise / np.sqrt(error)).max(axis=1)),
    "three log ranks": three_ranks,
}


def measured(data: Dataset, percent: float, seed: int) -> dict[str, float]:
    """ATPAR of every variant on one flipped table."""
    Y, flipped = inject(np.asarray(data.Y.values, dtype=float), 0.01, percent / 100, seed)
    result = {}
    for name, settings in FITS.items():
        _, inputs, outputs = Columns.of(data.X, Y)
        fit = OneFit(Settings.of(**settings), Subject(inputs, outputs))
        result[name] = atpar(fit.scored().rows.scores, flipped)
        if name == "default":
            result |= {title: atpar(score(fit), flipped) for title, score in SCORES.items()}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument("--datasets", default="birds,genbase,yeast,enron")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    names = arguments.datasets.split(",")
    table: dict[str, list[float]] = {}
    for name in names:
        data = load(arguments.data, name)
        runs = [
            measured(data, percent, FIRST_SEED + seed)
            for percent in TABLE[name]
            for seed in range(arguments.seeds)
        ]
        for variant in runs[0]:
            table.setdefault(variant, []).append(float(np.mean([run[variant] for run in runs])))
    cells = [len(TABLE[name]) for name in names]
    print("| variant | " + " | ".join(names) + " | mean of cells |\n" + "| --- " * (len(names) + 2) + "|")
    for variant, values in table.items():
        figures = " | ".join(f"{value:.3f}" for value in [*values, float(np.average(values, weights=cells))])
        print(f"| {variant} | {figures} |")


if __name__ == "__main__":
    main()
