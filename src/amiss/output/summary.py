"""The result in plain words, for the terminal and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from amiss.data.remark import Code, Remark, coded
from amiss.fitted import FittedDetector
from amiss.monitoring.batch import ScoredBatch
from amiss.remarks.identifiers import with_ids
from amiss.scoring.estimate import ErrorEstimate
from amiss.scoring.neighbor_agreement import rank_correlation_with_exact
from amiss.wording import count, first_few, in_sentence, percent

BY_SIMULATION = (
    "A row is flagged when it scores higher than simulated rows whose outputs follow the models. The level holds "
    "only if the models' probabilities are accurate."
)
MOST_TIES = 4  # named


def remarks(fitted: FittedDetector) -> list[str]:
    """What a reader of the scores should know beside them."""
    return [remark.text for remark in coded_remarks(fitted)]


def coded_remarks(fitted: FittedDetector, ids: Sequence[str] | None = None) -> list[Remark]:
    """The same with their codes; ``ids`` are what the rows are called."""
    found = [_beside_ids(remark, ids) for remark in fitted.remarks]
    if fitted.choice is not None:
        found += coded(Code.RULE, [f"Rule: {fitted.choice.why}."])
    if fitted.decision.level is not None:
        found += coded(Code.LEVEL, [BY_SIMULATION])
    local = fitted.scorer.local
    if local is not None and local.neighborhood.nearest.recall < 1:
        found += coded(Code.NEIGHBORS, [approximate_search(fitted, local.neighborhood.nearest.recall)])
    found += coded(Code.CONSTANT_OUTPUT, constant_outputs(fitted))
    found += coded(Code.TIES, tied_outputs(fitted))
    struggling = int((~fitted.quality.converged).sum())
    if struggling:
        said = f"The models of {count(struggling, 'output')} did not converge; amiss find --quality names them."
        found += coded(Code.NOT_CONVERGED, [said])
    return [*found, *coded(Code.REPEATED_IDS, repeated_ids(ids))]


def _beside_ids(remark: Remark, ids: Sequence[str] | None) -> Remark:
    """Where rows have ids, another column that identifies them is not to become the id."""
    if ids is None or remark.code != Code.IDENTIFIER:
        return remark
    return Remark(remark.code, with_ids(remark.text))


def repeated_ids(ids: Sequence[str] | None) -> list[str]:
    """That several rows have the same id, in a sentence."""
    several = [number for row_id, number in Counter(ids or ()).items() if number > 1 and row_id.strip()]
    if not several:
        return []
    stand = f"{count(len(several), 'id')} {'stands' if len(several) == 1 else 'stand'} in several rows"
    return [
        f"{stand}, {sum(several):,} rows in all. If rows of one id belong together (pictures of one patient), "
        "pass that column as --group too; if they are copies, remove them."
    ]


def approximate_search(fitted: FittedDetector, recall: float) -> str:
    """What an approximate search of neighbours has found, and what that changes."""
    found = f"Neighbours were searched approximately: {recall:.1%} of the nearest rows were found"
    if fitted.training is None:
        return f"{found}."
    agreement = rank_correlation_with_exact(fitted.models, fitted.scorer, fitted.training)
    return (
        f"{found}; in a sample, scores rank the rows as with an exact search (rank correlation {agreement:.4f})."
    )


def estimate_sentence(found: ErrorEstimate) -> str:
    """How many rows and cells are wrong, in words."""
    return f"Estimated to be wrong: {found.rows.sentence('row')}, {found.cells.sentence('cell')}."


def constant_outputs(fitted: FittedDetector) -> list[str]:
    """The outputs that have one value in every row, in a sentence."""
    constant = np.isin(fitted.models.expectations.rates, (0.0, 1.0))
    named = [in_sentence(name) for name, same in zip(fitted.columns.outputs, constant, strict=True) if same]
    return [f"The same in every row, so nothing is known of it: {first_few(named)}."] if named else []


def tied_outputs(fitted: FittedDetector) -> list[str]:
    """Which outputs follow from each other, in sentences."""
    lines = []
    for kind, names in fitted.models.ties.named(fitted.columns.outputs):
        said = first_few([in_sentence(name) for name in names])
        if kind == "class":
            lines.append(f"Nearly every row has exactly one of {said}: they are judged as one class.")
        elif kind == "implies":
            lines.append(f"{in_sentence(names[0])} is 1 only where {in_sentence(names[1])} is.")
        elif kind == "copies":
            lines.append(f"{said} are nearly always the same: an error made in both shows in the inputs only.")
        else:
            lines.append(f"{said} is 1 just where every other output is 0.")
    return (
        lines if len(lines) <= MOST_TIES else [*lines[:MOST_TIES], f"And {len(lines) - MOST_TIES} more such ties."]
    )


def overview(fitted: FittedDetector, ids: Sequence[str] | None = None) -> list[str]:
    """What was looked at, what was found, and how far to trust it, in sentences."""
    n_rows, n_outputs = fitted.training_rows.contributions.shape
    n_flagged = int(fitted.decision.flagged.sum())
    names = count(len(fitted.columns.inputs), "input"), count(n_outputs, "output")
    lines = [
        f"{count(n_rows, 'row')} with {names[0]} and {names[1]} were checked: does each output match the "
        "inputs and the other outputs?",
        f"{count(n_flagged, 'row')} ({percent(n_flagged / n_rows)}) {'is' if n_flagged == 1 else 'are'} flagged "
        f"as unusual, with a score above {fitted.decision.threshold:.4g}."
        if n_flagged
        else "No row is flagged.",
    ]
    if fitted.error_estimate is not None:
        lines.append(estimate_sentence(fitted.error_estimate))
    left_out = left_out_of_the_score(fitted)
    if left_out:
        lines.append(f"Left out of the score: {left_out}.")
    return [*lines, expected_precision(fitted), *(remark.text for remark in coded_remarks(fitted, ids))]


def batch_overview(batch: ScoredBatch, ids: Sequence[str] | None = None) -> list[str]:
    """The same of new rows that a model has scored."""
    names = count(len(batch.rows.output_names), "output")
    return [
        f"{count(len(batch), 'row')} with {names} were scored by a model: does each output match the "
        "inputs and the other outputs?",
        f"{batch.decision.in_words()} Flagged does not mean wrong.",
        *batch.remarks(),
        *repeated_ids(ids),
    ]


def left_out_of_the_score(fitted: FittedDetector) -> str:
    """The outputs that do not count, by name; empty if all count."""
    names = zip(fitted.columns.outputs, fitted.quality.excluded.tolist(), strict=True)
    return first_few([in_sentence(name) for name, excluded in names if excluded])


def expected_precision(fitted: FittedDetector) -> str:
    """How many of the flagged rows are likely to be wrong, where that was measured."""
    choice = fitted.choice
    if choice is None:
        return (
            "Flagged does not mean wrong. amiss evaluate measures what share of deliberate flips would be found."
        )
    near = int(np.argmin(np.abs(np.array(choice.rates) - fitted.decision.flagged.mean())))
    mean = float(choice.precision[choice.rules.index(choice.best.name), :, :, near].mean())
    return (
        f"Expected precision: when outputs of {count(choice.n_flipped, 'row')} of this table were changed on "
        f"purpose, {percent(mean)} of the most unusual {percent(choice.rates[near])} were such rows. "
        "(Rows that were wrong before count as misses there, so it tends to be too low.)"
    )
