"""What a detector found, as a frame of pandas, polars or pyarrow.

amiss.row_frame(detector, n=20)      # the ranked list
amiss.cell_frame(detector, n=20)     # which single values to correct
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from sklearn.utils.validation import check_is_fitted

from amiss.detector import MCODE
from amiss.errors import DataError
from amiss.fitted import FittedDetector
from amiss.monitoring.batch import ScoredBatch
from amiss.output.listed import cells_frame, ranked_frame


def row_frame(
    detector: MCODE,
    *,
    batch: ScoredBatch | None = None,
    n: int | None = None,
    ids: Sequence[Any] | None = None,
    reasons: int = 3,
    library: str | None = None,
) -> Any:
    """The ranked list as a frame: rows from most to least unusual, each with the outputs that make its score.

    It has the columns and values that ``amiss find -o found.csv`` writes, but for the lines of a file.

    Parameters
    ----------
    detector : a fitted :class:`~amiss.MCODE`
    batch : what its :meth:`~amiss.MCODE.score_batch` gave, to list these rows; by default, the rows of the fit
    n : how many rows to list; None is all
    ids : what the rows are called, in the order in which the detector was given them; by default the index of the
        pandas frame, unless it only counts them
    reasons : how many outputs each row names
    library : {"pandas", "polars", "pyarrow"}
        By default, the first of these that is installed.

    Returns
    -------
    A pandas or polars DataFrame or a pyarrow Table. ``row`` counts from 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
    >>> Y[17, 1] = 1 - Y[17, 1]
    >>> found = row_frame(MCODE().fit(X, Y), n=5, reasons=1, library="polars")
    >>> found.row(0, named=True)["row"], found["output_1"][0], found["observed_1"][0]
    (18, 'y1', 1)
    """
    if n is not None:
        _check_count("n", n, 0)
    _check_count("reasons", reasons, 1)
    return ranked_frame(_fitted(detector, batch), batch, n, reasons, ids, library)


def cell_frame(
    detector: MCODE,
    *,
    batch: ScoredBatch | None = None,
    n: int | None = None,
    ids: Sequence[Any] | None = None,
    library: str | None = None,
) -> Any:
    """The single outputs of rows as a frame, most suspicious first: which value of which row to correct.

    It has the columns and values that ``amiss find --cells -o cells.csv`` writes, but for the lines of a file. The
    parameters are those of :func:`row_frame`; ``n`` counts cells.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
    >>> Y[17, 1] = 1 - Y[17, 1]
    >>> cells = cell_frame(MCODE().fit(X, Y), n=5, library="polars")
    >>> cells.row(0, named=True)["row"], cells["output"][0], cells["suggested"][0]
    (18, 'y1', 0)
    """
    return cells_frame(_fitted(detector, batch), batch, n, ids, library)


def _fitted(detector: MCODE, batch: ScoredBatch | None) -> FittedDetector:
    check_is_fitted(detector)
    if batch is not None and batch.rows.output_names != detector.output_names_:
        raise DataError("the batch has other outputs than the detector; pass the detector that scored it")
    return detector.fitted_


def _check_count(name: str, number: Any, least: int) -> None:
    if not isinstance(number, Integral) or number < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; got {number!r}")
