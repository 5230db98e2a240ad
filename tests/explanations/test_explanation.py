"""Explanations as sentences, as plain values and as a table in a notebook."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from support.explained import with_mistakes
from support.tables import fitted, frame

from amiss import MCODE, Explanation
from amiss.evaluation.digits import tagged_digits


def test_sentences_for_a_flipped_row(table):
    X, Y = table
    inputs, outputs = frame(X, Y)
    model = fitted(inputs, outputs)
    number = int(np.argmax(model.decision_scores_))
    explanation = model.explain(number)
    first = explanation.suspects[0]
    text = str(explanation)
    assert text.startswith(f"Row {number} is flagged as unusual: score ")
    assert f"{first.output} is {first.observed} where {first.expected} is expected" in text
    assert f"With {first.expected} instead, the score would be {first.score_if_changed:.2g}" in text
    assert re.search(rf"The main reasons? to expect {first.expected}: ", text)
    assert "Of the 30 rows nearest to it in inputs and outputs" in text and "log-odds" not in text
    assert "is not flagged" in str(model.explain(int(np.argmin(model.decision_scores_))))


def test_companions_that_look_wrong_only_because_of_the_first_are_told_as_such():
    tagged = tagged_digits()
    why = MCODE(rule="flip").fit(tagged.data.X, tagged.data.Y).explain(476)
    first, *others = why.suspects
    assert first.output == tagged.falsified[476] and len(others) >= 2
    assert all(other.direction and other.probability_if_first_changed > 0.5 for other in others)
    assert f"These look wrong only because {first.output} = {first.observed}: {others[0].output} = " in str(why)
    assert "Also unexpected" not in str(why)


def test_what_the_first_does_not_explain_is_unexpected_by_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X > 0).astype(float)  # two outputs that have nothing to do with one another
    clear = int(np.abs(X).min(axis=1).argmax())
    Y[clear] = 1 - Y[clear]
    why = fitted(X, Y, rule="flip").explain(clear)
    second = why.suspects[1]
    assert second.direction is not None and second.probability_if_first_changed < 0.5
    assert f"Also unexpected: {second.output} = {second.observed}" in str(why)
    assert "only because" not in str(why)


def test_sentences_name_what_adds_most_where_all_is_expected(table):
    detector = fitted(*table)
    told = 0
    for explanation in detector.explain_rows(range(240)):
        text = str(explanation)
        if "adds most to the score" in text:
            told += 1
            assert all(output.direction is None for output in explanation.outputs)
            largest = max(explanation.outputs, key=lambda output: output.contribution)
            assert f"{largest.output} = {largest.observed} adds most to the score" in text
    assert told > 20


def test_that_a_value_is_rare_is_a_reason_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    rare = (rng.random(400) < 0.02).astype(float)
    other = (X[:, 1] + 0.3 * rng.normal(size=400) > 0).astype(float)
    table = X, pd.DataFrame({"rare": rare, "other": other})
    unpredictable = str(fitted(*table).explain(int(np.flatnonzero(rare)[0])))
    assert re.search(
        r"A 1 is rare here \(2\.\d% in the average row\), and not predictable from these", unpredictable
    )
    assert "to expect" not in unpredictable
    detector = fitted(*table, rule="flip")  # which does not ask whether it can be predicted
    why = detector.explain(int(np.flatnonzero(rare)[0]))
    grounds = why["rare"].grounds
    assert why.suspects[0].output == "rare" and grounds.average < -2
    chance = f"{expit(grounds.average):.1%}"
    assert f" A 1 is rare here ({chance} in the average row)." in str(why)
    assert "The main reason" not in str(why)
    named = [term.name for term in grounds.largest() if term.log_odds < 0]
    assert re.search(rf"\. Other reasons? to expect 0: .*{named[0]}", str(why))


def test_a_value_that_is_not_rare_is_not_called_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    some = (rng.random(400) < 0.2).astype(float)
    other = (X[:, 1] + 0.3 * rng.normal(size=400) > 0).astype(float)
    detector = fitted(X, pd.DataFrame({"some": some, "other": other}))
    said = [str(detector.explain(row)) for row in np.flatnonzero(some).tolist()]
    assert any("A 1 is the less likely value here (" in text for text in said)
    assert not any("A 1 is rare" in text for text in said)
    assert any("in the average row), and not predictable from these columns." in text for text in said)


def test_a_new_row_is_told_with_its_values():
    X, Y = with_mistakes()
    detector = fitted(X.mask(X > 2.5), Y)
    new = pd.DataFrame({"age": [1.25], "dose": [np.nan]})
    why = detector.explain(new, pd.DataFrame({"ill": [0], "treated": [1], "admitted": [1]}))
    assert why.values == {"age": "1.25", "dose": "missing"}
    assert "age = 1.25" in str(why) and "if it were among the 300 rows of the fit" in str(why)


def test_long_names_that_differ_at_their_ends_stay_apart(table):
    X, Y = table
    names = [f"diagnosis {'recorded at admission ' * 9}: {letter}" for letter in "ABCD"]
    text = str(fitted(X, pd.DataFrame(Y, columns=names)).explain(0))
    assert re.search(r"…[a-z ]+: [ABCD] ", text) and len(text) < 2000


def test_names_that_run_backwards_do_not_turn_the_sentence(table):
    X, Y = table
    text = str(fitted(X, pd.DataFrame(Y, columns=["א", "ב", "ג", "ד"])).explain(0))
    assert text.count("\u2068") == text.count("\u2069") > 0


def test_to_dict_is_json_and_complete(table):
    explanation = fitted(*table).explain(5)
    plain = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert plain["score"] == explanation.score and len(plain["outputs"]) == 4
    assert plain["outputs"][0]["grounds"]["log_odds"] == explanation.outputs[0].grounds.log_odds
    assert len(explanation.to_dict(n_terms=2)["outputs"][0]["grounds"]["largest"]) == 2
    assert explanation["y2"].output == "y2"
    with pytest.raises(KeyError):
        explanation["nobody"]


def test_the_notebook_view_escapes_names(table):
    X, Y = table
    outputs = pd.DataFrame(Y, columns=["<script>alert(1)</script>", "a&b", "c\u202ed", "e" * 10_000])
    explanation = fitted(X, outputs).explain(0)
    everything = replace(explanation, n_suspects=4)
    for view in (explanation._repr_html_(), everything._repr_html_()):
        assert "<script>" not in view and "\u202e" not in view and len(view) < 5000
    assert "&lt;script&gt;" in everything._repr_html_()
    assert isinstance(explanation, Explanation)


def test_explanations_can_be_compared_and_kept(table):
    detector = fitted(*table)
    first, again = detector.explain(1), detector.explain(1)
    assert first == first and first != again and len({first, again}) == 2
