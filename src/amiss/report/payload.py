"""Everything the page shows, as plain lists and numbers that fit into little JSON.

Names are written once and meant by number. Rows of the list are columns of numbers; only the top rows
carry details. What would grow with the square of the outputs, or with rows times outputs, is capped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from amiss.explanation import ExplainedOutput, Explanation
from amiss.report.inputs import InputComparison
from amiss.report.measures import calibration, histogram, most_connected, probability_of_one, suspicions
from amiss.report.pictures import Picture, data_uri
from amiss.table import Floats, Rows, Table
from amiss.text import printable

if TYPE_CHECKING:
    from amiss.detector import MCODE

LISTED_ROWS = 10_000
DETAILED_ROWS = 200
LISTED_OUTPUTS = 40  # of a row, by their share
GROUNDED = 3  # suspects whose grounds are shown
TERMS = 12
COMPARED_INPUTS = 8
MAPPED_OUTPUTS = 150
SAMPLE_BYTES = 120_000  # rho of a sample of rows, a byte an output
LONGEST_NAME = 120
MISSING = 127


@dataclass(frozen=True)
class Material:
    """What a report is made from: a fit, its rows as they came, and what they are called."""

    detector: MCODE
    X: Table
    Y: Floats
    ids: tuple[str, ...] | None = None
    pictures: Sequence[Picture] | None = None
    n_details: int = DETAILED_ROWS


def payload(material: Material) -> dict[str, Any]:
    """All of it."""
    detector = material.detector
    order = np.argsort(-detector.decision_scores_, kind="stable")
    detailed = order[: material.n_details]
    details, used = _details(material, detailed)
    bins = histogram(detector.decision_scores_)
    return {
        "score": detector.score_,
        "threshold": _short(detector.threshold_, 6),
        "n_rows": len(order),
        "n_flagged": int(detector.labels_.sum()),
        "histogram": {"edges": _numbers(bins.edges), "counts": bins.counts.tolist()},
        "output_names": [shortened(name, i) for i, name in enumerate(detector.output_names_)],
        "input_names": [shortened(detector.input_names_[column], column) for column in used],
        "rows": _listed(material, order[:LISTED_ROWS], details),
        "details": details,
        "pictures": _pictures(material, detailed),
        "outputs": _outputs(material),
        "dependence": _dependence(detector),
        "sample": _sample(material, order),
    }


def shortened(name: str, number: int) -> str:
    """A name as the page writes it; one that is cut also has its number, to be told from its like."""
    clean = printable(name, len(name) + 1)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:LONGEST_NAME]}… (no. {number + 1})"


def called(row: int, ids: tuple[str, ...] | None) -> str:
    """What a row is called in a sentence."""
    return f"Row {row + 1}" + ("" if ids is None else f" ({printable(ids[row], 60)})")


def _short(number: float, digits: int = 4) -> float | None:
    """A number with few digits; JSON has no NaN and no infinity."""
    if not np.isfinite(number):
        return None
    short = float(f"{number:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _numbers(values: Floats, digits: int = 4) -> list[float | None]:
    return [_short(value, digits) for value in values.tolist()]


def _listed(material: Material, rows: Rows, details: list[dict[str, Any]]) -> dict[str, Any]:
    """The ranked list as columns, each row with the output that is first in it."""
    detector, Y = material.detector, material.Y
    first = detector.contributions_[rows].argmax(axis=1)
    for place, detail in enumerate(details):
        if detail["outputs"]:
            first[place] = detail["outputs"][0][0]
    scores = detector.decision_scores_[rows]
    share = detector.contributions_[rows, first]
    observed = Y[rows, first]
    ids = material.ids
    return {
        "row": (rows + 1).tolist(),
        "id": None if ids is None else [printable(ids[row], LONGEST_NAME) for row in rows],
        "score": _numbers(scores, 5),
        "output": first.tolist(),
        "observed": [None if np.isnan(value) else int(value) for value in observed.tolist()],
        "probability": _numbers(detector.rho_[rows, first], 3),
        "part": _numbers(np.divide(share, scores, out=np.zeros_like(share), where=scores > 0), 2),
    }


def _details(material: Material, rows: Rows) -> tuple[list[dict[str, Any]], list[int]]:
    """What is said of each row, and the inputs that it names, which are meant by their place there."""
    detector = material.detector
    compared = InputComparison(material.X)
    place_of_output = {name: i for i, name in enumerate(detector.output_names_)}
    place_of_input = {name: i for i, name in enumerate(detector.input_names_)}
    used: dict[int, int] = {}

    def terms(output: ExplainedOutput) -> list[Any] | None:
        if output.grounds is None:
            return None
        told = output.grounds.to_dict(TERMS)
        columns = [
            [
                int(term["kind"] == "output"),
                place_of_output[term["name"]]
                if term["kind"] == "output"
                else used.setdefault(place_of_input[term["name"]], len(used)),
                _short(term["log_odds"], 3),
            ]
            for term in told["largest"]
        ]
        return [*(_short(told[name], 3) for name in ("average", "inputs", "outputs")), columns]

    result = []
    for explanation in detector.explain_rows(rows.tolist()):
        assert explanation.row is not None
        near = None if explanation.neighbors is None else np.array(explanation.neighbors, dtype=np.intp)
        inputs = []
        for column in _telling_inputs(explanation, compared, near):
            cell = compared.of(explanation.row, column, near)
            places = None if cell.usual_places is None else [_short(place, 3) for place in cell.usual_places]
            place = None if cell.place is None else _short(cell.place, 3)
            inputs.append([used.setdefault(column, len(used)), cell.value, cell.usual, place, places])
        told = replace(explanation, label=called(explanation.row, material.ids))
        result.append(
            {
                "said": told.sentences(),
                "suspects": explanation.n_suspects,
                "outputs": [
                    [
                        place_of_output[output.output],
                        output.observed,
                        _short(output.expected, 3),
                        _short(output.share, 4),
                        None if output.score_if_changed is None else _short(output.score_if_changed, 4),
                        output.neighbors_alike,
                        output.neighbors_known,
                    ]
                    for output in explanation.outputs[:LISTED_OUTPUTS]
                ],
                "more": max(0, len(explanation.outputs) - LISTED_OUTPUTS),
                "grounds": [terms(output) for output in explanation.suspects[:GROUNDED]],
                "inputs": inputs,
            }
        )
    return result, list(used)


def _telling_inputs(explanation: Explanation, compared: InputComparison, near: Rows | None) -> list[int]:
    """Inputs that say most about the first suspect."""
    grounds = explanation.suspects[0].grounds if explanation.suspects else None
    if grounds is None:
        assert explanation.row is not None
        return compared.most_different(explanation.row, near, COMPARED_INPUTS)
    largest = np.argsort(-np.abs(grounds.inputs), kind="stable")[:COMPARED_INPUTS]
    return [int(column) for column in largest if grounds.inputs[column] != 0]


def _pictures(material: Material, rows: Rows) -> list[str | None] | None:
    if material.pictures is None:
        return None
    return [data_uri(material.pictures[row]) for row in rows]


def _outputs(material: Material) -> dict[str, Any]:
    """How good each output's model is, and how often it is suspicious."""
    detector, Y = material.detector, material.Y
    quality = detector.output_quality_
    found = suspicions(detector.contributions_, detector.rho_, Y, detector.labels_ == 1)
    probability = probability_of_one(detector.rho_, Y)
    curves = [calibration(probability[:, i], Y[:, i]) for i in range(Y.shape[1])]
    return {
        "ones": _numbers(quality.prevalence, 3),
        "error": _numbers(quality.mean_error, 3),
        "skill": _numbers(quality.skill, 3),
        "auc": _numbers(quality.auc, 3),
        "weight": _numbers(quality.weight, 3),
        "commissions": found.commissions.tolist(),
        "omissions": found.omissions.tolist(),
        "excluded": [int(value) for value in quality.excluded],
        "calibration": [
            [_numbers(curve.expected, 3), _numbers(curve.observed, 3), curve.count.tolist()] for curve in curves
        ],
    }


def _dependence(detector: MCODE) -> dict[str, Any] | None:
    """What each output adds to the log-odds of each other, where the models are linear."""
    between = detector.dependence()
    if between is None or len(between) < 2:
        return None
    outputs = most_connected(between, MAPPED_OUTPUTS)
    return {
        "outputs": outputs.tolist(),
        "all": len(between),
        "coef": [_numbers(line, 3) for line in between[np.ix_(outputs, outputs)]],
    }


def _sample(material: Material, order: Rows) -> dict[str, Any]:
    """rho of the flagged rows and of some others for every output: a byte each, 128 added for a 1.

    It is in hundredths; ``MISSING`` stands for a missing output.
    """
    detector, Y = material.detector, material.Y
    n_rows = int(np.clip(SAMPLE_BYTES // Y.shape[1], 100, 1500))
    top = order[: max(n_rows // 4, min(int(detector.labels_.sum()), n_rows // 2))]
    rest = order[len(top) :]
    some = np.random.default_rng(0).permutation(len(rest))[: n_rows - len(top)]
    rows = np.concatenate([top, rest[np.sort(some)]])
    rho, values = detector.rho_[rows], Y[rows]
    hundredths = np.round(100 * np.nan_to_num(rho)).astype(np.uint8)
    codes = np.where(np.isnan(values), MISSING, hundredths + 128 * (values == 1)).astype(np.uint8)
    return {
        "rank": (np.argsort(order)[rows]).tolist(),
        "row": (rows + 1).tolist(),
        "rho": b64encode(codes.tobytes()).decode(),
    }
