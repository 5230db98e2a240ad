"""Outputs that are tied by definition: one-hot classes, "none of these", copies.

Such outputs predict each other perfectly, so a model that sees one of them cannot find an error that was made in
both. :func:`find_ties` finds them in the outputs of a table, so that a user can be told of them.

Of a *class*, outputs of which nearly every row has exactly one, only one can be right. Its outputs are hidden from
each other (:class:`~amiss.models.parents.Untied`), and their probabilities are those of one choice among them:
with log-odds l_j of models that do not see each other,

    P(y_i = 1) = exp(l_i) / Σ_j exp(l_j),   log-odds_i = l_i - log Σ_{j ≠ i} exp(l_j)

A category above some of a class is hidden from its outputs, and they from it. "None of these" follows from all
other outputs, so it sees them, but they do not see it.

Other copies and categories with the one above them stay visible to each other: where they contradict each other
one of them is wrong. Whoever errs in one of them by judgement errs in all of them, so they are doubted by the
models of the inputs alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask

FEWEST_IN_CLASS = 3
EXACTLY_ONE = 0.87  # of the rows, and of those without the commonest one: people choose two, or none, by mistake
# Two outputs of a class occur together in at most this share of the rarer one's rows, or of what chance gives.
TOGETHER, APART = 0.15, 0.5
SELDOM = 0.9  # times as often as by chance do outputs of a class meet
MOSTLY_ALONE = 0.5  # of the rows with an output of a class, at least so many have no other of it
SAME = 0.99  # of the rows, and of the rarer value: copies differ by errors only
FEWEST_APART = 10.0  # rows with one output and without another that it implies, if chance had its way
MOST_PROBABLE = 30.0  # log-odds


@dataclass(frozen=True)
class Ties:
    """Outputs that follow from each other, by their positions.

    ``classes`` are groups of which nearly every row has exactly one, ``copies`` pairs that nearly always agree,
    ``opposites`` outputs that are 1 where all others are 0 ("none of these"), ``implications`` pairs of which the
    first is 1 only where the second is (a category and the one above it).
    """

    classes: tuple[tuple[int, ...], ...] = ()
    copies: tuple[tuple[int, int], ...] = ()
    opposites: tuple[int, ...] = ()
    implications: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.classes or self.copies or self.opposites or self.implications)

    def visible(self, n_outputs: int) -> Mask:
        """``[j, i]`` says whether the model of output i may see output j."""
        visible = ~np.eye(n_outputs, dtype=bool)
        for group in self.classes:
            hidden = [*group, *self.above(group)]
            visible[np.ix_(hidden, hidden)] = False
        visible[list(self.opposites)] = False
        return visible

    def above(self, group: tuple[int, ...]) -> tuple[int, ...]:
        """The categories above outputs of a group that are not of it."""
        return tuple(sorted({j for i, j in self.implications if i in group and j not in group}))

    def defined(self, n_outputs: int) -> Mask:
        """Which outputs follow from others, or others from them, but are of no class."""
        tied = np.zeros(n_outputs, dtype=bool)
        tied[list(self.opposites)] = True
        tied[[output for pair in (*self.copies, *self.implications) for output in pair]] = True
        tied[[output for group in self.classes for output in group]] = False
        return tied

    def repeated(self, Y: Floats) -> Mask:
        """Which outputs say nothing about whether a row is empty that others do not say.

        A category above others is empty where they are, if it has no rows of its own; if it has, they repeat it.
        """
        repeated = np.zeros(Y.shape[1], dtype=bool)
        repeated[[j for _, j in self.copies]] = True
        for above, below in _below(self.implications).items():
            repeated[above if _covered(Y, above, below) else below] = True
        return repeated

    def normalised(self, log_odds: Floats) -> Floats:
        """Log-odds with those of each class made to be of one choice among its outputs.

        >>> Ties(classes=((0, 1, 2),)).normalised(np.log([[2.0, 1.0, 1.0]])).round(3)
        array([[ 0.   , -1.099, -1.099]])
        """
        if not self.classes:
            return log_odds
        result = log_odds.copy()
        for group in self.classes:
            mine = log_odds[:, group]
            share = mine - np.logaddexp.reduce(mine, axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                odds = share - np.log(-np.expm1(share))
            result[:, group] = np.clip(odds, -MOST_PROBABLE, MOST_PROBABLE)
        return result

    def named(self, names: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
        """What is tied, as a kind and the names of the outputs."""
        return [
            *(("class", tuple(names[i] for i in group)) for group in self.classes),
            *(("copies", (names[i], names[j])) for i, j in self.copies),
            *(("none of the others", (names[i],)) for i in self.opposites),
            *(("implies", (names[i], names[j])) for i, j in self.implications),
        ]


NO_TIES = Ties()


def find_ties(Y: Floats) -> Ties:
    """The ties among the outputs of a table; rows with missing outputs have no say.

    >>> find_ties(np.repeat(np.eye(4), 20, axis=0)).classes
    ((0, 1, 2, 3),)
    >>> bool(find_ties(np.random.default_rng(0).integers(0, 2, (200, 4)).astype(float)))
    False
    """
    complete = Y[~np.isnan(Y).any(axis=1)]
    if len(complete) < 20 or Y.shape[1] < 2:
        return Ties()
    ones = complete.sum(axis=0)
    both = complete.T @ complete
    implications = _implications(len(complete), ones, both)
    unions = {above for above, below in _below(implications).items() if _covered(complete, above, below)}
    classes = _classes(complete, ones, both, unions)
    in_class = {output for group in classes for output in group}
    opposites = () if classes else _opposites(complete, ones)
    taken = in_class | set(opposites)
    copies = _copies(len(complete), ones, both, taken)
    taken |= {output for pair in copies for output in pair}
    implications = tuple((i, j) for i, j in implications if j not in taken and i not in taken - in_class)
    return Ties(classes, copies, opposites, implications)


def _classes(Y: Floats, ones: Floats, both: Floats, without: set[int]) -> tuple[tuple[int, ...], ...]:
    """Groups of outputs that exclude each other and of which nearly every row has one, the commonest first.

    Outputs in ``without`` are not looked at: the union of some of a class is no alternative to the others.
    """
    n_rows = len(Y)
    rarer = np.maximum(np.minimum(ones[:, None], ones[None, :]), 1)
    exclude = (both <= TOGETHER * rarer) | (both <= APART * np.outer(ones, ones) / n_rows)
    order = [int(i) for i in np.argsort(-ones, kind="stable")]
    left, found = [i for i in order if 0 < ones[i] < n_rows and i not in without], []
    if _is_class(Y, left):  # people who choose two of a class by mistake make its outputs exclude each other less
        return (tuple(sorted(left)),)
    while len(left) >= FEWEST_IN_CLASS and ones[left].sum() >= EXACTLY_ONE * n_rows:
        group = _pruned(Y, _grown(left, exclude))
        if _is_class(Y, group):
            found.append(tuple(sorted(group)))
            left = [output for output in left if output not in group]
        else:
            left = left[1:]
    return tuple(found)


def _is_class(Y: Floats, group: list[int]) -> bool:
    """Whether nearly every row has exactly one.

    If one output is very common, say "none of these", that says little of the others. So it has to hold among the
    rows without the commonest output, the first, too, and the others have to meet less often than by chance.
    """
    if len(group) < FEWEST_IN_CLASS:
        return False
    exactly_one, rest = Y[:, group].sum(axis=1) == 1, Y[:, group[0]] == 0
    if not (exactly_one.mean() >= EXACTLY_ONE and exactly_one[rest].mean() >= EXACTLY_ONE):
        return False
    others = Y[:, group[1:]]
    ones, total = others.sum(axis=0), others.sum(axis=1)
    met, by_chance = (total**2 - total).sum(), (ones.sum() ** 2 - (ones**2).sum()) / len(Y)
    return bool(met <= SELDOM * by_chance)


def _grown(outputs: list[int], exclude: Mask) -> list[int]:
    """The first output, and whichever of the others exclude it and each other."""
    group = outputs[:1]
    for output in outputs[1:]:
        if exclude[output, group].all():
            group.append(output)
    return group


def _pruned(Y: Floats, group: list[int]) -> list[int]:
    """The group without outputs that mostly come with another one of it: a rare output is seldom met by chance."""
    mine = Y[:, group]
    ones, total = mine.sum(axis=0), mine.sum(axis=1)
    left = np.arange(len(group))
    while len(left) >= FEWEST_IN_CLASS and ones[left].sum() >= EXACTLY_ONE * len(Y):
        alone = (total == 1).astype(np.float64) @ mine
        worst = int(np.argmin(alone[left] / ones[left]))
        if alone[left[worst]] >= MOSTLY_ALONE * ones[left[worst]]:
            break
        total = total - mine[:, left[worst]]
        left = np.delete(left, worst)
    return [group[place] for place in left]


def _opposites(Y: Floats, ones: Floats) -> tuple[int, ...]:
    """The output that is 1 just where no other output is; the commonest, for rare ones are so by chance."""
    if Y.shape[1] < FEWEST_IN_CLASS:
        return ()
    total = Y.sum(axis=1)
    found = [
        output
        for output in range(Y.shape[1])
        if _agree(Y[:, output], (total - Y[:, output] == 0).astype(float)) and 0 < ones[output] < len(Y)
    ]
    return (max(found, key=lambda output: ones[output]),) if found else ()


def _agree(first: Floats, second: Floats) -> bool:
    n_different = np.abs(first - second).sum()
    rarer = min(first.sum(), second.sum(), len(first) - first.sum(), len(second) - second.sum())
    return bool(rarer > 0 and n_different <= (1 - SAME) * min(len(first), 10 * rarer))


def _implications(n_rows: int, ones: Floats, both: Floats) -> tuple[tuple[int, int], ...]:
    """Pairs of outputs of which the first comes with the second in nearly every row that has it.

    By chance some rows with the first would be without the second; so few rows prove nothing.
    """
    apart = ones[:, None] * (1 - ones[None, :] / n_rows)
    implied = (both >= SAME * ones[:, None]) & (apart >= FEWEST_APART) & (ones[None, :] > 1.1 * ones[:, None])
    return tuple((int(i), int(j)) for i, j in zip(*np.nonzero(implied), strict=True))


def _below(implications: tuple[tuple[int, int], ...]) -> dict[int, list[int]]:
    """The outputs below each category."""
    below: dict[int, list[int]] = {}
    for output, above in implications:
        below.setdefault(above, []).append(output)
    return below


def _covered(Y: Floats, above: int, below: list[int]) -> bool:
    """Whether a category has hardly any rows that no output below it has."""
    own = ~(Y[Y[:, above] == 1][:, below] == 1).any(axis=1)
    return bool(own.sum() <= (1 - SAME) * len(own))


def _copies(n_rows: int, ones: Floats, both: Floats, taken: set[int]) -> tuple[tuple[int, int], ...]:
    """Pairs of outputs that agree in nearly all rows."""
    different = ones[:, None] + ones[None, :] - 2 * both
    rarer = np.minimum(ones, n_rows - ones)
    few = np.minimum(n_rows, 10 * np.minimum(rarer[:, None], rarer[None, :]))
    same = np.triu((different <= (1 - SAME) * few) & (few > 0), 1)
    pairs = [(int(i), int(j)) for i, j in zip(*np.nonzero(same), strict=True)]
    return tuple(pair for pair in pairs if not taken & set(pair))
