"""Inputs as the user gave them, from encoded columns: missing numbers are missing again, categories are texts.

An encoder that scales nothing loses nothing: a missing number is imputed, but its indicator says so, and a
category has a column per level. So rows are kept in one encoded form, and shown to an estimator as they came.

A view is what an estimator sees of encoded rows: the inputs as they came (:class:`AsGiven`), scaled
(:class:`Scaled`), or as they are encoded (:class:`Encoded`), beside some outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Matrix
from amiss.data.frames import frame_of
from amiss.encoding.encoder import Encoder
from amiss.encoding.expansion import encoded_numbers, one_hot_columns, plain_columns
from amiss.encoding.joint import joint
from amiss.encoding.scalings import SCALINGS

METRIC = SCALINGS["rank"]


class InputsView(Protocol):
    """Shows encoded rows to an estimator."""

    def of(self, design: Matrix, outputs: Floats, output_names: Sequence[str], /) -> Any: ...


@dataclass(frozen=True)
class Encoded:
    """Encoded rows as they are."""

    def of(self, design: Matrix, outputs: Floats, output_names: Sequence[str]) -> Any:
        return joint(design, outputs)


@dataclass(frozen=True, eq=False)
class Scaled:
    """Rows that an encoder which scales nothing has encoded, scaled by another."""

    encoder: Encoder

    def of(self, design: Matrix, outputs: Floats, output_names: Sequence[str]) -> Any:
        return joint(self.encoder.scaled(design), outputs)


@dataclass(frozen=True, eq=False)
class AsGiven:
    """The columns of a table as they came: in a frame of a ``library``, or as an array if there is none.

    ``encoder`` scales nothing.
    """

    encoder: Encoder
    library: str | None

    def of(self, design: Matrix, outputs: Floats, output_names: Sequence[str]) -> Any:
        """Rows as they came, with some outputs as further columns."""
        if sparse.issparse(design) and not self.encoder.levels and not self.encoder.indicated:
            return joint(design, outputs)
        values = self.values(np.asarray(design.toarray() if sparse.issparse(design) else design))
        if self.library is None and not self.encoder.levels:
            return np.hstack([values, outputs])
        columns = {name: self._column(values[:, place], place) for place, name in enumerate(self.encoder.names)}
        columns |= {name: outputs[:, place] for place, name in enumerate(output_names)}
        if self.library is None:
            return np.column_stack([column.astype(object) for column in columns.values()])
        return frame_of(columns, self.library)

    def values(self, design: Floats) -> Floats:
        """Numbers and codes of levels, NaN where one is missing, ``(n_rows, n_inputs)``."""
        encoder, n_inputs = self.encoder, len(self.encoder.names)
        plain, result = plain_columns(n_inputs, encoder.levels), np.empty((len(design), n_inputs))
        result[:, plain] = design[:, : len(plain)]
        first = len(plain)
        for column in one_hot_columns(encoder.levels):
            block = design[:, first : first + len(encoder.levels[column])]
            result[:, column] = np.where(block.any(axis=1), block.argmax(axis=1), np.nan)
            first += block.shape[1]
        for place, column in enumerate(encoder.indicated):
            result[design[:, first + place] == 1, column] = np.nan
        return result

    def _column(self, values: Floats, place: int) -> npt.NDArray[Any]:
        """Texts of a category, with None where it is missing; numbers as they are."""
        if place not in self.encoder.levels:
            return values
        texts = np.array([*self.encoder.levels[place], None], dtype=object)
        return np.asarray(texts[np.where(np.isnan(values), len(texts) - 1, values).astype(np.intp)])


def metric_of(encoder: Encoder, design: Matrix) -> Encoder:
    """How rows that an encoder which scales nothing has encoded are scaled: by ranks among the rows of the fit."""
    numbers = encoded_numbers(len(encoder.names), encoder.levels, encoder.indicated)
    scales = METRIC.fit(design, numbers, encoder.columns)
    learned = {name: getattr(scales, name) for name in ("counts", "unit", "centre", "scale", "ranks")}
    return replace(encoder, scaling=METRIC, **learned)
