"""The mean error, 1 - rho, of each output's model on rows it has not seen: what drift is measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.data.fingerprints import duplicated
from amiss.models.fitting import FitResult
from amiss.models.projection import errors
from amiss.wording import count as plural


@dataclass(frozen=True, eq=False)
class ErrorRates:
    """Mean and standard deviation of each output's error, 1 - rho, over the ``count`` rows that show it."""

    mean: Floats
    deviation: Floats
    count: Floats

    def __repr__(self) -> str:
        return f"<ErrorRates: {plural(len(self.mean), 'output')}>"

    @classmethod
    def unknown(cls, n_outputs: int) -> ErrorRates:
        """Of models whose errors on unseen rows nobody knows."""
        return cls(np.full(n_outputs, np.nan), np.full(n_outputs, np.nan), np.zeros(n_outputs))

    @classmethod
    def of(cls, errors: Floats, observed: Mask) -> ErrorRates:
        count = observed.sum(axis=0).astype(np.float64)
        some = np.maximum(count, 1)
        mean = np.where(observed, errors, 0.0).sum(axis=0) / some
        squares = np.where(observed, (errors - mean) ** 2, 0.0).sum(axis=0) / some
        return cls(mean, np.sqrt(squares), count)

    @classmethod
    def out_of_fold(cls, result: FitResult) -> ErrorRates:
        """Of the models of a fit, on the rows outside their folds."""
        rows = result.models.training_rows
        if result.out_of_fold is None:
            return cls.unknown(rows.Y.shape[1])
        # Copies are left out: new rows that are compared with this are not copies of training rows either.
        single = ~np.isnan(rows.Y) & ~duplicated(rows.fingerprints)[:, None]
        return cls.of(errors(result.out_of_fold, result.models.coded(rows.Y)), single)
