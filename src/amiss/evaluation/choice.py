"""Which rule for my data? Make errors in the table itself, and see which rule finds them.

The table may hold wrong rows already, and nobody knows which. Rows made wrong are put among them, the
models are fitted to that table, as they would be to one with errors, and each rule ranks
the rows. That is repeated for several numbers of flips per row, for other kinds of error
(:mod:`amiss.evaluation.kinds`), and for several seeds. Outputs of several kinds have errors of their own
(:mod:`amiss.evaluation.several_kinds`) instead of flips. A row that is found
and was not made wrong counts as a false alert, though it may be wrong too, so the precision that is
measured tends to be too low for a table in which that many rows are wrong in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask
from amiss.data.fingerprints import row_fingerprints
from amiss.data.output_kinds import BINARY, OutputColumn, all_binary
from amiss.data.table import output_columns
from amiss.decisions.thresholds import rounded_share
from amiss.encoding.identifiers import identifier_columns
from amiss.errors import DataError
from amiss.evaluation.inject import can_be_made, inject, refuse_impossible
from amiss.evaluation.metrics import atpar, tpar
from amiss.evaluation.one_fit import OneFit, Subject
from amiss.models.fitting import FittedModels
from amiss.scoring.neighborhood import Neighborhood
from amiss.scoring.registry import RULES
from amiss.scoring.rules import ScoringRule
from amiss.settings import Settings
from amiss.wording import count

DIMENSIONALITIES = (0.025, 0.05, 0.1, 0.2)
RATES = (0.005, 0.01, 0.02, 0.04)
RATIO = 0.01
N_SEEDS = 3
MOST_SEEDS = 10
ENOUGH_FLIPPED = 50  # rows in all trials together, before rules can be told apart
MOST_ROWS = 5000
FIRST_SEED = 7919  # apart from seeds that a person would try
KINDS = ("omission", "commission", "replacement", "swap", "blank")  # tried beside flips
OF_SEVERAL_KINDS = ("another-row", "shift", "tenfold", "digits", "other", "swap", "shift-all")  # without flips
USUAL, FORMERLY_USUAL = RULES["mixture"], RULES["flip"]

Ranker = Callable[[FittedModels, Neighborhood | None], Floats]
"""Another way to rank the rows of a fit: from its models and neighbourhood to scores in the user's order."""


@dataclass(frozen=True, eq=False)
class RuleChoice:
    """What was measured, and what it speaks for.

    Attributes
    ----------
    rules : names of the rules that were measured
    flips : how many outputs of a row were flipped in the first kinds of trial; by default none where outputs are
    of several kinds
    atpar : (n_rules, n_trials, n_seeds) mean precision up to an alert rate of 0.01; flips come first, then
    ``kinds``
    rates : alert rates
    precision : (n_rules, n_trials, n_seeds, n_rates) precision at each of them
    n_flipped : how many rows were flipped in a trial, or made wrong in another way
    n_rows : of how many rows
    kinds : the other kinds of error that were tried
    """

    rules: tuple[str, ...]
    flips: tuple[int, ...]
    atpar: Floats
    rates: tuple[float, ...]
    precision: Floats
    n_flipped: int
    n_rows: int
    kinds: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<RuleChoice: {self.why}>"

    @property
    def best(self) -> ScoringRule:
        """The rule with the highest mean, if it is above that of the default by more than chance explains."""
        names, trials = list(self._trials), np.array([*self._trials.values()])
        winner = int(np.argmax(trials.mean(axis=1)))
        gap = trials[winner] - self._trials[self.usual.name]
        return RULES[names[winner]] if gap.mean() > gap.std() / np.sqrt(max(1, gap.size - 1)) else self.usual

    @property
    def usual(self) -> ScoringRule:
        """The rule that is taken if none is clearly better: the default, or the default of that time."""
        return USUAL if USUAL.name in self.rules else FORMERLY_USUAL

    @property
    def trials(self) -> tuple[str, ...]:
        """What was tried: how many flips, then the other kinds of error."""
        return (*(count(each, "flip") for each in self.flips), *self.kinds)

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
        reason = "it found rows made wrong best" if self.leads else "no rule found rows made wrong clearly better"
        return f"{self.best.name}, because {reason} {self.evidence}"

    @property
    def leads(self) -> bool:
        """Whether the best rule has the highest mean; the default may be taken without it."""
        means = self._means
        return means[self.best.name] == max(means.values()) > min(means.values())

    @property
    def evidence(self) -> str:
        """How often was tried, and what came of it."""
        said = ", ".join(f"{name} {value:.2f}" for name, value in self._means.items())
        n_trials = self.atpar.shape[1] * self.atpar.shape[2]
        return f"in {count(n_trials, 'trial')} (mean precision {said})"

    @property
    def _means(self) -> dict[str, float]:
        return {name: float(trials.mean()) for name, trials in self._trials.items()}

    @property
    def _trials(self) -> dict[str, Floats]:
        """The mean precision in each trial, of every rule that can be chosen."""
        return {name: self.atpar[place].ravel() for place, name in enumerate(self.rules) if name in RULES}


def choose_rule(settings: Settings, subject: Subject) -> RuleChoice:
    """What ``rule="auto"`` goes by; of a small table more trials are made."""
    columns, n_rows = output_columns(subject.outputs), len(subject)
    n_kinds = len(_distinct_flips(usual_flips(columns), columns)) or len(usual_kinds(columns))
    a_seed = rounded_share(RATIO, min(n_rows, MOST_ROWS)) * n_kinds
    n_seeds = int(np.clip(-(-ENOUGH_FLIPPED // a_seed), N_SEEDS, MOST_SEEDS))
    return measure_subject(subject, settings, n_seeds=n_seeds)


def usual_flips(columns: Sequence[OutputColumn]) -> tuple[float, ...]:
    """The shares of outputs that are flipped if the user says nothing: none if some are not 0 or 1."""
    return DIMENSIONALITIES if all_binary(columns) else ()


def usual_kinds(columns: Sequence[OutputColumn]) -> tuple[str, ...]:
    """The other kinds of error that are tried if the user says nothing."""
    if all_binary(columns):
        return KINDS
    return tuple(kind for kind in OF_SEVERAL_KINDS if can_be_made(kind, columns))


def measure(
    X: Any,
    Y: Any,
    settings: Settings | None = None,
    *,
    dimensionalities: Sequence[float] | None = None,
    n_seeds: int = N_SEEDS,
    ratio: float = RATIO,
    most_rows: int = MOST_ROWS,
    others: Mapping[str, Ranker] | None = None,
    kinds: Sequence[str] | None = None,
    probabilities: Any = None,
    groups: Any = None,
) -> RuleChoice:
    """Measure every rule on errors made in the table's own outputs: flips, and other ``kinds``.

    ``settings`` are those of the detector (by default the default's). ``others`` are further ways to rank the
    rows of a fit. Of more than ``most_rows`` rows that many are drawn. Outputs that the settings exclude are not
    changed. ``probabilities`` and ``groups`` are as in :meth:`amiss.MCODE.fit`. By default flips of
    ``dimensionalities`` and ``kinds`` are what suits the outputs: if these are not all 0 or 1, nothing is merely
    flipped.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> measure(X, X[:, :2] > 0, n_seeds=1).best.name
    'mixture'
    """
    settings = settings or Settings.of()
    return measure_subject(
        Subject.of(X, Y, probabilities, groups, dict(settings.output_kinds)),
        settings,
        dimensionalities=dimensionalities,
        n_seeds=n_seeds,
        ratio=ratio,
        most_rows=most_rows,
        others=others,
        kinds=kinds,
    )


def measure_subject(
    subject: Subject,
    settings: Settings,
    *,
    dimensionalities: Sequence[float] | None = None,
    n_seeds: int = N_SEEDS,
    ratio: float = RATIO,
    most_rows: int = MOST_ROWS,
    others: Mapping[str, Ranker] | None = None,
    kinds: Sequence[str] | None = None,
) -> RuleChoice:
    """:func:`measure` of a table that was checked."""
    if n_seeds < 1 or most_rows < 1:
        raise ValueError("n_seeds and most_rows must be at least 1")
    others, inputs, outputs = others or {}, subject.inputs, subject.outputs
    # In the order of their content, so that the draws do not depend on the order of the rows.
    order = np.argsort(row_fingerprints(inputs.values, outputs.values, FIRST_SEED), kind="stable")
    names, columns = (*RULES, *others), output_columns(outputs)
    flips = _distinct_flips(usual_flips(columns) if dimensionalities is None else dimensionalities, columns)
    kinds = usual_kinds(columns) if kinds is None else kinds
    tried = _tried(flips, kinds, columns)
    precision = np.empty((len(names), len(tried), n_seeds, len(RATES)))
    averaged = np.empty(precision.shape[:3])
    n_rows = min(len(inputs), most_rows)
    settings = replace(settings, models=replace(settings.models, inputs_alone=True))
    n_flipped = rounded_share(ratio, n_rows)
    with progress.stages(settings.verbose)("trying rules on errors", len(tried) * n_seeds) as advance:
        for seed in range(n_seeds):
            rng = np.random.default_rng([FIRST_SEED, seed])
            some = order[np.sort(rng.choice(len(order), n_rows, replace=False))]
            trial = _Trial(settings, subject.take(some), others)
            for position, (kind, share) in enumerate(tried):
                found, wrong = trial.rankings(ratio, kind, share, rng)
                averaged[:, position, seed] = [atpar(ranked, wrong) for ranked in found]
                precision[:, position, seed] = [[tpar(ranked, wrong, rate) for rate in RATES] for ranked in found]
                if kind == "flip":
                    n_flipped = int(wrong.sum())
                advance()
    return RuleChoice(names, tuple(flips), averaged, RATES, precision, n_flipped, n_rows, tuple(kinds))


def _tried(
    flips: Mapping[int, float], kinds: Sequence[str], columns: Sequence[OutputColumn]
) -> list[tuple[str, float]]:
    """Each kind of error with a share of the outputs; refused if it cannot be made."""
    tried = [*(("flip", share) for share in flips.values()), *((kind, 1.0) for kind in kinds)]
    if not tried:
        raise DataError(
            "there is no error to try: name kinds of error (--errors), or shares of outputs to flip (--flips)"
        )
    for kind, _ in tried:
        refuse_impossible(kind, columns)
    return tried


class _Trial:
    """Some rows, of which some outputs are flipped."""

    def __init__(self, settings: Settings, subject: Subject, others: Mapping[str, Ranker]) -> None:
        gone = identifier_columns(subject.inputs)  # a text in most of the rows drawn, if not in most of the table
        kept = [column for column in range(subject.inputs.shape[1]) if column not in gone]
        seen = np.flatnonzero(~np.isnan(np.asarray(subject.outputs.values)).all(axis=0))
        self.subject = subject.select(kept, seen.tolist())
        self.settings, self.others = settings, others
        self.flippable = np.ones(len(seen), dtype=bool)
        if settings.scoring.exclude is not None:
            first = OneFit(settings, self.subject).scored(rule=RULES["prod"])
            self.flippable = ~first.quality.excluded

    def rankings(
        self, ratio: float, kind: str, share: float, rng: np.random.Generator
    ) -> tuple[list[Floats], Mask]:
        """Scores of the rows by each rule of the package and by the others, from one fit; who was made wrong."""
        values, flipped = np.array(self.subject.outputs.values), np.zeros(len(self.subject), dtype=bool)
        changeable = self.subject.outputs.select(np.flatnonzero(self.flippable).tolist())
        if kind != "flip":
            share = 1 / max(1, len(changeable.names))  # one output of a row, by kinds that can choose
        if can_be_made(kind, output_columns(changeable)):
            made, flipped = inject(changeable, ratio, share, rng, kind=kind)
            values[:, self.flippable] = made.values
        fit = OneFit(self.settings, self.subject.with_outputs(values))
        found = [fit.scored(rule=rule).rows.scores for rule in RULES.values()]
        rankers = self.others.values()
        return [*found, *(ranker(fit.result.models, fit.neighborhood) for ranker in rankers)], flipped


def _distinct_flips(dimensionalities: Sequence[float], columns: Sequence[OutputColumn]) -> dict[int, float]:
    """Numbers of flips per row, each with a share of the outputs of 0 and 1 that gives it.

    >>> _distinct_flips((0.025, 0.05, 0.1, 0.2), [OutputColumn(f"y{i}") for i in range(14)])
    {1: 0.1, 3: 0.2}
    """
    n_outputs = sum(column.kind is BINARY for column in columns)
    return {rounded_share(share, n_outputs): share for share in sorted(dimensionalities)}
