"""Why a row has its score: exact contributions, what was expected, on what grounds, and what a change would do.

A score is a sum over outputs, so each output's contribution is exact. The probability behind it comes
from log-odds that are a sum too, of what each column adds against the average training row:

    log-odds_i(n) = average_i + Σ_c coef[c, i] (z[n, c] - mean_c),   z = [inputs, other outputs]

The models are those by which the row was scored: for a training row the same mixture of the models
that saw it and of those that did not. If an output were changed, the probabilities of the outputs that
see it change too, and so may the row's neighbours; ``score_if_changed`` is computed anew from all that.

One false output makes its correct companions look improbable too. So the outputs with a telling contribution are
ordered by what their change takes off the score, and, as of two outputs that mostly agree either may be
changed, by a ``LEANING`` part of their contribution as well (chosen on digits, yeast, birds and enron:
docs/measurements/explanations.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.data.output_kinds import BINARY, OutputColumn, Value
from amiss.encoding.encoded_rows import EncodedRows
from amiss.explanations.cases import Case, Cases
from amiss.explanations.explained_output import ExplainedOutput, Grounds, direction_of
from amiss.explanations.explanation import Explanation
from amiss.explanations.what_if import Changed, if_changed
from amiss.models.conditional import Attribution
from amiss.models.fitting import FittedModels
from amiss.scoring.hypotheses import KINDS
from amiss.scoring.rows import ScoredRows
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer

LEANING = 1 / 3
MOST_CHANCES = 6  # of levels
TAG = OutputColumn("")


@dataclass(frozen=True)
class Explainer:
    """Explains rows by what a fit has left behind.

    ``training_scores`` are those of the rows of the fit, by which a row is ranked. Without these rows
    (``training``) only new rows can be explained, and there are no neighbours. Suspects of training rows are
    remembered, so that a list and a report look for them once.
    """

    models: FittedModels
    scorer: Scorer
    training: ScoredRows | None
    training_scores: Floats
    threshold: float
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    _known: dict[int, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def _cases(self) -> Cases:
        return Cases(self.models, self.scorer, self.training)

    def training_rows(self, numbers: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of training rows, by the user's numbers."""
        return self._explanations(self._cases.of_training(numbers))

    def new_rows(self, encoded: EncodedRows, scored: ScoredRows, numbers: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of some rows of a batch; rows of the fit as what they were there."""
        return self._explanations(self._cases.of_batch(encoded, scored, numbers))

    def suspects_of_training(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """The outputs with a telling contribution of each training row, in the order of its explanation."""
        unknown = [number for number in numbers if number not in self._known]
        moving = self.scorer.neighbor_space.has_outputs  # then changed rows have other neighbours anyway
        for case, changed in self._changed(self._cases.of_training(unknown, with_neighbors=not moving)):
            self._suspects(case, changed)
        return iter([self._known[number] for number in numbers])

    def suspects_of_new(
        self, encoded: EncodedRows, scored: ScoredRows, numbers: Sequence[int]
    ) -> Iterator[list[int]]:
        """The same for some rows of a batch."""
        for case, changed in self._changed(self._cases.of_batch(encoded, scored, numbers)):
            yield _ordered_suspects(case, changed)

    def _explanations(self, batches: Iterable[list[Case]]) -> Iterator[Explanation]:
        for case, changed in self._changed(batches):
            yield self._explanation(case, changed)

    def _suspects(self, case: Case, changed: dict[int, Changed]) -> list[int]:
        found = _ordered_suspects(case, changed)
        if case.number is not None:
            self._known[case.number] = found
        return found

    def _changed(self, batches: Iterable[list[Case]]) -> Iterator[tuple[Case, dict[int, Changed]]]:
        for cases in batches:
            yield from zip(cases, if_changed(cases, self.models, self.scorer), strict=True)

    def _explanation(self, case: Case, changed: dict[int, Changed]) -> Explanation:
        score = float(scores(case.contributions[None])[0])
        suspects = self._suspects(case, changed)
        attributions = self._attributions(case, suspects)
        near = case.neighbors
        return Explanation(
            label="This row" if case.number is None else f"Row {case.number}",
            row=case.number,
            score=score,
            rule=self.scorer.rule.name,
            threshold=self.threshold,
            flagged=score > self.threshold,
            rank=self._rank(case, score),
            n_rows=len(self.training_scores),
            outputs=tuple(self._outputs(case, changed, suspects, score, attributions)),
            n_suspects=len(suspects),
            neighbor_space=self.scorer.neighbor_space.name,
            neighbors=None if near is None else tuple(self.models.training_rows.order[near].tolist()),
            left_out=_left_out(case, attributions),
            kind=case.kind,
            chances=_chances(case),
            observed={
                self.output_names[i]: _observed(case, i) for i in np.flatnonzero(~np.isnan(case.Y)).tolist()
            },
        )

    def _outputs(
        self,
        case: Case,
        changed: dict[int, Changed],
        suspects: list[int],
        score: float,
        attributions: dict[int, Attribution] | None,
    ) -> Iterator[ExplainedOutput]:
        """The outputs that count in the score: the suspects, then the others by contribution."""
        counted = np.flatnonzero(~np.isnan(case.Y) & self.scorer.included)
        healed, probabilities = None, case.judged_probabilities
        if suspects and suspects[0] in changed and not case.judged_by_inputs:
            healed = changed[suspects[0]].probabilities
        chosen = set(suspects)
        rest = set(counted.tolist()) - chosen
        others = [int(i) for i in np.argsort(-case.contributions, kind="stable") if int(i) in rest]
        alike, known = self._alike(case)
        for i in [*suspects, *others]:
            probability = float(probabilities[i])
            contribution = float(case.contributions[i])
            yield ExplainedOutput(
                output=self.output_names[i],
                probability=probability,
                **_values(case, i, probability),
                contribution=contribution,
                share_of_score=float(case.contributions[i] / score) if score > 0 else 0.0,
                weight=float(case.weights[i]),
                score_if_changed=changed[i].score if i in changed else None,
                probability_if_first_changed=None if healed is None or i == suspects[0] else float(healed[i]),
                neighbors_alike=None if alike is None or _is_amount(case, i) else int(alike[i]),
                neighbors_known=None if known is None or _is_amount(case, i) else int(known[i]),
                grounds=None if attributions is None else self._grounds(case, attributions.get(i)),
                predictable=self._predictable(case, i),
            )

    def _predictable(self, case: Case, i: int) -> bool:
        """Whether the models that see the row's kind of error say more of an output than its base rate does."""
        hypotheses = self.scorer.hypotheses
        if hypotheses is None:
            return True
        by_inputs = case.judged_by_inputs
        share = hypotheses.unpredictable_by_inputs if by_inputs else hypotheses.unpredictable
        return bool(share[i] < 0.5)

    def _rank(self, case: Case, score: float) -> int:
        """Its place in the ranked list, where ties stay in row order."""
        ranked = self.training_scores
        earlier = 0 if case.number is None else int((ranked[: case.number] == score).sum())
        return int((ranked > score).sum()) + earlier + 1

    def _alike(self, case: Case) -> tuple[Rows, Rows] | tuple[None, None]:
        """How many neighbours have each output's value, and how many show it."""
        if case.neighbors is None:
            return None, None
        near = self.models.training_rows.Y[case.neighbors]
        return (near == case.Y).sum(axis=0), (~np.isnan(near)).sum(axis=0)

    def _attributions(self, case: Case, suspects: list[int]) -> dict[int, Attribution] | None:
        """What each column adds to the log-odds of the suspects; None where the models cannot tell."""
        model, found = case.judging_model, {}
        if model is None:
            return None
        for i in suspects:
            attribution = model.attribution(case.design, case.filled[None], i, self.models.average)
            if attribution is None and not _is_amount(case, i):
                return None
            if attribution is None:
                continue
            found[i] = attribution
        return found

    def _grounds(self, case: Case, found: Attribution | None) -> Grounds | None:
        if found is None:
            return None
        n_columns, source = case.design.shape[1], self.models.encoder.sources
        of_columns = found.columns[:n_columns]
        return Grounds(
            log_odds=float(found.average + found.columns.sum()),
            average=found.average,
            inputs=np.bincount(source, of_columns, len(self.input_names)).astype(np.float64),
            outputs=found.columns[n_columns:],
            input_names=self.input_names,
            output_names=self.output_names,
        )


def _column(case: Case, i: int) -> OutputColumn:
    return TAG if case.forecast is None else case.forecast.layout.columns[i]


def _observed(case: Case, i: int) -> Value:
    return case.new_levels[i] if i in case.new_levels else _column(case, i).plain(case.Y[i])


def _is_amount(case: Case, i: int) -> bool:
    return _column(case, i).kind.is_numeric


def _values(case: Case, i: int, probability: float) -> dict[str, Any]:
    """What stands in an output, what should, and in which way it is off."""
    column, value = _column(case, i), float(case.Y[i])
    likely, instead = probability >= 0.5, case.instead(i)
    found: dict[str, Any] = {
        "kind": column.kind.name,
        "observed": _observed(case, i),
        "expected": _observed(case, i) if likely else column.plain(instead),
        "instead": column.plain(instead),
        "direction": None if likely else direction_of(column, value, instead),
        "chance_of_one": None,
    }
    if column.kind is BINARY:
        found["chance_of_one"] = probability if value else 1 - probability
    elif column.kind.is_numeric and case.forecast is not None:
        found["interval"] = case.forecast.interval(0, i, case.judged_by_inputs)
    elif case.forecast is not None:
        chance = case.forecast.chances(0, i, case.judged_by_inputs)
        found["chances"] = _level_chances(column, case.forecast.layout.level_column[i], chance, value)
    return found


def _level_chances(column: OutputColumn, level_column: Rows, chance: Floats, value: float) -> dict[str, float]:
    """The chances of the likeliest levels and of the observed one; one rare level stands for all of them."""
    known, observed = level_column[:-1], int(value) if value < len(level_column) - 1 else -1
    here = int(known[observed]) if observed >= 0 else -1
    found: dict[str, float] = {}
    for place in np.argsort(-chance, kind="stable").tolist():
        level = observed if place == here else int(np.argmax(known == place))
        if len(found) < MOST_CHANCES or place == here:
            found[column.levels[level]] = float(chance[place])
    return found


def _ordered_suspects(case: Case, changed: dict[int, Changed]) -> list[int]:
    """By what a change takes off the score, and the contribution; where no change is known, by that alone."""

    def left(i: int) -> float:
        return (changed[i].score if i in changed else 0.0) - LEANING * float(case.contributions[i])

    return sorted(case.suspects.tolist(), key=left)


def _chances(case: Case) -> dict[str, float]:
    """The chance of each kind of error."""
    if case.odds is None:
        return {}
    return dict(zip(KINDS, (case.odds / (1 + case.odds.sum())).tolist(), strict=True))


def _left_out(case: Case, attributions: dict[int, Attribution] | None) -> dict[str, str]:
    """What could not be said, and why."""
    result = {}
    trees = [i for i in case.suspects if _is_amount(case, int(i))]
    if trees and attributions is not None:
        result["grounds"] = "on what grounds numbers are expected, because forests have no coefficients"
    if case.model is None:
        result["score_if_changed"] = "what a change would do, because the models that scored this row are not kept"
    if attributions is None:
        result["grounds"] = (
            "on what grounds, because the estimator has no coefficients that give its probabilities"
        )
        if case.model is None:
            result["grounds"] = "on what grounds, for the same reason"
    if case.neighbors is None:
        result["neighbors"] = "neighbours, because all rows have the same weights"
    return result
