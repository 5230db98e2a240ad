"""Ties of outputs, or of the choices that outputs of several kinds become."""

from __future__ import annotations

from typing import Any

from amiss.models.ties import Ties
from amiss.persistence.fields import Fields, InvalidField


def pack_ties(ties: Ties) -> dict[str, list[Any]]:
    return {
        "classes": [list(group) for group in ties.classes],
        "copies": [list(pair) for pair in ties.copies],
        "opposites": list(ties.opposites),
        "implications": [list(pair) for pair in ties.implications],
    }


def unpack_ties(fields: Fields, n_outputs: int) -> Ties:
    found = fields.value("ties", dict)
    names = {"classes", "copies", "opposites", "implications"}
    if set(found) != names or not all(type(each) is list for each in found.values()):
        raise InvalidField("ties")
    classes = tuple(_positions(group, n_outputs) for group in found["classes"])
    in_classes = [output for group in classes for output in group]
    if len(set(in_classes)) < len(in_classes):
        raise InvalidField("ties")
    return Ties(
        classes=classes,
        copies=_pairs(found["copies"], n_outputs),
        opposites=_positions(found["opposites"], n_outputs),
        implications=_pairs(found["implications"], n_outputs),
    )


def _pairs(found: Any, n_outputs: int) -> tuple[tuple[int, int], ...]:
    """Pairs of different outputs."""
    pairs = [_positions(pair, n_outputs) for pair in found]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidField("ties")
    return tuple((pair[0], pair[1]) for pair in pairs)


def _positions(found: Any, n_outputs: int) -> tuple[int, ...]:
    """Positions of different outputs."""
    if type(found) is not list or not all(type(each) is int and 0 <= each < n_outputs for each in found):
        raise InvalidField("ties")
    if len(set(found)) < len(found):
        raise InvalidField("ties")
    return tuple(found)
