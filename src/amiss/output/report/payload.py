"""Everything the page shows, as plain lists and numbers that fit into little JSON.

Names are written once and meant by number. Rows of the list are columns of numbers; only the top rows
carry details. What would grow with the square of the outputs, or with rows times outputs, is capped.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Any

import numpy as np

from amiss.arrays import Rows
from amiss.explanations.explained_output import Direction, ExplainedOutput
from amiss.explanations.explanation import Explanation
from amiss.fitted import FittedDetector
from amiss.output.ranking import flagged_suspects, ranked_order
from amiss.output.report.inputs import InputComparison, Usual
from amiss.output.report.kinds import alike, directions, expectation, reliability
from amiss.output.report.material import DETAILED_ROWS as DETAILED_ROWS
from amiss.output.report.material import Material
from amiss.output.report.measures import calibration, histogram, most_connected, probability_of_one, suspicions
from amiss.output.report.pictures import data_uris
from amiss.output.report.short import DIGITS, LONGEST_COPIED, numbers, short, shown
from amiss.scoring.rows import ScoredRows
from amiss.wording import printable, row_name

LISTED_ROWS = 10_000
LISTED_OUTPUTS = 40  # of a row, by their contribution
GROUNDED = 3  # suspects whose grounds are shown
TERMS = 12
COMPARED_INPUTS = 8
MAPPED_OUTPUTS = 150
SAMPLE_BYTES = 120_000  # rho of a sample of rows, one byte per output
LONGEST_NAME = 120
MISSING = 255  # where there is no rho
NEAREST = 5


def payload(material: Material) -> dict[str, Any]:
    """All of it."""
    fitted, rows, flags = material.fitted, material.rows, material.decision.flagged
    order = ranked_order(rows.scores)
    details, used = _details(material, order[: material.n_details])
    listed = order[: max(LISTED_ROWS, material.n_details)]
    first = _main_suspects(material, order, details)
    bins = histogram(rows.scores)
    found: dict[str, Any] = {
        "threshold": material.decision.threshold,
        "n_rows": len(order),
        "n_flagged": int(flags.sum()),
        "histogram": {"low": bins.edges[0], "high": bins.edges[-1], "counts": bins.counts.tolist()},
        "output_names": [shortened(name, i) for i, name in enumerate(fitted.columns.outputs)],
        "input_names": [shortened(fitted.columns.inputs[column], column) for column in used],
        "rows": _listed(material, listed, first[: len(listed)]),
        "details": details,
        "pictures": _pictures(material, order[: material.n_details]),
        "outputs": _outputs(material),
        "dependence": _dependence(fitted),
        "sample": _sample(material, order),
    }
    if material.batch is not None:
        found["batch"] = True
        found["rows"]["flagged"] = flags[listed].astype(int).tolist()  # those of the fit keep their flags
    flagged = np.flatnonzero(flags[order])
    if rows.forecast is None:
        mine = order[flagged]
        wrong = suspicions(first[flagged], rows.judged_probabilities_of(mine), rows.Y[mine])
        found["outputs"] |= {"commissions": wrong.commissions.tolist(), "omissions": wrong.omissions.tolist()}
    else:
        looked_at = max(len(listed), int(flagged.max(initial=-1)) + 1)
        ways = directions(rows, order[:looked_at], first[:looked_at])
        found["kinds"] = [column.kind.name for column in rows.columns]
        found["rows"]["wrong"] = ways[: len(listed)]
        found["outputs"]["wrong"] = _counted([ways[place] for place in flagged], first[flagged], rows.Y.shape[1])
    return found


def _counted(ways: list[Direction | None], first: Rows, n_outputs: int) -> dict[str, list[int]]:
    """How often each output is the main suspect of a flagged row, by the way in which it is off."""
    found: dict[str, list[int]] = {}
    for way, output in zip(ways, first.tolist(), strict=True):
        if way is not None:
            found.setdefault(way, [0] * n_outputs)[output] += 1
    return found


def shortened(name: str, number: int) -> str:
    """A name as the page writes it; one that is cut also has its number, so that it stays unique."""
    clean = printable(name, len(name) + 1)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:LONGEST_NAME]}… (no. {number + 1})"


def _main_suspects(material: Material, order: Rows, details: list[dict[str, Any]]) -> Rows:
    """The first suspect of each row of ``order``; where none was looked for, the output that adds most."""
    first: Rows = material.rows.contributions[order].argmax(axis=1)
    for place, detail in enumerate(details):
        if detail["outputs"]:
            first[place] = detail["outputs"][0][0]
    beyond = flagged_suspects(order[len(details) :], material.decision.flagged, material.suspects)
    place_of = {int(row): place for place, row in enumerate(order)} if beyond else {}
    for row, suspects in beyond.items():
        first[place_of[row]] = suspects[0] if suspects else first[place_of[row]]
    return first


def _listed(material: Material, rows: Rows, first: Rows) -> dict[str, Any]:
    """The ranked list as columns, each row with its main suspect; null where nothing is observed."""
    scored = material.rows
    added = scored.contributions[rows, first]
    observed = map(scored.observed_value, rows.tolist(), first.tolist())
    ids = material.ids
    return {
        "row": (rows + 1).tolist(),
        "id": None if ids is None else [printable(ids[row], LONGEST_COPIED) for row in rows],
        "shown": [
            [printable(name, LONGEST_NAME), [printable(texts[row], LONGEST_COPIED) for row in rows]]
            for name, texts in material.shown.items()
        ],
        "score": numbers(scored.scores[rows], DIGITS),
        "output": [int(i) if more > 0 else None for i, more in zip(first, added, strict=True)],
        "observed": list(map(shown, observed)),
        "probability": numbers(scored.judged_probabilities_of(rows)[np.arange(len(rows)), first], DIGITS),
    }


def _details(material: Material, rows: Rows) -> tuple[list[dict[str, Any]], list[int]]:
    """What is said of each row, and the inputs that it names, which are meant by their place there."""
    writer = _DetailWriter(material)
    numbers = rows.tolist()
    explained = zip(numbers, material.explanations(numbers), strict=True)
    details = [writer.details(row, explanation) for row, explanation in explained]
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
        self._usual: dict[tuple[int, int, float], list[Any]] = {}

    def details(self, row: int, explanation: Explanation) -> dict[str, Any]:
        ids = self.material.ids
        explanation = replace(
            explanation,
            label=row_name(row, ids),
            values=self.material.X.texts(row, self._named_inputs(explanation)),
        )
        near = self._near(explanation)
        found = {
            "said": explanation.sentences(),
            "suspects": explanation.n_suspects,
            "outputs": [
                self._output(output, place < explanation.n_suspects)
                for place, output in enumerate(explanation.outputs[:LISTED_OUTPUTS])
            ],
            "more": max(0, len(explanation.outputs) - LISTED_OUTPUTS),
            "grounds": [self._grounds(output, explanation) for output in explanation.suspects[:GROUNDED]],
            "inputs": self._inputs(row, explanation),
            "near": [
                str(other + 1) if ids is None else printable(ids[other], LONGEST_COPIED)
                for other in (near or ())[:NEAREST]
            ],
        }
        if explanation.suspects and isinstance(explanation.suspects[0].instead, str):  # a level, named once
            found["instead"] = shown(explanation.suspects[0].instead)
        return found

    def _near(self, explanation: Explanation) -> tuple[int, ...] | None:
        """Its neighbours, where they are rows of this table: those of a batch are rows of the fit."""
        return explanation.neighbors if self.material.batch is None else None

    def _output(self, output: ExplainedOutput, is_suspect: bool) -> list[Any]:
        """Of a table of tags with the chance of a 1; of others with that of the value, and what was expected."""
        place, forecast = self.place_of_output[output.output], self.material.rows.forecast
        several = forecast is not None
        chance = output.probability if several or output.chance_of_one is None else output.chance_of_one
        told = [
            place,
            shown(output.observed),
            short(chance, DIGITS),
            short(output.contribution, DIGITS),
            None if output.score_if_changed is None else short(output.score_if_changed, DIGITS),
            output.neighbors_alike,
            output.neighbors_known,
        ]
        return told if forecast is None else [*told, expectation(output, forecast.layout, place, is_suspect)]

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
            value = printable(explanation.value_of(term) or "", LONGEST_COPIED)
            terms.append([int(is_output), place, value, round(term.log_odds, 3)])
        return [*(round(part, 3) for part in parts), terms]

    def _inputs(self, row: int, explanation: Explanation) -> list[Any]:
        """Inputs against those of the neighbours, and of rows with two values of the first suspect."""
        if not explanation.suspects and self.material.rows.forecast is not None:
            return []  # there are no two values by which rows could be told apart
        others = self._near(explanation)
        near = None if others is None else np.array(others, dtype=np.intp)
        suspect, values = self._compared_values(row, explanation)
        lines = []
        for column in _telling_inputs(row, explanation, self.compared, near):
            value, place = self.compared.own(row, column)
            beside = None if near is None else _usual(self.compared.usual(column, near))
            against = [self._usual_where(column, suspect, value) for value in values]
            lines.append(
                [self._input(column), value, None if place is None else short(place, 3), beside, *against]
            )
        return lines

    def _compared_values(self, row: int, explanation: Explanation) -> tuple[int, tuple[float, float]]:
        """The first suspect, and two values: 1 and 0 of a tag, otherwise what is there and what was expected."""
        if not explanation.suspects:
            return 0, (1.0, 0.0)
        first = explanation.suspects[0]
        suspect = self.place_of_output[first.output]
        if first.is_tag:
            return suspect, (1.0, 0.0)
        column = self.material.rows.columns[suspect]
        instead = column.levels.index(str(first.instead)) if column.kind.has_levels else first.instead
        return suspect, (float(self.material.rows.Y[row, suspect]), float(instead or 0))

    def _usual_where(self, column: int, output: int, value: float) -> list[Any]:
        key = column, output, value
        if key not in self._usual:
            rows = self.material.rows
            same = alike(rows.columns[output], rows.Y[:, output], value)
            self._usual[key] = _usual(self.compared.usual(column, same))
        return self._usual[key]


def _usual(found: Usual) -> list[Any]:
    return [found.text, None if found.places is None else [short(place, 3) for place in found.places]]


def _telling_inputs(row: int, explanation: Explanation, compared: InputComparison, near: Rows | None) -> list[int]:
    """Inputs that say most about the first suspect."""
    grounds = explanation.suspects[0].grounds if explanation.suspects else None
    if grounds is None:
        return compared.most_different(row, near, COMPARED_INPUTS)
    largest = np.argsort(-np.abs(grounds.inputs), kind="stable")[:COMPARED_INPUTS]
    return [int(column) for column in largest if grounds.inputs[column] != 0]


def _pictures(material: Material, rows: Rows) -> list[str | None] | None:
    if material.pictures is None:
        return None
    return data_uris([material.pictures[row] for row in rows])


def _outputs(material: Material) -> dict[str, Any]:
    """How good each output's model is."""
    quality = material.fitted.quality
    return {
        "ones": numbers(quality.prevalence, 3),
        "error": numbers(quality.mean_error, 3),
        "skill": numbers(quality.skill, 3),
        "auc": numbers(quality.auc, 3),
        "weight": numbers(quality.weight, 3),
        "excluded": [int(value) for value in quality.excluded],
        "calibration": _reliability(material.rows),
    }


def _reliability(rows: ScoredRows) -> list[list[list[Any]]]:
    """Of each output, what was expected of tenths of the rows and what was observed."""
    if rows.forecast is not None:
        return [reliability(rows, i) for i in range(rows.Y.shape[1])]
    probability = probability_of_one(rows.probabilities, rows.Y)
    curves = [calibration(probability[:, i], rows.Y[:, i]) for i in range(rows.Y.shape[1])]
    return [[numbers(curve.expected, 3), numbers(curve.observed, 3), curve.count.tolist()] for curve in curves]


def _dependence(fitted: FittedDetector) -> dict[str, Any] | None:
    """What each output adds to the log-odds of each other, where the models are linear."""
    between = fitted.models.dependence()
    if between is None or not between.any():
        return None
    outputs = most_connected(between, MAPPED_OUTPUTS)
    return {
        "outputs": outputs.tolist(),
        "all": len(between),
        "coef": [numbers(line, 3) for line in between[np.ix_(outputs, outputs)]],
    }


def _sample(material: Material, order: Rows) -> dict[str, Any]:
    """rho of the most unusual rows and of some others for every output, in hundredths, a byte each."""
    scored, n_flagged = material.rows, int(material.decision.flagged.sum())
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
