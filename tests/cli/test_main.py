"""The command itself, run as a process: help, version, and how each kind of trouble ends."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import amiss as package
from amiss.decisions.registry import COMPARISONS
from amiss.encoding.scalings import SCALINGS
from amiss.errors import DataError
from amiss.models.registry import PARENTS
from amiss.output.registry import LIST_FORMATS
from amiss.readers.registry import FORMATS
from amiss.scoring.registry import AUTO, RULES, SEARCHES, SPACES, WEIGHTINGS
from amiss.settings import DEFAULTS

COMMANDS = ("check", "find", "explain", "fit", "score", "demo", "evaluate", "reproduce", "completion")
DETECTING = {
    "--rule": [*RULES, AUTO],
    "--weighting": [*WEIGHTINGS],
    "--parents": [*PARENTS],
    "--scaling": [*SCALINGS, AUTO],
    "--neighbor-space": [*SPACES],
    "--neighbor-search": [*SEARCHES],
    "--format": [*FORMATS],
}
CHOICES = {
    "find": {**DETECTING, "--output-format": [*LIST_FORMATS]},
    "explain": DETECTING,
    "fit": DETECTING,
    "score": {"--format": [*FORMATS], "--output-format": [*LIST_FORMATS], "--against": [*COMPARISONS]},
    "evaluate": {"--format": [*FORMATS]},
}


def test_help_lists_every_command_with_a_line_about_it(amiss):
    done = amiss("--help")
    assert done.code == 0 and done.err == ""
    listed = done.out.split("Commands:\n")[1].splitlines()
    assert {line.split()[0] for line in listed} == set(COMMANDS)
    assert all(len(line.split()) > 3 and not line.endswith("...") for line in listed)
    assert amiss("-h").out == done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(amiss, command):
    done = amiss(command, "--help")
    assert done.code == 0 and done.err == ""
    assert done.out.startswith(f"Usage: amiss {command} [OPTIONS]")
    assert command == "demo" or f"\n  amiss {command} " in done.out


@pytest.mark.parametrize("command", CHOICES)
def test_help_lists_the_choices_of_every_registry(amiss, command):
    text = re.sub(r"\s+", "", amiss(command, "--help").out)  # a long list is broken into lines
    for option, names in CHOICES[command].items():
        assert f"{option}[{'|'.join(names)}]" in text, option


@pytest.mark.parametrize("option", [option for option in DETECTING if option != "--format"])
def test_a_name_that_is_no_choice_is_refused_with_the_choices(amiss, records, option):
    done = amiss("find", "records.csv", "--outputs", "tag_*", option, "magic")
    assert done.code == 2 and done.out == ""
    assert all(f"'{name}'" in done.err for name in DETECTING[option])


def test_a_command_that_is_not_there_is_bad_input(amiss):
    done = amiss("guess")
    assert done.code == 2 and "No such command 'guess'" in done.err


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom amiss.cli import main\nsys.argv = ['amiss', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'tqdm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "amiss find records.csv" in done.stdout
    assert done.stdout.endswith("[]\n")


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


def test_the_version_is_the_packages(amiss):
    assert amiss("--version").out == f"amiss, version {package.__version__}\n"


def test_help_shows_the_defaults_and_descriptions_of_the_code(amiss):
    text = " ".join(amiss("find", "--help").out.split())
    for registry in (RULES, WEIGHTINGS, PARENTS, SCALINGS, SEARCHES):
        for name, entry in registry.items():
            assert f"{name}: {entry.description}" in text
    for parameter, option in (("n_neighbors", "--neighbors"), ("crossfit", "--crossfit"), ("rule", "--rule")):
        help_of_option = text.split(f" {option} ", 1)[1]
        default = re.search(r"\[default: ([^];]+)", help_of_option)
        assert default is not None and default.group(1) == str(DEFAULTS[parameter])
