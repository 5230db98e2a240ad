"""Files of older formats, read as if they were of the present one: one step for each format number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amiss.persistence.container import FORMAT
from amiss.persistence.decisions import BY_THRESHOLD, STORED
from amiss.persistence.fields import Fields, InvalidField

KEYS = {
    *("format", "sha256", "amiss", "parameters", "rule", "inputs", "outputs", "named", "label_lists", "frame"),
    *("reading", "rows", "levels", "indicated", "sparse", "calibrated", "choice", "threshold", "flagged"),
    *("scaling", "ties", "notes", "given", "kinds", "mixed"),
}
KEYS_OF_4 = KEYS - {"kinds", "mixed"}
KEYS_OF_3 = KEYS_OF_4 - {"notes", "given"}
KEYS_OF_2 = KEYS_OF_3 - {"scaling", "ties"}
KEYS_OF_1 = KEYS_OF_2 - {"rule", "calibrated", "flagged"} | {"score"}
# What a parameter was before it had its present default; a file that leaves one out meant that.
DEFAULTS_OF_2 = {"parents": "others", "rule": "flip", "scaling": "rank"}


def migrated(description: dict[str, Any], file: Any) -> Fields:
    """The fields of a file of any format that is known."""
    fields = Fields(description, file)
    for number in range(description["format"], FORMAT):
        fields = STEPS[number](fields)
    if not set(fields.description) <= KEYS:
        raise InvalidField("keys")
    return fields


def from_1_to_2(fields: Fields) -> Fields:
    """Format 2 names things as the package does now, and says what format 1 left to be seen.

    The rule was called score, its share "half" is 0.5; flags, which the very first files did not hold, are those
    above the threshold; ``reading`` was at first left empty, and once listed categories that nobody needed.
    """
    old = dict(fields.description)
    parameters = dict(fields.value("parameters", dict))
    if not set(old) <= KEYS_OF_1 or "rule" in parameters:
        raise InvalidField("keys")
    if "score" in parameters:
        parameters["rule"] = parameters.pop("score")
    if parameters.get("crossfit") == "half":
        parameters["crossfit"] = 0.5
    choice = old.get("choice")
    if choice is not None:
        choice = {"rules" if name == "scores" else name: value for name, value in dict(choice).items()}
    reading = {"id": None, "drop": [], **fields.value("reading", dict)}
    reading.pop("categorical", None)
    rows = fields.value("rows", bool)
    renamed = {
        "rows.fingerprints": "content",
        "membership": "traces",
        "calibration.contributions": "calibration.parts",
    }
    if not rows:
        renamed |= {"strength": "quality.strength", "converged": "quality.converged"}
    description = {name: value for name, value in old.items() if name != "score"} | {
        "parameters": parameters,
        "rule": old.get("score"),
        "choice": choice,
        "reading": reading,
        "calibrated": fields.has("calibration.scores"),
        "flagged": STORED if fields.has("rows.flagged") else BY_THRESHOLD,
    }
    return fields.migrated(description, renamed)


def from_2_to_3(fields: Fields) -> Fields:
    """Format 3 knows ties, and a scaling that the fit chose; before, ties were not minded."""
    old = dict(fields.description)
    parameters = {**DEFAULTS_OF_2, **fields.value("parameters", dict)}
    if not set(old) <= KEYS_OF_2:
        raise InvalidField("keys")
    choice = old.get("choice")
    added = {
        "parameters": parameters,
        "choice": None if choice is None else {**dict(choice), "kinds": []},
        "scaling": parameters["scaling"],
        "ties": {"classes": [], "copies": [], "opposites": [], "implications": []},
    }
    return fields.migrated(old | added, {})


def from_3_to_4(fields: Fields) -> Fields:
    """Format 4 knows given probabilities and notes; before, there were none."""
    old = dict(fields.description)
    if not set(old) <= KEYS_OF_3:
        raise InvalidField("keys")
    reading = {**fields.value("reading", dict), "probabilities": []}
    return fields.migrated(old | {"notes": [], "given": False, "reading": reading}, {})


def from_4_to_5(fields: Fields) -> Fields:
    """Format 5 knows outputs of several kinds; before, every output was 0 or 1."""
    old, parameters = dict(fields.description), fields.value("parameters", dict)
    if not set(old) <= KEYS_OF_4 or "output_kinds" in parameters:
        raise InvalidField("keys")
    return fields.migrated(
        old | {"parameters": {**parameters, "output_kinds": None}, "kinds": [], "mixed": None}, {}
    )


STEPS: dict[int, Callable[[Fields], Fields]] = {
    1: from_1_to_2,
    2: from_2_to_3,
    3: from_3_to_4,
    4: from_4_to_5,
}
