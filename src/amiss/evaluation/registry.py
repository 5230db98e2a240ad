"""Kinds of error by name. A new kind is one class in ``kinds`` and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.evaluation.kinds import ErrorKind

ERROR_KINDS: Registry[ErrorKind] = Registry(
    "kind",
    "amiss.evaluation.kinds",
    {
        "flip": "Flip",
        "omission": "OMISSION",
        "commission": "COMMISSION",
        "replacement": "Replacement",
        "confusion": "Confusion",
        "swap": "Swap",
        "blank": "Blank",
    },
)
