"""The benchmark of numeric tables: what is read, which errors are made, and what the baselines find."""

from __future__ import annotations

import json

import numpy as np
import pytest

from amiss.data.table import Table
from amiss.errors import DataError
from amiss.paper.contextual import KINDS, LEAST, MOST, ContextualTable, load, names_of_tables
from amiss.paper.contextual_cells import Cell, Result, mean_of_tables, run
from amiss.paper.contextual_comparison import markdown
from amiss.paper.contextual_methods import SCORERS
from amiss.progress import silent

QUICK = ["isolation forest", "HBOS", "LOF"]
BASELINES = [method for method in SCORERS if method != "amiss"]
MADE = [name for name, kind in KINDS.items() if kind.drawn]


def make(n_rows=60, seed=0, outputs=("low", "high")):
    """Outputs that follow from a number and a category; all of them are wrong in row 7."""
    rng = np.random.default_rng(seed)
    size, place = rng.uniform(0, 1, n_rows), rng.integers(3, size=n_rows)
    Y = np.column_stack([0.2 * size + 0.1 * place + 0.2 + 0.1 * i for i in range(len(outputs))])
    Y += rng.normal(0, 0.01, Y.shape)
    wrong = np.arange(n_rows) == 7
    Y[wrong] += 0.5
    return size, place, Y, wrong


def write(folder, name="small", outputs=("low", "high")):
    """One table in the format of the benchmark, added to the list of a folder."""
    size, place, Y, wrong = make(outputs=outputs)
    lines = [",".join(["size", *outputs, "place", "ground_truth"])]
    for i in range(len(Y)):
        lines.append(",".join(map(str, [size[i], *Y[i], place[i], int(wrong[i])])))
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    entry = {"outputs": list(outputs), "categorical": ["place"], "truth": "ground_truth"}
    file = folder / "tables.json"
    listed = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(listed | {name: entry}))
    return folder


@pytest.fixture
def numeric(tmp_path):
    """A table with two outputs, and one with a single output."""
    folder = tmp_path / "numeric"
    folder.mkdir()
    write(folder)
    return write(folder, "single", ("low",))


@pytest.fixture
def table():
    size, place, Y, wrong = make()
    X = Table(np.column_stack([size, place]), ("size", "place"), {1: ("a", "b", "c")})
    return ContextualTable("small", X, Y, wrong)


def test_a_table_is_read_with_its_categories_outputs_and_truth(numeric):
    size, place, Y, wrong = make()
    assert names_of_tables(numeric) == ("small", "single")
    found = load(numeric, "small")
    assert found.X.names == ("size", "place")
    assert found.X.levels == {1: ("0", "1", "2")}
    np.testing.assert_array_equal(found.X.values, np.column_stack([size, place]))
    np.testing.assert_array_equal(found.Y, Y)
    np.testing.assert_array_equal(found.anomalous, wrong)


def test_outputs_stand_in_the_order_of_the_list(tmp_path):
    file = write(tmp_path) / "tables.json"
    file.write_text(file.read_text().replace('["low", "high"]', '["high", "low"]'))
    np.testing.assert_array_equal(load(tmp_path, "small").Y, make()[2][:, ::-1])


def test_stored_errors_are_all_outputs_of_the_marked_rows(table):
    trial = KINDS["stored"].make(table, 0)
    np.testing.assert_array_equal(trial.Y, table.Y)
    np.testing.assert_array_equal(trial.wrong_rows, table.anomalous)
    assert trial.wrong[7].all() and trial.wrong.sum() == 2


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("seed", range(5))
def test_made_errors_move_a_tenth_of_the_clean_rows_and_nothing_else(table, kind, seed):
    before = table.Y.copy()
    trial = KINDS[kind].make(table, seed)
    clean = np.flatnonzero(~table.anomalous)
    np.testing.assert_array_equal(trial.X.values, table.X.values[clean])
    assert trial.X.levels == table.X.levels
    moved = trial.Y - before[clean]
    np.testing.assert_array_equal(moved != 0, trial.wrong)
    amounts = np.abs(moved[trial.wrong])
    assert (amounts >= LEAST - 1e-12).all() and (amounts <= MOST + 1e-12).all()
    assert trial.wrong_rows.sum() == 6  # a tenth of 59
    np.testing.assert_array_equal(table.Y, before)


def test_independent_errors_move_every_output_by_an_amount_of_its_own(table):
    trial = KINDS["independent"].make(table, 0)
    moved = (trial.Y - table.Y[~table.anomalous])[trial.wrong_rows]
    assert trial.wrong[trial.wrong_rows].all()
    assert len(np.unique(moved.round(9))) == moved.size
    assert (moved > 0).any() and (moved < 0).any()


def test_one_error_moves_one_output_and_not_always_the_same(table):
    trials = [KINDS["one"].make(table, seed) for seed in range(3)]
    assert all((trial.wrong[trial.wrong_rows].sum(axis=1) == 1).all() for trial in trials)
    assert all(trial.wrong.any(axis=0).all() for trial in trials)


@pytest.mark.parametrize("kind", MADE)
def test_a_seed_makes_the_same_errors_again_and_another_seed_others(table, kind):
    first, again, other = (KINDS[kind].make(table, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.Y, again.Y)
    assert (first.wrong_rows != other.wrong_rows).any()


def test_a_single_output_has_only_the_stored_errors(table):
    single = ContextualTable("single", table.X, table.Y[:, :1], table.anomalous)
    assert [name for name, kind in KINDS.items() if kind.fits(single)] == ["stored"]


@pytest.mark.parametrize("method", BASELINES)
def test_baselines_rank_an_obvious_anomaly_first(method):
    """One row is far from all others, and not what its inputs say."""
    rng = np.random.default_rng(0)
    X, noise = rng.uniform(0, 1, (120, 2)), rng.normal(0, 0.01, (120, 2))
    Y = 0.3 * X + 0.1 + noise
    Y[7] = [0.9, 0.05]
    scores = SCORERS[method](Table(X, ("a", "b")), Y)
    assert scores.shape == (120,)
    assert np.argmax(scores) == 7


def test_boosting_finds_what_is_only_unusual_for_its_inputs():
    """The outputs of one row are those of another category."""
    rng = np.random.default_rng(0)
    place = rng.integers(2, size=120).astype(float)
    Y = np.column_stack([0.2 + 0.5 * place, 0.7 - 0.5 * place]) + rng.normal(0, 0.02, (120, 2))
    place[7] = 1 - place[7]
    X = Table(place[:, None], ("place",), {0: ("a", "b")})
    assert np.argmax(SCORERS["boosting"](X, Y)) == 7
    assert np.argmax(SCORERS["isolation forest"](X, Y)) != 7


def test_a_method_gives_the_same_scores_again():
    size, place, Y, _ = make()
    X = Table(np.column_stack([size, place]), ("size", "place"), {1: ("a", "b", "c")})
    for method in BASELINES:
        np.testing.assert_array_equal(SCORERS[method](X, Y), SCORERS[method](X, Y))


def test_outputs_that_are_all_equal_and_equal_rows_do_no_harm():
    X, Y = Table(np.arange(40.0)[:, None], ("a",)), np.zeros((40, 2))
    Y[3, 1] = 1
    assert all(np.isfinite(SCORERS[method](X, Y)).all() for method in BASELINES)


def test_stored_errors_are_measured_once_and_made_ones_with_every_seed(numeric):
    cells = list(run(numeric, ["small", "single"], QUICK, range(3), silent))
    found = [(cell.table, cell.kind, len(cell.results["HBOS"])) for cell in cells]
    assert found == [
        ("small", "stored", 1),
        ("small", "independent", 3),
        ("small", "one", 3),
        ("single", "stored", 1),
    ]
    assert cells[0].average_precisions("isolation forest") == [1.0]  # one wrong row, which stands first


def test_every_table_is_read_before_the_work_begins(numeric, monkeypatch):
    (numeric / "single.csv").unlink()
    monkeypatch.setattr("amiss.paper.contextual_cells.measured", None)
    with pytest.raises(DataError, match="there is no such file"):
        list(run(numeric, ["small", "single"], QUICK, range(1), silent))


def cell(table, kind, **found):
    return Cell(table, kind, {name: [Result(value, 0.0) for value in values] for name, values in found.items()})


def test_the_printed_table_has_means_by_kind_over_its_tables():
    cells = [
        cell("a", "stored", HBOS=[0.5], LOF=[0.25]),
        cell("a", "one", HBOS=[0.1, 0.3], LOF=[0.8, 1.0]),
        cell("b", "stored", HBOS=[0.8], LOF=[0.85]),
    ]
    assert mean_of_tables(cells, "stored", "HBOS") == pytest.approx(0.65)
    text = markdown(cells, ["HBOS", "LOF"], "amiss reproduce")
    assert "| table | error | repeats | HBOS | LOF |" in text
    assert "| a | one | 2 | 0.20 ± 0.14 | **0.90 ± 0.14** |" in text
    assert "| **mean** | stored |  | 0.650 | 0.550 |" in text
    assert "| **mean** | independent |" not in text
    assert "over other and more tables" in text and "QCAD 0.853 and 0.945" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]", "each table needs a list of its outputs"),
        ("{", "each table needs a list of its outputs"),
        (
            '{"small": {"outputs": "low", "categorical": [], "truth": "t"}}',
            "each table needs a list of its outputs",
        ),
        ('{"small": {"outputs": ["low"], "truth": "t"}}', "each table needs a list of its outputs"),
    ],
)
def test_a_list_of_another_form_is_refused(tmp_path, content, said):
    (tmp_path / "tables.json").write_text(content)
    with pytest.raises(DataError, match=said):
        names_of_tables(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outputs": ["low", "depth"]}, "there is no column 'depth'"),
        ({"truth": "verdict"}, "no column matches 'verdict'"),
        ({"truth": "size", "outputs": ["low"]}, "column 'size': it must hold 1 for anomalous rows"),
        ({"outputs": ["size", "low", "high", "place"]}, "every column is an output or the truth"),
        ({"outputs": ["place", "low"]}, "column 'place': every cell must be a number"),
    ],
)
def test_a_table_that_is_not_as_listed_is_refused(tmp_path, changes, said):
    write(tmp_path)
    file = tmp_path / "tables.json"
    listed = json.loads(file.read_text())
    file.write_text(json.dumps({"small": listed["small"] | changes}))
    with pytest.raises(DataError, match=said):
        load(tmp_path, "small")


def test_a_missing_output_and_too_few_rows_are_refused(tmp_path):
    file = write(tmp_path) / "small.csv"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:10]))
    with pytest.raises(DataError, match="at least 10 rows must be clean"):
        load(tmp_path, "small")
    cells = lines[5].split(",")
    lines[5] = ",".join([cells[0], "", *cells[2:]])
    file.write_text("\n".join(lines))
    with pytest.raises(DataError, match="column 'low': every cell must be a number"):
        load(tmp_path, "small")


def test_a_table_that_is_not_listed_is_refused(numeric):
    with pytest.raises(DataError, match="there is no table 'large'; there are 'small', 'single'"):
        load(numeric, "large")


# The command


def ask(amiss, numeric, *arguments):
    return amiss("reproduce", "--table", "contextual", "--data", numeric, *arguments)


def test_the_command_prints_every_table_and_kind_and_the_means(amiss, numeric, tmp_path):
    done = ask(amiss, numeric, "--methods", "HBOS,LOF", "--repeats", "2")
    assert (done.code, done.err) == (0, "")
    rows = [line.split(" | ")[:3] for line in done.out.splitlines() if line.startswith("| ")]
    assert rows[0] == ["| table", "error", "repeats"]
    assert rows[2:6] == [
        ["| small", "stored", "1"],
        ["| small", "independent", "2"],
        ["| small", "one", "2"],
        ["| single", "stored", "1"],
    ]
    assert [row[1] for row in rows[6:]] == [*KINDS]
    made_by = "`amiss reproduce --table contextual --data DIR --methods 'HBOS,LOF' --repeats 2`"
    assert made_by in done.out
    assert [path.name for path in tmp_path.iterdir()] == ["numeric"]  # nothing is written


def test_the_command_writes_its_table_to_a_folder(amiss, numeric, tmp_path):
    arguments = ["--datasets", "single", "--methods", "HBOS", "-o", "out"]
    done = ask(amiss, numeric, *arguments)
    assert done.code == 0, done.err
    text = (tmp_path / "out" / "contextual.md").read_text()
    assert done.out.startswith(text) and "small" not in text
    assert "Written: out/contextual.md" in done.out
    quiet = ask(amiss, numeric, *arguments, "-q")
    assert (quiet.code, quiet.out) == (0, "")
    assert (tmp_path / "out" / "contextual.md").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--partial"], "leave out --partial"),
        (["--no-figures"], "leave out --no-figures"),
        (["-q"], "name a folder for the table (-o DIR)"),
        (["-o", "numeric/small.csv"], "this is a file; name a folder"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_one_line(amiss, numeric, arguments, said):
    done = ask(amiss, numeric, "--methods", "HBOS", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--datasets", "large"], "there is no 'large'; choose from small, single"),
        (["--methods", "M-LRW"], "there is no 'M-LRW'; choose from amiss, isolation forest, HBOS"),
    ],
)
def test_unknown_names_are_refused(amiss, numeric, arguments, said):
    done = ask(amiss, numeric, *arguments)
    assert done.code == 2
    assert said in done.err


def test_a_folder_without_the_list_is_refused_by_one_line(amiss, tmp_path):
    done = ask(amiss, tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "tables.json is missing" in done.err
