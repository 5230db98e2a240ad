"""Help that teaches: first steps, options in groups, suggestions, completion, and a page of all options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.tables import ENVIRONMENT

from amiss.cli import cli
from amiss.cli.grouped import GROUPS, nearest_options
from amiss.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_without_arguments_the_first_steps_are_shown(amiss):
    done = amiss()
    assert done.code == 0 and done.err == ""
    examples = [line.split()[1] for line in done.out.splitlines() if line.startswith("  amiss ")]
    assert examples == ["demo", "find", "explain", "fit", "score"]
    assert all(len(line) <= 110 for line in done.out.splitlines())


@pytest.mark.parametrize("command", ["find", "explain", "fit", "score"])
def test_help_shows_options_in_groups(amiss, command):
    text = amiss(command, "--help").out
    headings = [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [each for each in (*GROUPS, "Options") if f"\n{each}:\n" in text]
    assert {"Data", "Output", "Options"} <= set(headings) and text.split("\nOptions:\n")[1].split() == [
        "-h,",
        "--help",
        "Show",
        "this",
        "message",
        "and",
        "exit.",
    ]
    options = {name for option in cli.commands[command].params for name in option.opts if name.startswith("--")}
    hidden = {"--alerts"} if command == "fit" else set()
    assert all(f"{name}" in text for name in options - hidden)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("explain", "t.csv", "3", "--output", "a"), "Did you mean '--outputs'?"),
        (("find", "t.csv", "--ouputs", "a"), "'--outputs'"),
        (("find", "t.csv", "--help-me"), "Did you mean '--help'?"),
        (("score", "m.amiss", "t.csv", "--alert", "3"), "Did you mean '--alerts'?"),
    ],
)
def test_a_mistyped_option_suggests_the_right_one(amiss, arguments, meant):
    done = amiss(*arguments)
    assert done.code == 2 and "No such option" in done.err and meant in done.err


def test_nothing_alike_suggests_nothing():
    assert nearest_options("--zzz", ["--outputs", "--group"]) == []
    assert nearest_options("--help-me", ["--outputs", "--sheet"]) == []


def test_help_says_what_outputs_may_be(amiss):
    said = " ".join(amiss("--help").out.split())
    assert "Outputs are tags (0 and 1), classes, grades, counts or numbers" in said


@pytest.mark.parametrize("command", ["find", "fit"])
def test_output_is_not_outputs(amiss, records, command):
    done = amiss(command, "records.csv", "--output", "tag_*")
    assert done.code == 2 and "to say which columns are outputs, pass --outputs 'tag_*'" in done.err


def test_a_file_is_no_row(amiss, records, tmp_path):
    (tmp_path / "more.csv").write_bytes((tmp_path / "records.csv").read_bytes())
    done = amiss("explain", "records.csv", "more.csv", "--outputs", "tag_*", "--drop", "name")
    assert (
        done.code == 2
        and done.err == "amiss: more.csv is a file; name the row after the files: amiss explain more.csv ROW\n"
    )
    assert "FILE and ROW" in amiss("explain").err


@pytest.mark.parametrize(
    ("suffix", "advice"), [(".dta", "pandas.read_stata"), (".rds", "readRDS"), (".zip", "unzip")]
)
def test_files_of_other_programs_are_named(amiss, tmp_path, suffix, advice):
    (tmp_path / f"t{suffix}").write_bytes(b"")
    done = amiss("find", f"t{suffix}", "--outputs", "a")
    assert done.code == 2 and "unknown suffix" in done.err and advice in done.err and done.err.count("\n") == 1


def test_an_output_that_is_not_binary_says_what_it_holds(amiss, records, tmp_path):
    tags = ["maybe" if tag else "no" for tag in records["tag_1"]]
    tags[7] = ""
    records.assign(tag_1=tags).to_csv(tmp_path / "t.csv", index=False)
    done = amiss("find", "t.csv", "--outputs", "tag_*", "--id", "name")
    n_maybe = sum(tag == "maybe" for tag in tags)
    counts = (
        f"It holds {120 - n_maybe - 1} values of yes or no, 1 empty cell and {n_maybe} other texts, all the same"
    )
    assert done.code == 2 and counts in done.err and "it may be a class" in done.err and "maybe" not in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(amiss, shell):
    done = amiss("completion", shell)
    assert done.code == 0 and "_AMISS_COMPLETE" in done.out and done.err == ""


@pytest.mark.parametrize(
    ("words", "answer"),
    [("amiss find --rul", "--rule"), ("amiss find --rule f", "flip"), ("amiss ex", "explain")],
)
def test_what_the_script_asks_for_is_answered(words, answer):
    asked = {"_AMISS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv = ['amiss']; from amiss.cli import main; main()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=ENVIRONMENT | asked, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"plain,{answer}"]


def test_the_page_of_all_options_is_current():
    assert PAGE.read_text(encoding="utf-8") == reference(), "python -m amiss.cli.reference > docs/cli.md"
