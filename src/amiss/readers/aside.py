"""Columns that are no inputs but come with the rows: predictions, groups, and what is shown beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amiss.data.dataset import Dataset
from amiss.data.row_roles import matched_names
from amiss.data.table import column_texts
from amiss.errors import DataError, quoted
from amiss.readers.select import matching_columns, shown_columns
from amiss.wording import count

AUTO = "auto"  # near copies are found later; unless a column has this name


def set_aside(
    data: Dataset, probabilities: str | Sequence[str], group: str | None, show: Sequence[str] = ()
) -> Dataset:
    """``data`` without these columns among its inputs.

    A pattern may match outputs too; only columns that are no outputs hold predictions. Those of outputs of several
    kinds are matched to these later (:mod:`amiss.data.predictions`).
    """
    where, X = data.Y.files.removesuffix(": "), data.X
    items = [probabilities] if isinstance(probabilities, str) else list(probabilities)
    given, groups = None, None
    if group is not None and (group != AUTO or group in X.names):
        if group not in X.names:
            what = "is an output" if group in data.Y.names else "is not there"
            raise DataError(
                f"{where}: the group column {quoted(group)} {what}; name one that says which rows belong together"
            )
        groups = X.select_named([group])
    shown = {name: column_texts(X, X.names.index(name)) for name in shown_columns(show, X.names)}
    not_inputs = {*shown, *(() if groups is None else groups.names)}
    X = X.select_named([name for name in X.names if name not in not_inputs])
    if items:
        found = list(dict.fromkeys(name for item in items for name in matching_columns(item, X.names, where)))
        given = X.select_named(found if data.Y.kinds else _one_per_output(found, data.Y.names, where))
        X = X.select_named([name for name in X.names if name not in set(found)])
    return replace(data, X=X, probabilities=given, groups=groups, shown=shown)


def _one_per_output(found: Sequence[str], outputs: Sequence[str], where: str) -> list[str]:
    if len(found) != len(outputs):
        have, need = count(len(found), "column"), count(len(outputs), "output")
        raise DataError(f"{where}: {have} of probabilities for {need}; give one column per output")
    return matched_names(found, outputs)
