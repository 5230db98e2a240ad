"""Multi-label svmlight: ``3,7 12:0.5 40:1``, labels first, then numbered inputs.

A line may have no labels. Inputs are numbered from 1, or from 0 if the number 0 occurs. They are also
numbered from 0 if the first line holds three integers (rows, inputs and labels), as files of the extreme
classification repository do.
"""

from __future__ import annotations

import re

import numpy as np
from scipy import sparse

from amiss.data.table import Table
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source

MOST_INPUTS = 2_000_000  # otherwise one mistyped number could take all memory
MOST_CELLS = 200_000_000  # of outputs, which are stored dense
SHAPE = re.compile(r"\s*\d+\s+\d+\s+\d+\s*$")


def read_svmlight(source: Source, selection: Selection) -> Part:
    """Sparse inputs called x1, x2, … after their numbers, and one output per label."""
    if selection.id is not None or selection.pictures is not None or selection.categorical:
        source.refuse("svmlight files have no ids, pictures or categories; leave these options out")
    labels, lines, X, first = _parsed(source)
    names = [f"x{position}" for position in range(first, first + X.shape[1])]
    distinct = sorted({label for row in labels for label in row}, key=_natural)
    taken = set(names)
    known = [f"label {label}" if label in taken else label for label in distinct]
    place = {label: column for column, label in enumerate(distinct)}
    marks = [(row, place[label]) for row, found in enumerate(labels) for label in found]
    row_of, column_of = zip(*marks, strict=True) if marks else ((), ())
    if selection.outputs is None and len(lines) * len(distinct) > MOST_CELLS:
        source.refuse(
            f"there are {len(distinct)} labels in {len(lines)} rows, which is too many; choose some with --outputs"
        )
    Y = sparse.csr_array((np.ones(len(marks)), (row_of, column_of)), shape=(len(lines), len(distinct)))
    roles = selection.roles([*names, *known], source, known=known)
    table = Table(sparse.csr_array(sparse.hstack([X, Y], format="csr")), (*names, *known))
    return Part.of(source, table.select(roles.kept), roles, np.array(lines))


SVMLIGHT = Format(
    "svmlight",
    (".svm", ".svmlight", ".libsvm"),
    "sparse rows of labels and numbered inputs",
    read_svmlight,
    may_omit_columns=True,
)


def _parsed(source: Source) -> tuple[list[set[str]], list[int], sparse.csr_array, int]:
    """The labels and the line of each row, the inputs, and the number of the first input."""
    starts, columns = [0], list[int]()
    data: list[float] = []
    labels: list[set[str]] = []
    lines: list[int] = []
    first = 1
    for number, line in enumerate(source.lines(), start=1):
        text = line.split("#", 1)[0]
        if number == 1 and SHAPE.match(text):
            first = 0
            continue
        words = text.split()
        if not words:
            continue
        found = words.pop(0) if ":" not in words[0] else ""
        labels.append({label for label in found.split(",") if label})
        for word in words:
            _add_pair(word, columns, data, source, number)
        starts.append(len(columns))
        lines.append(number)
    if not lines:
        source.refuse("there are no rows")
    first = 0 if 0 in columns else first
    X = sparse.csr_array((data, columns, starts), shape=(len(lines), max(columns, default=0) + 1))
    X.sum_duplicates()
    return labels, lines, X[:, first:], first


def _add_pair(word: str, columns: list[int], data: list[float], source: Source, line: int) -> None:
    position, _, cell = word.partition(":")
    if position == "qid":
        return
    try:
        column, value = int(position), float(cell)
        if not position.isdecimal() or "_" in cell:
            raise ValueError
    except ValueError:
        source.refuse("inputs must be written as number:value, as in 12:0.5", line=line)
    if column > MOST_INPUTS:
        source.refuse(f"the number of an input is too large; at most {MOST_INPUTS} is supported", line=line)
    columns.append(column)
    data.append(value)


def _natural(label: str) -> tuple[int, int, str]:
    """A sort key: first numbers of any length, by value, then texts."""
    digits = label.lstrip("0")
    return (0, len(digits), digits + label) if label.isdecimal() else (1, 0, label)
