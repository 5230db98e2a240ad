"""The user's own predictions of outputs of several kinds, as columns of the inputs.

Of a tag that is the probability of a 1, of a class or a grade a probability for each level, and of a number or a
count the value that is expected. Among the inputs they are log-odds, log-probabilities and values. Levels that are
rare in the fit (:mod:`amiss.data.output_levels`) have one probability together.

Columns of inputs are found again by their names, which say what they predict (:func:`given_columns`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from amiss.arrays import Floats
from amiss.data.convert import as_column, as_table
from amiss.data.output_cells import LARGEST
from amiss.data.output_kinds import BINARY, OutputColumn
from amiss.data.output_levels import level_columns
from amiss.data.row_roles import LOG_ODDS, LOG_PROBABILITY, SUMS, SUREST, refuse_outside
from amiss.data.table import Table
from amiss.errors import DataError, quoted, quoted_list, refuse_duplicates

PREDICTION = "prediction of "
RARE = "any rare level"
EVERY = "give one per output, and one per level of a class"

Given = tuple[tuple[int, ...], ...]
"""Of each output, the inputs that hold what is predicted of it: one, or one for each level."""


def predictions_as_inputs(P: Any, outputs: Table, names: Sequence[str] | None = None) -> Table:
    """Predictions of ``outputs`` as columns to stand beside the inputs.

    ``P`` has names, or the order of the outputs and their levels, or is a dictionary with an array or a frame for
    each output. ``names`` are the inputs of a fit; by default it is decided here which levels are rare.
    """
    columns = outputs.kinds
    table = _in_order(P, columns)
    predicted, parts, start = np.asarray(table.values, dtype=np.float64), [], 0
    for i, column in enumerate(columns):
        span = slice(start, start + _width(column))
        start = span.stop
        _refuse_bad(table, column, span)
        own = _own_names(column, outputs.values[:, i]) if names is None else _known_names(column, names)
        parts.append(_as_inputs(column, predicted[:, span], own))
    joined = [name for part in parts for name in part[0]]
    return Table(np.column_stack([part[1] for part in parts]), tuple(joined), origin=table.origin)


def given_columns(names: Sequence[str], columns: Sequence[OutputColumn]) -> Given:
    """Where predictions of these outputs stand among inputs; a KeyError if one is not there."""
    place = {name: position for position, name in enumerate(names)}
    return tuple(tuple(place[name] for name in _known_names(column, names)) for column in columns)


def predicted_choices(inputs: Table, outputs: Table) -> tuple[Floats, Floats]:
    """Probabilities of tags and levels among the inputs, and whether they were observed: 0, 1 or NaN."""
    chances, seen = [np.empty((len(inputs), 0))], [np.empty((len(inputs), 0))]
    for i, (column, places) in enumerate(
        zip(outputs.kinds, given_columns(inputs.names, outputs.kinds), strict=True)
    ):
        if column.kind.is_numeric:
            continue
        own = list(dict.fromkeys(places))
        found = inputs.select(own).values
        dense = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)
        y = np.asarray(outputs.values)[:, i]
        if column.kind is BINARY:
            chances.append(expit(dense))
            seen.append(y[:, None])
            continue
        at = np.array([own.index(place) for place in places] + [len(own)])
        level = at[np.where(np.isnan(y), 0, np.minimum(y, len(places))).astype(np.intp)]
        chances.append(np.exp(dense))
        seen.append(np.where(np.isnan(y)[:, None], np.nan, level[:, None] == np.arange(len(own))))
    return np.hstack(chances), np.hstack(seen)


def _width(column: OutputColumn) -> int:
    return len(column.levels) if column.kind.has_levels else 1


def _own_names(column: OutputColumn, values: Floats) -> list[str]:
    """What the input is called that predicts an output; of a class, those of its levels."""
    if not column.kind.has_levels:
        return [_name(column)]
    places = level_columns(values, len(column.levels))
    rare = places[-1]
    return [
        _name(column, RARE if place == rare else level)
        for place, level in zip(places[:-1].tolist(), column.levels, strict=True)
    ]


def _known_names(column: OutputColumn, names: Sequence[str]) -> list[str]:
    """The same by the inputs of a fit: a level without an input of its own is a rare one."""
    if not column.kind.has_levels:
        return [_name(column)]
    known = set(names)
    own = [_name(column, level) for level in column.levels]
    return [name if name in known else _name(column, RARE) for name in own]


def _name(column: OutputColumn, level: str | None = None) -> str:
    if level is not None:
        return f"{LOG_PROBABILITY}{column.name} = {level}"
    return f"{LOG_ODDS if column.kind is BINARY else PREDICTION}{column.name}"


def _as_inputs(column: OutputColumn, values: Floats, names: list[str]) -> tuple[list[str], Floats]:
    """Predictions of one output as inputs; probabilities of levels that share a name are added up."""
    if column.kind.is_numeric:
        return names, values
    if column.kind is BINARY:
        return names, logit(np.clip(values, SUREST, 1 - SUREST))
    distinct = list(dict.fromkeys(names))
    together = np.zeros((len(values), len(distinct)))
    for place, name in enumerate(names):
        together[:, distinct.index(name)] += values[:, place]
    return distinct, np.log(np.clip(together, SUREST, 1 - SUREST))


def _in_order(P: Any, columns: Sequence[OutputColumn]) -> Table:
    """One column for each output or level, in their order."""
    if isinstance(P, Mapping):
        return _of_parts(P, columns)
    table = _numbers(P)
    wanted = sum(map(_width, columns))
    if table.shape[1] != wanted:
        raise DataError(
            f"{table.files}there are {table.shape[1]} columns of predictions, and the outputs take {wanted}; "
            + EVERY
        )
    if not table.named:
        return table
    refuse_duplicates(table.names)
    found = [name for column in columns for name in _matched(table.names, column, len(columns) == 1)]
    if len(set(found)) < len(found):
        raise DataError(f"{table.files}a column of predictions fits several outputs; {_call_them(columns[0])}")
    return table.select([table.names.index(name) for name in found])


def _of_parts(P: Mapping[str, Any], columns: Sequence[OutputColumn]) -> Table:
    """The same from a dictionary."""
    missing = [column.name for column in columns if column.name not in P]
    unknown = [str(name) for name in P if name not in {column.name for column in columns}]
    if missing or unknown:
        what = f"none for {quoted_list(missing)}" if missing else f"some for {quoted_list(unknown)}, no output"
        raise DataError(f"predictions: there are {what}; give them for every output, by its name")
    parts: list[Table] = []
    for column in columns:
        part = _in_order(P[column.name], [column])
        if parts and len(part) != len(parts[0]):
            raise DataError(
                f"predictions of {quoted(column.name)} have {len(part)} rows, and those of "
                f"{quoted(columns[0].name)} {len(parts[0])}; give one row of predictions per row of Y"
            )
        parts.append(part)
    values = np.hstack([np.asarray(part.values, dtype=np.float64) for part in parts])
    return replace(parts[0], values=values, names=tuple(f"p{i}" for i in range(values.shape[1])), named=False)


def _numbers(P: Any) -> Table:
    table = as_table(as_column(P), prefix="p")
    if table.levels:
        name = quoted(table.names[min(table.levels)])
        raise DataError(f"{table.files}predictions must be numbers; column {name} holds texts")
    if sparse.issparse(table.values):
        return replace(table, values=table.values.toarray())
    return table


def _matched(names: Sequence[str], column: OutputColumn, is_only: bool) -> list[str]:
    """The columns that predict an output, those of a class in the order of its levels."""
    if not column.kind.has_levels:
        wanted = [[column.name]]
    else:
        wanted = [[f"{column.name} {level}" for level in column.levels]]
        if is_only:
            wanted.append(list(column.levels))
    for several in wanted:
        found = [_naming(names, each) for each in several]
        if None not in found and len(set(found)) == len(found):
            return [name for name in found if name is not None]
    raise DataError(f"the columns of predictions cannot be matched to output {quoted(column.name)} by name; "
                    + _call_them(column))  # fmt: skip


def _call_them(column: OutputColumn) -> str:
    if column.kind.has_levels:
        return f"call those of {quoted(column.name)} {quoted('p_' + column.name + '_')} and the level"
    return f"call that of {quoted(column.name)} {quoted('p_' + column.name)}"


def _naming(names: Sequence[str], wanted: str) -> str | None:
    """The only name that ends with the wanted words; ``p_colour_red`` does with "colour red"."""
    words = _words(wanted)
    for exact in (True, False):
        found = [name for name in names if _words(name) == words or (not exact and _ends(_words(name), words))]
        if len(found) == 1:
            return found[0]
    return None


def _words(name: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter in "<>+-." else " " for letter in name).split()


def _ends(name: list[str], words: list[str]) -> bool:
    return bool(words) and name[-len(words) :] == words


def _refuse_bad(table: Table, column: OutputColumn, span: slice) -> None:
    """Refuse predictions of an output that cannot be what they should be."""
    values = np.asarray(table.values)[:, span]
    if column.kind.is_numeric:
        bad = ~(np.abs(values[:, 0]) <= LARGEST)  # NaN too
        if bad.any():
            raise DataError(
                f"{table.where(int(np.argmax(bad)))}, prediction of {quoted(column.name)}: it is missing or "
                "infinite; predict every row out of fold, or leave the row out"
            )
        return
    refuse_outside(table.select(range(span.start, span.stop)), values)
    wrong = np.abs(values.sum(axis=1) - 1) > SUMS
    if column.kind.has_levels and wrong.any():
        raise DataError(
            f"{table.where(int(np.argmax(wrong)))}: the probabilities of {quoted(column.name)} do not add "
            "up to 1; give those of a model that chooses one of the levels"
        )
