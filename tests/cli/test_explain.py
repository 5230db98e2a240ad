"""``amiss explain``, run as a process."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import amiss as package
from amiss.wording import six_digits

TAGS = ("--outputs", "tag_*")
EXPLAIN = ("explain", "records.csv")


def explained(tmp_path, row):
    data = package.read(tmp_path / "records.csv", outputs="tag_*", id="name")
    return replace(package.MCODE().fit(data.X, data.Y).explain(row), values=data.X.texts(row))


def test_a_row_is_meant_by_its_number_or_its_id(amiss, records, tmp_path):
    by_id = amiss(*EXPLAIN, "case 17", *TAGS, "--id", "name")
    by_number = amiss(*EXPLAIN, "18", *TAGS, "--drop", "name")
    assert by_id.code == by_number.code == 0, by_id.err + by_number.err
    why = explained(tmp_path, 17)
    assert by_id.out.startswith("Row 18 (case 17) is flagged as unusual")
    text = " ".join(by_id.out.split())
    assert all(sentence in text for sentence in why.sentences()[1:])
    assert by_number.out.startswith("Row 18 is flagged as unusual")
    despite = amiss(*EXPLAIN, "18", *TAGS, "--id", "name")
    assert despite.out == by_id.out
    assert by_number.out.partition("\n\n")[2] == by_id.out.partition("\n\n")[2]
    table = by_id.out.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in table[1 : 1 + why.n_suspects]] == [each.output for each in why.suspects]


def test_the_printed_log_odds_add_up(amiss, records):
    done = amiss(*EXPLAIN, "18", *TAGS, "--drop", "name")
    terms = [float(line.split()[-1]) for line in done.out.split("\n\n")[2].splitlines()[1:]]
    assert sum(terms[:-1]) == pytest.approx(terms[-1], abs=0.0005 * len(terms))


def test_json_says_the_same_with_rows_counted_from_one(amiss, records, tmp_path):
    done = amiss(*EXPLAIN, "case 17", *TAGS, "--id", "name", "--json")
    plain = json.loads(done.out)
    why = explained(tmp_path, 17)
    assert plain["row"] == 18 and plain["neighbors"] == [near + 1 for near in why.neighbors]
    assert plain["score"] == six_digits(why.score)
    assert [each["output"] for each in plain["outputs"]] == [each.output for each in why.outputs]
    first, shown = why.outputs[0], plain["outputs"][0]
    assert shown["chance_of_one"] == six_digits(first.chance_of_one) and shown["expected"] == first.expected
    assert shown["grounds"]["average"] == six_digits(first.grounds.average)


def test_a_file_without_a_row_is_asked_for_the_row(amiss, records):
    done = amiss("explain", "records.csv", "--outputs", "tag_*")
    assert done.code == 2 and "Error: name the row too: amiss explain FILE ROW\n" in done.err
    assert "Missing argument" in amiss("explain").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0", "--drop", "name"), "there is no row '0'; rows are numbered from 1 to 120"),
        (("case 5", "--drop", "name"), "there is no row 'case 5'"),
        (("nobody", "--id", "name"), "no row has the id 'nobody'"),
        (("9" * 5000, "--drop", "name"), "there is no row '999"),
        (("1", "--id", "same"), "120 rows have the id '1'"),
    ],
)
def test_rows_that_are_not_there_are_refused(amiss, records, tmp_path, arguments, message):
    records.assign(same=1).drop(columns="name" if "same" in arguments else []).to_csv(
        tmp_path / "records.csv", index=False
    )
    done = amiss(*EXPLAIN, *arguments, *TAGS)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1 and done.out == ""


def test_a_model_explains(model, amiss):
    done = amiss("explain", "m.amiss", "new.csv", "new 5")
    said = " ".join(done.out.split())
    assert done.code == 0 and said.startswith("Row 6 (new 5) is ")
    assert "(how often rows held out of the fit score as high)" in said
    plain = json.loads(amiss("explain", "m.amiss", "new.csv", 6, "--json").out)
    assert plain["row"] == 6 and plain["flagged"] is not None
    of_the_fit = json.loads(amiss("explain", "m.amiss", "records.csv", "case 17", "--json").out)
    direct = amiss("explain", "records.csv", "case 17", *TAGS, "--id", "name", "--neighbors", 30, "--json")
    assert of_the_fit["score"] == pytest.approx(json.loads(direct.out)["score"], rel=1e-9)
    refused = amiss("explain", "m.amiss", "new.csv", 6, "--rule", "prod")
    assert refused.code == 2 and "--rule is for amiss fit; a model keeps what it was fitted with" in refused.err
    refused = amiss("explain", "m.amiss", "new.csv", 6, "--rate", "0.1")
    assert refused.code == 2 and "--rate is for amiss score" in refused.err
    missing = amiss("explain", "m.amiss", "new.csv")
    assert missing.code == 2 and "amiss explain MODEL FILE ROW" in missing.err
