"""What the detector's parameters may be, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_random_state

from amiss.decisions.thresholds import AUTO_LEVEL
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError, shown
from amiss.scoring.rules import SCORES
from amiss.scoring.weights import WEIGHTINGS

if TYPE_CHECKING:
    from amiss.detector import MCODE

STRENGTHS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01)

CHOICES: dict[str, tuple[Any, ...]] = {
    "parents": ("others", "chain", "none"),
    "score": (*SCORES, "auto"),
    "weighting": WEIGHTINGS,
    "neighbor_space": ("joint", "inputs"),
    "neighbor_search": ("auto", "exact", "approximate"),
    "scaling": tuple(SCALINGS),
}


def check_parameters(detector: MCODE) -> None:
    """Refuse what a parameter cannot be; nothing else of the detector is looked at."""
    for name, allowed in CHOICES.items():
        value = getattr(detector, name)
        if not any(value is choice or (isinstance(value, str) and value == choice) for choice in allowed):
            raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")
    if not (detector.crossfit == "half" or (isinstance(detector.crossfit, Real) and 0 <= detector.crossfit <= 1)):
        raise ValueError(
            f"crossfit must be True, False, 'half' or a share between 0 and 1; got {detector.crossfit!r}"
        )
    check_decision(detector)
    if not isinstance(detector.n_neighbors, Integral) or detector.n_neighbors < 0:
        raise ValueError(f"n_neighbors must be a whole number, at least 0; got {detector.n_neighbors!r}")
    if not isinstance(detector.cv, Integral) or not 2 <= detector.cv <= 100:
        raise ValueError(f"cv must be a whole number between 2 and 100; got {detector.cv!r}")
    if detector.order is not None and detector.parents != "chain":
        raise ValueError(f"order is for parents='chain'; parents is {detector.parents!r}")
    if isinstance(detector.exclude, Integral):
        raise ValueError("exclude must be a list of outputs, or a float that is the lowest skill to include")
    if not len(detector.strengths) or not all(1e-30 <= strength <= 1e30 for strength in detector.strengths):
        raise ValueError("strengths must be numbers between 1e-30 and 1e30, at least one")
    if not (isinstance(detector.parent_penalty, Real) and 1e-6 <= detector.parent_penalty <= 1e6):
        raise ValueError(f"parent_penalty must be between 1e-6 and 1e6; got {detector.parent_penalty!r}")
    if detector.base_estimator is not None and not hasattr(detector.base_estimator, "predict_proba"):
        raise ValueError(
            "base_estimator must have predict_proba; wrap it in CalibratedClassifierCV to give it one"
        )


def check_decision(detector: MCODE) -> None:
    """How rows are flagged: by a share, "auto", or a false-discovery level."""
    share, level = detector.contamination, detector.fdr
    if share != "auto" and not (isinstance(share, Real) and 0 < share <= 0.5):
        raise ValueError(f"contamination must be above 0 and at most 0.5, or 'auto'; got {share!r}")
    if level is not None and not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"fdr must be a level between 0 and 1, or None; got {level!r}")
    if judged_by_draws(detector) and not detector.crossfit:
        raise ValueError("fdr and contamination='auto' need models that did not see a row; crossfit is False")


def level_of(contamination: float | str, fdr: float | None) -> float | None:
    """The false-discovery level that these parameters ask for, if they do."""
    return AUTO_LEVEL if fdr is None and contamination == "auto" else fdr


def judged_by_draws(detector: MCODE) -> bool:
    """Whether rows of the fit are flagged by a false-discovery level."""
    return level_of(detector.contamination, detector.fdr) is not None


def undecided(detector: MCODE) -> dict[str, Any]:
    """Parameters of a detector that scores rows alike and spends no time on flagging them."""
    crossfit = True if judged_by_draws(detector) else detector.crossfit
    return {"crossfit": crossfit, "fdr": None, "contamination": 0.01}


def seed_of(random_state: Any) -> int:
    """One number from whatever NumPy and scikit-learn take for a seed."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def positions_of(chosen: Sequence[str | int], names: tuple[str, ...], parameter: str) -> list[int]:
    """Numbers of the outputs ``chosen`` by name or number."""
    place = {name: position for position, name in enumerate(names)}
    result = []
    for item in chosen:
        position = place.get(item, -1) if isinstance(item, str) else int(item)
        if not 0 <= position < len(names):
            raise DataError(f"{parameter} names {shown(item)}, which is not an output")
        result.append(position)
    return result


def permutation(order: Sequence[str | int], names: tuple[str, ...]) -> list[int]:
    positions = positions_of(order, names, "order")
    if sorted(positions) != list(range(len(names))):
        raise DataError(f"order must name each of the {len(names)} outputs once")
    return positions
