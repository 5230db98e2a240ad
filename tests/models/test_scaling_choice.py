"""The scaling by which the inputs predict the outputs better is chosen, and kept."""

from __future__ import annotations

import numpy as np
import pytest

from amiss import MCODE, load


def table(transform, n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n_rows, 4))
    Y = (latent[:, :3] + 0.5 * rng.normal(size=(n_rows, 3)) > 1.5).astype(float)
    return transform(latent), Y


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (lambda latent: latent, "block"),  # what tells rare outputs is in the extremes
        (lambda latent: np.exp(4 * latent), "rank"),  # a few values dwarf all others
        (lambda latent: (latent > 0).astype(float), "rank"),  # no difference, so the first
    ],
)
def test_the_better_scaling_is_taken(transform, expected, tmp_path):
    X, Y = table(transform)
    detector = MCODE(n_neighbors=20).fit(X, Y)
    assert detector.fitted_.models.encoder.scaling.name == expected
    same = MCODE(n_neighbors=20, scaling=expected).fit(X, Y)
    np.testing.assert_array_equal(detector.decision_scores_, same.decision_scores_)
    detector.save(tmp_path / "m.amiss")
    again = load(tmp_path / "m.amiss")
    assert again.get_params()["scaling"] == "auto" and again.fitted_.models.encoder.scaling.name == expected
    np.testing.assert_array_equal(
        again.decision_function(X[:5] + 0.1, Y[:5]), detector.decision_function(X[:5] + 0.1, Y[:5])
    )


def test_refits_keep_what_was_chosen(monkeypatch):
    from amiss.models import fitting

    X, Y = table(lambda latent: latent)
    chosen = []
    plain = fitting.choose_scaling
    monkeypatch.setattr(fitting, "choose_scaling", lambda *a, **k: chosen.append(plain(*a, **k)) or chosen[-1])
    MCODE(n_neighbors=20).fit(X, Y).calibrate(X, Y)
    assert len(chosen) == 1


def test_too_few_rows_or_ones_to_tell():
    X, Y = table(lambda latent: latent, n_rows=7)
    assert MCODE().fit(X, Y).fitted_.models.encoder.scaling.name == "rank"
    X, Y = table(lambda latent: latent, n_rows=100)
    assert MCODE().fit(X, np.zeros_like(Y)).fitted_.models.encoder.scaling.name == "rank"
