"""Which score for my data? Flip outputs of the table itself, and see which score finds them.

The table may hold wrong rows already, and nobody knows which. Flipped rows are put among them, the
models are fitted to the flipped table, as they would be to one with errors, and each score ranks
the rows. That is repeated for several numbers of flips a row and several seeds. A row that is found
and was not flipped counts as a false alert, though it may be wrong too: the precision that is
measured is a lower bound for a table in which a share ``ratio`` of the rows is wrong in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from amiss import progress
from amiss.dataset import as_inputs, as_outputs
from amiss.decide import rounded_share
from amiss.evaluate.inject import inject
from amiss.evaluate.metrics import atpar, tpar
from amiss.scores import SCORES, Score
from amiss.table import Floats, Mask, Table

if TYPE_CHECKING:
    from amiss.detector import MCODE

DIMENSIONALITIES = (0.025, 0.05, 0.1, 0.2)
RATES = (0.005, 0.01, 0.02, 0.04)
N_SEEDS = 3
MOST_ROWS = 5000
FIRST_SEED = 7919  # apart from seeds that a person would try

Ranker = Callable[["MCODE"], Floats]


@dataclass(frozen=True)
class Choice:
    """What was measured, and what it speaks for.

    ``atpar`` is ``(n_scores, n_dimensionalities, n_seeds)``; ``precision`` has the alert rates
    ``rates`` as a last axis.

    Attributes
    ----------
    best : the score of the package with the highest mean of ``atpar``
    scores : names of the scores that were measured
    flips : how many outputs of a row were flipped in each round
    ratio : the share of the rows that were flipped
    n_rows : of how many rows, if not all were used
    """

    best: Score
    scores: tuple[str, ...]
    flips: tuple[int, ...]
    atpar: Floats
    rates: tuple[float, ...]
    precision: Floats
    ratio: float
    n_rows: int

    @property
    def why(self) -> str:
        """The choice in a sentence."""
        means = dict(zip(self.scores, self.atpar.mean(axis=(1, 2)), strict=True))
        ours = ", ".join(f"{name} {means[name]:.2f}" for name in self.scores if name in SCORES)
        rounds = self.atpar.shape[1] * self.atpar.shape[2]
        return f"{self.best}, because it found flipped rows best in {rounds} trials (mean precision {ours})"


def choose_score(detector: MCODE, X: Any, Y: Any) -> Choice:
    """What ``score="auto"`` goes by: each score's mean ATPAR on the table with flips."""
    return measure(detector, X, Y)


def measure(
    detector: MCODE,
    X: Any,
    Y: Any,
    *,
    dimensionalities: Sequence[float] = DIMENSIONALITIES,
    n_seeds: int = N_SEEDS,
    ratio: float = 0.01,
    most_rows: int = MOST_ROWS,
    others: dict[str, Ranker] | None = None,
) -> Choice:
    """Measure every score on flips of the table's own outputs.

    ``others`` are further ways to rank the rows of a fitted detector. Of more than ``most_rows`` rows
    that many are drawn.
    """
    inputs, outputs = as_inputs(X), as_outputs(Y)
    names = (*SCORES, *(others or {}))
    flips = _distinct_flips(dimensionalities, outputs.shape[1])
    precision = np.empty((len(names), len(flips), n_seeds, len(RATES)))
    averaged = np.empty(precision.shape[:3])
    n_rows = min(len(inputs), most_rows)
    with progress.stages(detector.verbose)("trying scores on flips", len(flips) * n_seeds) as advance:
        for seed in range(n_seeds):
            rng = np.random.default_rng([FIRST_SEED, seed])
            some = np.sort(rng.choice(len(inputs), n_rows, replace=False))
            for position, share in enumerate(flips.values()):
                table, flipped = _flipped(outputs.take(some), ratio, share, rng)
                found = _rankings(detector, inputs.take(some), table, others or {})
                averaged[:, position, seed] = [atpar(ranked, flipped) for ranked in found]
                precision[:, position, seed] = [
                    [tpar(ranked, flipped, rate) for rate in RATES] for ranked in found
                ]
                advance()
    return Choice(
        best=SCORES[int(np.argmax(averaged[: len(SCORES)].mean(axis=(1, 2))))],
        scores=names,
        flips=tuple(flips),
        atpar=averaged,
        rates=RATES,
        precision=precision,
        ratio=ratio,
        n_rows=n_rows,
    )


def _rankings(detector: MCODE, X: Table, Y: Table, others: dict[str, Ranker]) -> list[Floats]:
    """The rows' scores by each score of the package, and by the others; one fit serves all."""
    trial = clone(detector).set_params(score="flip", verbose=False)
    evidence = trial.gather(X, Y)
    found = [trial.set_params(score=score).score_rows(evidence).decision_scores_ for score in SCORES]
    if others:
        trial.set_params(score="flip").score_rows(evidence)
    return [*found, *(ranker(trial) for ranker in others.values())]


def _distinct_flips(dimensionalities: Sequence[float], n_outputs: int) -> dict[int, float]:
    """Numbers of flips a row, each with a share of the outputs that gives it.

    >>> _distinct_flips((0.025, 0.05, 0.1, 0.2), 14)
    {1: 0.1, 3: 0.2}
    """
    return {rounded_share(share, n_outputs): share for share in sorted(dimensionalities)}


def _flipped(outputs: Table, ratio: float, dimensionality: float, rng: np.random.Generator) -> tuple[Table, Mask]:
    """The outputs with flips; a missing one stays missing."""
    values, flipped = inject(np.asarray(outputs.values), ratio, dimensionality, rng)
    return replace(outputs, values=values), flipped
