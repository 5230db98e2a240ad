"""Why a row has its score: exact shares, what was expected, on what grounds, and what a change would do.

A score is a sum over outputs, so each output's share is exact. The probability behind a share comes
from log-odds that are a sum too, of what each column adds against the average training row:

    log-odds_i(n) = average_i + Σ_c coef[c, i] (z[n, c] - mean_c),   z = [inputs, other outputs]

The models are those by which the row was scored: for a training row the same mixture of the models
that saw it and of those that did not. If an output were changed, the probabilities of the outputs that
see it change too, and so may the row's neighbours; ``score_if_changed`` is computed anew from all that.

One false output makes its correct companions look improbable too. So the outputs with a telling share are
ordered by what their change takes off the score, and, as of two outputs that mostly agree either may be
changed, by a ``LEANING`` part of their share as well (chosen on digits, yeast, birds and enron:
docs/explanations.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, Rows
from amiss.explanations.explanation import ExplainedOutput, Explanation, Grounds
from amiss.models.conditional import ConditionalModel, LinearModel, linear_twin
from amiss.models.projection import rho
from amiss.scoring.neighbors import Neighbors
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer, TrainingRows

SMALL_PART = 0.05  # of the score: outputs below it are not looked into
MOST_SUSPECTS = 10
LEANING = 1 / 3
TOGETHER = 64  # rows explained at once


@dataclass(frozen=True)
class _Case:
    """A row to be explained, with what scored it; ``position`` is its place among the training rows."""

    number: int | None
    position: int | None
    design: Matrix
    Y: Floats
    filled: Floats
    probability: Floats  # of the observed values
    shares: Floats
    weights: Floats
    neighbors: Rows | None
    model: ConditionalModel | None

    @property
    def suspects(self) -> Rows:
        """Outputs with a telling share, largest first."""
        largest = np.argsort(-self.shares, kind="stable")[:MOST_SUSPECTS]
        total = self.shares.sum()
        return largest[(self.shares[largest] > 0) & (self.shares[largest] >= SMALL_PART * total)]


@dataclass(frozen=True)
class _Changed:
    """A case with one output changed: its score, and the probability of each value that then stands there."""

    score: float
    probability: Floats


def _ordered_suspects(case: _Case, if_changed: dict[int, _Changed]) -> list[int]:
    """By what a change takes off the score, and the share; where no change is known, the shares alone decide."""

    def left(i: int) -> float:
        return (if_changed[i].score if i in if_changed else 0.0) - LEANING * float(case.shares[i])

    return sorted(case.suspects.tolist(), key=left)


@dataclass(frozen=True)
class Trained:
    """The training rows, and what they scored: the arrays are in the user's order."""

    rows: TrainingRows
    contributions: Floats
    probability: Floats
    weights: Floats


@dataclass(frozen=True)
class Explainer:
    """Explains rows by what a fit has left behind.

    ``source[c]`` is the input that column c of the design comes from, ``average`` the average training row
    and ``training_scores`` what they scored, by which a row is ranked. Without the training rows
    (``trained``) only new rows can be explained, and there are no neighbours.
    """

    scorer: Scorer
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    source: Rows
    average: Floats
    training_scores: Floats
    threshold: float
    trained: Trained | None

    @property
    def _known(self) -> Trained:
        assert self.trained is not None
        return self.trained

    def of_training(self, numbers: Sequence[int]) -> Iterator[Explanation]:
        """Explanations of training rows, by the user's numbers."""
        for cases in self._batches(numbers):
            for case, changed in zip(cases, self._if_changed(cases), strict=True):
                yield self._explanation(case, changed)

    def suspects_of_training(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """The outputs with a telling share of each training row, in the order of its explanation."""
        for cases in self._batches(numbers):
            for case, changed in zip(cases, self._if_changed(cases), strict=True):
                yield _ordered_suspects(case, changed)

    def _batches(self, numbers: Sequence[int]) -> Iterator[list[_Case]]:
        for start in range(0, len(numbers), TOGETHER):
            yield [self._trained(number) for number in numbers[start : start + TOGETHER]]

    def of_new(self, design: Matrix, Y: Floats) -> Iterator[Explanation]:
        """Explanations of new rows."""
        for cases in self._new_batches(design, Y):
            for case, changed in zip(cases, self._if_changed(cases), strict=True):
                yield self._explanation(case, changed)

    def suspects_of_new(self, design: Matrix, Y: Floats) -> Iterator[list[int]]:
        """The outputs with a telling share of each new row, in the order of its explanation."""
        for cases in self._new_batches(design, Y):
            for case, changed in zip(cases, self._if_changed(cases), strict=True):
                yield _ordered_suspects(case, changed)

    def _new_batches(self, design: Matrix, Y: Floats) -> Iterator[list[_Case]]:
        for start in range(0, len(Y), TOGETHER):
            rows = slice(start, start + TOGETHER)
            yield self._new(design[rows], Y[rows])

    def _new(self, design: Matrix, Y: Floats) -> list[_Case]:
        scorer = self.scorer
        filled = scorer.expectations.filled(design, Y)
        log_odds = scorer.model.log_odds(design, filled)
        near = scorer.neighbors(design, filled)
        weights = scorer.weights(near)
        probability, shares = rho(log_odds, Y), scorer.parts(log_odds, Y, weights)
        return [
            _Case(
                number=None,
                position=None,
                design=design[[row]],
                Y=Y[row],
                filled=filled[row],
                probability=probability[row],
                shares=shares[row],
                weights=weights if weights.ndim == 1 else weights[row],
                neighbors=None if near is None else near[row],
                model=scorer.model,
            )
            for row in range(len(Y))
        ]

    def _trained(self, number: int) -> _Case:
        trained = self._known
        rows, weights = trained.rows, trained.weights
        position = int(rows.place[number])
        design, Y = rows.design[[position]], rows.Y[[position]]
        reference = self.scorer.reference
        return _Case(
            number=number,
            position=position,
            design=design,
            Y=Y[0],
            filled=self.scorer.expectations.filled(design, Y)[0],
            probability=trained.probability[number],
            shares=trained.contributions[number],
            weights=weights if weights.ndim == 1 else weights[number],
            neighbors=None if reference is None else reference.neighbors[position],
            model=rows.model_of(position, self.scorer.model),
        )

    def _if_changed(self, cases: list[_Case]) -> list[dict[int, _Changed]]:
        """For each case, what it would be with one suspect changed, for each suspect."""
        pairs = [(place, i) for place, case in enumerate(cases) if case.model is not None for i in case.suspects]
        results: list[dict[int, _Changed]] = [{} for _ in cases]
        if not pairs:
            return results
        of_case, changed = (np.array(column, dtype=np.intp) for column in zip(*pairs, strict=True))
        Y, filled = (np.stack([getattr(cases[place], name) for place in of_case]) for name in ("Y", "filled"))
        each = np.arange(len(changed))
        Y[each, changed] = filled[each, changed] = 1 - Y[each, changed]
        log_odds = np.vstack([
            case.model.log_odds(case.design[np.zeros(np.count_nonzero(mine), dtype=np.intp)], filled[mine])
            for case, mine in ((case, of_case == place) for place, case in enumerate(cases))
            if case.model is not None and mine.any()
        ])  # fmt: skip
        weights = self.scorer.weights(self._neighbors_if_changed(cases, of_case, filled))
        after = scores(self.scorer.parts(log_odds, Y, weights))
        for place, i, score, values, odds in zip(of_case, changed, after, Y, log_odds, strict=True):
            results[place][int(i)] = _Changed(float(score), rho(odds, values))
        return results

    def _neighbors_if_changed(self, cases: list[_Case], of_case: Rows, filled: Floats) -> Neighbors | None:
        if self.scorer.reference is None:
            return None
        if self.scorer.neighbor_space == "inputs":  # which were not changed
            return np.stack([cases[place].neighbors for place in of_case])
        positions = [cases[place].position for place in of_case]
        design = self._stacked([cases[place] for place in of_case])
        own = None if None in positions else np.array(positions, dtype=np.intp)
        return self.scorer.neighbors(design, filled, own)

    def _stacked(self, cases: list[_Case]) -> Matrix:
        if cases[0].position is None:
            designs = [case.design for case in cases]
            return sparse.vstack(designs, format="csr") if sparse.issparse(designs[0]) else np.vstack(designs)
        return self._known.rows.design[[case.position for case in cases]]

    def _explanation(self, case: _Case, if_changed: dict[int, _Changed]) -> Explanation:
        score = float(scores(case.shares[None])[0])
        counted = np.flatnonzero(~np.isnan(case.Y) & self.scorer.included)
        suspects = _ordered_suspects(case, if_changed)
        healed = if_changed[suspects[0]].probability if suspects and suspects[0] in if_changed else None
        chosen = set(suspects)
        rest = set(counted.tolist()) - chosen
        others = [int(i) for i in np.argsort(-case.shares, kind="stable") if int(i) in rest]
        linear = None if case.model is None else linear_twin(case.model, case.design, case.filled[None])
        alike, known = self._alike(case)
        outputs = []
        for i in [*suspects, *others]:
            value, probability = int(case.Y[i]), float(case.probability[i])
            outputs.append(
                ExplainedOutput(
                    output=self.output_names[i],
                    observed=value,
                    probability=probability,
                    expected=probability if value else 1 - probability,
                    direction=None if probability >= 0.5 else ("commission" if value else "omission"),
                    fitting=value if probability >= 0.5 else 1 - value,
                    share=float(case.shares[i]),
                    part=float(case.shares[i] / score) if score > 0 else 0.0,
                    weight=float(case.weights[i]),
                    score_if_changed=if_changed[i].score if i in if_changed else None,
                    probability_if_first_changed=(
                        None if healed is None or i == suspects[0] else float(healed[i])
                    ),
                    neighbors_alike=None if alike is None else int(alike[i]),
                    neighbors_known=None if known is None else int(known[i]),
                    grounds=self._grounds(case, linear, i) if linear is not None and i in chosen else None,
                )
            )
        return Explanation(
            label="This row" if case.number is None else f"Row {case.number}",
            row=case.number,
            score=score,
            score_name=self.scorer.score,
            threshold=self.threshold,
            flagged=score > self.threshold,
            rank=self._rank(case, score),
            n_rows=len(self.training_scores),
            outputs=tuple(outputs),
            n_suspects=len(suspects),
            neighbor_space=self.scorer.neighbor_space,
            neighbors=None if case.neighbors is None else tuple(self._known.rows.order[case.neighbors].tolist()),
            left_out=self._left_out(case, linear),
            observed={self.output_names[i]: int(case.Y[i]) for i in np.flatnonzero(~np.isnan(case.Y))},
        )

    def _rank(self, case: _Case, score: float) -> int:
        """Its place in the ranked list, where ties stay in row order."""
        ranked = self.training_scores
        earlier = 0 if case.number is None else int((ranked[: case.number] == score).sum())
        return int((ranked > score).sum()) + earlier + 1

    def _alike(self, case: _Case) -> tuple[Rows, Rows] | tuple[None, None]:
        """How many neighbours have each output's value, and how many show it."""
        if case.neighbors is None:
            return None, None
        near = self._known.rows.Y[case.neighbors]
        return (near == case.Y).sum(axis=0), (~np.isnan(near)).sum(axis=0)

    def _grounds(self, case: _Case, model: LinearModel, i: int) -> Grounds:
        coef, n_columns = model.coef[:, i], case.design.shape[1]
        mean = self.average
        row = case.design.toarray()[0] if hasattr(case.design, "toarray") else case.design[0]
        of_columns = coef[:n_columns] * (row - mean[:n_columns])
        return Grounds(
            log_odds=float(model.log_odds(case.design, case.filled[None])[0, i]),
            average=float(model.intercept[i] + coef @ mean),
            inputs=np.bincount(self.source, of_columns, len(self.input_names)).astype(np.float64),
            outputs=coef[n_columns:] * (case.filled - mean[n_columns:]),
            input_names=self.input_names,
            output_names=self.output_names,
        )

    def _left_out(self, case: _Case, linear: LinearModel | None) -> dict[str, str]:
        result = {}
        if case.model is None:
            result["score_if_changed"] = (
                "what a change would do, because the base_estimator's models that did not see this row "
                "are not kept (crossfit=False scores rows without them)"
            )
        if linear is None:
            result["grounds"] = (
                "on what grounds, because the base_estimator's models have no coefficients that give their "
                "probabilities"
            )
            if case.model is None:
                result["grounds"] = "on what grounds, for the same reason"
        if case.neighbors is None:
            result["neighbors"] = "neighbours, because all rows have the same weights"
        return result
