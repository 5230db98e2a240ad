"""The paper's methods by name, and their scores beside ours and what people use instead."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import make_table

import amiss
from amiss import MCODE
from amiss.data.table import Table
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.evaluation.baselines import lof
from amiss.paper.methods import METHODS, PARAMETERS, scores_by_method
from amiss.paper.table2 import PAPER_METHODS

# Models that saw the row, the inverse mean error as weight, and one penalty; 100 neighbours in inputs and outputs.
SETTINGS = {
    "crossfit": False,
    "weighting": "error",
    "scaling": "block",
    "parent_penalty": 1.0,
    "n_neighbors": 100,
    "neighbor_space": "joint",
    "model": "linear",
    "time_budget": 60.0,
    "exclude": None,
}
RULES = {
    "I-PROD": ("prod", "none"),
    "M-PROD": ("prod", "others"),
    "M-RW": ("rw", "others"),
    "M-LRW": ("lrw", "others"),
}


@pytest.mark.parametrize("name", RULES)
def test_a_method_has_the_papers_settings(name):
    rule, parents = RULES[name]
    found = amiss.paper.method(name).get_params()
    assert {parameter: found[parameter] for parameter in SETTINGS} == SETTINGS
    assert (found["rule"], found["parents"]) == (rule, parents)
    others = set(found) - set(SETTINGS) - {"rule", "parents"}
    assert {each: found[each] for each in others} == {each: MCODE().get_params()[each] for each in others}


def test_every_method_of_the_paper_has_a_name_but_lof_which_is_no_detector():
    assert [*PARAMETERS] == [name for name in PAPER_METHODS if name != "LOF"] == [*RULES]


def test_further_parameters_may_be_given_and_the_settings_stay():
    changed = amiss.paper.method("M-LRW", n_neighbors=7, scaling="rank").get_params()
    plain = amiss.paper.method("M-LRW").get_params()
    assert {name for name in plain if plain[name] != changed[name]} == {"n_neighbors", "scaling"}
    assert amiss.paper.method("M-LRW").get_params() == plain


def test_an_unknown_method_is_refused_and_the_known_ones_are_listed():
    with pytest.raises(ValueError, match="there is no method 'M-LOF'; there are I-PROD, M-PROD, M-RW, M-LRW"):
        amiss.paper.method("M-LOF")


def test_each_method_scores_as_the_detector_of_its_name():
    """What amiss reproduce computes from one fit of the models is what each detector gives by itself."""
    X, Y = make_table(150)
    table = Table(X, tuple("abcde"))
    found = scores_by_method(table, Y, METHODS)
    for name in RULES:
        alone = amiss.paper.method(name).fit(table, Y)
        np.testing.assert_array_equal(found[name], alone.decision_scores_)
    np.testing.assert_array_equal(found["amiss"], MCODE().fit(table, Y).decision_scores_)
    np.testing.assert_allclose(found["LOF"], lof(table, Y, scaling="block"), rtol=1e-9)
    assert all(np.isfinite(scores).all() for scores in found.values())


def test_baselines_point_the_same_way():
    """A row that is plainly wrong is unusual to cleanlab, and a far one to the isolation forest."""
    X, Y = make_table(200, n_inputs=3, n_outputs=3)
    Y = (X > 0).astype(float)
    sure = int(np.argmax(np.abs(X).min(axis=1)))
    Y[sure] = 1 - Y[sure]
    table = Table(X, tuple("abc"))
    found = scores_by_method(table, Y, ["cleanlab", "cleanlab softmin"])
    assert all(np.argmax(scores) == sure for scores in found.values())
    design = fit_encoder(table, SCALINGS["rank"]).transform(table)
    forest = scores_by_method(table, (X > 0).astype(float), ["isolation forest"])["isolation forest"]
    assert np.corrcoef(forest, np.linalg.norm(design, axis=1))[0, 1] > 0.3
