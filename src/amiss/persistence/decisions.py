"""The decision about the rows of the fit, the calibration, and what rule="auto" measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.decisions.calibration import Calibration
from amiss.decisions.decision import Decision, training_reason
from amiss.decisions.settings import DecisionSettings
from amiss.evaluation.choice import FORMERLY_USUAL, RuleChoice
from amiss.evaluation.registry import ERROR_KINDS
from amiss.persistence.fields import SMALLEST, Arrays, Fields, InvalidField, Packed, distinct_texts
from amiss.persistence.scoring import rounded_up
from amiss.scoring.error_rates import ErrorRates

STORED, BY_THRESHOLD = "stored", "by threshold"  # how a file says who of its rows is flagged


def pack_decision(decision: Decision, *, rows: bool) -> Packed:
    if not rows:
        threshold = float(rounded_up(np.array(decision.threshold)))
        return Packed({"threshold": threshold, "flagged": BY_THRESHOLD})
    arrays: Arrays = {"rows.flagged": decision.flagged}
    if decision.p_values is not None:
        arrays["rows.p_values"] = decision.p_values
    return Packed({"threshold": float(decision.threshold), "flagged": STORED}, arrays)


def unpack_decision(fields: Fields, settings: DecisionSettings, scores: Floats | None) -> Decision:
    """``scores`` are those of the rows of the fit, None if they were not kept."""
    threshold = fields.value("threshold", float)
    if not np.isfinite(threshold):
        raise InvalidField("threshold")
    by, reason = training_reason(settings)
    if scores is None:
        return Decision(threshold, np.zeros(0, dtype=bool), None, by, reason, settings.level)
    flagged = _unpack_flags(fields, scores, threshold)
    p_values = None if settings.level is None else fields.floats("rows.p_values", len(scores))
    return Decision(threshold, flagged, p_values, by, reason, settings.level)


def _unpack_flags(fields: Fields, scores: Floats, threshold: float) -> Mask:
    """Who was flagged; another processor's logarithms may put a row at the threshold on its other side."""
    above, said = scores > threshold, fields.value("flagged", str)
    if said == BY_THRESHOLD:
        return above
    if said != STORED:
        raise InvalidField("flagged")
    stored = fields.mask("rows.flagged", len(scores))
    apart = np.abs(scores - threshold) > 1e-9 * max(abs(threshold), SMALLEST)
    if (stored != above)[apart].any():
        raise InvalidField("flagged")
    return stored


def pack_calibration(calibration: Calibration | None, *, rows: bool) -> Packed:
    if calibration is None:
        return Packed({"calibrated": False})
    kept = np.asarray if rows else rounded_up
    scores, contributions = kept(calibration.scores), kept(calibration.contributions)
    return Packed({"calibrated": True}, {"calibration.scores": scores, "calibration.contributions": contributions})


def unpack_calibration(fields: Fields, n_outputs: int, errors: ErrorRates) -> Calibration | None:
    if not fields.value("calibrated", bool):
        return None
    found = fields.floats("calibration.scores", None)
    contributions = fields.floats("calibration.contributions", len(found), n_outputs, missing=True)
    gone = np.isnan(contributions)
    falls = (np.diff(found) < 0).any() or (np.diff(contributions, axis=0) < 0).any()
    if not len(found) or falls or (gone[:-1] & ~gone[1:]).any():  # what is missing stands last
        raise InvalidField("calibration")
    return Calibration(found, contributions, errors)


def pack_choice(choice: RuleChoice | None) -> Packed:
    if choice is None:
        return Packed({"choice": None})
    return Packed({"choice": {each.name: plain(getattr(choice, each.name)) for each in dataclass_fields(choice)}})


def unpack_choice(fields: Fields) -> RuleChoice | None:
    found = fields.description.get("choice")
    if found is None:
        return None
    atpar, precision = (np.array(found[name], dtype=np.float64) for name in ("atpar", "precision"))
    rules = distinct_texts(found["rules"])
    kinds = tuple(found["kinds"])
    shape = len(rules), len(found["flips"]) + len(kinds), precision.shape[2], len(found["rates"])
    known = FORMERLY_USUAL.name in rules and all(kind in ERROR_KINDS for kind in kinds)
    if precision.shape != shape or atpar.shape != shape[:3] or not known or 0 in shape:
        raise InvalidField("choice")
    whole = [*found["flips"], found["n_flipped"], found["n_rows"]]
    shares = [*found["rates"], *precision.ravel(), *atpar.ravel()]
    if not all(type(each) is int and each >= 1 for each in whole) or not all(0 <= each <= 1 for each in shares):
        raise InvalidField("choice")
    return RuleChoice(
        rules=rules,
        flips=tuple(found["flips"]),
        atpar=atpar,
        rates=tuple(found["rates"]),
        precision=precision,
        n_flipped=found["n_flipped"],
        n_rows=found["n_rows"],
        kinds=kinds,
    )


def plain(value: Any) -> Any:
    """Numbers and texts as JSON knows them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
