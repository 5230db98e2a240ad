"""Calls as cleanlab's documentation shows them: both libraries answer with the same kind of thing."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import amiss

RANKINGS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
WRONG = [3, 40, 77, 111]


def one_label(n_rows=160, n_classes=4, seed=0):
    """A class per row, and a model's probabilities; the classes of some rows are wrong."""
    rng = np.random.default_rng(seed)
    pred_probs = rng.dirichlet([0.15] * n_classes, size=n_rows)
    labels = pred_probs.argmax(axis=1)
    labels[WRONG] = pred_probs[WRONG].argmin(axis=1)
    return labels, pred_probs


def several_labels(n_rows=160, n_classes=4, seed=0):
    """Any number of classes per row; in some rows all of them are the other way round."""
    rng = np.random.default_rng(seed)
    pred_probs = rng.beta(0.2, 0.2, size=(n_rows, n_classes))
    Y = pred_probs > 0.5
    Y[WRONG] = ~Y[WRONG]
    return [np.flatnonzero(row).tolist() for row in Y], pred_probs


@pytest.fixture(scope="module")
def cleanlab():
    filters = pytest.importorskip("cleanlab.filter", reason="cleanlab is not installed (extra bench)")
    from cleanlab import multilabel_classification, rank

    return {
        ("find_label_issues", False): filters.find_label_issues,
        ("find_label_issues", True): multilabel_classification.filter.find_label_issues,
        ("get_label_quality_scores", False): rank.get_label_quality_scores,
        ("get_label_quality_scores", True): multilabel_classification.get_label_quality_scores,
    }


def answers(cleanlab, name, several, *given, **asked):
    """What cleanlab and amiss answer to the same call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cleanlab[name, several](*given, **asked)
    return theirs, getattr(amiss, name)(*given, **asked)


def assert_alike(theirs, ours, n_rows):
    assert isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray)
    assert (ours.dtype, ours.ndim) == (theirs.dtype, theirs.ndim)
    if ours.dtype.kind == "i":
        assert len(set(ours.tolist())) == len(ours) <= n_rows and ours.max(initial=0) < n_rows
    else:
        assert ours.shape == theirs.shape == (n_rows,)
    if ours.dtype.kind == "f":
        assert ours.min() >= 0 and ours.max() <= 1


FIND = [
    {},
    {"n_jobs": 1},
    {"verbose": False, "n_jobs": 1},
    {"frac_noise": 0.5, "n_jobs": 1},
    {"return_indices_ranked_by": None, "n_jobs": 1},
    *({"return_indices_ranked_by": ranking, "n_jobs": 1} for ranking in RANKINGS),
    {"return_indices_ranked_by": "self_confidence", "filter_by": "prune_by_noise_rate", "rank_by_kwargs": {}},
]


@pytest.mark.parametrize("make", [one_label, several_labels])
@pytest.mark.parametrize("asked", FIND, ids=str)
def test_issues_are_of_the_kind_that_cleanlab_gives(cleanlab, make, asked):
    labels, pred_probs = make()
    several = make is several_labels
    theirs, ours = answers(cleanlab, "find_label_issues", several, labels, pred_probs, **asked)
    assert_alike(theirs, ours, len(labels))
    by_name = getattr(amiss, "find_label_issues")(labels=labels, pred_probs=pred_probs, **asked)  # noqa: B009
    np.testing.assert_array_equal(by_name, ours)


@pytest.mark.parametrize("make", [one_label, several_labels])
def test_quality_is_of_the_kind_that_cleanlab_gives(cleanlab, make):
    labels, pred_probs = make()
    asked = {"method": "self_confidence", "adjust_pred_probs": False}
    if make is several_labels:
        asked["aggregator_kwargs"] = {"method": "exponential_moving_average", "alpha": 0.8}
    for each in ({}, asked):
        answer = answers(cleanlab, "get_label_quality_scores", make is several_labels, labels, pred_probs, **each)
        assert_alike(*answer, len(labels))


def test_the_few_rows_of_cleanlab_s_own_examples_run(cleanlab):
    """From the docstring of its multi-label scores, and from a maintainer's answer (cleanlab discussion 405)."""
    labels, pred_probs = [[1], [0, 2]], np.array([[0.1, 0.9, 0.1], [0.4, 0.1, 0.9]])
    assert_alike(*answers(cleanlab, "get_label_quality_scores", True, labels, pred_probs), 2)
    labels = [0, 0, 1, 1, 2, 2]
    pred_probs = np.array(
        [
            [0.9, 0.025, 0.075],
            [0.75, 0.15, 0.1],
            [0.1, 0.05, 0.85],
            [0.3, 0.5, 0.2],
            [0.05, 0.9, 0.05],
            [0.1, 0.1, 0.8],
        ]
    )
    for asked in ({}, {"return_indices_ranked_by": "self_confidence"}):
        theirs, ours = answers(cleanlab, "find_label_issues", False, labels, pred_probs, n_jobs=1, **asked)
        assert_alike(theirs, ours, 6)
        pred_probs[ours].argmax(axis=1)  # what the answer goes on to do with it


def test_every_argument_of_cleanlab_s_is_taken_with_its_default(cleanlab):
    for (name, _), theirs in cleanlab.items():
        ours = inspect.signature(getattr(amiss, name)).parameters
        for argument, parameter in inspect.signature(theirs).parameters.items():
            assert argument in ours, (name, argument)
            if argument not in ("rank_by_kwargs", "aggregator_kwargs"):  # None stands for those
                assert ours[argument].default == parameter.default, (name, argument)
    positions = [list(inspect.signature(each).parameters) for each in (
        amiss.find_label_issues, cleanlab["find_label_issues", True])]  # fmt: skip
    assert positions[0][: len(positions[1])] == positions[1]


@pytest.mark.parametrize("make", [one_label, several_labels])
def test_wrong_labels_come_first(make):
    labels, pred_probs = make()
    ranked = amiss.find_label_issues(labels, pred_probs, return_indices_ranked_by="self_confidence")
    quality = amiss.get_label_quality_scores(labels, pred_probs)
    assert set(ranked[: len(WRONG)]) == set(np.argsort(quality)[: len(WRONG)]) == set(WRONG)
    mask = amiss.find_label_issues(labels, pred_probs)
    assert set(np.flatnonzero(mask)) == set(ranked)
    assert (np.diff(quality[ranked]) >= 0).all()
    np.testing.assert_array_equal(mask, 1 - quality > 0.3)


def test_the_name_of_the_ranking_does_not_matter():
    labels, pred_probs = one_label()
    first, *others = (
        amiss.find_label_issues(labels, pred_probs, return_indices_ranked_by=ranking) for ranking in RANKINGS
    )
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        pd.Series,
        pd.DataFrame,
        lambda labels: labels.astype(np.uint8),
        lambda labels: labels.astype(float),
    ],
)
def test_classes_may_come_in_any_form(form):
    labels, pred_probs = one_label()
    expected = amiss.get_label_quality_scores(labels, pred_probs)
    np.testing.assert_array_equal(amiss.get_label_quality_scores(form(labels), pred_probs), expected)
    np.testing.assert_array_equal(amiss.get_label_quality_scores(form(labels), pd.DataFrame(pred_probs)), expected)


@pytest.mark.parametrize("form", [tuple, pd.Series, lambda labels: [set(row) for row in labels],
                                  lambda labels: [np.array(row, dtype=int) for row in labels]])  # fmt: skip
def test_lists_of_classes_may_come_in_any_form(form):
    labels, pred_probs = several_labels()
    expected = amiss.get_label_quality_scores(labels, pred_probs, multi_label=True)
    np.testing.assert_array_equal(amiss.get_label_quality_scores(form(labels), pred_probs), expected)


def test_lists_of_one_class_each_are_lists_all_the_same():
    labels, pred_probs = one_label()
    as_lists = [[label] for label in labels.tolist()]
    np.testing.assert_array_equal(
        amiss.find_label_issues(as_lists, pred_probs), amiss.find_label_issues(labels, pred_probs)
    )


def test_a_share_of_the_issues_is_the_most_severe_ones():
    labels, pred_probs = one_label()
    ranked = amiss.find_label_issues(labels, pred_probs, "self_confidence")
    half = amiss.find_label_issues(labels, pred_probs, "self_confidence", frac_noise=0.5)
    np.testing.assert_array_equal(half, ranked[: int(len(ranked) / 2 + 0.5)])
    assert not amiss.find_label_issues(labels, pred_probs, frac_noise=0).any()


def test_as_many_rows_of_each_class_as_are_asked_for():
    labels, pred_probs = one_label()
    found = amiss.find_label_issues(labels, pred_probs, num_to_remove_per_class=[5, 0, 1, 10_000])
    assert np.bincount(labels[found], minlength=4).tolist() == [5, 0, 1, (labels == 3).sum()]
    quality = amiss.get_label_quality_scores(labels, pred_probs)
    zeros = np.flatnonzero(labels == 0)
    assert set(np.flatnonzero(found & (labels == 0))) == set(zeros[np.argsort(quality[zeros])[:5]])


def test_further_inputs_may_be_of_any_kind():
    labels, pred_probs = one_label()
    rows = [{"age": float(i % 7), "ward": "ab"[i % 2]} for i in range(len(labels))]
    plain = amiss.get_label_quality_scores(labels, pred_probs)
    for features in (rows, pd.DataFrame(rows)):
        with_them = amiss.get_label_quality_scores(labels, pred_probs, features=features)
        assert set(np.argsort(with_them)[: len(WRONG)]) == set(WRONG) and not np.allclose(with_them, plain)
    from scipy import sparse

    numbers = np.eye(len(labels), 3)
    np.testing.assert_allclose(
        amiss.get_label_quality_scores(labels, pred_probs, features=sparse.csr_array(numbers)),
        amiss.get_label_quality_scores(labels, pred_probs, features=numbers),
        rtol=1e-3,
    )


def test_wrong_labels_are_found_by_further_inputs_where_the_model_knows_nothing():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(160, 2))
    labels = (features[:, 0] > 0).astype(int)
    labels[WRONG] = 1 - labels[WRONG]
    features[WRONG, 0] *= 4
    quality = amiss.get_label_quality_scores(labels, np.full((160, 2), 0.5), features=features)
    assert len(set(np.argsort(quality)[:8]) & set(WRONG)) >= 3


@pytest.mark.parametrize("n_rows", [1, 2, 10, 49])
@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_few_rows_and_classes_that_never_occur_are_no_trouble(n_rows, n_classes):
    pred_probs = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=n_rows)
    for labels in (pred_probs.argmax(axis=1), np.zeros(n_rows, dtype=int), [[] for _ in range(n_rows)]):
        mask, quality = (
            amiss.find_label_issues(labels, pred_probs), amiss.get_label_quality_scores(labels, pred_probs)
        )  # fmt: skip
        assert mask.dtype == bool and mask.shape == quality.shape == (n_rows,)
        assert np.isfinite(quality).all()


def test_probabilities_of_0_and_1_and_their_rounding_are_taken():
    labels, pred_probs = one_label()
    sure = np.eye(4)[pred_probs.argmax(axis=1)]
    quality = amiss.get_label_quality_scores(labels, sure)
    assert set(np.argsort(quality)[: len(WRONG)]) == set(WRONG)
    np.testing.assert_array_equal(amiss.get_label_quality_scores(labels, sure * (1 + 1e-8)), quality)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"filter_by": "both"},
            "filter_by has no effect: amiss flags the rows that are wrong with a chance of over",
        ),
        ({"rank_by_kwargs": {"adjust_pred_probs": True}}, "rank_by_kwargs has no effect: amiss ranks"),
        (
            {"min_examples_per_class": 5},
            "min_examples_per_class has no effect: amiss flags rows of rare classes too",
        ),
        ({"confident_joint": np.eye(4)}, "confident_joint has no effect: amiss estimates"),
        ({"low_memory": True}, "low_memory has no effect: amiss keeps all rows in memory"),
    ],
)
def test_what_cannot_be_honoured_is_said(asked, said):
    labels, pred_probs = one_label(60 + 60)
    with pytest.warns(UserWarning, match=said) as caught:
        mask = amiss.find_label_issues(labels, pred_probs, **asked)
    assert len(caught) == 1 and caught[0].filename == __file__
    np.testing.assert_array_equal(mask, amiss.find_label_issues(labels, pred_probs))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"method": "normalized_margin"}, "method has no effect: the quality is the chance that the row is right"),
        ({"adjust_pred_probs": True}, "adjust_pred_probs has no effect: amiss learns from the labels"),
        ({"aggregator_kwargs": {"method": "softmin"}}, "aggregator_kwargs has no effect: amiss judges all labels"),
    ],
)
def test_what_cannot_be_honoured_in_a_quality_is_said(asked, said):
    labels, pred_probs = one_label(60 + 60)
    with pytest.warns(UserWarning, match=said):
        amiss.get_label_quality_scores(labels, pred_probs, **asked)


def test_numbers_per_class_have_no_meaning_with_several_labels_per_row():
    labels, pred_probs = several_labels()
    with pytest.warns(UserWarning, match="num_to_remove_per_class has no effect: with several labels per row"):
        amiss.find_label_issues(labels, pred_probs, num_to_remove_per_class=[1, 1, 1, 1])


GOOD = np.full((3, 2), 0.5)


@pytest.mark.parametrize(
    ("labels", "pred_probs", "message"),
    [
        ([0, 1, 1], GOOD[:2], "labels has 3 rows and pred_probs has 2; give one label per row"),
        ([0, 1, 1], GOOD[0], r"pred_probs must have one row per example .* its shape is \(2,\)"),
        ([], GOOD[:0], r"its shape is \(0, 2\)"),
        ([0, 1, 1], [["secret", 1]] * 3, "pred_probs must be a matrix of numbers"),
        ([0, 1, 1], [[0.5, 0.5], [0.1, 1.5], [0, 1]], "pred_probs, row 1, column 1: .* between 0 and 1"),
        ([0, 1, 1], [[0.5, np.nan], [0.1, 0.5], [0, 1]], "pred_probs, row 0, column 1: .* between 0 and 1"),
        (
            [0, 1, 7],
            GOOD,
            "labels, row 2: the class must be a whole number from 0 to 1, because pred_probs has 2 col",
        ),
        ([0, -1, 1], GOOD, "labels, row 1: the class must be a whole number"),
        ([0, 0.5, 1], GOOD, "labels, row 1: the class must be a whole number"),
        ([0, np.nan, 1], GOOD, "labels, row 1: the class must be a whole number"),
        (["secret", "b", "a"], GOOD, "labels, row 0: a label must be the number of a class"),
        ([0, None, 1], GOOD, "labels, row 1: a label must be the number of a class"),
        ([[0], [1, 7], []], GOOD, "labels, row 1: the class must be a whole number from 0 to 1"),
        ([[0], [], ["secret"]], GOOD, "labels, row 2: a label must be the number of a class"),
        (np.eye(3, 2), GOOD, "labels must be one class per row, or one list of classes per row"),
        ([[0], 1, [1]], GOOD, "labels must be one class per row, or one list of classes per row"),
    ],
)
def test_bad_labels_and_probabilities_are_refused_in_one_line(labels, pred_probs, message):
    for function in (amiss.find_label_issues, amiss.get_label_quality_scores):
        with pytest.raises(amiss.DataError, match=message) as refused:
            function(labels, pred_probs)
        assert "\n" not in str(refused.value) and "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"multi_label": True}, "with multi_label=True, labels must be one list of classes per row"),
        ({"features": np.ones((2, 2))}, "features has 2 rows and labels has 3; give the same rows"),
        ({"return_indices_ranked_by": "size"}, "return_indices_ranked_by must be one of None, 'self_confidence'"),
        ({"filter_by": "size"}, "filter_by must be one of 'prune_by_noise_rate', .*; got 'size'"),
        ({"frac_noise": 2}, "frac_noise must be between 0 and 1; got 2"),
        ({"num_to_remove_per_class": [1]}, "num_to_remove_per_class must have 2 whole numbers, one per class"),
        ({"num_to_remove_per_class": [1, -1]}, "num_to_remove_per_class must have 2 whole numbers, one per class"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        amiss.find_label_issues([0, 1, 1], GOOD, **asked)
    with pytest.raises(ValueError, match="method must be one of"):
        amiss.get_label_quality_scores([0, 1, 1], GOOD, method="size")
