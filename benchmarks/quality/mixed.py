"""Outputs of several kinds in one table: are errors in each found, and does one kind drown the others?

    python -m benchmarks.quality.mixed --seeds 2 --numeric ../shared/numeric > mixed.txt

A generated table has tags, a class, a grade, a count and numbers; all depend on the inputs and on each other. With
``--numeric``, heartFailure has its numbers and its tags as outputs (the clean rows). Without errors: which output
is the first suspect in the top 5 % of the rows. With one wrong cell in 5 % of the rows, kinds of outputs in turn
and kinds of error by chance: how many are found in the top 5 %, by kind of output and of error. Then each kind of
output is dropped: errors are made in the other kinds only, and found with and without it. What is found of them
should not rise by more than 0.02 when it is dropped. Recalls are means over seeds, counted over all errors.

Last, scikit-learn's digits with 36 wrong classes: average precision of one class output with text labels (the
default, with ``model="auto"``, and with the probabilities that cleanlab is given), of the same as ten columns of 0
and 1, and of cleanlab on out-of-fold models. A wrong class is any other one, or the one whose mean picture is
nearest (confusable).
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from amiss import MCODE
from amiss.arrays import Floats, Mask, Rows
from amiss.data.table import Table
from amiss.data.validation import as_outputs
from amiss.evaluation import inject
from amiss.evaluation.choice import OF_SEVERAL_KINDS
from amiss.evaluation.inject import can_be_made
from amiss.output.cells import cell_scores
from amiss.scoring.rows import ScoredRows

N_ROWS, SHARE, MAY_RISE = 2000, 0.05, 0.02
GRADES = ("very low", "low", "medium", "high", "very high")
OF_CELLS = tuple(kind for kind in OF_SEVERAL_KINDS if kind not in ("swap", "shift-all"))
HEART, HEART_KINDS = "heartFailure", {"ejection_fraction": "number"}
N_WRONG_DIGITS = 36

Subject = tuple[Any, Table]


def generated(seed: int) -> Subject:
    """Two tags, a class of four, a grade of five, a count and two numbers, each with noise of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 8))
    severity = X[:, 0] + 0.7 * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.4 * rng.normal(size=N_ROWS)
    utilities = np.column_stack([X[:, 4], X[:, 5], severity, -X[:, 4] - X[:, 5]]) * 2 + rng.gumbel(
        size=(N_ROWS, 4)
    )
    group = utilities.argmax(axis=1)
    grade = np.digitize(severity + 0.3 * rng.normal(size=N_ROWS), [-1.5, -0.5, 0.5, 1.5])
    visits = rng.poisson(np.exp(1.5 + 0.45 * (grade - 2) + 0.25 * X[:, 6]))
    dose = 40 + 12 * severity + 6 * (group == 2) + 4 * X[:, 7] + 3 * rng.standard_t(5, size=N_ROWS)
    cost = np.exp(3 + 0.12 * visits + 0.3 * X[:, 5] + 0.15 * rng.normal(size=N_ROWS))
    urgent = rng.random(N_ROWS) < 1 / (1 + np.exp(-3 * (severity - 0.8)))
    treated = rng.random(N_ROWS) < 1 / (1 + np.exp(-0.25 * (dose - 42) - 1.5 * (group == 1)))
    Y = pd.DataFrame(
        {
            "urgent": urgent.astype(float),
            "treated": treated.astype(float),
            "group": np.array(["north", "east", "south", "west"])[group],
            "grade": np.array(GRADES)[grade],
            "visits": visits.astype(float),
            "dose": dose.round(1),
            "cost": cost.round(2),
        }
    )
    return X, as_outputs(Y, kinds={"grade": list(GRADES), "visits": "count"})


def heart(folder: Path) -> Subject:
    """Numbers and tags as outputs; what is left, the age, is the only input."""
    table = pd.read_csv(folder / f"{HEART}.csv")
    table = table[table.pop("ground_truth") == 0].reset_index(drop=True)
    return table[["age"]], as_outputs(table.drop(columns="age"), kinds=HEART_KINDS)


def kind_names(Y: Table) -> list[str]:
    return [column.kind.name for column in Y.kinds]


def with_errors(
    Y: Table, places: Mapping[str, list[int]], n_rows: int, seed: int
) -> tuple[Table, list[str], Rows]:
    """One wrong cell in some rows, kinds of outputs in turn; the kind of error of each, and (rows, outputs)."""
    rng, values = np.random.default_rng([1, seed]), np.array(Y.values)
    kinds, errors = [*places], []
    cells: list[tuple[int, int]] = []

    @cache
    def wrong_column(output: int, error: str) -> Floats:
        own = np.random.default_rng([2, seed, output, OF_CELLS.index(error)])
        made, _ = inject(Y.select([output]), 1.0, 1.0, own, kind=error)
        return np.asarray(made.values[:, 0])

    for row in rng.permutation(len(Y)).tolist():
        if len(cells) == n_rows:
            break
        output = int(rng.choice(places[kinds[len(cells) % len(kinds)]]))
        error = str(rng.choice([each for each in OF_CELLS if can_be_made(each, [Y.kinds[output]])]))
        made = wrong_column(output, error)[row]
        if made != Y.values[row, output]:
            values[row, output] = made
            errors.append(error)
            cells.append((row, output))
    return Table(values, Y.names, kinds=Y.kinds), errors, np.array(cells)


def scored(X: Any, Y: Table) -> ScoredRows:
    return MCODE().fit(X, Y).fitted_.training_rows


def top(rows: ScoredRows, n: int) -> Mask:
    """The ``n`` rows that score highest."""
    found = np.zeros(len(rows.scores), dtype=bool)
    found[np.argsort(-rows.scores, kind="stable")[:n]] = True
    return found


def first_suspects(rows: ScoredRows, n: int) -> Floats:
    """The share of each output among the first suspects of the top rows."""
    first = cell_scores(rows)[top(rows, n)].argmax(axis=1)
    return np.bincount(first, minlength=rows.Y.shape[1]) / n


class Recalls:
    """How many errors were found, by kind."""

    def __init__(self) -> None:
        self.found: dict[str, list[bool]] = defaultdict(list)

    def add(self, kinds: list[str], found: Mask) -> None:
        for kind, each in zip(kinds, found.tolist(), strict=True):
            self.found[kind].append(each)

    def by_kind(self) -> dict[str, float]:
        return {kind: float(np.mean(self.found[kind])) for kind in sorted(self.found)}

    def overall(self) -> float:
        return float(np.mean([each for several in self.found.values() for each in several]))


def table(headed: Mapping[str, Mapping[str, float]]) -> None:
    """Rows of figures by their titles; all have the columns of the first."""
    names = [*next(iter(headed.values()))]
    widths = [max(9, len(name) + 2) for name in names]
    print(f"\n{'':34}" + "".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True)))
    for title, values in headed.items():
        cells = zip(names, widths, strict=True)
        print(f"{title:34}" + "".join(f"{values[name]:{width}.3f}" for name, width in cells), flush=True)


def whole_table(name: str, subjects: list[Subject]) -> None:
    """Flags of a clean table, and errors in every kind of output."""
    by_output, by_error = Recalls(), Recalls()
    shares, named = [], []
    for seed, (X, Y) in enumerate(subjects):
        n_rows, kinds = round(SHARE * len(Y)), kind_names(Y)
        shares.append(first_suspects(scored(X, Y), n_rows))
        made, errors, cells = with_errors(Y, places_of(kinds), n_rows, seed)
        rows = scored(X, made)
        found = top(rows, n_rows)[cells[:, 0]]
        by_output.add([kinds[output] for output in cells[:, 1]], found)
        by_error.add(errors, found)
        named += (cell_scores(rows)[cells[:, 0]].argmax(axis=1) == cells[:, 1])[found].tolist()
    names = subjects[0][1].names
    table({f"{name}: clean, first suspects": dict(zip(names, np.mean(shares, axis=0), strict=True))})
    table({f"{name}: recall by output": by_output.by_kind()})
    table({f"{name}: recall by error": by_error.by_kind()})
    table({f"{name}: of all errors": {"recall": by_output.overall(), "named first": float(np.mean(named))}})


def places_of(kinds: list[str], without: str = "") -> dict[str, list[int]]:
    """The outputs of each kind."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, kind in enumerate(kinds):
        if kind != without:
            found[kind].append(place)
    return found


def dropped(name: str, subjects: list[Subject]) -> None:
    """Errors in all kinds but one, found with and without the outputs of that kind."""
    for gone in dict.fromkeys(kind_names(subjects[0][1])):
        before, after = Recalls(), Recalls()
        for seed, (X, Y) in enumerate(subjects):
            n_rows, kinds = round(SHARE * len(Y)), kind_names(Y)
            kept = [place for place, kind in enumerate(kinds) if kind != gone]
            made, _, cells = with_errors(Y, places_of(kinds, gone), n_rows, seed)
            of = [kinds[output] for output in cells[:, 1]]
            before.add(of, top(scored(X, made), n_rows)[cells[:, 0]])
            after.add(of, top(scored(X, made.select(kept)), n_rows)[cells[:, 0]])
        table({f"{name}: with {gone}": before.by_kind(), f"{name}: without {gone}": after.by_kind()})
        rise = after.overall() - before.overall()
        worst = max(after.by_kind()[kind] - each for kind, each in before.by_kind().items())
        said = "more than it may" if rise > MAY_RISE else "as it should be"
        print(f"{'':34} rise {rise:+.3f} ({said}), at most {worst:+.3f} of one kind", flush=True)


def wrong_digits(classes: Rows, X: Floats, confusable: bool, seed: int) -> Rows:
    """The classes with 36 of them wrong."""
    rng, made = np.random.default_rng(seed), classes.copy()
    means = np.stack([X[classes == each].mean(axis=0) for each in range(10)])
    apart = np.linalg.norm(means[:, None] - means[None], axis=2) + np.diag(np.full(10, np.inf))
    for row in rng.choice(len(classes), N_WRONG_DIGITS, replace=False):
        others = np.delete(np.arange(10), classes[row])
        made[row] = apart[classes[row]].argmin() if confusable else rng.choice(others)
    return made


def out_of_fold(X: Floats, labels: Rows, model: Any) -> Floats:
    """The probability of each class by models that did not see the row."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with threadpool_limits(1):  # boosting's threads wait busily for each other where cores are shared
        return np.asarray(cross_val_predict(model, X, labels, cv=folds, method="predict_proba"))


def by_cleanlab(labels: Rows, chance: Floats) -> Floats:
    """cleanlab's self-confidence, turned round."""
    from cleanlab.rank import get_label_quality_scores

    return -np.asarray(get_label_quality_scores(labels, chance, method="self_confidence"))


def digits(n_seeds: int) -> None:
    """Average precision of each method."""
    X, classes = load_digits(return_X_y=True)
    by_errors: dict[str, dict[str, float]] = {}
    for title, confusable in (("random", False), ("confusable", True)):
        found: dict[str, list[float]] = defaultdict(list)
        for seed in range(n_seeds):
            labels = wrong_digits(classes, X, confusable, seed)
            texts = pd.DataFrame({"digit": np.char.add("digit ", labels.astype(str))})
            chances = {
                "logistic": out_of_fold(
                    X, labels, make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
                ),
                "boosting": out_of_fold(X, labels, HistGradientBoostingClassifier(random_state=0)),
            }
            scores = {
                "class": MCODE().fit(X, texts).decision_scores_,
                "class, auto": MCODE(model="auto").fit(X, texts).decision_scores_,
                "one-hot": MCODE().fit(X, np.eye(10)[labels]).decision_scores_,
            }
            for name, chance in chances.items():
                scores[f"cleanlab, {name}"] = by_cleanlab(labels, chance)
                scores[f"given {name}"] = MCODE.from_probabilities(chance, texts).decision_scores_
                scores[f"{name} and x"] = MCODE().fit(X, texts, probabilities=chance).decision_scores_
            for method, each in scores.items():
                found[method].append(float(average_precision_score(labels != classes, each)))
        by_errors[f"digits: {title}"] = {method: float(np.mean(values)) for method, values in found.items()}
    table(by_errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--numeric", type=Path, help="folder with heartFailure.csv")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--parts", default="whole,dropped,digits")
    given = parser.parse_args()
    tables = {"generated": [generated(seed) for seed in range(given.seeds)]}
    if given.numeric is not None:
        tables[HEART] = [heart(given.numeric)] * given.seeds
    for part, run in (("whole", whole_table), ("dropped", dropped)):
        for name, subjects in tables.items() if part in given.parts.split(",") else ():
            run(name, subjects)
    if "digits" in given.parts.split(","):
        digits(given.seeds)


if __name__ == "__main__":
    main()
