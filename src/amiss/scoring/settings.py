"""What the user asked of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.errors import DataError
from amiss.models.settings import listed_outputs, positions_of
from amiss.scoring.quality import skills
from amiss.scoring.rules import ScoringRule
from amiss.scoring.searches import NeighborSearch
from amiss.scoring.spaces import NeighborSpace
from amiss.scoring.weightings import Weighting

DOUBT_SHARE = 0.2


@dataclass(frozen=True)
class ScoringSettings:
    """How rows are scored; checked when it is made.

    ``rule`` is None where it is to be chosen by flipping outputs of the table. ``out_of_fold_share`` is the
    share that models which did not see a row have in its log-odds; ``penalised`` says whether the models are held
    back from learning a row by heart.
    """

    rule: ScoringRule | None
    weighting: Weighting
    out_of_fold_share: float
    n_neighbors: int
    neighbor_space: NeighborSpace
    neighbor_search: NeighborSearch
    exclude: tuple[str | int, ...] | float | None
    penalised: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 0:
            raise ValueError(f"n_neighbors must be a whole number, at least 0; got {self.n_neighbors!r}")
        if isinstance(self.exclude, Integral):
            raise ValueError("exclude must be a list of outputs, or a float that is the lowest skill to include")
        if self.exclude is not None and not isinstance(self.exclude, Real):
            listed = [self.exclude] if isinstance(self.exclude, str) else self.exclude
            object.__setattr__(self, "exclude", listed_outputs(listed, "exclude"))
        elif self.exclude is not None:
            object.__setattr__(self, "exclude", float(self.exclude))

    @property
    def chosen_rule(self) -> ScoringRule:
        """The rule; an error if it is still to be chosen."""
        if self.rule is None:
            raise ValueError("rule='auto' is chosen by fit")
        return self.rule

    @property
    def doubt_share(self) -> float:
        """The share of models that did not see a row in the log-odds that doubts come from.

        It is small: a value that a model rejects even after it was fitted to it is doubtful. It is the same as
        ``out_of_fold_share`` if models may learn a row by heart, or if only models that did not see a row may
        judge.
        """
        share = self.out_of_fold_share
        return min(share, DOUBT_SHARE) if self.penalised and share < 1 else share

    @property
    def uses_neighbors(self) -> bool:
        return self.chosen_rule.local and self.n_neighbors > 0

    def included(
        self, names: tuple[str, ...], log_odds: Floats, Y: Floats, observed: Mask, skill: Floats | None = None
    ) -> Mask:
        """Which outputs count in the score, ``(n_outputs,)``; ``skill`` is theirs, if log-odds do not tell it."""
        included = np.ones(len(names), dtype=bool)
        if isinstance(self.exclude, float):
            included = (skills(log_odds, Y, observed)[2] if skill is None else skill) >= self.exclude
            if not included.any():
                raise DataError(f"every output has a skill below {self.exclude}; ask for less")
        elif self.exclude is not None:
            included[positions_of(self.exclude, names, "exclude")] = False
            if not included.any():
                raise DataError("exclude names every output; leave at least one")
        return included
