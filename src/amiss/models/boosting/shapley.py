"""What each column adds to the log-odds of boosted trees: exact Shapley values.

A tree is a sum over its leaves, and a leaf's share in the prediction is a product over the columns that split on
the way to it. Where a column is known, its factor o is 1 or 0: whether the row passes all of its splits. Where it
is not, its factor z is the share of training rows that pass them. For such a product, Shapley's average over all
orders in which columns may become known is an integral (the columns all become known at the same pace):

    phi_j = value (o_j - z_j) ∫_0^1 Π_{i≠j} (z_i + t (o_i - z_i)) dt

The integrand is a polynomial, so Gauss's quadrature gives it exactly. The values add up to what the trees say of
the row minus their mean over the training rows. These are the values that TreeSHAP finds by walking through the
tree (Lundberg et al., From local explanations to global understanding with explainable AI for trees, 2020), with
unknown columns as in the training rows that reach a node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Leaves:
    """The ways to the leaves of some trees, each ``(n_leaves, longest)``, padded by columns that do not matter.

    A row passes the splits on ``column`` if ``low < z[column] <= high``; ``share`` of the training rows do.
    """

    value: Floats
    column: npt.NDArray[np.intp]
    low: Floats
    high: Floats
    share: Floats

    @classmethod
    def of(
        cls,
        roots: Nodes,
        feature: Nodes,
        threshold: Floats,
        left: Nodes,
        right: Nodes,
        value: Floats,
        cover: Floats,
    ) -> Leaves:
        ways: list[tuple[float, dict[int, tuple[float, float, float]]]] = []
        waiting = [(int(root), dict[int, tuple[float, float, float]]()) for root in roots]
        while waiting:
            node, way = waiting.pop()
            column = int(feature[node])
            if column < 0:
                ways.append((float(value[node]), way))
                continue
            low, high, share = way.get(column, (-np.inf, np.inf, 1.0))
            split = float(threshold[node])
            below, above = int(left[node]), int(right[node])
            waiting.append((below, {**way, column: (low, split, share * cover[below] / cover[node])}))
            waiting.append((above, {**way, column: (split, high, share * cover[above] / cover[node])}))
        longest = max((len(way) for _, way in ways), default=0)
        column_of = np.zeros((len(ways), longest), dtype=np.intp)
        low_of, high_of = np.full(column_of.shape, -np.inf), np.full(column_of.shape, np.inf)
        share_of = np.ones(column_of.shape)
        for place, (_, way) in enumerate(ways):
            for step, (column, passed) in enumerate(way.items()):
                column_of[place, step] = column
                low_of[place, step], high_of[place, step], share_of[place, step] = passed
        return cls(np.array([value for value, _ in ways]), column_of, low_of, high_of, share_of)


def shapley_values(leaves: Leaves, row: Floats) -> Floats:
    """What each column of a row adds, ``(n_columns,)``."""
    longest = leaves.column.shape[1]
    if not longest:
        return np.zeros(len(row))
    points, weights = np.polynomial.legendre.leggauss((longest + 1) // 2)
    at = row[leaves.column]
    known = ((leaves.low < at) & (at <= leaves.high)).astype(float)
    gap = known - leaves.share
    inner = np.zeros_like(gap)
    for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
        factors = leaves.share + point * gap  # above zero: shares are, and the point lies below 1
        inner += weight * factors.prod(axis=1, keepdims=True) / factors
    added = leaves.value[:, None] * gap * inner
    return np.bincount(leaves.column.ravel(), added.ravel(), len(row)).astype(np.float64)
