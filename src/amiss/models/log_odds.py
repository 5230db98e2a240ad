"""Log-odds of the rows of a fit, by models that saw a row and by models that did not, and averages of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.data.fingerprints import Fingerprints
from amiss.models.conditional import Fit
from amiss.models.folds import averaged_over_copies
from amiss.models.ties import Ties


@dataclass(frozen=True, eq=False)
class LogOdds:
    """Log-odds of the training rows, ``(n_rows, n_outputs)``, by models that saw a row and by models that did not.

    In averages of both, ``shown`` stand for the former. They are normalised by ``ties`` after they are mixed, as
    those of one model are.
    """

    by_seeing: Floats
    by_not_seeing: Floats | None
    ties: Ties
    shown: Floats

    @classmethod
    def of(cls, fit: Fit, ties: Ties, fingerprints: Fingerprints, in_company: Mask) -> LogOdds:
        """Of a fit; rows ``in_company`` are judged by models that saw none of their group."""
        held_out, shown = fit.out_of_fold, fit.in_sample
        if held_out is not None:
            held_out = averaged_over_copies(held_out, fingerprints)
            if fit.shown is not None:
                shown = averaged_over_copies(fit.shown, fingerprints)
            if in_company.any():
                shown = np.where(in_company[:, None], held_out, shown)
        return cls(fit.in_sample, held_out, ties, shown)

    @property
    def out_of_fold(self) -> Floats | None:
        return None if self.by_not_seeing is None else self.mixed(1)

    def mixed(self, share: float) -> Floats:
        """In-sample (0), out-of-fold (1), or an average in which the latter have this share."""
        if share == 0:
            return self.ties.normalised(self.by_seeing)
        if self.by_not_seeing is None:
            raise ValueError("the models were fitted without folds; fit them again with this crossfit")
        if share == 1:
            return self.ties.normalised(self.by_not_seeing)
        return self.ties.normalised((1 - share) * self.shown + share * self.by_not_seeing)
