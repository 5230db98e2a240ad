"""The demonstration: scikit-learn's handwritten digits, tagged by what they are, a few tags falsified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats
from amiss.data.dataset import Dataset
from amiss.data.table import Table

TAGS: dict[str, frozenset[int]] = {
    "tag_even": frozenset({0, 2, 4, 6, 8}),
    "tag_prime": frozenset({2, 3, 5, 7}),
    "tag_square": frozenset({0, 1, 4, 9}),
    "tag_multiple_of_3": frozenset({0, 3, 6, 9}),
    "tag_above_4": frozenset({5, 6, 7, 8, 9}),
    "tag_has_loop": frozenset({0, 6, 8, 9}),
    "tag_straight": frozenset({1, 4, 7}),
}

FALSIFIED_SHARE = 0.02


@dataclass(frozen=True)
class TaggedDigits:
    """The pictures with their tags, and the truth about them."""

    data: Dataset
    falsified: dict[int, str]  # row -> the tag that was flipped in it

    def picture(self, row: int) -> Floats:
        return np.asarray(self.data.X.values[row]).reshape(8, 8)


def tagged_digits(seed: int = 0) -> TaggedDigits:
    """1,797 pictures of 8 x 8 pixels, seven tags; one tag is false in 2 % of the rows."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    digits = np.asarray(bunch.target)
    tags = np.column_stack([[digit in members for digit in digits] for members in TAGS.values()]).astype(float)
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(digits), size=round(FALSIFIED_SHARE * len(digits)), replace=False)
    columns = rng.integers(len(TAGS), size=len(rows))
    tags[rows, columns] = 1 - tags[rows, columns]
    names = tuple(TAGS)
    pixels = tuple(f"pixel_{row}{column}" for row in range(8) for column in range(8))
    ids = tuple(f"digit-{number:04d}" for number in range(1, len(digits) + 1))
    return TaggedDigits(
        data=Dataset(Table(np.asarray(bunch.data, dtype=float), pixels), Table(tags, names), ids),
        falsified={int(row): names[column] for row, column in zip(rows, columns, strict=True)},
    )
