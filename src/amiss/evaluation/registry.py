"""Kinds of error by name. A new kind is one class in ``kinds`` or ``several_kinds``, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.evaluation.kinds import ErrorKind

OF_TAGS = ("flip", "omission", "commission", "replacement", "confusion", "swap", "blank")
"""Those for tables in which every output is 0 or 1; in these, others are flips too, or cannot be made."""

ERROR_KINDS: Registry[ErrorKind] = Registry(
    "kind",
    "amiss.evaluation",
    {
        "flip": "kinds.Flip",
        "omission": "kinds.OMISSION",
        "commission": "kinds.COMMISSION",
        "replacement": "kinds.Replacement",
        "confusion": "kinds.Confusion",
        "swap": "kinds.Swap",
        "blank": "kinds.Blank",
        "another-row": "several_kinds.ANOTHER_ROW",
        "shift": "several_kinds.SHIFT",
        "tenfold": "several_kinds.TENFOLD",
        "digits": "several_kinds.DIGITS",
        "other": "several_kinds.OTHER",
        "shift-all": "several_kinds.ShiftAll",
    },
)
