"""Find the rows of a table whose outputs do not go with their inputs.

data = amiss.read("records.csv", outputs="tag_*")
detector = amiss.MCODE().fit(data.X, data.Y)
detector.decision_scores_           # higher is more unusual
print(detector.explain(17))         # why row 17
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.data.table import Table
    from amiss.detector import MCODE, load
    from amiss.errors import DataError
    from amiss.explanations.explanation import Explanation
    from amiss.readers import read

__version__ = "0.1.0"
__all__ = ["MCODE", "DataError", "Dataset", "Explanation", "Table", "load", "read"]

_HOMES = {
    "MCODE": "amiss.detector",
    "DataError": "amiss.errors",
    "Dataset": "amiss.data.dataset",
    "Explanation": "amiss.explanations.explanation",
    "Table": "amiss.data.table",
    "load": "amiss.detector",
    "read": "amiss.readers",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used, so that ``amiss --help`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'amiss' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
