"""Numbers and texts as the page carries them: with few digits, and without what harms a page."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats
from amiss.data.output_kinds import Value
from amiss.wording import printable

LONGEST_VALUE = 60
LONGEST_COPIED = 1000  # of what a person may want to copy whole
DIGITS = 6  # as lists and amiss explain --json have them


def short(number: float, digits: int = 4) -> float | None:
    """A number with few digits; JSON has no NaN and no infinity."""
    if not np.isfinite(number):
        return None
    found = float(f"{number:.{digits}g}")
    return int(found) if found.is_integer() and abs(found) < 1e15 else found


def numbers(values: Floats, digits: int = 4) -> list[float | None]:
    return [short(value, digits) for value in values.tolist()]


def shown(value: Value) -> Value:
    """A value of an output; the name of a level is cut and has no control characters."""
    return printable(value, LONGEST_VALUE) if isinstance(value, str) else value
