"""Kinds of parents by name. A new kind is one class in ``parents`` and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.models.parents import Parents

PARENTS: Registry[Parents] = Registry(
    "parents",
    "amiss.models.parents",
    {"untied": "Untied", "others": "Others", "chain": "Chain", "none": "InputsOnly"},
)
