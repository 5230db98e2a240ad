"""With whom a false-discovery level compares new rows, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.decisions.comparisons import Comparison

COMPARISONS: Registry[Comparison] = Registry(
    "against", "amiss.decisions.comparisons", {"rows": "AgainstRows", "models": "AgainstModels"}
)
