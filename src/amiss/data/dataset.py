"""What a reader returns: inputs, outputs and, if the file has them, row ids, pictures, predictions and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from amiss.data.table import Table


@dataclass(frozen=True)
class Dataset:
    """Inputs and outputs of the same rows and, if the file has them, row ids, pictures, predictions and groups.

    A picture is the path of a file or a small array. ``probabilities`` are the user's own, one column per
    output; if the file holds nothing else, ``X`` has no columns. ``groups`` has one column: which rows belong
    together. ``shown`` are columns that are shown beside the rows: by name, a text for each row. ``columns`` say
    how columns were read that are neither plain numbers nor categories; ``amiss.read`` takes them, to read other
    files alike. ``left_out`` are names and globs of columns that take no part. ``notes`` say, in sentences, how
    files were read and what was decided without asking.
    """

    X: Table
    Y: Table
    ids: tuple[str, ...] | None = None
    pictures: tuple[Any, ...] | None = None
    probabilities: Table | None = None
    groups: Table | None = None
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    id_column: str | None = None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.X.names

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.Y.names

    def __len__(self) -> int:
        return len(self.Y)

    def without_inputs(self) -> Dataset:
        """The same with no row of inputs left, where nobody needs them any longer."""
        return replace(self, X=self.X.take(np.empty(0, dtype=np.intp)))

    def __repr__(self) -> str:
        return f"Dataset({len(self)} rows, {self.X.shape[1]} inputs, {self.Y.shape[1]} outputs)"
