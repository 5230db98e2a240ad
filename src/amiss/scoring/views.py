"""What rules that weigh hypotheses know of some rows beside their log-odds and weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from amiss.arrays import Floats, Rows


@dataclass(frozen=True, eq=False)
class Views:
    """Other log-odds of some rows, ``(n_rows, n_outputs)``. For new rows all models are those of the fit.

    Attributes
    ----------
    doubted : given the inputs and the other outputs, mostly by models that saw the row. What such a model does not
        believe even after it was shown the row is doubtful. (No model saw a new row, so a new row is doubted more
        easily.)
    by_inputs : the same given the inputs alone
    held_out : given the inputs alone, by models that did not see the row
    weights : of the outputs by ``by_inputs``, ``(n_outputs,)``, or ``(n_rows, n_outputs)`` where they come from
        each row's neighbourhood
    usual : by what is usual in the table; None where every output is 0 or 1
    """

    doubted: Floats
    by_inputs: Floats
    held_out: Floats
    weights: Floats
    usual: Floats | None = None

    def take(self, rows: Rows | slice) -> Views:
        """The same for some of the rows."""
        return self._each(lambda values: values[rows])

    def repeated(self, times: int) -> Views:
        """The rows one after another, several times."""
        return self._each(lambda values: np.tile(values, (times, 1)))

    def with_rows(self, rows: Rows, others: Views) -> Views:
        """The same with some rows replaced."""
        result = self._each(np.copy)
        for field in fields(self):
            values = getattr(self, field.name)
            if values is not None and values.ndim == 2:
                getattr(result, field.name)[rows] = getattr(others, field.name)
        return result

    def _each(self, change: Callable[[Floats], Floats]) -> Views:
        """The same with all that differs from row to row changed."""
        values = (getattr(self, field.name) for field in fields(self))
        return Views(*(change(each) if each is not None and each.ndim == 2 else each for each in values))
