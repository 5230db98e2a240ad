"""Parents and kinds of models by name. A new one is one class in ``parents`` or ``kinds`` and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.models.kinds import ModelKind
    from amiss.models.parents import Parents

PARENTS: Registry[Parents] = Registry(
    "parents",
    "amiss.models.parents",
    {"untied": "Untied", "others": "Others", "chain": "Chain", "none": "InputsOnly"},
)

MODELS: Registry[ModelKind] = Registry(
    "model", "amiss.models.kinds", {"linear": "Linear", "boosting": "Boosting", "auto": "Auto"}
)
