"""What a scaling is: a name the user can write, and how it learns from one table and changes later rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from amiss.arrays import Floats, Mask, Matrix
from amiss.encoding.column_scales import ColumnScales
from amiss.encoding.column_statistics import means


@dataclass(frozen=True)  # no fields: two scalings of one class are equal, also after unpickling
class Scaling(ABC):
    """How the encoded columns of the inputs are scaled; holds no data, :class:`ColumnScales` does.

    A class needs ``name``, ``description`` and ``fit``. Most need nothing else.
    """

    name: ClassVar[str]
    description: ClassVar[str]  # a phrase for the help of --scaling
    ranked: ClassVar[bool] = False  # whether values of dense columns are replaced by their ranks

    def fill_values(self, values: Matrix, *, stored_sparse: bool) -> Floats:
        """What replaces a missing value in each column of a table, ``(n_inputs,)``: its mean.

        ``stored_sparse`` says that the table has few non-zeros, and its encoded columns are sparse.
        """
        return means(values)

    @abstractmethod
    def fit(self, columns: Matrix, is_number: Mask, names: Sequence[str]) -> ColumnScales:
        """Learn from the encoded columns, ``(n_rows, n_columns)``, of the rows of the fit.

        ``is_number``, ``(n_columns,)``, is False for categories and indicators; ``names`` are for messages.
        """

    def apply(self, columns: Matrix, scales: ColumnScales, *, overwrite: bool = False) -> Matrix:
        """The scaled columns, ``(n_rows, n_columns)``, of rows of the fit or new rows.

        With ``overwrite`` the columns are no longer needed, and may be where the result is put.
        """
        return scales.apply(columns, overwrite=overwrite)
