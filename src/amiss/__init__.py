"""Find the rows of a table whose outputs do not match their inputs.

data = amiss.read("records.csv", outputs="tag_*")
detector = amiss.MCODE().fit(data.X, data.Y)
detector.decision_scores_           # higher is more unusual
print(detector.explain(17))         # why row 17
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amiss.version import __version__

if TYPE_CHECKING:
    from amiss import evaluation, paper
    from amiss.bridges.frames import cell_frame, row_frame
    from amiss.bridges.label_issues import find_label_issues, get_label_quality_scores
    from amiss.data.dataset import Dataset
    from amiss.data.output_kinds import OutputColumn, OutputKind
    from amiss.data.remark import Remark
    from amiss.data.table import Table
    from amiss.decisions.calibration import Calibration
    from amiss.decisions.decision import Decision
    from amiss.detector import MCODE, load
    from amiss.diagnosis.check import check
    from amiss.diagnosis.diagnosis import Diagnosis
    from amiss.diagnosis.findings import ColumnFinding
    from amiss.encoding.encoded_rows import EncodedRows
    from amiss.errors import DataError, MissingDependencyError
    from amiss.evaluation.choice import RuleChoice
    from amiss.explanations.explained_output import ExplainedOutput, Grounds, Term
    from amiss.explanations.explanation import Explanation
    from amiss.fitted import FittedDetector
    from amiss.monitoring.batch import Findings, ScoredBatch
    from amiss.monitoring.drift import Drift
    from amiss.monitoring.shifts import Shift
    from amiss.monitoring.unseen import Unseen
    from amiss.output.cells import Cell
    from amiss.output.listed import Listed
    from amiss.output.ranking import RankedRow, Reason
    from amiss.readers.columns.spec import ColumnSpec
    from amiss.readers.reading import read
    from amiss.scoring.error_rates import ErrorRates
    from amiss.scoring.estimate import ErrorEstimate, Interval
    from amiss.scoring.forecast import Forecast
    from amiss.scoring.quality import OutputQuality
    from amiss.scoring.rows import ScoredRows
    from amiss.scoring.rules import ScoringRule
    from amiss.scoring.views import Views
    from amiss.settings import Settings

__all__ = [
    "MCODE",
    "Calibration",
    "Cell",
    "ColumnFinding",
    "ColumnSpec",
    "DataError",
    "Dataset",
    "Decision",
    "Diagnosis",
    "Drift",
    "EncodedRows",
    "ErrorEstimate",
    "ErrorRates",
    "ExplainedOutput",
    "Explanation",
    "Findings",
    "FittedDetector",
    "Forecast",
    "Grounds",
    "Interval",
    "Listed",
    "MissingDependencyError",
    "OutputColumn",
    "OutputKind",
    "OutputQuality",
    "RankedRow",
    "Reason",
    "Remark",
    "RuleChoice",
    "ScoredBatch",
    "ScoredRows",
    "ScoringRule",
    "Settings",
    "Shift",
    "Table",
    "Term",
    "Unseen",
    "Views",
    "__version__",
    "cell_frame",
    "check",
    "evaluation",
    "find_label_issues",
    "get_label_quality_scores",
    "load",
    "paper",
    "read",
    "row_frame",
]

_HOMES = {
    "MCODE": "amiss.detector",
    "Calibration": "amiss.decisions.calibration",
    "Cell": "amiss.output.cells",
    "ColumnFinding": "amiss.diagnosis.findings",
    "ColumnSpec": "amiss.readers.columns.spec",
    "DataError": "amiss.errors",
    "Dataset": "amiss.data.dataset",
    "Decision": "amiss.decisions.decision",
    "Diagnosis": "amiss.diagnosis.diagnosis",
    "Drift": "amiss.monitoring.drift",
    "EncodedRows": "amiss.encoding.encoded_rows",
    "ErrorEstimate": "amiss.scoring.estimate",
    "ErrorRates": "amiss.scoring.error_rates",
    "ExplainedOutput": "amiss.explanations.explained_output",
    "Explanation": "amiss.explanations.explanation",
    "Findings": "amiss.monitoring.batch",
    "FittedDetector": "amiss.fitted",
    "Forecast": "amiss.scoring.forecast",
    "Grounds": "amiss.explanations.explained_output",
    "Interval": "amiss.scoring.estimate",
    "Listed": "amiss.output.listed",
    "MissingDependencyError": "amiss.errors",
    "OutputColumn": "amiss.data.output_kinds",
    "OutputKind": "amiss.data.output_kinds",
    "OutputQuality": "amiss.scoring.quality",
    "RankedRow": "amiss.output.ranking",
    "Reason": "amiss.output.ranking",
    "Remark": "amiss.data.remark",
    "RuleChoice": "amiss.evaluation.choice",
    "ScoredBatch": "amiss.monitoring.batch",
    "ScoredRows": "amiss.scoring.rows",
    "ScoringRule": "amiss.scoring.rules",
    "Settings": "amiss.settings",
    "Shift": "amiss.monitoring.shifts",
    "Table": "amiss.data.table",
    "Term": "amiss.explanations.explained_output",
    "Unseen": "amiss.monitoring.unseen",
    "Views": "amiss.scoring.views",
    "cell_frame": "amiss.bridges.frames",
    "check": "amiss.diagnosis.check",
    "find_label_issues": "amiss.bridges.label_issues",
    "get_label_quality_scores": "amiss.bridges.label_issues",
    "load": "amiss.detector",
    "read": "amiss.readers.reading",
    "row_frame": "amiss.bridges.frames",
}
_FOLDERS = ("evaluation", "paper")


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used, so that ``amiss --help`` is quick."""
    from importlib import import_module

    if name in _FOLDERS:
        return import_module(f"amiss.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'amiss' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
