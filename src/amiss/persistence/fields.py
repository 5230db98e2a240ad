"""What a model file holds, taken out piece by piece: each array by its type and shape, each text as a text.

A file from a stranger may hold anything, and whoever makes one can also make its checksum right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask

LARGEST = 1e100  # no number of a model is as large; products of larger ones overflow
SMALLEST = float(np.nextafter(0.0, 1.0))

Arrays = dict[str, npt.NDArray[Any]]


class InvalidField(Exception):
    """Something in the file does not fit the rest."""


@dataclass(frozen=True)
class Packed:
    """What a type writes: arrays by name, and a description that JSON can hold."""

    description: dict[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)

    def __or__(self, other: Packed) -> Packed:
        return Packed(self.description | other.description, self.arrays | other.arrays)


@dataclass(frozen=True)
class Fields:
    """Takes arrays and values out of an open file, and refuses those that are not what they should be.

    ``renamed`` maps a name of the present format to the name an array has in an older file.
    """

    description: dict[str, Any]
    file: Any
    renamed: Mapping[str, str] = field(default_factory=dict)

    def migrated(self, description: dict[str, Any], renamed: Mapping[str, str]) -> Fields:
        """The same file one format later; ``renamed`` maps names of that format to names of this one."""
        gone = set(renamed.values())
        kept = {name: stored for name, stored in self.renamed.items() if name not in gone}
        new = {name: self.renamed.get(earlier, earlier) for name, earlier in renamed.items()}
        return Fields(description, self.file, kept | new)

    def has(self, name: str) -> bool:
        return self.renamed.get(name, name) in self.file.keys()  # noqa: SIM118 (safetensors has no __contains__)

    def is_single(self, name: str) -> bool:
        """Whether there is such an array, and in single precision."""
        return self.has(name) and bool(self.file.get_slice(self.renamed.get(name, name)).get_dtype() == "F32")

    def array(
        self, name: str, dtype: str, *shape: int | None, missing: bool = False, largest: float = LARGEST
    ) -> npt.NDArray[Any]:
        """An array of this type and shape (None: of any length), of no larger numbers; NaN only if ``missing``."""
        stored = self.renamed.get(name, name)
        if not self.has(name):
            raise InvalidField(name)
        described = self.file.get_slice(stored)
        found = tuple(described.get_shape())
        if described.get_dtype() != dtype or len(found) != len(shape):
            raise InvalidField(name)
        if any(wanted is not None and wanted != length for wanted, length in zip(shape, found, strict=True)):
            raise InvalidField(name)
        values = self.file.get_tensor(stored)
        if values.dtype.kind == "f" and not ((np.abs(values) <= largest) | (np.isnan(values) & missing)).all():
            raise InvalidField(name)
        return np.asarray(values)

    def floats(self, name: str, *shape: int | None, missing: bool = False, largest: float = LARGEST) -> Floats:
        return self.array(name, "F64", *shape, missing=missing, largest=largest)

    def cells(self, name: str, *shape: int | None, missing: bool = False) -> Floats:
        """Values of the table itself, which may be as large as numbers are."""
        return self.floats(name, *shape, missing=missing, largest=float(np.finfo(np.float64).max))

    def mask(self, name: str, *shape: int | None) -> Mask:
        found = self.array(name, "BOOL", *shape)
        if (found.view(np.uint8) > 1).any():
            raise InvalidField(name)
        return found

    def value(self, name: str, kind: type) -> Any:
        found = self.description.get(name)
        if type(found) is not kind:
            raise InvalidField(name)
        return found

    def names(self, name: str) -> tuple[str, ...]:
        return distinct_texts(self.description.get(name))


def distinct_texts(found: Any, fewest: int = 1) -> tuple[str, ...]:
    """A list of different texts."""
    if type(found) is not list or len(found) < fewest or not all(type(text) is str for text in found):
        raise InvalidField("texts")
    if len(set(found)) < len(found):
        raise InvalidField("texts")
    return tuple(found)


def at_least(least: float, values: Floats) -> Floats:
    """The same values, or a refusal."""
    if (values < least).any():
        raise InvalidField("too small")
    return values
