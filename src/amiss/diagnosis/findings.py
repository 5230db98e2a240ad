"""What was found of one column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amiss.readers.columns.spec import ColumnSpec


@dataclass(frozen=True)
class ColumnFinding:
    """One column: the role it should have, its kind, what was seen, and what is to be said of it.

    ``needs_decision`` is True if it cannot be read without one. ``spec`` says the same for columns.toml, where
    what is ``suggested`` is a comment.
    """

    name: str
    role: str
    kind: str
    seen: str
    remark: str = ""
    advice: str = ""
    needs_decision: bool = False
    spec: ColumnSpec = field(default_factory=ColumnSpec, repr=False)
    suggested: ColumnSpec = field(default_factory=ColumnSpec, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The same in types that JSON has."""
        return {
            "column": self.name,
            "role": self.role,
            "kind": self.kind,
            "seen": self.seen,
            "remark": self.remark,
            "advice": self.advice,
            "needs_decision": self.needs_decision,
        }
