"""MIXTURE, the default: the evidence that a row is wrong, whatever the kind of error.

    Score(n) = log(1 + Σ_h odds_h(n)) = -log P(row n is right)

over hypotheses h of how a row can be wrong (:mod:`amiss.scoring.hypotheses`): some outputs contradict the inputs
and the other outputs; some do not fit the inputs; all of them belong to another row; nothing was annotated.

Its weights are those of FLIP, by which the first two hypotheses count an output no more than its reliability
justifies.
"""

from __future__ import annotations

from dataclasses import dataclass

from amiss.scoring.rules.flip import Flip


@dataclass(frozen=True)
class Mixture(Flip):
    """Weights as in FLIP; what the outputs add is the business of the hypotheses."""

    name: str = "mixture"
    description: str = "the evidence for any of several kinds of error"
    inputs_alone: bool = True
