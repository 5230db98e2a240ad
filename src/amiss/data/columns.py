"""The columns of a fit, to which those of later tables are matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amiss.data.alignment import aligned_columns, refuse_reordered_index, refuse_unequal_lengths
from amiss.data.convert import are_label_lists
from amiss.data.output_kinds import Asked, OutputColumn
from amiss.data.records import as_list
from amiss.data.row_roles import LOG_PROBABILITY, as_probabilities, beside, log_odds_table
from amiss.data.table import Table
from amiss.data.validation import as_inputs, as_outputs, refuse_unobserved
from amiss.errors import DataError


@dataclass(frozen=True)
class Columns:
    """Names of inputs and outputs, whether the user gave them, and in what form the table came.

    ``label_lists`` says that outputs came as lists of labels, ``from_frame`` that inputs came as a data frame.
    With probabilities of the user's, the last inputs are their log-odds, one per output (``has_given``). ``kinds``
    are those of the outputs; empty if all of them are 0 or 1.
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
        """The inputs that hold given log-odds, by position, in the order of the outputs."""
        n_inputs, n_outputs = len(self.inputs), len(self.outputs)
        return tuple(range(n_inputs - n_outputs, n_inputs)) if self.has_given else ()

    @classmethod
    def of(
        cls, X: Any, Y: Any, probabilities: Any = None, kinds: Asked | None = None
    ) -> tuple[Columns, Table, Table]:
        """The columns of a table to be fitted, and its checked inputs and outputs."""
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
        if self.has_given and probabilities is None:
            raise DataError("the fit had probabilities of each output; pass those of these rows too")
        if probabilities is not None and not self.has_given:
            raise DataError("the fit had no probabilities; leave them out, or fit again with some")
        outputs = as_outputs(Y, self.outputs, self.label_lists, known=self.output_columns)
        outputs = aligned_columns(outputs, self.outputs, "y", self.outputs_named)
        n_own = len(self.inputs) - len(self.given)
        own = aligned_columns(as_inputs(X), self.inputs[:n_own], "x", self.inputs_named) if n_own else None
        one_choice = self.inputs[-1].startswith(LOG_PROBABILITY)
        inputs = _inputs_of(own, probabilities, outputs, one_choice)
        refuse_unequal_lengths(inputs, outputs)
        refuse_reordered_index(X, Y)
        return inputs, outputs


def _inputs_of(X: Any, probabilities: Any, outputs: Table, one_choice: bool | None = None) -> Table:
    """The inputs of a table, with the log-odds of given probabilities as the last of them."""
    if probabilities is None:
        return as_inputs(X)
    given, inputs = as_probabilities(probabilities, outputs.names), None
    if X is not None and getattr(X, "shape", (0, 1))[1:] != (0,):  # a table may hold nothing but predictions
        inputs = as_inputs(X)
    if inputs is not None:
        refuse_unequal_lengths(inputs, outputs)
    if len(given) != len(outputs):
        raise DataError(f"there are probabilities of {len(given)} rows, and Y has {len(outputs)}")
    return as_inputs(beside(inputs, log_odds_table(given, one_choice)))
