"""The command, run as a process: what it writes, prints and refuses."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from support.tables import ENVIRONMENT, make_table

import amiss as package
from amiss.errors import DataError

FIND = ("find", "records.csv", "--outputs", "tag_*", "--id", "name")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom amiss.cli import main\nsys.argv = ['amiss', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'tqdm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "amiss find records.csv" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_find_writes_every_row_ranked_with_its_reasons(amiss, records, tmp_path):
    done = amiss(*FIND, "-o", "found.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "found.csv")
    assert list(found.columns[:10]) == [
        "rank", "row", "line", "id", "score", "flagged", "output_1", "observed_1", "probability_1", "share_1",
    ]  # fmt: skip
    assert (found["line"] == found["row"] + 1).all()
    assert list(found["rank"]) == list(range(1, 121))
    assert sorted(found["row"]) == list(range(1, 121))
    assert found["score"].is_monotonic_decreasing
    assert found["id"][0] == "case 17"
    assert found["row"][0] == 18
    assert found["flagged"].sum() == 1
    first = found.iloc[0]
    assert first["observed_1"] == records.loc[17, first["output_1"]]
    assert 0 < first["probability_1"] < 0.5


def test_the_file_says_what_the_detector_says(amiss, records, tmp_path):
    amiss(*FIND, "-o", "found.jsonl", "--reasons", 4)
    rows = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    data = package.read(tmp_path / "records.csv", outputs="tag_*", id="name")
    model = package.MCODE().fit(data.X, data.Y)
    for row in rows:
        number = row["row"] - 1
        assert row["score"] == pytest.approx(model.decision_scores_[number], rel=1e-5)
        assert sum(output["share"] for output in row["outputs"]) == pytest.approx(row["score"], rel=1e-4)
        for output in row["outputs"]:
            i = data.output_names.index(output["output"])
            assert output["observed"] == data.Y.values[number, i]
            assert output["probability"] == pytest.approx(model.rho_[number, i], rel=1e-4)


def test_csv_parquet_and_json_lines_say_the_same(amiss, records, tmp_path):
    for suffix in ("csv", "parquet", "jsonl"):
        assert amiss(*FIND, "-q", "-o", f"found.{suffix}").code == 0
    table = pd.read_csv(tmp_path / "found.csv")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "found.parquet"), table, check_dtype=False)
    lines = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == list(table["id"])
    assert [line["outputs"][1]["share"] for line in lines] == list(table["share_2"])


def test_the_same_seed_gives_the_same_file(amiss, records, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        amiss(*FIND, "-q", "-o", f"{name}.csv", "--seed", seed)
    first, again, other = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert first == again
    assert first != other


def test_a_readable_table_is_printed(amiss, records):
    done = amiss(*FIND, "--top", 3)
    lines = done.out.splitlines()
    assert lines[0].startswith("120 rows, 5 inputs, 4 outputs: 1 flagged, with a score above ")
    assert lines[1] == "Outputs: tag_0, tag_1, tag_2, tag_3"
    assert lines[3].split()[:4] == ["rank", "row", "id", "score"]
    assert lines[4].split()[:4] == ["1", "18", "case", "17"]
    assert lines[7].startswith("(! flagged; p: ")
    assert len(lines) == 8
    assert all(len(line) <= 110 for line in lines)
    assert done.err == ""


def test_quiet_prints_nothing_and_json_prints_json(amiss, records):
    assert amiss(*FIND, "--quiet", "-o", "found.csv").out == ""
    summary = json.loads(amiss(*FIND, "--json", "--top", 2, "--quality").out)
    assert [row["name"] for row in summary["quality"]] == ["tag_0", "tag_1", "tag_2", "tag_3"]
    assert summary["rows"] == 120
    assert summary["flagged"] == 1
    assert [row["rank"] for row in summary["top"]] == [1, 2]
    assert summary["top"][0]["outputs"][0]["output"].startswith("tag_")


def test_pipes_in_and_out(amiss, records, tmp_path):
    table = (tmp_path / "records.csv").read_bytes()
    amiss(*FIND, "-q", "-o", "found.csv")
    piped = amiss("find", "-", "--outputs", "tag_*", "--id", "name", "-o", "-", stdin=table)
    assert piped.raw == (tmp_path / "found.csv").read_bytes()
    assert piped.err == ""
    as_tsv = records.to_csv(index=False, sep="\t").encode()
    again = amiss("find", "-", "--format", "tsv", "--outputs", "last:4", "--id", "name", "-o", "-", stdin=as_tsv)
    assert again.raw == piped.raw


def test_a_reader_that_goes_away_is_no_error(records, tmp_path):
    command = f"{sys.executable} -c 'from amiss.cli import main; main()' find records.csv --outputs 'tag_*' -o - "
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} --drop name | head -n 1"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("rank,row,line,score")
    assert done.returncode == 0


def test_alerts_rate_exclusions_and_quality(amiss, records):
    alerts = json.loads(amiss(*FIND, "--json", "--alerts", 12).out)
    assert alerts["flagged"] == len(alerts["top"]) == 12
    assert json.loads(amiss(*FIND, "--json", "--rate", 0.1).out)["flagged"] == 12
    done = amiss(*FIND, "--exclude", "tag_[12]", "--quality", "--top", 0)
    assert "4 outputs (2 left out of the score)" in done.out
    assert done.out.count("excluded") == 2
    assert "skill" in done.out
    assert "left out" in amiss(*FIND, "--min-skill", 0.6).out


@pytest.mark.parametrize(
    "option",
    [
        ("--rule", "prod"), ("--rule", "rw"), ("--rule", "lrw"), ("--parents", "chain"),
        ("--crossfit", "no"), ("--crossfit", "yes"), ("--crossfit", "half"), ("--crossfit", "0.2"),
        ("--scaling", "none"), ("--neighbors", "10"), ("--parent-penalty", "1"),
        ("--neighbor-space", "inputs"), ("--drop", "in4"), ("--categorical", "in0"), ("--jobs", "1"),
    ],
)  # fmt: skip
def test_every_option_reaches_the_detector(amiss, records, tmp_path, option):
    """Each changes the scores, except the number of threads."""
    text = (tmp_path / "records.csv").read_text().splitlines()
    rounded = [",".join([*line.split(",")[:1], str(n % 3), *line.split(",")[2:]]) for n, line in enumerate(text)]
    (tmp_path / "records.csv").write_text("\n".join([text[0], *rounded[1:]]))
    plain, changed = amiss(*FIND, "-o", "-"), amiss(*FIND, "-o", "-", *option)
    assert changed.code == 0, changed.err
    assert (plain.raw == changed.raw) == (option[0] == "--jobs")


def test_weighting_reaches_the_paper_scores_and_crossfit_takes_words_or_a_share(amiss, records):
    rooted, plain = (
        amiss(*FIND, "-o", "-", "--rule", "rw", "--weighting", kind).raw for kind in ("sqrt", "error")
    )
    assert rooted != plain
    assert amiss(*FIND, "-o", "-", "--crossfit", "half").raw == amiss(*FIND, "-o", "-", "--crossfit", "0.5").raw
    done = amiss(*FIND, "--crossfit", "sometimes")
    assert done.code == 2
    assert "yes, no, half or a share" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("find", "no.csv", "--outputs", "y"), "amiss: no.csv: there is no such file"),
        (("find", "records.csv"), "amiss: records.csv: which columns are outputs?"),
        (("find", "records.csv", "--outputs", "tag_*"), "records.csv: input column 'name' holds 120 different"),
        ((*FIND, "--categorical", "inn0"), "matches 'inn0'; did you mean 'in0'"),
        ((*FIND, "-o", "."), ".: "),
        (("find", "."), ".: this is a folder"),
        (("find", "records.csv", "--outputs", "in0"), "records.csv, line 2, column 'in0': an output must be"),
        (("find", "records.csv", "--outputs", "label_*"), "no column matches 'label_*'"),
        ((*FIND, "-o", "found.xlsx"), "found.xlsx: the suffix must be one of"),
        ((*FIND, "-o", "nowhere/found.csv"), "nowhere/found.csv: there is no such folder"),
        ((*FIND, "-o", "records.csv"), "records.csv: this is an input file"),
        ((*FIND, "--alerts", "100"), "--alerts 100 is more than half"),
        ((*FIND, "--exclude", "x"), "--exclude: no column matches 'x'; there are 4 columns"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_no_file(amiss, records, tmp_path, arguments, message):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = amiss(*arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_requests_that_contradict_each_other_are_refused(amiss, records):
    for extra in (("--json", "-o", "-"), ("--exclude", "tag_1", "--min-skill", 0.1), ("--min-skill", 2)):
        done = amiss(*FIND, *extra)
        assert done.code == 2
        assert done.out == ""


def test_json_lines_in_a_pipe_whatever_the_terminal_speaks(amiss, records, tmp_path, monkeypatch):
    table = (tmp_path / "records.csv").read_text().replace("tag_1", "tag_ü")
    (tmp_path / "records.csv").write_text(table, encoding="utf-8")
    monkeypatch.setitem(ENVIRONMENT, "PYTHONIOENCODING", "ascii")
    piped = amiss(*FIND, "-o", "-", "--output-format", "jsonl")
    rows = [json.loads(line) for line in piped.raw.decode("utf-8").splitlines()]
    assert len(rows) == 120
    assert any(output["output"] == "tag_ü" for row in rows for output in row["outputs"])
    assert amiss(*FIND).code == 0


def test_columns_are_named_by_commas_or_repetition(amiss, records):
    by_commas = amiss("find", "records.csv", "--outputs", "tag_0,tag_1", "--drop", "name,tag_2,tag_3", "-o", "-")
    repeated = amiss(
        "find", "records.csv", "--outputs", "tag_0", "--outputs", "tag_1",
        "--drop", "name", "--drop", "tag_[23]", "-o", "-",
    )  # fmt: skip
    assert by_commas.code == 0, by_commas.err
    assert by_commas.raw == repeated.raw


def test_a_chain_takes_its_order(amiss, records):
    chain = amiss(*FIND, "-o", "-", "--parents", "chain")
    turned = amiss(*FIND, "-o", "-", "--parents", "chain", "--order", "tag_3,tag_2,tag_1,tag_0")
    assert turned.code == 0, turned.err
    assert chain.raw != turned.raw


def test_rows_of_several_files_keep_their_file_and_line(amiss, records, tmp_path):
    lines = (tmp_path / "records.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines[:51]))
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *lines[51:]]))
    amiss("find", "a.csv", "b.csv", "--outputs", "tag_*", "--id", "name", "-o", "found.csv")
    found = pd.read_csv(tmp_path / "found.csv").set_index("row")
    assert tuple(found.loc[18, ["file", "line", "id"]]) == ("a.csv", 19, "case 17")
    assert tuple(found.loc[51, ["file", "line", "id"]]) == ("b.csv", 2, "case 50")


def test_what_was_read_as_what_is_said(amiss, records, tmp_path):
    frame = records.assign(number=range(100, 220), ward=["a", "b", "c"] * 40)
    frame.to_csv(tmp_path / "records.csv", index=False)
    done = amiss(*FIND)
    assert "Inputs read as categories: ward" in done.out
    assert "Input number only counts the rows; if it is their id, say --id." in done.out


def test_a_bad_file_leaves_an_old_list_as_it_was(amiss, records, tmp_path):
    (tmp_path / "found.csv").write_text("old")
    with (tmp_path / "records.csv").open("a") as stream:
        stream.write("case 120,1,2,3,4,5,0,1,0,maybe\n")
    done = amiss(*FIND, "-o", "found.csv")
    assert done.code == 2
    assert "records.csv, line 122, column 'tag_3': an output must be 0 or 1" in done.err
    assert "maybe" not in done.err
    assert (tmp_path / "found.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.csv", "records.csv"]


def test_trouble_of_the_system_is_exit_code_1(amiss, records):
    done = amiss(*FIND, "-o", "/proc/found.csv")
    assert done.code == 1
    assert done.err.count("\n") == 1


def test_trouble_of_ours_is_exit_code_1_and_quotes_no_cell(monkeypatch, capsys):
    import amiss.cli as cli

    def broken(**_):
        raise RuntimeError("patient 4711")

    monkeypatch.setattr(cli, "cli", broken)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 1
    error = capsys.readouterr().err
    assert "internal error (RuntimeError)" in error
    assert "4711" not in error


@pytest.mark.parametrize(
    ("trouble", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (MemoryError(), 1, "out of memory"),
        (OSError(28, "No space left on device", "found.csv"), 1, "found.csv: No space left on device"),
        (DataError("two\nlines"), 2, "amiss: two lines\n"),
    ],
)
def test_every_trouble_is_one_line(monkeypatch, capsys, trouble, code, message):
    import amiss.cli as cli

    def broken(**_):
        raise trouble

    monkeypatch.setattr(cli, "cli", broken)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_names_cannot_play_with_the_terminal(amiss, tmp_path):
    X, Y = make_table(60)
    names = ["a", "b", "c", "d", "e", "\x1b[31mred", "line\nbreak", "x" * 10_000, "tag,comma"]
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(np.column_stack([X, Y.astype(int)]).tolist())
    done = amiss("find", "t.csv", "--outputs", "last:4", "-o", "found.csv", "--quality")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 120
    rows = list(csv.DictReader(io.StringIO((tmp_path / "found.csv").read_text())))
    assert {row["output_1"] for row in rows} <= set(names)


def test_missing_cells_and_categories_in_a_file(amiss, tmp_path):
    X, Y = make_table(90)
    frame = pd.DataFrame(X[:, :2], columns=["age", "dose"]).assign(ward=np.where(X[:, 2] > 0, "eyes", "ears"))
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    for i in range(3):
        frame[f"tag_{i}"] = pd.Series(Y[:, i]).mask(np.arange(90) % 9 == i).astype("Int64")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = amiss("find", "t.csv", "--outputs", "tag_*", "-o", "found.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "found.csv")
    assert np.isfinite(found["score"]).all()
    assert found["observed_1"].isin([0, 1]).all()


def test_the_demo_finds_what_it_falsified(amiss, tmp_path):
    done = amiss("demo", "--save", "demo")
    assert done.code == 0, done.err
    verdict = next(line for line in done.out.splitlines() if line.startswith("Of the 36 most unusual"))
    found = int(verdict.split("pictures ")[1].split()[0])
    assert found >= 32
    assert "█" in done.out
    table = pd.read_csv(tmp_path / "demo" / "digits.csv")
    assert table.shape == (1797, 1 + 64 + 7)
    truth = pd.read_csv(tmp_path / "demo" / "falsified.csv")
    assert len(truth) == 36
    again = amiss("find", "demo/digits.csv", "--outputs", "tag_*", "--id", "picture", "--alerts", 36, "--json")
    assert json.loads(again.out)["flagged"] == 36


def test_the_version_is_the_packages(amiss):
    assert amiss("--version").out == f"amiss, version {package.__version__}\n"
