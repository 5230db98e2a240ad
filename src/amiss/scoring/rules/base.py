"""What a scoring rule is: weights for the outputs, and a term for each output that adds up to the score.

Higher is more unusual, everywhere in this package.

For a row with missing outputs the sum over the observed ones is multiplied by (outputs) / (observed
outputs), so that rows compare; for a complete row it is the sum, exactly.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from amiss.arrays import Floats, Mask, Neighbors
from amiss.scoring.weightings import Weighting


class ScoringRule(Protocol):
    """How a row's score is made of the probabilities of its outputs.

    ``local`` says whether its weights come from each row's neighbourhood, unless the user wants none,
    ``inputs_alone`` whether it weighs hypotheses (:mod:`amiss.scoring.hypotheses`) and so needs models of the
    inputs alone.
    ``weight_meaning`` says in a report what its weights are.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def weight_meaning(self) -> str: ...

    @property
    def local(self) -> bool: ...

    @property
    def inputs_alone(self) -> bool: ...

    def global_weights(self, errors: Floats, observed: Mask, weighting: Weighting) -> Floats:
        """One weight per output, from all rows of the fit, ``(n_outputs,)``."""

    def local_weights(
        self,
        errors: Floats,
        observed: Mask,
        means: Floats,
        near: Neighbors,
        weighting: Weighting,
        n_jobs: int | None = None,
    ) -> Floats:
        """One weight per row and output, from the ``near`` rows of the fit, ``(n_rows, n_outputs)``.

        ``means`` are the mean errors over all rows of the fit, ``(n_outputs,)``.
        """

    def terms(self, log_rho: Floats, weights: Floats) -> Floats:
        """What each output adds to the score of a complete row, ``(n_rows, n_outputs)``."""


def contributions(rule: ScoringRule, log_rho: Floats, weights: Floats, observed: Mask, included: Mask) -> Floats:
    """What each output adds to the score of each row, ``(n_rows, n_outputs)``; rows sum to it.

    ``weights`` is ``(n_outputs,)`` or ``(n_rows, n_outputs)``; outputs not ``included`` add
    nothing. A row in which no output is observed has a score of zero.

    >>> from amiss.scoring.registry import RULES
    >>> observed, included = np.array([[True, False]]), np.ones(2, bool)
    >>> contributions(RULES["prod"], np.log([[0.5, 0.1]]), np.ones(2), observed, included)
    array([[1.38629436, 0.        ]])
    """
    counted = observed & included
    present = counted.sum(axis=1, keepdims=True)
    scale = included.sum() / np.maximum(present, 1)
    return np.where(counted, rule.terms(log_rho, weights), 0.0) * scale


def scores(contributions: Floats) -> Floats:
    """The score of each row, ``(n_rows,)``."""
    return np.asarray(contributions.sum(axis=1))
