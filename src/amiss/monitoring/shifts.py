"""Inputs whose distribution changed between the fit and a batch: another unit, a sensor that went silent.

Each column's values are compared with the knots the fit remembers of it (Kolmogorov and Smirnov's distance, the
largest difference between the shares below a value). Tables that are mostly zeros have no knots, and are not
compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amiss.arrays import Floats
from amiss.encoding.encoded_rows import EncodedRows
from amiss.encoding.encoder import Encoder
from amiss.wording import first_few, percent, printable, six_digits

CHANCE = 0.01  # of naming an input, among all of them, in a batch like the fit
LEAST = 0.15  # of a distance that is worth naming


@dataclass(frozen=True)
class Shift:
    """An input column whose distribution changed, and how much: 0 not at all, 1 altogether."""

    column: str
    distance: float
    missing: float  # share in the batch
    usually_missing: float  # and in the fit

    def __str__(self) -> str:
        name = printable(self.column)
        if abs(self.missing - self.usually_missing) < LEAST:
            return name
        return f"{name} (missing in {percent(self.missing)}, {percent(self.usually_missing)} in the fit)"

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "distance": six_digits(self.distance),
            "missing": six_digits(self.missing),
            "usually_missing": six_digits(self.usually_missing),
        }


def shifts(encoder: Encoder, rows: EncodedRows, n_fitted: int) -> list[Shift]:
    """The inputs whose distribution in ``rows`` differs from that in the ``n_fitted`` rows of the fit."""
    if not encoder.distribution.counts.any():
        return []
    values = np.asarray(rows.expanded)
    effective = len(values) * n_fitted / (len(values) + n_fitted)
    least = max(LEAST, float(np.sqrt(np.log(2 * encoder.n_columns / CHANCE) / 2 / effective)))
    distance = _distances(encoder, values)
    usually = dict(zip(encoder.indicated, _usually_missing(encoder), strict=True))
    sources, largest = encoder.sources, dict[int, float]()
    for column in np.flatnonzero(distance >= least):
        source = int(sources[column])
        largest[source] = max(largest.get(source, 0.0), float(distance[column]))
    return [
        Shift(
            column=encoder.names[source],
            distance=largest[source],
            missing=float(np.isnan(rows.inputs.column(source)).mean()),
            usually_missing=float(usually.get(source, 0.0)),
        )
        for source in sorted(largest, key=lambda each: -largest[each])
    ]


def remarks(found: list[Shift]) -> list[str]:
    """A sentence on those that differ most."""
    if not found:
        return []
    what = "The distribution of one input" if len(found) == 1 else f"The distributions of {len(found)} inputs"
    return [f"{what} changed: {first_few([str(each) for each in found])}."]


def _distances(encoder: Encoder, values: Floats) -> Floats:
    """The largest difference of the shares below a knot, of each encoded column; 0 if it has no knots."""
    ranks, ends = encoder.distribution, np.cumsum(encoder.distribution.counts)
    result = np.zeros(encoder.n_columns)
    for column in np.flatnonzero(ranks.counts):
        knots = slice(ends[column] - ranks.counts[column], ends[column])
        ordered, middle = np.sort(values[:, column]), ranks.rank[knots]
        below, upto = (np.searchsorted(ordered, ranks.at[knots], side) / len(values) for side in ("left", "right"))
        shares = _shares_upto(middle)
        if shares is None:  # between the knots there are values that are not remembered
            result[column] = np.abs((below + upto) / 2 - middle).max()
        else:
            result[column] = max(np.abs(upto - shares[1:]).max(), np.abs(below - shares[:-1]).max())
    return result


def _shares_upto(middle: Floats) -> Floats | None:
    """The share of values up to each knot, starting with 0, recovered from mid-ranks.

    None if the knots do not hold all values.

    >>> _shares_upto(np.array([0.25, 0.625, 0.875]))
    array([0.  , 0.5 , 0.75, 1.  ])
    """
    turns = np.where(np.arange(len(middle)) % 2, -1.0, 1.0)
    shares = np.concatenate([[0.0], 2 * turns * np.cumsum(turns * middle)])
    whole = abs(shares[-1] - 1) < 1e-9 and (np.diff(shares) > 0).all()
    return shares if whole else None


def _usually_missing(encoder: Encoder) -> Floats:
    """The share that was missing in the fit, of the inputs where any was: from the knots of their indicators."""
    ends = np.cumsum(encoder.distribution.counts)[encoder.n_columns - len(encoder.indicated) :]
    return 2 * (1 - encoder.distribution.rank[ends - 1])
