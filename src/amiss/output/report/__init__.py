"""Pictures of a result, and the report: one HTML file with all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amiss.output.report.page import write_report

__all__ = ["write_report"]


def __getattr__(name: str) -> Any:
    """Plots alone need no templates, and the terminal neither."""
    if name != "write_report":
        raise AttributeError(f"module 'amiss.output.report' has no attribute {name!r}")
    from amiss.output.report.page import write_report

    return write_report
