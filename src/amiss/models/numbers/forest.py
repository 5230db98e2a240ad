"""A forest for one target as flat arrays, each leaf with four quantiles of its training values.

The trees that did not see a row judge it: of the quantiles in the leaves that it falls into, the median is its
centre, and their mean absolute deviation from the centre is its spread. A row goes left at a node if
``float32(x[feature]) <= threshold``; single precision is what scikit-learn splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask, Rows
from amiss.models.numbers.columns import level_and_unit
from amiss.threads import in_blocks, thread_count, workers
from amiss.wording import count

N_TREES = 100
LEAST_ROWS = 3  # in a leaf
N_QUANTILES = 4
DRAWN = 0.632  # the share of the units that a tree sees
MOST_ROWS = 20_000  # of a tree
LARGEST = 1e30  # inputs are clipped to this: single precision ends at 3e38

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees of one target.

    Attributes
    ----------
    roots : (n_trees,) the node where each tree begins
    feature : (n_nodes,) the column that a node splits; -1 in a leaf
    threshold : (n_nodes,) rows up to this value go left; infinite in a leaf
    left, right : (n_nodes,) the nodes below, which have higher numbers; a leaf points to itself
    leaf : (n_nodes,) the number of a leaf; -1 in other nodes
    values : (n_leaves, 4) quantiles of the training values in a leaf, in ascending order
    """

    roots: Nodes
    feature: Nodes
    threshold: Floats
    left: Nodes
    right: Nodes
    leaf: Nodes
    values: Floats

    def __repr__(self) -> str:
        return f"<Forest: {count(len(self.roots), 'tree')}, {len(self.values):,} leaves>"

    def distribution(
        self, X: Floats, apart: Mask | None = None, n_jobs: int | None = None
    ) -> tuple[Floats, Floats]:
        """The centre and the spread of every row, each ``(n_rows,)``.

        ``apart`` is ``(n_trees, n_rows)``, true where a tree must not judge a row. A row that no tree may judge
        is judged by all.
        """
        centre, spread = np.empty(len(X)), np.empty(len(X))

        def work(rows: slice) -> None:
            judges = _judges(len(self.roots), rows.stop - rows.start, None if apart is None else apart[:, rows])
            centre[rows], spread[rows] = _middle_and_deviation(*self._pooled(X[rows], judges))

        in_blocks(len(X), work, n_jobs)
        return centre, spread

    def _pooled(self, X: Floats, judges: Mask) -> tuple[Floats, Rows]:
        """The values that judge each row in ascending order, then infinity, and how many they are."""
        place = (np.cumsum(judges, axis=0) - 1)[judges]
        n_judges = judges.sum(axis=0)
        pooled = np.full((len(X), int(n_judges.max(initial=0)), N_QUANTILES), np.inf)
        pooled[np.nonzero(judges)[1], place] = self.values[self._reached(X, judges)]
        return np.sort(pooled.reshape(len(X), -1), axis=1), n_judges * N_QUANTILES

    def _reached(self, X: Floats, judges: Mask) -> Nodes:
        """The leaf of each pair of a tree and a row that it judges, one tree after the other."""
        cells = single(X).ravel()
        tree, row = np.nonzero(judges)
        node = self.roots[tree]
        first = row * X.shape[1]  # where the row begins among the cells
        on_the_way = np.flatnonzero(self.feature[node] >= 0)
        while len(on_the_way):
            at = node[on_the_way]
            below = cells[first[on_the_way] + self.feature[at]] <= self.threshold[at]
            at = np.where(below, self.left[at], self.right[at])
            node[on_the_way] = at
            on_the_way = on_the_way[self.feature[at] >= 0]
        return self.leaf[node]


def grow(X: Floats, y: Floats, units: Rows, seed: int, n_jobs: int | None = None) -> tuple[Forest, Mask]:
    """A forest on dense inputs, and which rows each tree saw, ``(n_trees, n_rows)``.

    Rows with the same number in ``units`` are drawn together, and a tree that saw one of them saw them all. The
    forest depends on the seed and on nothing else that is random, and the bags do not depend on the target.
    """
    from sklearn.tree import ExtraTreeRegressor

    rng = np.random.default_rng(seed)
    seeds = rng.integers(2**31, size=N_TREES)
    _, unit_of_row = np.unique(units, return_inverse=True)
    bags = [_bag(unit_of_row, rng) for _ in range(N_TREES)]
    inputs, (level, size) = single(X), level_and_unit(y)
    target = (y - level) / size  # scikit-learn takes a target whose variance is tiny for constant
    parts: list[Forest | None] = [None] * N_TREES

    def work(number: int) -> None:
        rows, _ = bags[number]
        tree = ExtraTreeRegressor(min_samples_leaf=LEAST_ROWS, max_features=1.0, random_state=int(seeds[number]))
        # The checks change the filters of warnings, which all threads share; these arrays need none.
        tree.fit(inputs[rows], target[rows], check_input=False)
        parts[number] = _tree(tree, inputs[rows], y[rows])

    with workers(thread_count(n_jobs)) as ours:
        ours.each(work, range(N_TREES))
    return _joined([part for part in parts if part is not None]), np.stack([seen for _, seen in bags])


def single(X: Floats) -> npt.NDArray[np.float32]:
    """Inputs as scikit-learn's trees see them."""
    return np.ascontiguousarray(np.clip(X, -LARGEST, LARGEST), dtype=np.float32)


def _bag(unit: Rows, rng: np.random.Generator) -> tuple[Rows, Mask]:
    """The rows that a tree is grown on, and all rows of the units that they belong to."""
    n_units = int(unit.max()) + 1
    n_drawn = min(max(1, round(DRAWN * n_units)), max(1, n_units - 1))
    turn = rng.permutation(n_units)[unit]
    rows = np.flatnonzero(turn < n_drawn)
    if len(rows) > MOST_ROWS:
        in_turn = np.lexsort((rng.random(len(rows)), turn[rows]))
        rows = np.sort(rows[in_turn[:MOST_ROWS]])
    seen = np.zeros(n_units, dtype=bool)
    seen[unit[rows]] = True
    return rows, seen[unit]


def _tree(fitted: Any, inputs: npt.NDArray[np.float32], y: Floats) -> Forest:
    """A tree of scikit-learn as a forest of one; ``inputs`` and ``y`` are what it was grown on."""
    tree = fitted.tree_
    own, is_leaf = np.arange(tree.node_count), tree.children_left < 0
    leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    values = _quantiles(leaf[fitted.apply(inputs, check_input=False)], y)
    return Forest(
        roots=np.zeros(1, dtype=np.int32),
        feature=np.where(is_leaf, -1, tree.feature).astype(np.int32),
        threshold=np.where(is_leaf, np.inf, tree.threshold),
        left=np.where(is_leaf, own, tree.children_left).astype(np.int32),
        right=np.where(is_leaf, own, tree.children_right).astype(np.int32),
        leaf=leaf.astype(np.int32),
        values=values,
    )


def _quantiles(leaf: Rows, y: Floats) -> Floats:
    """The values at 1/8, 3/8, 5/8 and 7/8 of each leaf, ``(n_leaves, 4)``; every leaf has rows."""
    ordered = y[np.lexsort((y, leaf))]
    size = np.bincount(leaf)
    first = np.cumsum(size) - size
    share = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    return np.asarray(ordered[first[:, None] + np.floor(size[:, None] * share).astype(np.intp)], dtype=np.float64)


def _joined(parts: Sequence[Forest]) -> Forest:
    """Forests of one tree as one forest."""
    nodes = np.cumsum([0, *(len(part.feature) for part in parts)])
    leaves = np.cumsum([0, *(len(part.values) for part in parts)])
    by_node, by_leaf = list(zip(parts, nodes, strict=False)), list(zip(parts, leaves, strict=False))
    numbered = [np.where(part.leaf < 0, -1, part.leaf + shift) for part, shift in by_leaf]
    return Forest(
        roots=nodes[:-1].astype(np.int32),
        feature=np.concatenate([part.feature for part in parts]),
        threshold=np.concatenate([part.threshold for part in parts]),
        left=np.concatenate([part.left + shift for part, shift in by_node]).astype(np.int32),
        right=np.concatenate([part.right + shift for part, shift in by_node]).astype(np.int32),
        leaf=np.concatenate(numbered).astype(np.int32),
        values=np.concatenate([part.values for part in parts]),
    )


def _judges(n_trees: int, n_rows: int, apart: Mask | None) -> Mask:
    """Which trees judge which rows: those that did not see it, or all if there is none."""
    if apart is None:
        return np.ones((n_trees, n_rows), dtype=bool)
    return np.asarray(~apart | apart.all(axis=0))


def _middle_and_deviation(pooled: Floats, size: Rows) -> tuple[Floats, Floats]:
    """The median of each row's first values, which are in ascending order, and their mean deviation from it."""
    each = np.arange(len(pooled))
    middle = (pooled[each, (size - 1) // 2] + pooled[each, size // 2]) / 2
    within = np.arange(pooled.shape[1]) < size[:, None]
    deviations = np.where(within, np.abs(pooled - middle[:, None]), 0.0)
    # One value after the other, so that the sum does not depend on how long the other rows are.
    return middle, np.add.accumulate(deviations, axis=1)[:, -1] / size
