"""Inputs and outputs as one matrix."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.encoding.joint import joint


def test_joint_is_inputs_and_outputs_side_by_side():
    X, Y = np.arange(6.0).reshape(3, 2), np.eye(3)
    np.testing.assert_array_equal(joint(X, Y), np.hstack([X, Y]))
    np.testing.assert_array_equal(joint(sparse.csr_array(X), Y).toarray(), np.hstack([X, Y]))
