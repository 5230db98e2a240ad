"""Scored rows: one type for rows of the fit and for new rows. Lists, reports and explanations are made from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from amiss.arrays import Floats, Mask, Rows, read_only
from amiss.data.output_kinds import NewLevels, OutputColumn, Value
from amiss.errors import DataError
from amiss.models.mixed.layout import coded
from amiss.models.projection import log_rho, rho
from amiss.scoring.forecast import Forecast
from amiss.scoring.hypotheses import judged_by_inputs
from amiss.scoring.rules import scores
from amiss.scoring.views import Views
from amiss.wording import count


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows and what makes their scores, in the order in which they were given.

    Attributes
    ----------
    output_names : the outputs
    Y : (n_rows, n_outputs) the observed values, NaN where one is missing
    log_odds : (n_rows, n_outputs) of a 1, by the models; of outputs of other kinds, of what was observed
    weights : (n_outputs,), or (n_rows, n_outputs) where they come from each row's neighbourhood
    contributions : (n_rows, n_outputs) what each output adds to the score
    included : (n_outputs,) which outputs count in the score
    training_match : (n_rows,) the row of the fit that is the same, or -1; rows of the fit match themselves
    views : other log-odds, of the inputs alone among them; None for rules that weigh no hypotheses
    odds : (n_rows, n_kinds) odds of each kind of error (:data:`amiss.scoring.hypotheses.KINDS`) against none; None
        for rules that weigh no hypotheses
    wrong : (n_rows, n_outputs) the probability that each output is wrong, by the hypotheses; None without them
    forecast : what the models expect of each output; None where every output is 0 or 1
    new_levels : levels that the fit had not, by output and row
    columns : (n_outputs,) the kind of each output
    probabilities : (n_rows, n_outputs) the probability of each observed value (the paper's rho), NaN if missing
    coded : (n_rows, n_outputs) outputs as ``log_odds`` mean them: 1 where these are of what was observed
    scores : (n_rows,) higher is more unusual
    counted : (n_rows, n_outputs) which outputs count in a row's score: those observed and not left out
    is_new : (n_rows,) which rows were not in the fit, as far as that is known
    """

    output_names: tuple[str, ...]
    Y: Floats
    log_odds: Floats
    weights: Floats
    contributions: Floats
    included: Mask
    training_match: Rows
    views: Views | None = None
    odds: Floats | None = None
    wrong: Floats | None = None
    forecast: Forecast | None = None
    new_levels: NewLevels = field(default_factory=dict)

    def __post_init__(self) -> None:
        read_only(self.log_odds, self.weights, self.contributions, self.training_match)

    def __len__(self) -> int:
        return len(self.contributions)

    def __repr__(self) -> str:
        return f"<ScoredRows: {count(len(self), 'row')}, {count(len(self.output_names), 'output')}>"

    @cached_property
    def scores(self) -> Floats:
        found = scores(self.contributions)
        read_only(found)
        return found

    @cached_property
    def columns(self) -> tuple[OutputColumn, ...]:
        if self.forecast is not None:
            return self.forecast.layout.columns
        return tuple(OutputColumn(name) for name in self.output_names)

    def observed_value(self, row: int, output: int) -> Value:
        """What stands in an output of a row, for a program; None if it is missing."""
        new = self.new_levels.get(output, {}).get(row)
        return self.columns[output].plain(self.Y[row, output]) if new is None else new

    @cached_property
    def probabilities(self) -> Floats:
        found = self.probabilities_of(slice(None))
        read_only(found)
        return found

    def probabilities_of(self, rows: Rows | slice | int) -> Floats:
        """The probabilities of some rows only: those of all are another matrix of the size of the outputs."""
        Y = self.Y[rows]
        if self.forecast is not None:
            Y = coded(np.atleast_2d(Y), self.columns).reshape(Y.shape)
        return np.where(np.isnan(Y), np.nan, rho(self.log_odds[rows], Y))

    def judged_probabilities_of(self, rows: Rows | slice | int) -> Floats:
        """The probabilities of some rows by the models that see each row's kind of error.

        These are the numbers that lists, cells, explanations and reports show.
        """
        found = self.probabilities_of(rows)
        if self.views is None or self.odds is None:
            return found
        Y = self.Y[rows]
        if self.forecast is not None:
            Y = coded(np.atleast_2d(Y), self.columns).reshape(Y.shape)
        alone = np.where(np.isnan(Y), np.nan, rho(self.views.by_inputs[rows], Y))
        return np.where(judged_by_inputs(self.odds[rows])[..., None], alone, found)

    @property
    def coded(self) -> Floats:
        return self.Y if self.forecast is None else coded(self.Y, self.columns)

    @property
    def mean_log_probability(self) -> float:
        """The mean log-probability of the observed outputs."""
        if not self.observed.any():
            raise DataError("every output of these rows is missing, so there is nothing to score")
        return float(log_rho(self.log_odds, self.coded)[self.observed].mean())

    @property
    def observed(self) -> Mask:
        return ~np.isnan(self.Y)

    @property
    def counted(self) -> Mask:
        return self.observed & self.included

    @property
    def is_new(self) -> Mask:
        return np.asarray(self.training_match < 0)

    def weights_of(self, rows: Rows | int) -> Floats:
        """The weights of some rows; those of all rows are the same for each."""
        return self.weights if self.weights.ndim == 1 else self.weights[rows]
