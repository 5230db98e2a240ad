"""The benchmark of numeric tables: rows whose outputs are unusual for their inputs.

The tables and the errors in them are those of Li and van Leeuwen, *Explainable contextual anomaly detection using
quantile regression forests* (Data Mining and Knowledge Discovery, 2023). A folder holds one CSV file per table.
``tables.json`` names the outputs of each, its categorical inputs, and the column that marks the anomalous rows:

    {"abalone": {"outputs": ["Rings", "Whole weight"], "categorical": ["Sex"], "truth": "ground_truth"}}

Outputs lie in [0, 1]. In the errors that are stored in the files, all outputs of a row moved by the same amount.
Other errors are made on the clean rows: outputs that moved independently of each other, or only one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.data.alignment import missing_and_extra
from amiss.data.table import Table
from amiss.data.validation import as_inputs
from amiss.errors import DataError, quoted, quoted_list
from amiss.readers.delimited import read_delimited
from amiss.readers.select import Selection
from amiss.readers.source import Source

LIST = "tables.json"
FEWEST_CLEAN = 10  # rows: the baselines fit models without each of five folds
SHARE = 0.1  # of the clean rows get errors
LEAST, MOST = 0.1, 0.5  # how far an output is moved, up or down


@dataclass(frozen=True)
class ContextualTable:
    """Inputs, outputs ``(n_rows, n_outputs)``, and which rows the file marks as anomalous."""

    name: str
    X: Table
    Y: Floats
    anomalous: Mask


@dataclass(frozen=True)
class Trial:
    """A table with errors, and which cells of the outputs are wrong, ``(n_rows, n_outputs)``."""

    X: Table
    Y: Floats
    wrong: Mask

    @property
    def wrong_rows(self) -> Mask:
        return np.asarray(self.wrong.any(axis=1))


def names_of_tables(folder: Path) -> tuple[str, ...]:
    """The tables that ``tables.json`` lists, in its order."""
    return tuple(_listed(folder))


def load(folder: Path, name: str) -> ContextualTable:
    """One of the tables that ``tables.json`` lists."""
    tables = _listed(folder)
    if name not in tables:
        raise DataError(f"{folder / LIST}: there is no table {quoted(name)}; there are {quoted_list([*tables])}")
    listed = tables[name]
    source = Source(str(folder / f"{name}.csv"))
    # To the reader only the truth is an output: it reads all other columns as numbers or categories.
    part = read_delimited(source, Selection.of([listed["truth"]], categorical=listed["categorical"]), ",")
    missing, _ = missing_and_extra(part.table.names, listed["outputs"])
    if missing:
        source.refuse(f"there is no column {quoted_list(missing)}; {LIST} says that it is an output")
    inputs = [each for each in part.table.names if each not in {*listed["outputs"], listed["truth"]}]
    if not inputs:
        source.refuse(f"every column is an output or the truth; correct {LIST}")
    Y = np.column_stack([_numbers(source, part.table, output) for output in listed["outputs"]])
    truth = _numbers(source, part.table, listed["truth"])
    if set(truth) != {0.0, 1.0}:
        source.refuse("it must hold 1 for anomalous rows, 0 for all others, and both", column=listed["truth"])
    if (truth == 0).sum() < FEWEST_CLEAN:
        source.refuse(f"at least {FEWEST_CLEAN} rows must be clean; {listed['truth']} is 0 for fewer")
    return ContextualTable(name, as_inputs(part.table.select_named(inputs)), Y, truth == 1)


def _listed(folder: Path) -> dict[str, dict[str, Any]]:
    file = folder / LIST
    if not file.is_file():
        raise DataError(
            f"{folder}: {LIST} is missing; name the folder that holds the contextual benchmark's tables"
        )
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): _entry(entry) for name, entry in content.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{file}: each table needs a list of its outputs, a list of its categorical inputs, and its truth"
        ) from error


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    names = {role: list(map(str, entry[role])) for role in ("outputs", "categorical")}
    if not names["outputs"] or any(isinstance(entry[role], str) for role in names):
        raise ValueError("names must be in a list")
    return names | {"truth": str(entry["truth"])}


def _numbers(source: Source, table: Table, name: str) -> Floats:
    column = table.names.index(name)
    cells = table.column(column)
    if column in table.levels or not np.isfinite(cells).all():
        source.refuse("every cell must be a number", column=name)
    return cells


def stored(table: ContextualTable, seed: int) -> Trial:
    """The errors in the file; there is nothing to draw."""
    return Trial(table.X, table.Y, np.repeat(table.anomalous[:, None], table.Y.shape[1], axis=1))


def made(
    moved: Callable[[tuple[int, int], np.random.Generator], Mask], table: ContextualTable, seed: int
) -> Trial:
    """Errors in a tenth of the clean rows, without the others: outputs that ``moved`` chooses, up or down."""
    rng = np.random.default_rng(seed)
    clean = np.flatnonzero(~table.anomalous)
    Y = table.Y[clean]
    rows = rng.permutation(len(Y))[: max(1, round(SHARE * len(Y)))]
    shape = len(rows), Y.shape[1]
    amounts = rng.uniform(LEAST, MOST, shape) * rng.choice([-1.0, 1.0], shape)
    wrong = np.zeros(Y.shape, dtype=bool)
    wrong[rows] = moved(shape, rng)
    Y[rows] += amounts * wrong[rows]
    return Trial(table.X.take(clean), Y, wrong)


def every_output(shape: tuple[int, int], rng: np.random.Generator) -> Mask:
    return np.ones(shape, dtype=bool)


def one_output(shape: tuple[int, int], rng: np.random.Generator) -> Mask:
    """One output of each row."""
    return np.arange(shape[1]) == rng.integers(shape[1], size=shape[0])[:, None]


@dataclass(frozen=True)
class Kind:
    """A kind of error; those ``drawn`` depend on a seed, and want tables with several outputs."""

    description: str
    make: Callable[[ContextualTable, int], Trial]
    drawn: bool = True

    def fits(self, table: ContextualTable) -> bool:
        return table.Y.shape[1] > 1 or not self.drawn


AMOUNT = f"±U({LEAST}, {MOST}), in {SHARE:.0%} of the clean rows"
KINDS: dict[str, Kind] = {
    "stored": Kind("as in the file", stored, drawn=False),
    "independent": Kind(f"every output of a row moved by its own {AMOUNT}", partial(made, every_output)),
    "one": Kind(f"one output of a row moved by {AMOUNT}", partial(made, one_output)),
}
