"""Which rule for my data: flips of the table's own outputs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.tables import frame, make_table

from amiss import MCODE, Settings
from amiss.data.table import Table
from amiss.errors import DataError
from amiss.evaluation import RuleChoice, measure, tpar
from amiss.evaluation.baselines import lof_of_fit
from amiss.scoring.registry import RULES


@pytest.fixture(scope="module")
def choice():
    X = np.random.default_rng(0).normal(size=(300, 6))
    Y = (X > 0).astype(float)
    kinds = ("omission", "swap")
    return measure(X, Y, Settings.of(n_neighbors=30), n_seeds=2, others={"lof": lof_of_fit}, kinds=kinds)


def test_every_rule_is_measured_in_every_round(choice):
    assert choice.rules == (*RULES, "lof")
    assert choice.flips == (1,)  # of six outputs 2.5, 5, 10 and 20 % are all one
    assert choice.trials == ("1 flip", "omission", "swap")
    assert choice.atpar.shape == (6, 3, 2)
    assert choice.precision.shape == (6, 3, 2, 4)
    assert ((choice.atpar >= 0) & (choice.atpar <= 1)).all()
    assert choice.n_rows == 300


def made(**atpars):
    """A choice from the ATPAR of each trial."""
    trials = np.array([atpars.get(rule, atpars["rest"]) for rule in RULES])[:, None, :]
    return RuleChoice(tuple(RULES), (1,), trials, (0.01,), trials[..., None], 3, 300)


def test_the_best_has_to_be_better_than_chance_explains():
    assert made(prod=[0.9, 0.8, 0.9], rest=[0.2, 0.3, 0.1]).best.name == "prod"
    assert made(mixture=[0.9, 0.8, 0.9], rest=[0.2, 0.3, 0.1]).best.name == "mixture"
    unsure = made(prod=[1.0, 0.0, 0.6], rest=[0.0, 1.0, 0.5])
    assert unsure.best.name == "mixture"
    assert "no rule found rows made wrong clearly better" in unsure.why
    assert "no rule found rows made wrong clearly better" in made(rest=[0.5, 0.5]).why
    assert "it found rows made wrong best" in made(rw=[0.9, 0.8, 0.9], rest=[0.2, 0.3, 0.1]).why


def test_the_ceiling_is_what_a_perfect_ranking_reaches(choice):
    perfect = np.arange(300)[::-1].astype(float)
    flipped = np.arange(300) < choice.n_flipped
    assert choice.ceiling == [tpar(perfect, flipped, rate) for rate in choice.rates]


def test_found_is_the_share_of_the_flipped_rows(choice):
    assert choice.n_flipped == 3
    np.testing.assert_allclose(choice.found[..., 1], choice.precision[..., 1])  # 1 % of 300 rows are three alerts
    np.testing.assert_allclose(choice.found[..., 3], choice.precision[..., 3] * 4)


def test_conditions_are_known_to_every_rule_but_lof(choice):
    assert (choice.atpar[: len(RULES)].mean(axis=(1, 2)) > choice.atpar[-1].mean()).all()


def test_the_order_of_the_rows_does_not_matter():
    X, Y = make_table(150)
    shuffled = np.random.default_rng(1).permutation(150)
    first = measure(X, Y, Settings.of(n_neighbors=20), n_seeds=2, kinds=())
    second = measure(X[shuffled], Y[shuffled], Settings.of(n_neighbors=20), n_seeds=2, kinds=())
    np.testing.assert_array_equal(first.atpar, second.atpar)


def test_excluded_outputs_are_not_flipped():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    Y = np.column_stack([X[:, 0] > 0, rng.random((400, 2)) < 0.5]).astype(float)
    found = measure(X, Y, Settings.of(n_neighbors=30, exclude=["y1", 2]), n_seeds=2, kinds=())
    assert found.atpar.mean() > 0.8
    by_skill = measure(X, Y, Settings.of(n_neighbors=30, exclude=0.3), n_seeds=2, kinds=())
    assert by_skill.atpar.mean() > 0.8


def test_a_sample_may_lack_an_output_and_look_like_an_identifier():
    rng = np.random.default_rng(0)
    n_rows = 200
    Y = (rng.random((n_rows, 3)) < 0.4).astype(float)
    Y[1:, 2] = np.nan
    X = Table(np.column_stack([rng.normal(size=n_rows), np.arange(n_rows) % 60]), ("a", "ward"),
              {1: tuple(f"w{i}" for i in range(60))})  # fmt: skip
    MCODE().fit(X, Y)
    found = measure(X, Y, Settings.of(n_neighbors=20), n_seeds=2, most_rows=50)
    assert np.isfinite(found.atpar).all()


def test_unequal_lengths_are_refused_before_the_work():
    X, Y = make_table(80)
    for rule in ("auto", "flip"):
        with pytest.raises(DataError, match="X has 80 rows and Y has 60"):
            MCODE(rule=rule).fit(X, Y[:60])


def test_one_row_and_one_output_have_an_answer_too():
    assert MCODE(rule="auto").fit([[1.0]], [[1]]).rule_ in RULES


def test_flips_of_several_outputs_are_rounds_of_their_own():
    X, Y = make_table(120, n_outputs=10)
    found = measure(X, Y, Settings.of(n_neighbors=20), dimensionalities=(0.1, 0.3), n_seeds=1, kinds=())
    assert found.flips == (1, 3)
    assert found.atpar.shape == (5, 2, 1)


def test_auto_takes_it_and_says_so():
    X, Y = make_table(200)
    inputs, outputs = frame(X, Y)
    model = MCODE(rule="auto", n_neighbors=30).fit(inputs, outputs)
    assert model.rule_ == model.choice_.best.name
    plain = MCODE(rule=model.rule_, n_neighbors=30).fit(inputs, outputs)
    np.testing.assert_array_equal(model.decision_scores_, plain.decision_scores_)
    np.testing.assert_array_equal(
        model.decision_function(inputs, outputs), plain.decision_function(inputs, outputs)
    )
    again = MCODE(rule="auto", n_neighbors=30).fit(inputs, outputs)
    np.testing.assert_array_equal(model.choice_.atpar, again.choice_.atpar)
    assert plain.choice_ is None


def test_missing_outputs_stay_missing_and_large_tables_are_sampled():
    X, Y = make_table(200)
    Y[::7, 2] = np.nan
    found = measure(X, Y, Settings.of(n_neighbors=20), n_seeds=1, most_rows=120)
    assert found.n_rows == 120
    assert np.isfinite(found.atpar).all()


@pytest.fixture
def tags(tmp_path):
    X, Y = make_table(150, n_outputs=5)
    names = [*(f"x{i}" for i in range(X.shape[1])), *(f"tag_{i}" for i in range(Y.shape[1]))]
    lines = [",".join(names), *(",".join(f"{cell:.5g}" for cell in row) for row in np.hstack([X, Y]))]
    (tmp_path / "tags.csv").write_text("\n".join(lines) + "\n")
    return "tags.csv"


def test_the_command_prints_precisions_and_draws_them(amiss, tags, tmp_path):
    done = amiss("evaluate", tags, "--outputs", "tag_*", "--seeds", "1", "--plot", "precision.png")
    assert done.code == 0, done.err
    for name in (*RULES, "lof"):
        assert f"\n{name} " in done.out
    assert "Keep the default, mixture: " in done.out
    assert "To use it" not in done.out
    assert (tmp_path / "precision.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_speaks_json(amiss, tags):
    done = amiss("evaluate", tags, "--outputs", "tag_*", "--seeds", "1", "--json")
    content = json.loads(done.out)
    assert content["best"] in RULES
    assert set(content["rules"]) == {*RULES, "lof"}
    assert content["rates"] == [0.005, 0.01, 0.02, 0.04]


def test_a_place_that_cannot_hold_the_picture_is_refused_before_the_work(amiss, tags):
    done = amiss("evaluate", tags, "--outputs", "tag_*", "--plot", "nowhere/precision.png")
    assert done.code == 2
    assert "nowhere/precision.png: there is no such folder" in done.err


def test_bad_shares_are_bad_input(amiss, tags):
    done = amiss("evaluate", tags, "--outputs", "tag_*", "--flips", "0.1,often")
    assert done.code == 2
    assert "--flips" in done.err


def test_find_says_what_auto_chose(amiss, tags):
    done = amiss("find", tags, "--outputs", "tag_*", "--rule", "auto")
    assert done.code == 0, done.err
    assert "Rule: " in done.out and "trials (mean precision mixture " in " ".join(done.out.split())
