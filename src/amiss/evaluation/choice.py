"""Which score for my data? Flip outputs of the table itself, and see which score finds them.

The table may hold wrong rows already, and nobody knows which. Flipped rows are put among them, the
models are fitted to the flipped table, as they would be to one with errors, and each score ranks
the rows. That is repeated for several numbers of flips a row and several seeds. A row that is found
and was not flipped counts as a false alert, though it may be wrong too, so the precision that is
measured tends to be too low for a table in which that many rows are wrong in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from amiss import progress
from amiss.arrays import Floats, Mask
from amiss.data.alignment import refuse_unequal_lengths
from amiss.data.fingerprints import contents
from amiss.data.table import Table
from amiss.data.validation import as_inputs, as_outputs
from amiss.decisions.thresholds import rounded_share
from amiss.encoding.identifiers import identifier_columns
from amiss.evaluation.inject import inject
from amiss.evaluation.metrics import atpar, tpar
from amiss.scoring.rules import SCORES, Score
from amiss.settings import undecided

if TYPE_CHECKING:
    from amiss.detector import MCODE

DIMENSIONALITIES = (0.025, 0.05, 0.1, 0.2)
RATES = (0.005, 0.01, 0.02, 0.04)
RATIO = 0.01
N_SEEDS = 3
MOST_SEEDS = 10
ENOUGH_FLIPPED = 50  # rows in all trials together, before scores are told apart
MOST_ROWS = 5000
FIRST_SEED = 7919  # apart from seeds that a person would try
USUAL: Score = "flip"

Ranker = Callable[["MCODE"], Floats]


@dataclass(frozen=True)
class Choice:
    """What was measured, and what it speaks for.

    Attributes
    ----------
    scores : names of the scores that were measured
    flips : how many outputs of a row were flipped in each kind of trial
    atpar : (n_scores, n_flips, n_seeds) mean precision up to an alert rate of 0.01
    rates : alert rates
    precision : (n_scores, n_flips, n_seeds, n_rates) precision at each of them
    n_flipped : how many rows were flipped in a trial
    n_rows : of how many rows
    """

    scores: tuple[str, ...]
    flips: tuple[int, ...]
    atpar: Floats
    rates: tuple[float, ...]
    precision: Floats
    n_flipped: int
    n_rows: int

    @property
    def best(self) -> Score:
        """The score with the highest mean, if it is above that of "flip" by more than chance explains."""
        trials = self.atpar[: len(SCORES)].reshape(len(SCORES), -1)
        winner = int(np.argmax(trials.mean(axis=1)))
        gap = trials[winner] - trials[SCORES.index(USUAL)]
        return SCORES[winner] if gap.mean() > gap.std() / np.sqrt(max(1, gap.size - 1)) else USUAL

    @property
    def ceiling(self) -> list[float]:
        """The precision of a detector that ranks every flipped row first, at each of ``rates``."""
        return [min(1.0, self.n_flipped / rounded_share(rate, self.n_rows)) for rate in self.rates]

    @property
    def found(self) -> Floats:
        """Share of the flipped rows found at each of ``rates``, in the shape of ``precision``."""
        alerts = np.array([rounded_share(rate, self.n_rows) for rate in self.rates])
        return self.precision * alerts / self.n_flipped

    @property
    def why(self) -> str:
        """The choice in a sentence."""
        means = ", ".join(f"{name} {value:.2f}" for name, value in zip(SCORES, self._means, strict=False))
        n_trials = self.atpar.shape[1] * self.atpar.shape[2]
        leads = int(np.argmax(self._means)) == SCORES.index(self.best) and np.ptp(self._means) > 0
        reason = "it found flipped rows best" if leads else "no score found flipped rows clearly better"
        return f"{self.best}, because {reason} in {n_trials} trial{'s' * (n_trials > 1)} (mean precision {means})"

    @property
    def _means(self) -> Floats:
        return np.asarray(self.atpar[: len(SCORES)].mean(axis=(1, 2)))


def choose_score(detector: MCODE, X: Any, Y: Any) -> Choice:
    """What ``score="auto"`` goes by; of a small table more trials are made."""
    outputs = as_outputs(Y)
    n_rows, n_outputs = outputs.shape
    a_seed = rounded_share(RATIO, min(n_rows, MOST_ROWS)) * len(_distinct_flips(DIMENSIONALITIES, n_outputs))
    return measure(detector, X, Y, n_seeds=int(np.clip(-(-ENOUGH_FLIPPED // a_seed), N_SEEDS, MOST_SEEDS)))


def measure(
    detector: MCODE,
    X: Any,
    Y: Any,
    *,
    dimensionalities: Sequence[float] = DIMENSIONALITIES,
    n_seeds: int = N_SEEDS,
    ratio: float = RATIO,
    most_rows: int = MOST_ROWS,
    others: dict[str, Ranker] | None = None,
) -> Choice:
    """Measure every score on flips of the table's own outputs.

    ``others`` are further ways to rank the rows of a fitted detector. Of more than ``most_rows`` rows
    that many are drawn. Outputs the detector excludes are not flipped.
    """
    if n_seeds < 1 or most_rows < 1:
        raise ValueError("n_seeds and most_rows must be at least 1")
    inputs, outputs = as_inputs(X), as_outputs(Y)
    refuse_unequal_lengths(inputs, outputs)
    # In the order of their content, so that the draws do not depend on the order of the rows.
    order = np.argsort(contents(inputs.values, outputs.values, FIRST_SEED), kind="stable")
    names = (*SCORES, *(others or {}))
    flips = _distinct_flips(dimensionalities, outputs.shape[1])
    precision = np.empty((len(names), len(flips), n_seeds, len(RATES)))
    averaged = np.empty(precision.shape[:3])
    n_rows = min(len(inputs), most_rows)
    with progress.stages(detector.verbose)("trying scores on flips", len(flips) * n_seeds) as advance:
        for seed in range(n_seeds):
            rng = np.random.default_rng([FIRST_SEED, seed])
            some = order[np.sort(rng.choice(len(order), n_rows, replace=False))]
            trial = _Trial(detector, inputs.take(some), outputs.take(some), others or {})
            for position, share in enumerate(flips.values()):
                found, flipped = trial.rankings(ratio, share, rng)
                averaged[:, position, seed] = [atpar(ranked, flipped) for ranked in found]
                precision[:, position, seed] = [
                    [tpar(ranked, flipped, rate) for rate in RATES] for ranked in found
                ]
                advance()
    return Choice(names, tuple(flips), averaged, RATES, precision, int(flipped.sum()), n_rows)


class _Trial:
    """Some rows, of which some outputs are flipped."""

    def __init__(self, detector: MCODE, inputs: Table, outputs: Table, others: dict[str, Ranker]) -> None:
        gone = identifier_columns(inputs)  # a text in most of the rows drawn, if not in most of the table
        self.inputs = inputs.select([column for column in range(inputs.shape[1]) if column not in gone])
        seen = np.flatnonzero(~np.isnan(np.asarray(outputs.values)).all(axis=0))
        self.outputs = outputs.select(seen.tolist())
        self.detector = clone(detector).set_params(score=USUAL, verbose=False, **undecided(detector))
        self.others = others
        self.flippable = np.ones(len(seen), dtype=bool)
        if detector.exclude is not None:
            first = clone(self.detector).set_params(score="prod").fit(self.inputs, self.outputs)
            self.flippable = ~first.output_quality_.excluded

    def rankings(self, ratio: float, share: float, rng: np.random.Generator) -> tuple[list[Floats], Mask]:
        """Scores of the rows by each score of the package and by the others, from one fit; who was flipped."""
        values = np.array(self.outputs.values)
        values[:, self.flippable], flipped = inject(values[:, self.flippable], ratio, share, rng)
        trial = self.detector
        evidence = trial.gather(self.inputs, replace(self.outputs, values=values))
        found = [trial.set_params(score=score).score_rows(evidence).decision_scores_ for score in SCORES]
        trial.set_params(score=USUAL).score_rows(evidence)
        return [*found, *(ranker(trial) for ranker in self.others.values())], flipped


def _distinct_flips(dimensionalities: Sequence[float], n_outputs: int) -> dict[int, float]:
    """Numbers of flips a row, each with a share of the outputs that gives it.

    >>> _distinct_flips((0.025, 0.05, 0.1, 0.2), 14)
    {1: 0.1, 3: 0.2}
    """
    return {rounded_share(share, n_outputs): share for share in sorted(dimensionalities)}
