"""Everything the page shows, as plain lists and numbers that fit into little JSON.

Names are written once and meant by number. Rows of the list are columns of numbers; only the top rows
carry details. What would grow with the square of the outputs, or with rows times outputs, is capped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.table import Table
from amiss.explanations.explained_output import ExplainedOutput
from amiss.explanations.explanation import Explanation
from amiss.fitted import FittedDetector
from amiss.output.ranking import flagged_suspects, ranked_order
from amiss.output.report.inputs import LONGEST_VALUE, InputComparison, Usual
from amiss.output.report.measures import calibration, histogram, most_connected, probability_of_one, suspicions
from amiss.output.report.pictures import Picture, data_uris
from amiss.scoring.rows import ScoredRows
from amiss.wording import printable, row_name

LISTED_ROWS = 10_000
DETAILED_ROWS = 200
LISTED_OUTPUTS = 40  # of a row, by their contribution
GROUNDED = 3  # suspects whose grounds are shown
TERMS = 12
COMPARED_INPUTS = 8
MAPPED_OUTPUTS = 150
SAMPLE_BYTES = 120_000  # rho of a sample of rows, one byte per output
LONGEST_NAME = 120
MISSING = 255  # where there is no rho
NEAREST = 5


@dataclass(frozen=True)
class Material:
    """What a report is made from: a fit, its rows as they came, and what they are called."""

    fitted: FittedDetector
    X: Table
    ids: tuple[str, ...] | None = None
    pictures: Sequence[Picture] | None = None
    n_details: int = DETAILED_ROWS

    @property
    def rows(self) -> ScoredRows:
        return self.fitted.training_rows


def payload(material: Material) -> dict[str, Any]:
    """All of it."""
    fitted, rows = material.fitted, material.rows
    order = ranked_order(rows.scores)
    details, used = _details(material, order[: material.n_details])
    listed = order[: max(LISTED_ROWS, material.n_details)]
    first = _main_suspects(fitted, order, details)
    bins = histogram(rows.scores)
    return {
        "threshold": fitted.decision.threshold,
        "n_rows": len(order),
        "n_flagged": int(fitted.decision.flagged.sum()),
        "histogram": {"low": bins.edges[0], "high": bins.edges[-1], "counts": bins.counts.tolist()},
        "output_names": [shortened(name, i) for i, name in enumerate(fitted.columns.outputs)],
        "input_names": [shortened(fitted.columns.inputs[column], column) for column in used],
        "rows": _listed(material, listed, first[: len(listed)]),
        "details": details,
        "pictures": _pictures(material, order[: material.n_details]),
        "outputs": _outputs(material, order, first),
        "dependence": _dependence(fitted),
        "sample": _sample(material, order),
    }


def shortened(name: str, number: int) -> str:
    """A name as the page writes it; one that is cut also has its number, so that it stays unique."""
    clean = printable(name, len(name) + 1)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:LONGEST_NAME]}… (no. {number + 1})"


def _short(number: float, digits: int = 4) -> float | None:
    """A number with few digits; JSON has no NaN and no infinity."""
    if not np.isfinite(number):
        return None
    short = float(f"{number:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _numbers(values: Floats, digits: int = 4) -> list[float | None]:
    return [_short(value, digits) for value in values.tolist()]


def _main_suspects(fitted: FittedDetector, order: Rows, details: list[dict[str, Any]]) -> Rows:
    """The first suspect of each row of ``order``; where none was looked for, the output that adds most."""
    first: Rows = fitted.training_rows.contributions[order].argmax(axis=1)
    for place, detail in enumerate(details):
        if detail["outputs"]:
            first[place] = detail["outputs"][0][0]
    # Flagged rows are those at the top, so what is flagged beyond the details follows them directly.
    suspects_of = fitted.explainer.suspects_of_training
    beyond = flagged_suspects(order[len(details) :], fitted.decision.flagged, suspects_of)
    for place, suspects in enumerate(beyond.values(), start=len(details)):
        first[place] = suspects[0] if suspects else first[place]
    return first


def _listed(material: Material, rows: Rows, first: Rows) -> dict[str, Any]:
    """The ranked list as columns, each row with its main suspect; null where nothing is observed."""
    scored = material.rows
    added = scored.contributions[rows, first]
    observed = scored.Y[rows, first]
    ids = material.ids
    return {
        "row": (rows + 1).tolist(),
        "id": None if ids is None else [printable(ids[row], LONGEST_NAME) for row in rows],
        "score": _numbers(scored.scores[rows], 5),
        "output": [int(i) if more > 0 else None for i, more in zip(first, added, strict=True)],
        "observed": [scored.columns[i].plain(value) for i, value in zip(first, observed.tolist(), strict=True)],
        "probability": _numbers(scored.probabilities[rows, first], 3),
    }


def _details(material: Material, rows: Rows) -> tuple[list[dict[str, Any]], list[int]]:
    """What is said of each row, and the inputs that it names, which are meant by their place there."""
    writer = _DetailWriter(material)
    explanations = material.fitted.explainer.training_rows(rows.tolist())
    details = [writer.details(explanation) for explanation in explanations]
    return details, list(writer.used)


class _DetailWriter:
    """Turns explanations into little lists."""

    def __init__(self, material: Material) -> None:
        columns = material.fitted.columns
        self.material = material
        self.compared = InputComparison(material.X)
        self.place_of_output = {name: i for i, name in enumerate(columns.outputs)}
        self.place_of_input = {name: i for i, name in enumerate(columns.inputs)}
        self.used: dict[int, int] = {}  # input -> its place among the inputs named
        self._usual: dict[tuple[int, int, int], list[Any]] = {}

    def details(self, explanation: Explanation) -> dict[str, Any]:
        assert explanation.row is not None
        ids = self.material.ids
        explanation = replace(
            explanation,
            label=row_name(explanation.row, ids),
            values=self.material.X.texts(explanation.row, self._named_inputs(explanation)),
        )
        near = explanation.neighbors
        return {
            "said": explanation.sentences(),
            "suspects": explanation.n_suspects,
            "outputs": [self._output(output) for output in explanation.outputs[:LISTED_OUTPUTS]],
            "more": max(0, len(explanation.outputs) - LISTED_OUTPUTS),
            "grounds": [self._grounds(output, explanation) for output in explanation.suspects[:GROUNDED]],
            "inputs": self._inputs(explanation),
            "near": [str(row + 1) if ids is None else printable(ids[row], 40) for row in (near or ())[:NEAREST]],
        }

    def _output(self, output: ExplainedOutput) -> list[Any]:
        return [
            self.place_of_output[output.output],
            output.observed,
            _short(output.probability if output.chance_of_one is None else output.chance_of_one, 3),
            _short(output.contribution, 4),
            None if output.score_if_changed is None else _short(output.score_if_changed, 4),
            output.neighbors_alike,
            output.neighbors_known,
        ]

    def _named_inputs(self, explanation: Explanation) -> list[int]:
        grounds = [output.grounds for output in explanation.suspects[:GROUNDED] if output.grounds is not None]
        terms = [term for each in grounds for term in each.largest(50) if term.kind == "input"]
        return sorted({self.place_of_input[term.name] for term in terms})

    def _input(self, column: int) -> int:
        return self.used.setdefault(column, len(self.used))

    def _grounds(self, output: ExplainedOutput, explanation: Explanation) -> list[Any] | None:
        """Log-odds: the sum, the average row's, all inputs', all outputs', and the largest terms."""
        grounds = output.grounds
        if grounds is None:
            return None
        parts = (grounds.log_odds, grounds.average, float(grounds.inputs.sum()), float(grounds.outputs.sum()))
        terms = []
        for term in grounds.largest(TERMS):
            is_output = term.kind == "output"
            place = self.place_of_output[term.name] if is_output else self._input(self.place_of_input[term.name])
            value = printable(explanation.value_of(term) or "", LONGEST_VALUE)
            terms.append([int(is_output), place, value, _short(term.log_odds, 3)])
        return [*(round(part, 3) for part in parts), terms]

    def _inputs(self, explanation: Explanation) -> list[Any]:
        """Inputs against those of the neighbours, and of the rows that have and have not the first suspect."""
        row = explanation.row
        assert row is not None
        near = None if explanation.neighbors is None else np.array(explanation.neighbors, dtype=np.intp)
        suspect = self.place_of_output[explanation.suspects[0].output] if explanation.suspects else 0
        lines = []
        for column in _telling_inputs(explanation, self.compared, near):
            value, place = self.compared.own(row, column)
            beside = None if near is None else _usual(self.compared.usual(column, near))
            against = [self._usual_where(column, suspect, value) for value in (1, 0)]
            lines.append(
                [self._input(column), value, None if place is None else _short(place, 3), beside, *against]
            )
        return lines

    def _usual_where(self, column: int, output: int, value: int) -> list[Any]:
        key = column, output, value
        if key not in self._usual:
            self._usual[key] = _usual(self.compared.usual(column, self.material.rows.Y[:, output] == value))
        return self._usual[key]


def _usual(found: Usual) -> list[Any]:
    return [found.text, None if found.places is None else [_short(place, 3) for place in found.places]]


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
    return data_uris([material.pictures[row] for row in rows])


def _outputs(material: Material, order: Rows, first: Rows) -> dict[str, Any]:
    """How good each output's model is, and how often it is the main suspect."""
    fitted, rows = material.fitted, material.rows
    quality, Y = fitted.quality, rows.Y
    flagged = order[: int(fitted.decision.flagged.sum())]
    found = suspicions(first[: len(flagged)], rows.probabilities[flagged], Y[flagged])
    probability = probability_of_one(rows.probabilities, Y)
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


def _dependence(fitted: FittedDetector) -> dict[str, Any] | None:
    """What each output adds to the log-odds of each other, where the models are linear."""
    between = fitted.models.dependence()
    if between is None or not between.any():
        return None
    outputs = most_connected(between, MAPPED_OUTPUTS)
    return {
        "outputs": outputs.tolist(),
        "all": len(between),
        "coef": [_numbers(line, 3) for line in between[np.ix_(outputs, outputs)]],
    }


def _sample(material: Material, order: Rows) -> dict[str, Any]:
    """rho of the most unusual rows and of some others for every output, in hundredths, a byte each."""
    scored, n_flagged = material.rows, int(material.fitted.decision.flagged.sum())
    n_rows = int(np.clip(SAMPLE_BYTES // scored.Y.shape[1], 100, 1500))
    top = order[: max(n_rows // 4, min(n_flagged, n_rows // 2))]
    rest = order[len(top) :]
    some = np.random.default_rng(0).permutation(len(rest))[: n_rows - len(top)]
    rows = np.concatenate([top, rest[np.sort(some)]])
    rho = scored.probabilities[rows]
    hundredths = np.where(np.isnan(rho), MISSING, np.round(100 * np.nan_to_num(rho))).astype(np.uint8)
    return {
        "rank": np.argsort(order)[rows].tolist(),
        "row": (rows + 1).tolist(),
        "rho": b64encode(hundredths.tobytes()).decode(),
    }
