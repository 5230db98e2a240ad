"""Rows that come as dictionaries or as a Hugging Face dataset: the columns in them.

``datasets`` is never imported. What has its members is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amiss.errors import DataError


def are_records(values: Any) -> bool:
    """Whether these are rows written as dictionaries, ``[{"age": 3, "ward": "a"}, …]``."""
    return isinstance(values, (list, tuple)) and bool(values) and isinstance(values[0], Mapping)


def record_columns(rows: Sequence[Mapping[Any, Any]]) -> list[tuple[str, list[Any]]]:
    """Names and cells of all columns, in the order in which they first occur; a key that a row lacks is missing.

    >>> record_columns([{"age": 3}, {"ward": "a", "age": 5}])
    [('age', [3, 5]), ('ward', [None, 'a'])]
    """
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DataError(f"row {number} is not a dictionary, but the first row is; write all rows alike")
    keys = dict.fromkeys(key for row in rows for key in row)
    return [(str(key), [row.get(key) for row in rows]) for key in keys]


def is_dataset(values: Any) -> bool:
    """Whether this is a Hugging Face dataset, or several of them by the names of their splits."""
    return hasattr(values, "column_names") and hasattr(values, "with_format")


def arrow_table(dataset: Any) -> Any:
    """The rows of a Hugging Face dataset as a pyarrow table.

    A column of classes (``ClassLabel``) holds their numbers. If there are more than two, they become the names of
    the classes: a number would have an order. -1 is missing, as it is there.
    """
    if isinstance(dataset, Mapping):
        raise DataError("this dataset has several splits; pass one of them, such as dataset['train']")
    if not hasattr(dataset, "__len__"):
        raise DataError("this dataset is streamed; load it with streaming=False")
    import pyarrow as pa

    table = dataset.with_format("arrow")[:]
    for position, name in enumerate(table.column_names):
        feature: Any = (dataset.features or {}).get(name)
        if type(feature).__name__ == "ClassLabel":
            cells = _class_names(table.column(name).to_pylist(), feature.names)
            table = table.set_column(position, name, pa.array(cells))
    return table


def _class_names(numbers: list[int | None], names: Sequence[str]) -> list[Any]:
    known = range(len(names)) if len(names) <= 2 else names
    return [None if number is None or number < 0 else known[number] for number in numbers]


def as_list(column: Any) -> Any:
    """A list, if this is one column of a Hugging Face dataset (``dataset["tags"]``); anything else as it is."""
    is_column = type(column).__module__.partition(".")[0] == "datasets" and type(column).__name__ == "Column"
    return column[:] if is_column else column
