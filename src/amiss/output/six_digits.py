"""Numbers of lists, rounded to six digits, whole columns at a time."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats, Rows
from amiss.wording import six_digits

NEAR_A_TIE = 1e-5  # of the last digit: a product may be rounded to the other side
EXACT_POWERS = 22  # powers of ten that are exact in double precision


def six_digit_values(values: Floats) -> Floats:
    """The same as :func:`amiss.wording.six_digits` of each value, NaN where that is None.

    A quotient of two whole numbers that are exact is the number nearest to the decimal that it means, so nothing
    is rounded twice. What is too near a tie, too large or too small is rounded one by one.

    >>> six_digit_values(np.array([1 / 3, 0.0, np.nan, 1234567.0, 1e-30])).tolist()
    [0.333333, 0.0, nan, 1234570.0, 1e-30]
    """
    size = np.abs(values)
    simple = np.isfinite(values) & (size > 0)
    exponent = np.floor(np.log10(size, where=simple, out=np.zeros_like(size)))
    power = 5 - exponent  # of ten, so that six digits stand before the point
    simple &= (power >= 0) & (power <= EXACT_POWERS)
    power = np.where(simple, power, 0.0)
    unit = np.power(10.0, power)
    scaled = np.where(simple, size, 0.0) * unit
    whole = np.rint(scaled)
    # At a power of ten the logarithm may be off by one digit.
    simple &= (np.abs(np.abs(scaled - whole) - 0.5) > NEAR_A_TIE) & (scaled >= 1e5) & (scaled < 1e6)
    result: Floats = np.copysign(whole, values) / unit
    left: Rows = np.flatnonzero(~simple)
    for place, value in zip(left.tolist(), values[left].tolist(), strict=True):
        rounded = six_digits(value)
        result[place] = np.nan if rounded is None else rounded
    return result
