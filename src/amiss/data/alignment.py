"""X and Y must have the same rows, and new columns must be those of the fit, in its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amiss.data.table import Table
from amiss.errors import DataError, quoted_list


def refuse_unequal_lengths(inputs: Table, outputs: Table) -> None:
    if len(inputs) != len(outputs):
        raise DataError(f"X has {len(inputs)} rows and Y has {len(outputs)}; inconsistent numbers of samples")


def refuse_reordered_index(X: Any, Y: Any) -> None:
    """Refuse pandas objects whose indexes differ only in their order: pairing by position would mix up rows."""
    if not all(hasattr(each, "iloc") and hasattr(each, "index") for each in (X, Y)):
        return
    if len(X) != len(Y) or X.index.equals(Y.index) or not (X.index.is_unique and Y.index.is_unique):
        return
    if set(X.index) == set(Y.index):
        raise DataError(
            "X and Y have the same index in different orders; pass Y.loc[X.index], or reset both indexes "
            "if the rows already match by position"
        )


def missing_and_extra(names: Sequence[str], expected: Sequence[str]) -> tuple[list[str], list[str]]:
    """The expected names that are missing, and the names that are not expected."""
    have, want = set(names), set(expected)
    return [name for name in expected if name not in have], [name for name in names if name not in want]


def _hint(prefix: str, missing: Sequence[str], extra: Sequence[str]) -> str:
    """What may help if columns of a file are not those of the fit."""
    if extra:
        return " (--drop leaves a column out)"
    return " (--inputs reads inputs from a NumPy file)" if prefix == "x" and missing else ""


def aligned_columns(table: Table, names: tuple[str, ...], prefix: str, named: bool = True) -> Table:
    """``table`` with its columns in the order of ``names``, those of the fit.

    Columns are matched by name or, if ``table`` or the fit (``named`` is False) has no names, by position. A fit
    without names calls its columns x0, x1 and so on; a table with exactly these names is matched by them.
    """
    if table.names == names:
        return table
    kind = {"x": "input", "y": "output"}[prefix]
    same_names = table.named and set(table.names) == set(names)
    if not (table.named and named) and not same_names:
        if table.named and table.origin is not None:
            raise DataError(
                f"{table.files}the model was fitted to {kind}s without names; pass an array, or name the "
                f"columns {names[0]}, {names[1] if len(names) > 1 else '…'} and so on"
            )
        if len(table.names) != len(names):
            raise DataError(
                f"X has {len(table.names)} features, but MCODE is expecting {len(names)} features as input"
                if prefix == "x"
                else f"Y has {len(table.names)} outputs, but the fit had {len(names)}"
            )
        return replace(table, names=names)
    missing, extra = missing_and_extra(table.names, names)
    if missing or extra:
        found = [f"missing {quoted_list(missing)}"] * bool(missing) + [f"unknown {quoted_list(extra)}"] * bool(
            extra
        )
        raise DataError(
            f"{table.files}the {kind} columns are not those of the fit: {'; '.join(found)}"
            + _hint(prefix, missing, extra) * (table.origin is not None)
        )
    return table.select_named(names)
