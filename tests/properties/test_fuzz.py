"""Mutated files: read, loaded, or refused by one line. The long run has a million of most kinds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.fuzz_readers import FLAT, KINDS

HERE = Path(__file__).parents[1]
PART, SEEDS = 100_000, range(1, 11)  # a million


def fuzzed(*arguments):
    """What happened, in a process of its own, which a crash would end."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)], cwd=HERE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    counts = json.loads(done.stdout)
    print(counts)
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_read_or_refused(kind):
    counts = fuzzed("support.fuzz_readers", kind, "--inputs", 400)
    assert counts["read"] + counts["refused"] == 400 and counts["read"] > 5


def test_mutated_models_are_loaded_or_refused():
    counts = fuzzed("support.fuzz_models", "--inputs", 400)
    assert counts["scores"] > 5 and counts["refused"] > 5


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FLAT])
def test_a_million_mutated_files(kind, seed):
    assert fuzzed("support.fuzz_readers", kind, "--inputs", PART, "--seed", seed)["inputs"] == PART


@pytest.mark.long
@pytest.mark.parametrize("kind", FLAT)
def test_a_hundred_thousand_mutated_files(kind):
    assert fuzzed("support.fuzz_readers", kind, "--inputs", PART, "--seed", 1)["inputs"] == PART


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_a_million_mutated_models(seed):
    assert fuzzed("support.fuzz_models", "--inputs", PART, "--seed", seed)["inputs"] == PART
