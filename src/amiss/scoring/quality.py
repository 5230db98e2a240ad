"""How good each output's model is, so that a user can decide whether to trust it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask, average_ranks
from amiss.data.output_kinds import BINARY, OutputColumn
from amiss.models.projection import errors, log_rho
from amiss.threads import LARGE_BLOCK, in_large_blocks, in_order, summed
from amiss.wording import count, printable

OF_TAGS = ("prevalence", "auc", "base_log_loss")


@dataclass(frozen=True, eq=False)
class OutputQuality:
    """One entry per output in every field.

    Attributes
    ----------
    prevalence : share of ones among the observed values
    strength : the L2 strength chosen (NaN for models without one)
    converged : whether the fit at that strength converged
    mean_error : mean of 1 - rho
    brier : mean of (1 - rho)²
    log_loss, base_log_loss : mean of -log rho, and the same for the base rate alone
    skill : 1 - log_loss / base_log_loss; 0 is no better than the base rate, 1 is perfect
    auc : area under the ROC curve (NaN for an output with one value only)
    weight : weight in the score (for "flip" the inverse of the mean error, which limits what it can add); for
        local weights their mean
    excluded : whether the output is left out of the score
    kind : the kind of each output

    Of outputs other than tags, ``prevalence``, ``auc`` and ``base_log_loss`` are NaN, error and loss are of the
    value that was observed, and the skill of counts and numbers is 1 - mean absolute error / that of the median.
    """

    name: tuple[str, ...]
    observed: npt.NDArray[np.intp]
    prevalence: Floats
    strength: Floats
    converged: Mask
    mean_error: Floats
    brier: Floats
    log_loss: Floats
    base_log_loss: Floats
    skill: Floats
    auc: Floats
    weight: Floats
    excluded: Mask
    kind: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.name)

    def __repr__(self) -> str:
        return f"<OutputQuality: {count(len(self), 'output')}, mean skill {self.skill.mean():.3f}>"

    def __getitem__(self, output: str | int) -> dict[str, Any]:
        """Everything about one output, by name or number."""
        position = self.name.index(output) if isinstance(output, str) else output
        return {column: values[position] for column, values in self.to_dict().items()}

    def to_dict(self) -> dict[str, list[Any]]:
        """Column name to plain list: what any data frame library takes."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(getattr(values, "tolist", lambda v=values: list(v))()) for name, values in columns.items()
        }

    def __str__(self) -> str:
        of_kinds = any(kind != BINARY.name for kind in self.kind)
        head = ("output", *["kind"] * of_kinds, "ones", "strength", "error", "brier", "skill", "auc", "weight", "")
        rows: list[tuple[str, ...]] = [head]
        for i, name in enumerate(self.name):
            remarks = ["excluded"] * bool(self.excluded[i]) + ["not converged"] * (not self.converged[i])
            numbers = (self.mean_error, self.brier, self.skill, self.auc)
            rows.append(
                (
                    printable(name, 30),
                    *([self.kind[i]] if of_kinds else []),
                    _told(self.prevalence[i], ".3f"),
                    _told(self.strength[i], "g"),
                    *(_told(values[i], ".3f") for values in numbers),
                    f"{self.weight[i]:.2f}",
                    ", ".join(remarks),
                )
            )
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        lines = []
        for row in rows:
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
            lines.append("  ".join([*cells, row[-1]]).rstrip())
        return "\n".join(lines)


def _told(value: float, digits: str) -> str:
    """A figure, or nothing where there is none."""
    return "" if np.isnan(value) else f"{value:{digits}}"


def skills(
    log_odds: Floats, Y: Floats, observed: Mask, n_jobs: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Log-loss, the base rate's log-loss and the skill of each output.

    The base rate is smoothed, (ones + 1/2) / (rows + 1), so a constant output has skill too.
    """

    def work(rows: slice) -> tuple[Floats, ...]:
        seen, y = observed[rows], Y[rows]
        lost = np.where(seen, log_rho(log_odds[rows], y), 0.0).sum(axis=0)
        return seen.sum(axis=0), np.where(seen, y, 0.0).sum(axis=0), lost

    count, ones, lost = summed(in_large_blocks(len(Y), work, n_jobs))
    count = np.maximum(count, 1)
    loss = -lost / count
    rate = (ones + 0.5) / (count + 1.0)
    base = -(ones * np.log(rate) + (count - ones) * np.log1p(-rate)) / count
    return loss, base, 1.0 - loss / base


def output_quality(
    names: tuple[str, ...],
    strength: Floats,
    converged: Mask,
    log_odds: Floats,
    Y: Floats,
    observed: Mask,
    weights: Floats,
    included: Mask,
    n_jobs: int | None = None,
) -> OutputQuality:
    """Quality of every output by the log-odds that make its score."""

    def work(rows: slice) -> tuple[Floats, ...]:
        seen = observed[rows]
        error = np.where(seen, errors(log_odds[rows], Y[rows]), 0.0)
        ones = np.where(seen, Y[rows], 0.0).sum(axis=0)
        return seen.sum(axis=0), ones, error.sum(axis=0), (error**2).sum(axis=0)

    def auc(i: int) -> float:
        seen = observed[:, i]
        return _auc(log_odds[seen, i], Y[seen, i])

    n_observed, ones, error, squared = summed(in_large_blocks(len(Y), work, n_jobs))
    count = np.maximum(n_observed, 1)
    loss, base, skill = skills(log_odds, Y, observed, n_jobs)
    return OutputQuality(
        name=names,
        kind=(BINARY.name,) * len(names),
        observed=n_observed,
        prevalence=ones / count,
        strength=strength,
        converged=converged,
        mean_error=error / count,
        brier=squared / count,
        log_loss=loss,
        base_log_loss=base,
        skill=skill,
        auc=np.array(list(in_order(auc, range(len(names)), n_jobs if len(Y) > LARGE_BLOCK else None))),
        weight=np.atleast_2d(weights).mean(axis=0),
        excluded=~included,
    )


def of_kinds(quality: OutputQuality, columns: tuple[OutputColumn, ...], skill: Floats) -> OutputQuality:
    """The same for outputs of several kinds, with their ``skill``."""
    tags = np.array([column.kind is BINARY for column in columns])
    of_tags: dict[str, Any] = {name: np.where(tags, getattr(quality, name), np.nan) for name in OF_TAGS}
    return replace(quality, skill=skill, kind=tuple(column.kind.name for column in columns), **of_tags)


def _auc(log_odds: Floats, y: Floats) -> float:
    """Chance that a one is given higher odds than a zero, ties counting half.

    Our own, because importing sklearn.metrics takes longer than fitting a small table.
    """
    ones = int(y.sum())
    if ones in (0, len(y)):
        return float("nan")
    ranks = average_ranks(log_odds)
    return float((ranks[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones)))
