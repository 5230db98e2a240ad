"""Label issues, asked for as in cleanlab: change the import, and the call runs.

from amiss import find_label_issues, get_label_quality_scores

What cleanlab's functions of these names take is taken here, with one label per row and with several. A row's score
is that of :class:`~amiss.MCODE` with labels as outputs and your model's probabilities as its view of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Mask
from amiss.bridges.label_arguments import (
    AGGREGATION,
    FILTERS,
    RANKINGS,
    checked_choice,
    checked_counts,
    checked_share,
    have_several,
    label_matrices,
    warn_without_effect,
)
from amiss.data.validation import as_inputs
from amiss.detector import MCODE
from amiss.errors import DataError

LEAST = 1e-6  # a probability of 0 has no log-odds


def find_label_issues(
    labels: Any,
    pred_probs: Any,
    return_indices_ranked_by: str | None = None,
    rank_by_kwargs: Mapping[str, Any] | None = None,
    filter_by: str = "prune_by_noise_rate",
    frac_noise: float = 1.0,
    num_to_remove_per_class: Sequence[int] | None = None,
    min_examples_per_class: int = 1,
    confident_joint: npt.NDArray[Any] | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    low_memory: bool = False,
    *,
    multi_label: bool = False,
    features: Any = None,
) -> npt.NDArray[Any]:
    """Rows whose labels are probably wrong, as cleanlab's functions of this name give them.

    These are the rows that :class:`~amiss.MCODE` flags with ``contamination="auto"``: those that are wrong with a
    chance of over 30 %.

    Parameters
    ----------
    labels : (n_rows,) the class of each row, or one list of classes per row, such as ``[[0, 2], [], [1]]``
        Classes are numbered from 0.
    pred_probs : (n_rows, n_classes) a model's probability of each class, out of sample
        With several labels per row they need not sum to one.
    return_indices_ranked_by : default=None
        With "self_confidence", "normalized_margin" or "confidence_weighted_entropy" the result is the numbers of
        the rows, most severe first. Whichever is named, the order is that of :func:`get_label_quality_scores`.
    frac_noise : float, default=1.0
        Keep only this share of the issues, the most severe ones.
    num_to_remove_per_class : (n_classes,) how many rows of each class to give, the most severe ones
        Only with one label per row; by default, as many as are probably wrong.
    n_jobs : int, default=None
        Number of threads; None is all cores.
    verbose : bool, default=False
        Show progress on standard error.
    multi_label : bool, default=False
        Insist on lists of classes. Without it, their form tells.
    features : array, frame or whatever else MCODE takes as inputs, (n_rows, n_inputs), default=None
        Further inputs, beside the probabilities.
    rank_by_kwargs, filter_by, min_examples_per_class, confident_joint, low_memory
        Taken, so that calls of cleanlab's run. Other values than cleanlab's defaults have no effect, and a warning
        says so.

    Returns
    -------
    (n_rows,) True where there is an issue, or the numbers of these rows

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pred_probs = rng.dirichlet([0.2] * 3, size=300)
    >>> labels = pred_probs.argmax(axis=1)
    >>> labels[17] = pred_probs[17].argmin()
    >>> issues = find_label_issues(labels, pred_probs)
    >>> issues.dtype, issues.shape, bool(issues[17])
    (dtype('bool'), (300,), True)
    >>> int(find_label_issues(labels, pred_probs, return_indices_ranked_by="self_confidence")[0])
    17
    """
    several = multi_label or have_several(labels)
    checked_choice("return_indices_ranked_by", return_indices_ranked_by, (None, *RANKINGS))
    checked_choice("filter_by", filter_by, FILTERS)
    share = checked_share(frac_noise)
    warn_without_effect(
        {
            "rank_by_kwargs": bool(rank_by_kwargs),
            "filter_by": filter_by != FILTERS[0],
            "num_to_remove_per_class": several and num_to_remove_per_class is not None,
            "min_examples_per_class": min_examples_per_class != 1,
            "confident_joint": confident_joint is not None,
            "low_memory": bool(low_memory),
        }
    )
    Y, P = label_matrices(labels, pred_probs, several)
    counts = None
    if num_to_remove_per_class is not None and not several:
        counts = checked_counts(num_to_remove_per_class, P.shape[1])
    detector = _detector(Y, P, features, n_jobs=n_jobs, verbose=verbose)
    scores, issues = detector.decision_scores_, detector.labels_ == 1
    if counts is not None:
        issues = np.any([_most_severe(scores, Y[:, k] == 1, n) for k, n in enumerate(counts)], axis=0)
    issues = _most_severe(scores, issues, int(np.floor(share * issues.sum() + 0.5)))
    if return_indices_ranked_by is None:
        return issues
    ranked = np.argsort(-scores, kind="stable")
    return ranked[issues[ranked]]


def get_label_quality_scores(
    labels: Any,
    pred_probs: Any,
    *,
    method: str = "self_confidence",
    adjust_pred_probs: bool = False,
    aggregator_kwargs: Mapping[str, Any] | None = None,
    multi_label: bool = False,
    features: Any = None,
) -> Floats:
    """How good the labels of each row are, as cleanlab's functions of this name give it.

    It is the chance that the row is right: exp(-score), with the score of :class:`~amiss.MCODE`.

    Parameters
    ----------
    labels, pred_probs, multi_label, features : as in :func:`find_label_issues`
    method, adjust_pred_probs, aggregator_kwargs
        Taken, so that calls of cleanlab's run. Other values than cleanlab's defaults have no effect, and a warning
        says so.

    Returns
    -------
    (n_rows,) from 0 to 1; lower is worse

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pred_probs = rng.uniform(size=(300, 3)) ** 4
    >>> labels = [np.flatnonzero(row > 0.2).tolist() for row in pred_probs]
    >>> labels[17] = [0, 1, 2]
    >>> quality = get_label_quality_scores(labels, pred_probs)
    >>> quality.shape, int(quality.argmin())
    ((300,), 17)
    """
    checked_choice("method", method, RANKINGS)
    warn_without_effect(
        {
            "method": method != RANKINGS[0],
            "adjust_pred_probs": bool(adjust_pred_probs),
            "aggregator_kwargs": bool(aggregator_kwargs) and aggregator_kwargs != AGGREGATION,
        }
    )
    Y, P = label_matrices(labels, pred_probs, multi_label or have_several(labels))
    return np.exp(-_detector(Y, P, features).decision_scores_).clip(0, 1)


def _detector(Y: Floats, P: Floats, features: Any, *, n_jobs: int | None = None, verbose: bool = False) -> MCODE:
    """A detector fitted to labels ``Y`` and a model's probabilities ``P`` of them, both (n_rows, n_classes)."""
    detector = MCODE(contamination="auto", n_jobs=-1 if n_jobs is None else n_jobs, verbose=verbose)
    if features is not None:
        features = as_inputs(features)
        if len(features) != len(Y):
            raise DataError(f"features has {len(features)} rows and labels has {len(Y)}; give the same rows")
    return detector.fit(features, Y, probabilities=P)


def _most_severe(scores: Floats, among: Mask, n: int) -> Mask:
    """The ``n`` rows with the highest scores of those in ``among``; ties are broken by row order."""
    rows = np.flatnonzero(among)
    kept = np.zeros(len(scores), dtype=bool)
    kept[rows[np.argsort(-scores[rows], kind="stable")[:n]]] = True
    return kept
