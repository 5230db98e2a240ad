"""What is computed, and how it is written into a folder: one file per dataset and piece of work.

    python -P benchmarks/same_numbers/pieces.py FOLDER --data ../shared/data [--datasets yeast,birds] [--full]

This file runs by itself under the old and the new code, so it imports nothing of ours but amiss. Where the two
have different names for a thing, this file uses the new name.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import amiss

DATASETS = ("yeast", "birds", "genbase", "enron", "yahoo-arts", "yahoo-business", "bibtex", "mediamill")
GENERATED = "generated"  # a table with categories and missing inputs
HEAVY = ("bibtex", "mediamill")
VARIED = ("yeast", "birds", "enron", GENERATED)  # where every parameter is tried
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")

N_EXPLAINED, N_NEW_EXPLAINED = 20, 3
RULES = ("prod", "rw", "lrw", "flip")
PAPER: dict[str, Any] = {"crossfit": False, "weighting": "error", "scaling": "block", "parent_penalty": 1.0}
VARIANTS: dict[str, dict[str, Any]] = {
    "parents none": {"parents": "none"},
    "parents chain": {"parents": "chain"},
    "rule prod": {"rule": "prod"},
    "rule rw": {"rule": "rw"},
    "rule lrw": {"rule": "lrw"},
    "rule lrw, brier": {"rule": "lrw", "weighting": "brier"},
    "rule auto": {"rule": "auto"},
    **{f"scaling {name}": {"scaling": name} for name in ("block", "none", "standard", "maxabs", "log-unit")},
    "crossfit False": {"crossfit": False},
    "crossfit True": {"crossfit": True},
    "crossfit 0.5": {"crossfit": 0.5},
    "no neighbours": {"n_neighbors": 0},
    "neighbours by inputs": {"neighbor_space": "inputs"},
    "approximate neighbours": {"neighbor_search": "approximate"},
    "three outputs excluded": {"exclude": [0, 1, 2]},
    "unskilled outputs excluded": {"exclude": 0.6},
    "contamination auto": {"contamination": "auto"},
    "two threads": {"n_jobs": 2},
    "another seed": {"random_state": 7, "cv": 3},
}

Numbers = dict[str, npt.NDArray[Any]]


# What the old and the new code call differently.

RENAMED = {"share": "contribution", "part": "share_of_score"}  # in explanations
RENAMED_BESIDE_FITTING = {"expected": "chance_of_one", "fitting": "expected"}  # "expected" changed its meaning
PROSE = {"label", "score_name", "rule", "left_out", "values"}  # of explanations, not compared


def detector(**parameters: Any) -> Any:
    """An unfitted detector; ``rule`` was called ``score``."""
    if "rule" in parameters and "rule" not in inspect.signature(amiss.MCODE).parameters:
        parameters["score"] = parameters.pop("rule")
    return amiss.MCODE(**{"n_jobs": 1, **parameters})


def score_batch(fitted: Any, X: Any, Y: Any, **options: Any) -> Any:
    """A batch of new rows; the method was called ``judge``."""
    method = getattr(fitted, "score_batch", None) or fitted.judge
    return method(X, Y, **options)


def attribute(thing: Any, *names: str) -> Any:
    """The first attribute of these names that there is; a dot leads on to an attribute of it."""
    for name in names:
        found = thing
        for step in name.split("."):
            found = getattr(found, step, None)
        if found is not None:
            return found
    return None


# What is computed.


class Subject:
    """One dataset, read when it is first needed, and the fit that several pieces of work share."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    @cached_property
    def rows(self) -> tuple[Any, Any]:
        if self.name == GENERATED:
            return generated()
        home = self.folder / self.name
        identifier = "protein" if self.name == "genbase" else None
        data = amiss.read(*sorted(home.glob("*.arff*")), outputs=home / f"{self.name}.xml", id=identifier)
        return data.X, data.Y

    @cached_property
    def fitted(self) -> Any:
        return detector().fit(*self.rows)

    @cached_property
    def with_missing_outputs(self) -> tuple[Any, npt.NDArray[np.float64]]:
        """The same table, with one in fifty outputs missing."""
        X, Y = self.rows
        values = np.array(Y, dtype=float)
        values[np.random.default_rng(3).random(values.shape) < 0.02] = np.nan
        return X, values


def generated(n_rows: int = 800) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.float64]]:
    """Four numeric inputs and two categories, some cells missing; six outputs, some missing, some flipped."""
    rng = np.random.default_rng(11)
    numbers = rng.normal(size=(n_rows, 4))
    numbers[:, 3] = np.exp(2 * numbers[:, 3])
    kinds = [rng.integers(5, size=n_rows), rng.integers(3, size=n_rows)]
    signal = np.column_stack([numbers[:, :3], np.log(numbers[:, 3]), *(kind - kind.mean() for kind in kinds)])
    Y = np.zeros((n_rows, 6))
    for i in range(6):
        pull = 2 * signal @ rng.normal(size=6) / np.sqrt(6) + Y[:, :i] @ rng.normal(size=i)
        Y[:, i] = pull + rng.logistic(scale=0.5, size=n_rows) > 0
    flipped = rng.choice(n_rows, size=16, replace=False), rng.integers(6, size=16)
    Y[flipped] = 1 - Y[flipped]
    X = np.empty((n_rows, 6), dtype=object)
    X[:, :4] = numbers
    for column, kind in enumerate(kinds):
        X[:, 4 + column] = [f"level {level}" for level in kind]
    X[rng.random(X.shape) < 0.05] = None
    Y[rng.random(Y.shape) < 0.01] = np.nan
    return X, Y


def of_fit(fitted: Any) -> Numbers:
    """What a fit says of its rows."""
    names = ["decision_scores_", "threshold_", "labels_", "contributions_", "rho_", "weights_", "p_values_"]
    found = {name: attribute(fitted, name) for name in names}
    return known(found) | {"rule": as_array([attribute(fitted, "rule_", "score_")])}


def known(found: dict[str, Any]) -> Numbers:
    """What is not None, as arrays of one type."""
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items() if values is not None}


def within(name: str, numbers: Numbers) -> Numbers:
    """The same numbers under longer names."""
    return {f"{name}.{quantity}": values for quantity, values in numbers.items()}


def explained(fitted: Any) -> Numbers:
    """Explanations of the most unusual rows of a fit."""
    most = np.argsort(-fitted.decision_scores_, kind="stable")[:N_EXPLAINED]
    return of_explanations(fitted.explain_rows(most.tolist()))


def of_explanations(explanations: Iterable[Any]) -> Numbers:
    """Every number of some explanations, and the names that say what it belongs to, field by field."""
    found: dict[str, list[Any]] = defaultdict(list)
    for explanation in explanations:
        for path, value in leaves(explanation.to_dict()):
            found[path].append(value)
    return {path: as_array(values) for path, values in found.items()}


def as_array(values: list[Any]) -> npt.NDArray[Any]:
    """Numbers, where None is NaN; or texts, where None is empty."""
    if any(isinstance(value, str) for value in values):
        return np.array([value or "" for value in values], dtype=np.str_)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def leaves(entry: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of everything in nested dictionaries and lists but prose; places in a list have no name."""
    if isinstance(entry, dict):
        renamed = RENAMED | (RENAMED_BESIDE_FITTING if "fitting" in entry else {})
        for key, value in entry.items():
            if path == "observed":  # its keys are the names of outputs
                yield path, value
            elif key not in PROSE:
                yield from leaves(value, f"{path}.{renamed.get(key, key)}".strip("."))
    elif isinstance(entry, (list, tuple)):
        for value in entry:
            yield from leaves(value, path)
    else:
        yield path, entry


def of_quality(fitted: Any) -> Numbers:
    """The columns of ``output_quality_``."""
    columns = fitted.output_quality_.to_dict()
    return {name: as_array(list(values)) for name, values in columns.items()}


def of_batch(batch: Any) -> Numbers:
    """What is said of new rows."""
    found = {
        "scores": attribute(batch, "scores"),
        "flagged": attribute(batch, "flagged"),
        "threshold": attribute(batch, "threshold"),
        "p_values": attribute(batch, "p_values"),
        "output_p_values": attribute(batch, "output_p_values"),
        "contributions": attribute(batch, "contributions"),
        "probabilities": attribute(batch, "probabilities", "probability"),
        "training_match": attribute(batch, "training_match", "in_fit"),
        "drift": attribute(batch, "drift.z"),
    }
    return known(found)


def new_rows(rows: tuple[Any, Any], calibrate: bool) -> Numbers:
    """The first 70 % of the rows are fitted; the others, and their most unusual ones explained, are new to it."""
    X, Y = rows
    everyone = np.arange(len(Y))
    early, late = np.split(everyone, [int(0.7 * len(Y))])
    fitted = detector().fit(X[early], Y[early])
    if calibrate:
        fitted.calibrate(X[early], Y[early])
    batch = score_batch(fitted, X[late], Y[late])
    result = of_batch(batch)
    result |= known({"predict": fitted.predict(X[late], Y[late]), "labels_": fitted.labels_})
    most = late[np.argsort(-np.asarray(batch.scores), kind="stable")[:N_NEW_EXPLAINED]]
    some = X[most], Y[most]
    result |= within("explained", of_explanations(fitted.explain(*some, row=row) for row in range(len(most))))
    if calibrate:
        mixed = np.concatenate([late, early[:5]])
        batch = score_batch(fitted, X[mixed], made_wrong(Y[mixed]), fdr=0.1)
        result |= within("fdr 0.1, some made wrong", of_batch(batch))
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder) / "model.amiss")
        again = amiss.load(Path(folder) / "model.amiss")
    return result | within("saved and loaded", of_batch(score_batch(again, X[late], Y[late])))


def pieces_of(name: str, full: bool) -> dict[str, Callable[[Subject], Numbers]]:
    """What is computed on a dataset, by the name of the piece."""
    everything = full or name not in HEAVY

    def fit(subject: Subject, **parameters: Any) -> Numbers:
        return of_fit(detector(**parameters).fit(*subject.rows))

    pieces: dict[str, Callable[[Subject], Numbers]] = {
        "default": lambda subject: of_fit(subject.fitted),
        "explained": lambda subject: explained(subject.fitted),
        "quality": lambda subject: of_quality(subject.fitted),
        "fdr 0.1": partial(fit, fdr=0.1),
        "fdr 0.1, some made wrong": fdr_with_wrong_rows,
        "new rows": lambda subject: new_rows(subject.rows, calibrate=False),
    }
    for rule in RULES if everything else ("lrw",):
        pieces[f"paper {rule}"] = partial(fit, rule=rule, **PAPER)
    if everything:
        pieces["calibrated"] = lambda subject: new_rows(subject.rows, calibrate=True)
    if name in VARIED:
        pieces |= {variant: partial(fit, **parameters) for variant, parameters in VARIANTS.items()}
        pieces["missing outputs"] = missing_outputs
        pieces["missing outputs, new rows"] = lambda subject: new_rows(
            subject.with_missing_outputs, calibrate=True
        )
    if name in VARIED and name != "enron":  # which is sparse
        pieces["another classifier"] = another_classifier
    return pieces


def made_wrong(Y: Any) -> npt.NDArray[np.float64]:
    """Outputs of which every other one is flipped in thirty rows, so that a false-discovery level finds some."""
    values = np.array(Y, dtype=float)
    values[:30, ::2] = 1 - values[:30, ::2]
    return values


def fdr_with_wrong_rows(subject: Subject) -> Numbers:
    X, Y = subject.rows
    return of_fit(detector(fdr=0.1).fit(X, made_wrong(Y)))


def missing_outputs(subject: Subject) -> Numbers:
    fitted = detector().fit(*subject.with_missing_outputs)
    return of_fit(fitted) | within("explained", explained(fitted))


def another_classifier(subject: Subject) -> Numbers:
    from sklearn.naive_bayes import GaussianNB

    return of_fit(detector(model=GaussianNB(), cv=3).fit(*subject.rows))


# Each side's numbers, in a folder.


def code() -> dict[str, str]:
    """Which amiss this is, and what it stands on."""
    assert amiss.__file__ is not None
    home = Path(amiss.__file__).parent
    digest = hashlib.sha256()
    for source in sorted(home.rglob("*.py")):
        digest.update(source.relative_to(home).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    found = {"source": digest.hexdigest()[:12], "python": sys.version.split()[0]}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found | {"path": str(home)}


def prepare(folder: Path, replace: bool) -> None:
    """Make the folder ready for numbers of this code; numbers of other code are deleted if we may."""
    folder.mkdir(parents=True, exist_ok=True)
    record, mine = folder / "code.json", code()
    before = json.loads(record.read_text()) if record.exists() else mine
    if {**before, "path": ""} != {**mine, "path": ""}:
        if not replace:
            sys.exit(f"{folder} holds numbers of other code or libraries; use another folder, or delete it")
        for outdated in folder.rglob("*.npz"):
            outdated.unlink()
    record.write_text(json.dumps(mine, indent=1))


def dump(folder: Path, data: Path, names: Sequence[str], full: bool) -> None:
    """Write the numbers of this interpreter's amiss that are not there yet."""
    for name in names:
        subject = Subject(data, name)
        for piece, work in pieces_of(name, full).items():
            target = folder / name / f"{piece}.npz"
            if not target.exists():
                save(target, piece, partial(work, subject))


def save(target: Path, piece: str, work: Callable[[], Numbers]) -> None:
    """Do one piece of work and write it whole; if it fails, say so and write nothing."""
    start = time.perf_counter()
    try:
        numbers = work()
    except Exception:  # the comparison tells that it is missing
        traceback.print_exc()
        print(f"{target.parent.name}, {piece}: failed", file=sys.stderr, flush=True)
        return
    target.parent.mkdir(exist_ok=True)
    unfinished = target.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        np.savez(file, **numbers)  # type: ignore[arg-type]  # mypy takes a name for allow_pickle
    unfinished.replace(target)
    seconds = time.perf_counter() - start
    print(f"{target.parent.name}, {piece}: {seconds:.1f} s", file=sys.stderr, flush=True)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Options that say what is computed."""
    parser.add_argument("--data", type=Path, required=True, help="folder with the paper's datasets")
    parser.add_argument(
        "--datasets",
        type=lambda names: tuple(names.split(",")),
        default=(*DATASETS, GENERATED),
        metavar="NAME,NAME",
        help=f"default: the paper's eight, and {GENERATED!r}",
    )
    parser.add_argument("--full", action="store_true", help="also what takes long on mediamill and bibtex")


def main() -> None:
    parser = argparse.ArgumentParser(description="write the numbers of this interpreter's amiss into a folder")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--replace", action="store_true", help="delete numbers of other code that are there")
    add_choices(parser)
    arguments = parser.parse_args()
    prepare(arguments.folder, arguments.replace)
    dump(arguments.folder, arguments.data, arguments.datasets, arguments.full)


if __name__ == "__main__":
    main()
