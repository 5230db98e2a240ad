"""What comes with the rows of a fit beside inputs and outputs: the user's own predictions, and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from amiss.arrays import Floats, Rows
from amiss.data.convert import as_column, as_table
from amiss.data.table import Table
from amiss.errors import DataError, quoted, quoted_list, refuse_duplicates

LOG_ODDS, LOG_PROBABILITY = "log-odds of ", "log-probability of "
SUMS = 1e-3  # probabilities of one choice add up to 1 but for rounding
SUREST = 1e-6  # probabilities are kept at least this far from 0 and 1
ENOUGH_CELLS = 200  # before it is telling that no probability contradicts its output
FEWEST_EXPECTED, TOO_FEW = (
    20.0,
    0.02,
)  # contradictions by the probabilities, and the share of them that is too small


def as_probabilities(P: Any, outputs: Sequence[str]) -> Table:
    """Probabilities of a 1, one column per output, in the order of the outputs.

    Columns with names are matched to the outputs by name: each must be the name of an output, or contain it
    (``p_tag_a``). Columns without names are in the order of the outputs.
    """
    table = as_table(as_column(P), prefix="p")
    values = np.asarray(table.values.toarray() if sparse.issparse(table.values) else table.values)
    if table.levels:
        raise DataError(f"{table.files}probabilities must be numbers; column {_first_text(table)} holds texts")
    if table.shape[1] != len(outputs):
        raise DataError(
            f"{table.files}there are {table.shape[1]} columns of probabilities and {len(outputs)} outputs; "
            "give one column per output: the probability that it is 1"
        )
    if table.named:
        values = values[:, [list(table.names).index(name) for name in matched_names(table.names, outputs)]]
    refuse_outside(table, values)
    return replace(table, values=values, names=tuple(outputs), levels={}, checked=None)


def log_odds_table(P: Table, one_choice: bool | None = None) -> Table:
    """Probabilities as inputs: their log-odds, finite where they are 0 or 1.

    Probabilities of one choice, which add up to 1 in every row (``one_choice``), become log-probabilities.
    """
    values = np.clip(np.asarray(P.values, dtype=np.float64), SUREST, 1 - SUREST)
    if is_one_choice(P) if one_choice is None else one_choice:
        values, prefix = np.log(values), LOG_PROBABILITY
    else:
        values, prefix = logit(values), LOG_ODDS
    return replace(P, values=values, names=tuple(f"{prefix}{name}" for name in P.names), checked=None)


def is_one_choice(P: Table) -> bool:
    """Whether the probabilities of every row add up to 1."""
    sums = np.asarray(P.values, dtype=np.float64).sum(axis=1)
    return P.shape[1] > 1 and bool(np.abs(sums - 1).max(initial=0.0) < SUMS)


def matched_names(names: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """The name that belongs to each output.

    >>> matched_names(["p_dog", "p_cat"], ["tag_cat", "tag_dog"])
    ['p_cat', 'p_dog']
    """
    refuse_duplicates(names)
    shared = _shared_start(outputs) if len(outputs) > 1 else ""
    for plain in (list(outputs), [name.removeprefix(shared) for name in outputs]):
        found = [_naming(names, part) for part in plain]
        if None not in found and len(set(found)) == len(outputs):
            return [name for name in found if name is not None]
    raise DataError(
        f"the columns of probabilities ({quoted_list(list(names))}) cannot be matched to the outputs by name; "
        f"call the column for output {quoted(outputs[0])} {quoted('p_' + outputs[0])}, and so on"
    )


def _naming(names: Sequence[str], part: str) -> str | None:
    """The only name that is ``part``, or that ends or begins with it after or before a mark such as _."""
    if part in names:
        return part
    ends = [name for name in names if _set_off(name, part)]
    return ends[0] if len(ends) == 1 else None


def _set_off(name: str, part: str) -> bool:
    if not part:
        return False
    after, before = name.removesuffix(part), name.removeprefix(part)
    return (after != name and not after[-1:].isalnum()) or (before != name and not before[:1].isalnum())


def _shared_start(names: Sequence[str]) -> str:
    """What all names begin with, up to a mark such as _."""
    first, last = min(names), max(names)
    same = next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    while same and first[same - 1].isalnum():
        same -= 1
    return first[:same]


def _first_text(table: Table) -> str:
    return quoted(table.names[min(table.levels)])


def refuse_outside(table: Table, values: Floats) -> None:
    """Refuse what is no probability."""
    bad = np.isnan(values) | (values < 0) | (values > 1)
    if not bad.any():
        return
    row, column = divmod(int(np.argmax(bad)), values.shape[1])
    name = quoted(table.names[column]) if table.named else column
    where = f"{table.where(row)}, column {name} of the probabilities"
    if np.isnan(values[row, column]):
        raise DataError(f"{where}: it is missing; predict every row out of fold, or leave the row out")
    hint = "; log-odds become probabilities by scipy.special.expit" if (values < 0).any() else ""
    raise DataError(f"{where}: a probability lies between 0 and 1{hint}")


def log_odds_as_chances(given: Table, outputs: Table) -> tuple[Floats, Floats]:
    """Given log-odds or log-probabilities as probabilities, and the outputs they are of."""
    values = given.values.toarray() if sparse.issparse(given.values) else given.values
    values = np.asarray(values, dtype=np.float64)
    p = np.exp(values) if given.names[0].startswith(LOG_PROBABILITY) else expit(values)
    return p, np.asarray(outputs.values)


def doubts_about(p: Floats, y: Floats) -> list[str]:
    """What speaks against given probabilities of outputs: models that saw the rows, or columns mixed up.

    Among rows that a model has not seen, some are surprising: the less probable value is the observed one. Forests
    and boosted trees are hardly ever surprised by rows that they were fitted to.
    """
    told, notes = ~np.isnan(y), []
    expected = float(np.minimum(p, 1 - p)[told].sum())
    contradicted = int((((p > 0.5) != (y == 1)) & told & (p != 0.5)).sum())
    never = contradicted == 0 and told.sum() >= ENOUGH_CELLS
    if never or (expected >= FEWEST_EXPECTED and contradicted < TOO_FEW * expected):
        notes.append(
            "The given probabilities agree with the outputs better than they should: the models that made them "
            "have probably seen these rows. Predict each row by a model that was fitted without it "
            "(sklearn.model_selection.cross_val_predict)."
        )
    if p.shape[1] > 1:
        against = [_is_against(p[:, i], y[:, i]) for i in range(p.shape[1])]
        if sum(against) > len(against) / 2:
            notes.append(
                "The given probabilities of most outputs are lower where the output is 1. Are the columns in the "
                "order of the outputs?"
            )
    return notes


def _is_against(p: Floats, y: Floats) -> bool:
    ones, zeros = p[y == 1], p[y == 0]
    return bool(len(ones) and len(zeros) and ones.mean() < zeros.mean())


def beside(inputs: Table | None, more: Table) -> Table:
    """The columns of two tables of the same rows, side by side; ``more`` alone if there are no inputs."""
    if inputs is None:
        return more
    refuse_duplicates([*inputs.names, *more.names])
    values = more.values
    if sparse.issparse(inputs.values):
        joined = sparse.csr_array(sparse.hstack([inputs.values, sparse.csr_array(values)], format="csr"))
    else:
        joined = np.hstack([inputs.values, values.astype(inputs.values.dtype)])
    return replace(inputs, values=joined, names=inputs.names + more.names, checked=None)


def as_groups(groups: Any, n_rows: int) -> Rows:
    """Which rows belong together, as a number for each row; a missing group is a group of its own."""
    if isinstance(groups, str):
        raise DataError("groups must hold one entry per row, or be 'auto'; a name is none, pass the column itself")
    listed = np.asarray(groups, dtype=object) if isinstance(groups, (list, tuple)) else groups
    table = as_table(as_column(listed))
    if table.shape != (n_rows, 1):
        raise DataError(
            f"groups must hold one entry per row; they have the shape {table.shape}, and there are {n_rows} rows"
        )
    codes = table.column(0)
    missing = np.isnan(codes)
    _, numbers = np.unique(codes, return_inverse=True)
    numbers = numbers.astype(np.intp)
    numbers[missing] = numbers.max(initial=0) + 1 + np.arange(int(missing.sum()))
    _, compact = np.unique(numbers, return_inverse=True)
    if compact.max(initial=0) < 1:
        raise DataError("all rows are in one group; models that did not see a row need at least two groups")
    return compact.astype(np.intp)
