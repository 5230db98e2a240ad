"""Rules, weightings, spaces and searches by name. A new rule is one class in ``rules`` and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.scoring.rules.base import ScoringRule
    from amiss.scoring.searches import NeighborSearch
    from amiss.scoring.spaces import NeighborSpace
    from amiss.scoring.weightings import Weighting

RULES: Registry[ScoringRule] = Registry(
    "rule",
    "amiss.scoring.rules",
    {
        "mixture": "mixture.Mixture",
        "flip": "flip.Flip",
        "lrw": "weighted.LRW",
        "rw": "weighted.RW",
        "prod": "weighted.PROD",
    },
)
AUTO = "auto"  # as a rule: the one that finds most errors that were made in the table on purpose

WEIGHTINGS: Registry[Weighting] = Registry(
    "weighting",
    "amiss.scoring.weightings",
    {"sqrt": "SquareRoot", "error": "MeanError", "brier": "Brier"},
)

SPACES: Registry[NeighborSpace] = Registry(
    "neighbor_space", "amiss.scoring.spaces", {"joint": "Joint", "inputs": "InputsAlone"}
)
SEARCHES: Registry[NeighborSearch] = Registry(
    "neighbor_search",
    "amiss.scoring.searches",
    {"auto": "Automatic", "exact": "Exact", "approximate": "Approximate"},
)
