"""The result in plain words, for the terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amiss.settings import judged_by_draws
from amiss.wording import count, percent

if TYPE_CHECKING:
    from amiss.detector import MCODE


BY_DRAWS = (
    "Flagged are rows that score higher than rows do whose outputs are drawn from the models' probabilities; "
    "the share of false ones is kept as far as those probabilities are right."
)


def remarks(detector: MCODE) -> list[str]:
    """What a reader of the scores should know beside them."""
    lines = []
    if detector.choice_ is not None:
        lines.append(f"Score: {detector.choice_.why}.")
    if judged_by_draws(detector):
        lines.append(BY_DRAWS)
    recall = getattr(detector, "neighbor_recall_", 1.0)
    if recall < 1:
        lines.append(f"Neighbours were searched approximately, and {recall:.1%} of them found.")
    struggling = int((~detector.output_quality_.converged).sum())
    if struggling:
        lines.append(
            f"The models of {count(struggling, 'output')} did not converge; amiss find --quality names them."
        )
    return lines


def overview(detector: MCODE) -> list[str]:
    """What was looked at, what was found, and how far to trust it, in sentences."""
    n_rows, n_outputs = detector.contributions_.shape
    n_flagged = int(detector.labels_.sum())
    names = count(len(detector.input_names_), "input"), count(n_outputs, "output")
    told = [
        f"{count(n_rows, 'row')} with {names[0]} and {names[1]} were compared: does each output go with the "
        "inputs, and with the other outputs?",
        f"{count(n_flagged, 'row')} ({percent(n_flagged / n_rows)}) {'is' if n_flagged == 1 else 'are'} flagged "
        f"as unusual, with a score above {detector.threshold_:.4g}.",
    ]
    left_out = int(detector.output_quality_.excluded.sum())
    if left_out:
        told.append(f"{count(left_out, 'output')} {'was' if left_out == 1 else 'were'} left out of the score.")
    return [*told, expected_precision(detector), *remarks(detector)]


def expected_precision(detector: MCODE) -> str:
    """How many of the flagged rows are likely to be wrong, where that was measured."""
    choice = detector.choice_
    if choice is None:
        return "Flagged does not mean wrong. How many are wrong was not measured; amiss evaluate estimates it."
    near = int(np.argmin(np.abs(np.array(choice.rates) - detector.labels_.mean())))
    mean = float(choice.precision[choice.scores.index(choice.best), :, :, near].mean())
    return (
        f"Expected precision: when outputs of {count(choice.n_flipped, 'row')} of this table were changed on "
        f"purpose, {percent(mean)} of the most unusual {percent(choice.rates[near])} were such rows. "
        "(Rows that were wrong before count as misses there, so it tends to be too low.)"
    )
