"""Models that are saved without the rows of the fit: they score alike, and give no row away."""

from __future__ import annotations

import numpy as np
import pytest
from support.model_files import header
from support.tables import fitted, make_table, mixed_table

import amiss
from amiss import MCODE, DataError
from amiss.fitted import is_table_of
from amiss.monitoring.membership import MembershipFilter
from amiss.persistence.scoring import rounded_up


@pytest.fixture(params=[{"n_neighbors": 0}, {"rule": "rw"}, {"rule": "prod"}], ids=str)
def both(request, tmp_path):
    """A detector, the same saved without its rows and loaded, and its file."""
    X, Y = mixed_table()
    detector = fitted(X, Y, **request.param).calibrate(X, Y)
    detector.save(tmp_path / "m.amiss", rows=False)
    return detector, amiss.load(tmp_path / "m.amiss"), tmp_path / "m.amiss"


def some_new():
    X, Y = mixed_table(15, seed=1)
    return X.iloc[4:], Y.iloc[4:]  # without the age row 3 might be in the fit


def test_it_says_the_same_of_new_rows(both):
    (detector, again, _), (new_X, new_Y) = both, some_new()
    np.testing.assert_array_equal(detector.decision_function(new_X, new_Y), again.decision_function(new_X, new_Y))
    # Scores of rows are rounded up in it, so that nobody is known by them.
    assert (again.p_values(new_X, new_Y) >= detector.p_values(new_X, new_Y)).all()
    np.testing.assert_allclose(again.p_values(new_X, new_Y), detector.p_values(new_X, new_Y), atol=0.07)
    assert detector.threshold_ <= again.threshold_ <= 1.032 * detector.threshold_
    assert str(again.output_quality_) == str(detector.output_quality_)
    why = again.explain(new_X, new_Y, row=2)
    expected = detector.explain(new_X, new_Y, row=2)
    rounded = {"observed": 0, "threshold": 0, "rank": 0, "p_value": 0}
    assert why.to_dict() | rounded == expected.to_dict() | rounded
    np.testing.assert_array_equal(again.fitted_.models.dependence(), detector.fitted_.models.dependence())
    np.testing.assert_array_equal(again.fitted_.models.strength, detector.fitted_.models.strength)


def test_no_row_is_in_it_but_a_batch_of_the_fit_is_recognised(both):
    _, again, path = both
    assert not any("rows." in name or name == "content" for name in header(path))
    batch = again.score_batch(*mixed_table())
    assert 50 <= batch.findings.estimated_members <= 60
    assert "their scores may be too low" in batch.remarks()[-1]
    assert not again.score_batch(*some_new()).findings.estimated_members
    assert not hasattr(again, "decision_scores_") and not hasattr(again, "labels_")


def test_what_needs_the_rows_is_refused(both, tmp_path):
    _, again, _ = both
    X, Y = mixed_table()
    asks = (
        lambda: again.explain(3),
        lambda: list(again.explain_rows([3])),
        lambda: again.save(tmp_path / "x.amiss"),
        lambda: is_table_of(again.fitted_, *again.fitted_.columns.align(X, Y)),
        lambda: again.write_report(tmp_path / "r.html", X, Y),
    )
    for ask in asks:
        with pytest.raises(DataError, match="without the rows"):
            ask()
    with pytest.raises(DataError, match="a calibration needs"):
        again.calibrate(X, Y)


def test_it_can_be_saved_again(both, tmp_path):
    _, again, path = both
    again.save(tmp_path / "twice.amiss", rows=False)
    assert (tmp_path / "twice.amiss").read_bytes() == path.read_bytes()


def test_scores_in_a_model_without_rows_do_not_say_whose_they_are(tmp_path):
    X, Y = make_table(300)
    others, calibrating = make_table(2000, seed=1), make_table(300, seed=2)
    detector = MCODE(crossfit=False, n_neighbors=0).fit(X, Y).calibrate(*calibrating)
    detector.save(tmp_path / "m.amiss", rows=False)
    again = amiss.load(tmp_path / "m.amiss")
    of_others = again.decision_function(*others)
    for kept, exact in (
        (again.fitted_.training_scores, detector.decision_scores_),
        (again.calibration_.scores, detector.decision_function(*calibrating)),
    ):
        assert not np.isin(kept, exact).any()
        # Who looks whether a score is in the file, rounded as there, is as often wrong as right.
        assert np.isin(rounded_up(of_others), kept).mean() > 0.3


def test_rows_that_never_were_in_the_fit_are_hardly_ever_said_to_be(tmp_path):
    X, Y = make_table(300)
    MCODE(n_neighbors=0, strengths=[1.0]).fit(X, Y).save(tmp_path / "m.amiss", rows=False)
    again = amiss.load(tmp_path / "m.amiss")
    new_X, new_Y = make_table(3000, seed=1)
    for size in (1, 3, 30):
        said = [
            bool(again.score_batch(new_X[i : i + size], new_Y[i : i + size]).findings.estimated_members)
            for i in range(0, 100 * size, size)
        ]
        assert sum(said) <= 1
    assert again.score_batch(X[:3], Y[:3]).findings.estimated_members == 3


def test_the_filter_does_not_give_a_row_away():
    """Rows that never were in the fit pass it too, one in ten."""
    rng = np.random.default_rng(0)
    members, others = (np.sort(rng.integers(0, 2**63, n, dtype=np.uint64)) for n in (2000, 50_000))
    bits = MembershipFilter.of(members).bits
    assert bits[members % np.uint64(len(bits))].all()
    assert bits[others % np.uint64(len(bits))].mean() == pytest.approx(0.095, abs=0.01)
