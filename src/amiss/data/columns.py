"""The columns of a fit, to which those of later tables are matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amiss.data.alignment import aligned_columns, refuse_reordered_index, refuse_unequal_lengths
from amiss.data.convert import are_label_lists
from amiss.data.frames import collected
from amiss.data.output_kinds import Asked, OutputColumn
from amiss.data.payloads import empty_tables, have_no_rows, rows_as_fitted
from amiss.data.predictions import given_columns, predicted_choices, predictions_as_inputs
from amiss.data.records import as_list
from amiss.data.row_roles import (
    LOG_PROBABILITY,
    as_probabilities,
    beside,
    doubts_about,
    log_odds_as_chances,
    log_odds_table,
)
from amiss.data.table import Table
from amiss.data.validation import as_inputs, as_outputs, refuse_unobserved
from amiss.errors import DataError


@dataclass(frozen=True)
class Columns:
    """Names of inputs and outputs, whether the user gave them, and in what form the table came.

    ``label_lists`` says that outputs came as lists of labels, ``from_frame`` that inputs came as a data frame.
    With predictions of the user's (``has_given``), the last inputs hold them: log-odds, one per output, or what
    :mod:`amiss.data.predictions` makes of them. ``kinds`` are those of the outputs; empty if all are 0 or 1.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs_named: bool
    outputs_named: bool
    label_lists: bool
    from_frame: bool
    has_given: bool = False
    kinds: tuple[OutputColumn, ...] = ()

    @property
    def output_columns(self) -> tuple[OutputColumn, ...]:
        """The kind of each output."""
        return self.kinds or tuple(OutputColumn(name) for name in self.outputs)

    @property
    def given(self) -> tuple[int, ...]:
        """The inputs that hold the user's predictions, by position, in the order of the outputs."""
        n_inputs = len(self.inputs)
        if not self.has_given:
            return ()
        if self.kinds:
            return tuple(sorted({place for each in given_columns(self.inputs, self.kinds) for place in each}))
        return tuple(range(n_inputs - len(self.outputs), n_inputs))

    @property
    def own_inputs(self) -> tuple[str, ...]:
        """The inputs that are no predictions of the user's."""
        return self.inputs[: len(self.inputs) - len(self.given)]

    @classmethod
    def of(
        cls, X: Any, Y: Any, probabilities: Any = None, kinds: Asked | None = None
    ) -> tuple[Columns, Table, Table]:
        """The columns of a table to be fitted, and its checked inputs and outputs."""
        X, Y = collected(X), collected(Y)
        outputs = as_outputs(Y, kinds=kinds)
        inputs = _inputs_of(X, probabilities, outputs)
        refuse_unequal_lengths(inputs, outputs)
        refuse_reordered_index(X, Y)
        refuse_unobserved(outputs)
        columns = cls(
            inputs=inputs.names,
            outputs=outputs.names,
            inputs_named=inputs.named,
            outputs_named=outputs.named,
            label_lists=are_label_lists(as_list(Y)),
            from_frame=hasattr(X, "columns"),
            has_given=probabilities is not None,
            kinds=outputs.kinds,
        )
        return columns, inputs, outputs

    def align(self, X: Any, Y: Any, probabilities: Any = None) -> tuple[Table, Table]:
        """Rows of another table, checked, with these columns in their order."""
        X, Y = collected(X), collected(Y)
        X, Y = rows_as_fitted(X, Y, self.own_inputs, self.outputs)
        if have_no_rows(X, Y):
            return empty_tables(self.inputs, self.output_columns)
        if self.has_given and probabilities is None:
            raise DataError("the fit had probabilities of each output; pass those of these rows too")
        if probabilities is not None and not self.has_given:
            raise DataError("the fit had no probabilities; leave them out, or fit again with some")
        outputs = as_outputs(Y, self.outputs, self.label_lists, known=self.output_columns)
        outputs = aligned_columns(outputs, self.outputs, "y", self.outputs_named)
        mine = self.own_inputs
        own = aligned_columns(as_inputs(X), mine, "x", self.inputs_named) if mine else None
        inputs = _inputs_of(own, probabilities, outputs, self.inputs)
        refuse_unequal_lengths(inputs, outputs)
        refuse_reordered_index(X, Y)
        return inputs, outputs

    def doubts_about_given(self, inputs: Table, outputs: Table) -> list[str]:
        """What speaks against the user's predictions, if there are any."""
        if not self.has_given:
            return []
        if self.kinds:
            return doubts_about(*predicted_choices(inputs, outputs))
        return doubts_about(*log_odds_as_chances(inputs.select(self.given), outputs))


def _inputs_of(X: Any, probabilities: Any, outputs: Table, known: Sequence[str] | None = None) -> Table:
    """The inputs of a table, with what the user predicts as the last of them; ``known`` are those of a fit."""
    if probabilities is None:
        return as_inputs(X)
    given, inputs = _given_inputs(probabilities, outputs, known), None
    if X is not None and getattr(X, "shape", (0, 1))[1:] != (0,):  # a table may hold nothing but predictions
        inputs = as_inputs(X)
    if inputs is not None:
        refuse_unequal_lengths(inputs, outputs)
    if len(given) != len(outputs):
        raise DataError(f"there are probabilities of {len(given)} rows, and Y has {len(outputs)}")
    return as_inputs(beside(inputs, given))


def _given_inputs(probabilities: Any, outputs: Table, known: Sequence[str] | None) -> Table:
    if outputs.kinds:
        return predictions_as_inputs(probabilities, outputs, known)
    one_choice = None if known is None else known[-1].startswith(LOG_PROBABILITY)
    return log_odds_table(as_probabilities(probabilities, outputs.names), one_choice)
