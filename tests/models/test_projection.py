"""The projection: the probability of what was observed."""

from __future__ import annotations

import numpy as np

from amiss.models.projection import errors, log_rho, rho


def test_rho_and_error_are_exact_in_both_tails():
    log_odds, Y = np.array([[800.0, -800.0, 40.0]]), np.array([[1.0, 1.0, 1.0]])
    np.testing.assert_allclose(log_rho(log_odds, Y), [[0.0, -800.0, -np.exp(-40)]])
    np.testing.assert_allclose(errors(log_odds, Y), [[0, 1, np.exp(-40)]], atol=1e-300, rtol=1e-10)
    np.testing.assert_allclose(rho(log_odds, Y) + errors(log_odds, Y), 1)
