"""What is said about a table and its fit; :class:`~amiss.data.remark.Code` lists the kinds of remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from amiss.arrays import Mask
from amiss.data.remark import Code, Remark, coded
from amiss.data.table import Table
from amiss.remarks.copies import CopySearch, are_no_chance
from amiss.remarks.identifiers import remarks_on_identifiers
from amiss.remarks.leaks import LeakSearch, rare_values, targets
from amiss.remarks.probes import Probe, probes, sampled_rows
from amiss.scoring.quality import OutputQuality
from amiss.scoring.rows import ScoredRows
from amiss.wording import count, first_few, in_sentence, percent

TIMES_FEWER = 4  # rows than inputs
NO_SKILL = 0.01  # or less: no better than always saying the base rate, but for chance
FEWEST = 10  # rows that differ from the commonest value of an output
FEWEST_FLAGGED, MOSTLY = 10, 0.8
MANY_COPIES = 0.005  # of the rows
MOST_NAMED = 3
PROBES = 64  # that are looked at together


@dataclass(frozen=True, eq=False)
class TableSeen:
    """A table, as the user ordered it.

    ``given`` are inputs that hold the user's predictions, ``copies`` the rows that are equal to another one;
    none if the user has said which rows belong together.
    """

    inputs: Table
    outputs: Table
    given: Sequence[int]
    copies: Mask

    @property
    def own(self) -> list[int]:
        """The inputs that are no predictions of the user's."""
        left_out = set(self.given)
        return [column for column in range(self.inputs.shape[1]) if column not in left_out]


def remarks_on_table(seen: TableSeen) -> tuple[Remark, ...]:
    """What of a table would mislead, before anything is fitted, each in one line."""
    return (
        *coded(Code.IDENTIFIER, remarks_on_identifiers(seen.inputs)),
        *_on_inputs(seen),
        *coded(Code.FEW_ROWS, _few_rows(seen)),
        *coded(Code.COPIED_ROWS, _copied_rows(seen)),
    )


def remarks_on_fit(
    outputs: Table, quality: OutputQuality, scored: ScoredRows, flagged: Mask
) -> tuple[Remark, ...]:
    """What of a fit would mislead."""
    return (
        *coded(Code.NO_SKILL, _without_skill(outputs, quality)),
        *coded(Code.ONE_OUTPUT, _one_output(outputs, scored, flagged)),
    )


def _on_inputs(seen: TableSeen) -> tuple[Remark, ...]:
    """Inputs that give an output away, and inputs that copy another."""
    inputs, names = seen.inputs, seen.inputs.names
    asked, own = targets(seen.outputs, len(seen.own)), np.array(seen.own, dtype=np.intp)
    rows = sampled_rows(len(inputs), len(own), rare_values(asked))
    leaks, copies = LeakSearch(asked, rows, inputs.shape[1]), CopySearch()
    several = probes(inputs, rows, own)
    while some := list[Probe](islice(several, PROBES)):
        leaks.look(some)
        copies.look(some)
    told = leaks.found(inputs, seen.outputs.shape[1])
    pairs = [
        f"{in_sentence(names[column])} tells {in_sentence(seen.outputs.names[i])}" for i, column in told.items()
    ]
    same = [f"{in_sentence(names[b])} copies {in_sentence(names[a])}" for a, b in copies.found(inputs)]
    return (*coded(Code.LEAK, _leaks(pairs)), *coded(Code.COPIED_INPUT, _copied_inputs(same)))


def _leaks(pairs: list[str]) -> Iterator[str]:
    if pairs:
        what = "One input alone gives an output away" if len(pairs) == 1 else "Single inputs give outputs away"
        yield (
            f"{what}: {first_few(pairs, MOST_NAMED)}. If it is filled in after the output or from it, drop it "
            "(--drop): errors of the output may be in it too."
        )


def _copied_inputs(pairs: list[str]) -> Iterator[str]:
    if pairs:
        what = "An input copies another one" if len(pairs) == 1 else "Inputs copy other ones"
        yield (
            f"{what}: {first_few(pairs, MOST_NAMED)}. Drop the copy (--drop), or it counts twice wherever rows "
            "are compared."
        )


def _few_rows(seen: TableSeen) -> Iterator[str]:
    n_rows, n_inputs = len(seen.inputs), len(seen.own)
    if TIMES_FEWER * n_rows <= n_inputs:
        yield (
            f"There are {count(n_inputs, 'input')} and only {count(n_rows, 'row')}, so what predicts an output "
            "can hardly be told from chance. Add rows, or drop inputs (--drop)."
        )


def _copied_rows(seen: TableSeen) -> Iterator[str]:
    n_copies = int(seen.copies.sum())
    if n_copies >= max(2, MANY_COPIES * len(seen.inputs)) and are_no_chance(seen.inputs, seen.copies):
        yield (
            f"{count(n_copies, 'row')} have the same inputs and outputs as another row. Copies vouch for each "
            "other's errors: remove them, or name the groups of rows (groups, --group)."
        )


def _without_skill(outputs: Table, quality: OutputQuality) -> Iterator[str]:
    with np.errstate(invalid="ignore"):
        poor = (quality.skill <= NO_SKILL) & ~quality.excluded & _often_enough(outputs)
    names = [in_sentence(name) for name, is_poor in zip(quality.name, poor.tolist(), strict=True) if is_poor]
    if names:
        one = len(names) == 1
        yield (
            f"{count(len(names), 'output')} cannot be predicted from this table, so {'its' if one else 'their'} "
            f"errors cannot be found: {first_few(names, MOST_NAMED)}. Try boosted trees (--model auto), add "
            f"inputs that say more, or leave {'it' if one else 'them'} out of the score (--exclude, --min-skill)."
        )


def _often_enough(outputs: Table) -> Mask:
    """Outputs that differ from their commonest value often enough to tell whether that can be predicted."""
    found = []
    for y in np.asarray(outputs.values).T:
        _, counts = np.unique(y[~np.isnan(y)], return_counts=True)
        found.append(counts.sum() - counts.max(initial=0) >= FEWEST)
    return np.array(found)


def _one_output(outputs: Table, scored: ScoredRows, are_flagged: Mask) -> Iterator[str]:
    flagged, n_outputs = np.flatnonzero(are_flagged), outputs.shape[1]
    if len(flagged) < FEWEST_FLAGGED or n_outputs < 3:
        return
    counts = np.bincount(scored.contributions[flagged].argmax(axis=1), minlength=n_outputs)
    first = int(counts.argmax())
    if counts[first] >= MOSTLY * len(flagged):
        name = in_sentence(outputs.names[first])
        yield (
            f"{percent(counts[first] / len(flagged))} of the flagged rows are flagged for {name}. Look at a few: "
            "if its definition is unclear or has changed, correct it, or leave it out of the score (--exclude)."
        )
