"""``amiss evaluate``, run as a process."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from support.tables import make_table

import amiss as package
from amiss.evaluation import measure
from amiss.evaluation.metrics import average_precision
from amiss.evaluation.variants import VARIANTS
from amiss.scoring.registry import RULES

QUICK = ("--seeds", "1", "--flips", "0.2,0.4", "--errors", "swap,blank")


@pytest.fixture
def tags(tmp_path):
    """A table of five inputs and five outputs."""
    X, Y = make_table(150, n_outputs=5)
    names = [*(f"x{i}" for i in range(5)), *(f"tag_{i}" for i in range(5))]
    lines = [",".join(names), *(",".join(f"{cell:.5g}" for cell in row) for row in np.hstack([X, Y]))]
    (tmp_path / "tags.csv").write_text("\n".join(lines) + "\n")
    return ("evaluate", "tags.csv", "--outputs", "tag_*")


def test_the_table_names_every_rule_the_best_one_and_how_to_use_it(amiss, tags):
    done = amiss(*tags, *QUICK)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "150 rows; 2 of them made wrong; 1 trial of each kind of error."
    assert [line.split()[0] for line in lines[4:11]] == [*RULES, "lof", "at"]
    assert len({len(line) for line in lines[3:10]}) == 1  # the last column is aligned with its heading
    kinds = lines[13].split("  ")
    assert [kind.strip() for kind in kinds if kind.strip()] == ["rule", "1 flip", "2 flips", "swap", "blank"]
    assert [line.split()[0] for line in lines[14:20]] == [*RULES, "lof"]
    assert len({len(line) for line in lines[13:20]}) == 1
    assert lines[-1].startswith("Keep the default, mixture: ") and "To use it" not in done.out


def test_kinds_of_error_that_there_are_not_are_refused(amiss, tags):
    done = amiss(*tags, "--errors", "typo")
    assert done.code == 2 and "must be some of flip, omission, commission, replacement" in done.err
    alone = json.loads(amiss(*tags, "--flips", "0.2", "--seeds", "1", "--errors", "none", "--json").out)
    assert alone["kinds"] == [] and list(alone["rules"]["prod"]["atpar_by_kind"]) == ["1 flip"]


def test_another_rule_than_the_default_is_said_how_to_use():
    import numpy as np

    from amiss.cli.evaluate import _advice
    from amiss.evaluation.choice import RuleChoice

    atpar = np.tile(np.array([0.3, 0.2, 0.8, 0.3, 0.1])[:, None, None], (1, 2, 2))
    choice = RuleChoice(tuple(RULES), (1, 2), atpar, (0.01,), atpar[..., None], 5, 500)
    assert _advice(choice) == [
        "Best here: lrw, because it found rows made wrong best in 4 trials "
        "(mean precision mixture 0.30, flip 0.20, lrw 0.80, rw 0.30, prod 0.10).",
        "To use it: amiss find … --rule lrw",
    ]


def test_json_has_the_measurements(amiss, tags, tmp_path):
    found = json.loads(amiss(*tags, *QUICK, "--json").out)
    data = package.read(tmp_path / "tags.csv", outputs="tag_*")
    choice = measure(
        data.X, data.Y, package.Settings.of(), dimensionalities=[0.2, 0.4], n_seeds=1, kinds=["swap", "blank"]
    )
    assert found["best"] == choice.best.name and found["because"] == choice.why
    assert (found["rows"], found["flipped"], found["trials"], found["flips"]) == (150, 2, 4, [1, 2])
    assert found["rates"] == [0.005, 0.01, 0.02, 0.04] and set(found["rules"]) == {*RULES, "lof"}
    for number, name in enumerate(choice.rules):
        expected = choice.precision[number].mean(axis=(0, 1))
        np.testing.assert_allclose(found["rules"][name]["precision"], expected, atol=1e-6)


def test_settings_are_compared_on_each_kind_of_error(amiss, tags):
    options = ("--flips", "0.2", "--seeds", "1", "--errors", "swap", "--settings")
    done = amiss(*tags, *options)
    lines = done.out.splitlines()
    first = lines.index("Average precision over rows, by kind of error")
    assert lines[first + 1].split() == ["settings", "flip", "swap", "mean"]
    names = [line.rsplit(maxsplit=3)[0].strip() for line in lines[first + 2 : first + 9]]
    assert names == [*VARIANTS] and lines[-1].startswith("Best over all kinds: ")
    found = json.loads(amiss(*tags, *options, "--json").out)["settings"]
    assert list(found) == [*VARIANTS] and 0 < found["default"]["flip"] <= 1
    means = {name: np.mean([*values.values()]) for name, values in found.items()}
    assert lines[-1] == f"Best over all kinds: {max(means, key=means.get)}."


@pytest.fixture
def mixed(tmp_path):
    """A table of three inputs, a tag, a class and a number."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    rows = [
        f"{a:.4f},{b:.4f},{c:.4f},{int(a > 0)},{'red' if b > 0 else 'blue'},{10 + 4 * c:.1f}"
        for a, b, c in X.tolist()
    ]
    (tmp_path / "mixed.csv").write_text("\n".join(["a,b,c,y_tag,y_colour,y_dose", *rows]) + "\n")
    return ("evaluate", "mixed.csv", "--outputs", "y_*", "--seeds", "1")


def test_outputs_of_several_kinds_have_errors_of_their_own(amiss, mixed, tmp_path):
    done = amiss(*mixed, "--errors", "digits,swap", "--settings", "--json")
    found = json.loads(done.out)
    assert (found["flips"], found["kinds"], found["trials"]) == ([], ["digits", "swap"], 2)
    assert set(found["rules"]) == {*RULES, "lof"} and set(found["settings"]["default"]) == {"digits", "swap"}
    data = package.read(tmp_path / "mixed.csv", outputs="y_*")
    choice = measure(data.X, data.Y, package.Settings.of(), n_seeds=1, kinds=["digits", "swap"])
    assert found["because"] == choice.why


def test_by_default_every_error_that_can_be_made_is_tried(amiss, mixed):
    found = json.loads(amiss(*mixed, "--json").out)
    assert found["flips"] == []
    assert found["kinds"] == ["another-row", "shift", "tenfold", "digits", "other", "swap", "shift-all"]
    said = json.loads(amiss(*mixed, "--kinds", "y_dose=class", "--json").out)
    assert said["kinds"] == ["another-row", "shift", "other", "swap"]


def test_errors_that_cannot_be_made_are_refused(amiss, tags, mixed):
    done = amiss(*tags, "--errors", "tenfold")
    assert done.code == 2 and done.out == ""
    assert "errors of kind 'tenfold' are made in outputs of kind count or number; here, all outputs" in done.err
    none = amiss(*mixed, "--errors", "none")
    assert none.code == 2 and "there is no error to try: name kinds of error (--errors)" in none.err


def test_the_help_describes_each_kind_of_error(amiss):
    said = " ".join(amiss("evaluate", "--help").out.split())
    assert "tenfold: a number or count times or divided by ten" in said
    assert "--kinds COL=KIND Kind of an output" in said and "--errors ERRORS Other kinds of error" in said


def test_average_precision_is_scikit_learns():
    rng = np.random.default_rng(0)
    scores, wrong = rng.random(50), rng.random(50) < 0.2
    assert average_precision(scores, wrong) == pytest.approx(average_precision_score(wrong, scores))
    assert average_precision(scores, np.zeros(50, dtype=bool)) == 0


def test_a_larger_table_is_drawn_from(amiss, tags):
    done = amiss(*tags, *QUICK, "--rows", "100", "--ratio", "0.05")
    assert done.out.startswith("100 rows (drawn from 150); 5 of them made wrong;")


def test_the_precisions_are_drawn(amiss, tags, tmp_path):
    done = amiss(*tags, *QUICK, "--plot", "precision.png")
    assert done.code == 0 and done.out.endswith("\nDrawn: precision.png\n")
    assert (tmp_path / "precision.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "nowhere/precision.png"), "nowhere/precision.png: there is no such folder"),
        (("--plot", "precision.pdf"), "--plot: must end in .png"),
        (("--flips", "0.1,often"), "--flips: must be numbers above 0 and at most 1, separated by commas"),
        (("--flips", "1.5"), "--flips: must be numbers above 0"),
        (("--ratio", "0.7"), "--ratio"),
    ],
)
def test_bad_requests_are_refused_before_the_work(amiss, tags, tmp_path, options, message):
    done = amiss(*tags, *options)
    assert done.code == 2 and message in done.err and done.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["tags.csv"]
