"""Table 2 beside our figures, and what is said about them."""

from __future__ import annotations

import numpy as np

from amiss.paper.cells import RATES, Result
from amiss.paper.comparison import as_good_as_the_best, markdown
from amiss.paper.table2 import TABLE

QUICK = ["M-PROD", "amiss"]


def test_the_table_is_the_papers():
    means = np.array([[mean for mean, _ in cell] for cells in TABLE.values() for cell in cells.values()])
    assert means.shape == (27, 5)
    np.testing.assert_allclose(means.mean(axis=0), [0.07, 0.43, 0.49, 0.59, 0.62], atol=0.006)
    assert TABLE["mediamill"][2.5][4] == (0.69, 0.09)
    assert TABLE["birds"][20][3] == (0.85, 0.12)


def results(*atpars):
    return [Result(value, [value] * len(RATES)) for value in atpars]


def test_bold_are_the_best_and_what_a_paired_test_cannot_tell_from_it():
    near = {
        "a": np.array([0.9, 0.7, 0.8, 0.9]),
        "b": np.array([0.8, 0.8, 0.8, 0.8]),
        "c": np.array([0.2, 0.1, 0.2, 0.1]),
    }
    assert as_good_as_the_best(near) == {"a", "b"}
    assert as_good_as_the_best({"a": np.ones(3), "b": np.ones(3), "c": np.full(3, 0.9)}) == {"a", "b"}
    assert as_good_as_the_best({"a": np.array([0.5]), "b": np.array([0.4])}) == {"a"}


def test_the_table_has_both_figures_and_says_where_we_fall_short():
    cells = [
        ("yeast", 10, {"M-PROD": results(0.4, 0.5), "amiss": results(0.8, 0.9)}),
        ("birds", 5, {"M-PROD": results(0.1, 0.2), "amiss": results(0.2, 0.3)}),
    ]
    text = markdown(cells, QUICK, "amiss reproduce")
    assert "| yeast | 10 | 2 | 0.45 ± 0.07 (0.45) | **0.85 ± 0.07** |" in text
    assert "| **mean** |  |  | 0.300 (0.420) | 0.550 |" in text
    assert "To two digits, amiss is at or above the best of the paper's five methods in 1 of 2 cells" in text
    assert " (whose mean is 0.550); below it in birds 5 % (0.250, the paper's best 0.46)." in text
