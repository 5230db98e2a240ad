"""Which other outputs the model of an output sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amiss.arrays import Mask


def visible_outputs(parents: str, n_outputs: int, order: Sequence[int] | None) -> Mask:
    """``[j, i]`` says whether the model of output i may see output j.

    >>> visible_outputs("chain", 3, [2, 0, 1]).astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]])
    """
    if parents == "none":
        return np.zeros((n_outputs, n_outputs), dtype=bool)
    if parents == "others":
        return ~np.eye(n_outputs, dtype=bool)
    place = np.argsort(np.arange(n_outputs) if order is None else np.asarray(order))
    return place[:, None] < place[None, :]
