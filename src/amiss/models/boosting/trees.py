"""Boosted trees of all outputs as flat arrays: log-odds, and what each column adds to them.

The log-odds of output i are ``base[i]`` plus the sum, over the trees of i, of the value of the leaf that the row
falls into. A row z = [x, y] goes left at a node if ``z[feature] <= threshold``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Matrix
from amiss.models.boosting.shapley import Leaves, shapley_values
from amiss.models.conditional import Attribution, LinearModel, row_of
from amiss.wording import count

BLOCK_CELLS = 1 << 20  # rows times trees that are walked down at once

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Trees on Z = [x, y].

    Attributes
    ----------
    base : (n_outputs,) the log-odds before any tree
    first_trees : (n_outputs + 1,) output i has the trees ``first_trees[i]`` to ``first_trees[i + 1]``
    roots : (n_trees,) the node where each tree begins
    feature : (n_nodes,) the column that a node splits; -1 in a leaf
    threshold : (n_nodes,) rows up to this value go left; infinite in a leaf
    left, right : (n_nodes,) the nodes below, which have higher numbers; a leaf points to itself
    value : (n_nodes,) what a leaf adds; in other nodes the mean over the training rows that passed it
    cover : (n_nodes,) how many training rows passed a node
    """

    base: Floats
    first_trees: Nodes
    roots: Nodes
    feature: Nodes
    threshold: Floats
    left: Nodes
    right: Nodes
    value: Floats
    cover: Floats

    def __repr__(self) -> str:
        return f"<BoostedTrees: {count(len(self.roots), 'tree')} of {count(len(self.base), 'output')}>"

    @cached_property
    def depth(self) -> int:
        """How many splits a row passes at most."""
        depths = np.zeros(len(self.feature), dtype=np.intp)
        for node in np.flatnonzero(self.feature >= 0):  # children have higher numbers
            depths[self.left[node]] = depths[self.right[node]] = depths[node] + 1
        return int(depths.max(initial=0))

    def log_odds(self, inputs: Matrix, outputs: Floats) -> Floats:
        result = np.tile(self.base, (len(outputs), 1))
        for rows, added in self._added(inputs, outputs):
            for i, (first, last) in enumerate(zip(self.first_trees, self.first_trees[1:], strict=False)):
                if last > first:
                    # One tree after the other, so that the sum does not depend on how many rows there are.
                    result[rows, i] += np.add.accumulate(added[first:last], axis=0)[-1]
        return result

    def stages(self, inputs: Matrix, outputs: Floats) -> Floats:
        """Log-odds of the only output with no tree, one tree, and so on, ``(n_trees + 1, n_rows)``."""
        result = np.full((len(self.roots) + 1, len(outputs)), self.base[0])
        for rows, added in self._added(inputs, outputs):
            result[1:, rows] += np.add.accumulate(added, axis=0)
        return result

    def as_linear(self, n_inputs: int) -> LinearModel | None:
        return None

    def attribution(self, inputs: Matrix, outputs: Floats, output: int, average: Floats) -> Attribution:
        trees = slice(self.first_trees[output], self.first_trees[output + 1])
        row = row_of(inputs, outputs)
        added = shapley_values(self._leaves(output), row) if trees.stop > trees.start else np.zeros(len(row))
        return Attribution(float(self.base[output] + self.value[self.roots[trees]].sum()), added)

    def first(self, n_trees: int) -> BoostedTrees:
        """The same with the first trees of the only output."""
        roots = self.roots[:n_trees]
        end = int(self.roots[n_trees]) if n_trees < len(self.roots) else len(self.feature)
        return BoostedTrees(
            base=self.base,
            first_trees=np.array([0, len(roots)], dtype=np.int32),
            roots=roots,
            feature=self.feature[:end],
            threshold=self.threshold[:end],
            left=self.left[:end],
            right=self.right[:end],
            value=self.value[:end],
            cover=self.cover[:end],
        )

    def _leaves(self, output: int) -> Leaves:
        if output not in self._known_leaves:
            roots = self.roots[self.first_trees[output] : self.first_trees[output + 1]]
            nodes = self.feature, self.threshold, self.left, self.right, self.value, self.cover
            self._known_leaves[output] = Leaves.of(roots, *nodes)
        return self._known_leaves[output]

    @cached_property
    def _known_leaves(self) -> dict[int, Leaves]:
        return {}

    def _added(self, inputs: Matrix, outputs: Floats) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows, and what each tree adds to their log-odds, ``(n_trees, n_rows)``."""
        if not len(self.roots):
            return
        step = max(1, BLOCK_CELLS // len(self.roots))
        for start in range(0, len(outputs), step):
            rows = slice(start, min(start + step, len(outputs)))
            block = inputs[rows].toarray() if sparse.issparse(inputs) else inputs[rows]
            yield rows, self.value[self._reached(np.hstack([block, outputs[rows]]))]

    def _reached(self, Z: Floats) -> Nodes:
        """The leaf of each tree that each row falls into, ``(n_trees, n_rows)``."""
        node = np.repeat(self.roots[:, None], len(Z), axis=1)
        columns, each = np.ascontiguousarray(Z.T), np.arange(len(Z))
        for _ in range(self.depth):
            below = columns[self.feature[node], each] <= self.threshold[node]
            node = np.where(below, self.left[node], self.right[node])
        return node


def joined(parts: Sequence[BoostedTrees]) -> BoostedTrees:
    """Trees of several outputs as one."""
    nodes = np.cumsum([0, *(len(part.feature) for part in parts)])
    trees = np.cumsum([0, *(len(part.roots) for part in parts)])
    shifted = list(zip(parts, nodes, strict=False))
    ends = [part.first_trees[1:] + shift for part, shift in zip(parts, trees, strict=False)]
    return BoostedTrees(
        base=np.concatenate([part.base for part in parts]),
        first_trees=np.concatenate([[0], *ends]).astype(np.int32),
        roots=np.concatenate([part.roots + shift for part, shift in shifted]).astype(np.int32),
        feature=np.concatenate([part.feature for part in parts]),
        threshold=np.concatenate([part.threshold for part in parts]),
        left=np.concatenate([part.left + shift for part, shift in shifted]).astype(np.int32),
        right=np.concatenate([part.right + shift for part, shift in shifted]).astype(np.int32),
        value=np.concatenate([part.value for part in parts]),
        cover=np.concatenate([part.cover for part in parts]),
    )


def constant(log_odds: float) -> BoostedTrees:
    """No tree at all, for one output."""
    nodes, numbers = np.empty(0, dtype=np.int32), np.empty(0)
    first_trees = np.zeros(2, dtype=np.int32)
    return BoostedTrees(np.array([log_odds]), first_trees, nodes, nodes, numbers, nodes, nodes, numbers, numbers)
