"""The columns of a fit, to which those of later tables are matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amiss.data.alignment import aligned_columns, refuse_reordered_index, refuse_unequal_lengths
from amiss.data.convert import are_label_lists
from amiss.data.table import Table
from amiss.data.validation import as_inputs, as_outputs, refuse_unobserved


@dataclass(frozen=True)
class Columns:
    """Names of inputs and outputs, whether the user gave them, and in what form the table came.

    ``label_lists`` says that outputs came as lists of labels, ``from_frame`` that inputs came as a data frame.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs_named: bool
    outputs_named: bool
    label_lists: bool
    from_frame: bool

    @classmethod
    def of(cls, X: Any, Y: Any) -> tuple[Columns, Table, Table]:
        """The columns of a table to be fitted, and its checked inputs and outputs."""
        inputs, outputs = as_inputs(X), as_outputs(Y)
        refuse_unequal_lengths(inputs, outputs)
        refuse_reordered_index(X, Y)
        refuse_unobserved(outputs)
        columns = cls(
            inputs=inputs.names,
            outputs=outputs.names,
            inputs_named=inputs.named,
            outputs_named=outputs.named,
            label_lists=are_label_lists(Y),
            from_frame=hasattr(X, "columns"),
        )
        return columns, inputs, outputs

    def align(self, X: Any, Y: Any) -> tuple[Table, Table]:
        """Rows of another table, checked, with these columns in their order."""
        inputs = aligned_columns(as_inputs(X), self.inputs, "x", self.inputs_named)
        outputs = as_outputs(Y, self.outputs, self.label_lists)
        outputs = aligned_columns(outputs, self.outputs, "y", self.outputs_named)
        refuse_unequal_lengths(inputs, outputs)
        refuse_reordered_index(X, Y)
        return inputs, outputs
