"""What the user asked of the decision: which rows are flagged."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

from amiss.decisions.registry import COMPARISONS

if TYPE_CHECKING:
    from amiss.decisions.comparisons import Comparison

AUTO_LEVEL = 0.2  # of contamination="auto", by rules that weigh no hypotheses
DEFAULT_SHARE = 0.01


@dataclass(frozen=True)
class DecisionSettings:
    """How rows of the fit are flagged: by a share, or by a false-discovery ``level``. Checked when it is made.

    ``gives_chances`` says that a score is -log P(the row is right), so that "auto" can flag rows by the chance
    that they are wrong.
    """

    contamination: float | Literal["auto"]
    fdr: float | None
    gives_chances: bool = False

    def __post_init__(self) -> None:
        share, level = self.contamination, self.fdr
        if share != "auto" and not (isinstance(share, Real) and 0 < share <= 0.5):
            raise ValueError(f"contamination must be above 0 and at most 0.5, or 'auto'; got {share!r}")
        if level is not None and not (isinstance(level, Real) and 0 < level < 1):
            raise ValueError(f"fdr must be a level between 0 and 1, or None; got {level!r}")

    @property
    def level(self) -> float | None:
        """The false-discovery level that is asked for, if one is."""
        by_level = self.fdr is None and self.contamination == "auto" and not self.gives_chances
        return AUTO_LEVEL if by_level else self.fdr

    @property
    def by_chance(self) -> bool:
        """Whether rows are flagged by the chance that they are wrong."""
        return self.fdr is None and self.contamination == "auto" and self.gives_chances

    @property
    def share(self) -> float:
        """The share to flag, where no level is asked for."""
        return float(self.contamination)


@dataclass(frozen=True)
class BatchRequest:
    """How rows of a batch are to be flagged; with nothing asked for, as the fit says. Checked when it is made."""

    fdr: float | None = None
    rate: float | None = None
    alerts: int | None = None
    against: str | None = None

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.fdr, self.rate, self.alerts)) > 1:
            raise ValueError("ask for one of fdr, rate and alerts")
        if self.fdr is not None and not 0 < self.fdr < 1:
            raise ValueError(f"fdr must be a level between 0 and 1; got {self.fdr!r}")
        if self.rate is not None and not 0 < self.rate <= 0.5:
            raise ValueError(f"rate must be above 0 and at most 0.5; got {self.rate!r}")
        if self.alerts is not None and not (isinstance(self.alerts, Integral) and self.alerts >= 1):
            raise ValueError(f"alerts must be a whole number, at least 1; got {self.alerts!r}")
        if self.against is not None:
            COMPARISONS.named(self.against)

    @property
    def comparison(self) -> Comparison | None:
        """With whom a level compares, if that was asked for."""
        return None if self.against is None else COMPARISONS[self.against]

    @property
    def is_empty(self) -> bool:
        return self.fdr is None and self.rate is None and self.alerts is None
