"""What a model file holds, taken out piece by piece: each array by its kind and shape, each text as a text.

A file from a stranger may hold anything, and whoever makes one can also make its checksum right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask

LARGEST = 1e100  # no number of a model is as large; products of larger ones overflow


class Unfit(Exception):
    """Something in the file does not fit the rest."""


@dataclass
class Shelf:
    """Takes arrays and names out of a file, and refuses those that are not what they should be."""

    description: dict[str, Any]
    file: Any

    def __post_init__(self) -> None:
        self.names = set(self.file.keys())

    def array(
        self, name: str, dtype: str, *shape: int | None, missing: bool = False, largest: float = LARGEST
    ) -> npt.NDArray[Any]:
        """An array of this kind and shape (None: of any length), of no larger numbers; NaN only if ``missing``."""
        if name not in self.names:
            raise Unfit(name)
        described = self.file.get_slice(name)
        found = tuple(described.get_shape())
        if described.get_dtype() != dtype or len(found) != len(shape):
            raise Unfit(name)
        if any(wanted is not None and wanted != length for wanted, length in zip(shape, found, strict=True)):
            raise Unfit(name)
        values = self.file.get_tensor(name)
        if values.dtype.kind == "f" and not ((np.abs(values) <= largest) | (np.isnan(values) & missing)).all():
            raise Unfit(name)
        return np.asarray(values)

    def floats(self, name: str, *shape: int | None, missing: bool = False, largest: float = LARGEST) -> Floats:
        return self.array(name, "F64", *shape, missing=missing, largest=largest)

    def cells(self, name: str, *shape: int | None, missing: bool = False) -> Floats:
        """Values of the table itself, which may be as large as numbers are."""
        return self.floats(name, *shape, missing=missing, largest=float(np.finfo(np.float64).max))

    def mask(self, name: str, *shape: int | None) -> Mask:
        found = self.array(name, "BOOL", *shape)
        if (found.view(np.uint8) > 1).any():
            raise Unfit(name)
        return found

    def value(self, name: str, kind: type) -> Any:
        found = self.description.get(name)
        if type(found) is not kind:
            raise Unfit(name)
        return found

    def texts(self, found: Any, fewest: int = 1) -> tuple[str, ...]:
        """Distinct texts."""
        if type(found) is not list or len(found) < fewest or not all(type(text) is str for text in found):
            raise Unfit("texts")
        if len(set(found)) < len(found):
            raise Unfit("texts")
        return tuple(found)


def at_least(least: float, values: Floats) -> Floats:
    """The same values, or a refusal."""
    if (values < least).any():
        raise Unfit("too small")
    return values
