"""Feed mutated files to one reader, in a process of its own with little memory.

    cd tests && python -m support.fuzz_readers csv --inputs 100000 --seed 1

Each file is read or refused; a refusal is one line that begins with the file, and names the line where the
format has lines. Anything else (another exception, a crash, a hang, memory beyond the cap) ends the run with
the file that did it. Prints what happened as JSON.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import pathlib
import random
import re
import resource
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

import amiss
from amiss.errors import DataError
from support import cpu_time, mutations

FLAT = ("xlsx", "sqlite", "feather", "jsonl", "json")
KINDS = ("csv", "tsv", "csv.gz", "arff", "xml", "svm", "npz", "parquet", "npy", "inputs.npz", *FLAT)
BINARY = ("npz", "parquet", "csv.gz", "npy", "inputs.npz", "xlsx", "sqlite", "feather")
BESIDE = ("npy", "inputs.npz")  # inputs beside a table
WITH_LINES = ("csv", "tsv", "csv.gz", "arff", "xml", "svm", "jsonl")
# Problems of a whole file, which no line has.
WHOLE_FILE = (
    "the file is empty",
    "there are no rows",
    "there are column names but no rows",
    "there are attributes but no rows",
    "there must be labels",
    "there is no output column",
    "every column is an output",
    "texts in sparse rows",
    "no column matches",
    "there is no column",
    "is not among its columns",
    "is missing in every row",
    "the gzip data is damaged",
    "must be an array of objects",
    "a key is empty",
    "in a key",
    "no object has a key",
    "columns need a decision",
    "this is free text",
    "every number is such as 1,234",
    "the first number of these dates",
)
SECONDS = 20  # of the processor's time, for a file of at most 64 kB
CAP = 1 << 30  # bytes beyond what the imports take


def limit_memory(cap: int = CAP) -> None:
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + cap, resource.RLIM_INFINITY))


def peak() -> int:
    """MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


@contextlib.contextmanager
def scratch_folder() -> Iterator[pathlib.Path]:
    """A folder in memory, where there is one: a million files are written."""
    in_memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        yield pathlib.Path(name)


def read(path: pathlib.Path, kind: str, folder: pathlib.Path) -> amiss.Dataset:
    if kind == "xml":
        return amiss.read(folder / "good.arff", outputs=str(path))
    if kind in BESIDE:
        return amiss.read(folder / "labels.csv", outputs="tag_*", id="name", inputs=path)
    named = {} if kind in ("svm", "npz") else {"outputs": "tag_*"}
    if kind in ("csv", "tsv", "csv.gz", "parquet", *FLAT):
        named["id"] = "name"
    return amiss.read(path, **named)


def problem_with(message: str, path: pathlib.Path, kind: str) -> str | None:
    """What a person would miss in a refusal."""
    if "\n" in message or len(message) > 800:
        return "not one line"
    if str(path) not in message:
        return "does not name the file"
    located = re.search(r", (line|row) \d+", message) is not None
    if kind in WITH_LINES and not located and not any(each in message for each in WHOLE_FILE):
        return "does not name the line"
    return None


def tried(path: pathlib.Path, kind: str, folder: pathlib.Path) -> tuple[str, str | None]:
    """Was it read or refused, and what is wrong with that."""
    try:
        with cpu_time.limited(SECONDS):
            data = read(path, kind, folder)
    except DataError as error:
        fault = problem_with(str(error), path, kind)
        return "refused", fault and f"{fault}: {error}"
    except BaseException as error:
        return "failed", f"{type(error).__name__}: {error}"
    X = np.asarray(getattr(data.X.values, "data", data.X.values))
    return "read", "an infinite input" if np.isinf(X).any() else None


def give_up(content: bytes, kind: str, message: str) -> NoReturn:
    kept = pathlib.Path(tempfile.gettempdir()) / f"amiss-fuzz.{kind}"
    kept.write_bytes(content)
    sys.exit(f"{message} (kept as {kept})")


def fuzz(kind: str, inputs: int, seed: int) -> dict[str, object]:
    rng = random.Random(f"{kind} {seed}")
    originals = mutations.valid_files(kind)
    tokens = mutations.BINARY_TOKENS if kind in BINARY else mutations.TEXT_TOKENS
    tokens = [*tokens, *mutations.JSON_TOKENS] if kind in ("jsonl", "json") else tokens
    counts: collections.Counter[str] = collections.Counter()
    with scratch_folder() as folder:
        (folder / "good.arff").write_bytes(mutations.ARFF)
        (folder / "labels.csv").write_bytes(mutations.LABELS)
        path = folder / f"t.{kind}"
        for original in originals:
            path.write_bytes(original)
            assert len(read(path, kind, folder)) >= 3
        limit_memory()
        for number in range(inputs):
            original = rng.choice(originals)
            inside = kind == "xlsx" and rng.random() < 0.8
            content = (
                mutations.mutated_member(original, rng) if inside else mutations.mutated(original, rng, tokens)
            )
            path.write_bytes(content)
            outcome, fault = tried(path, kind, folder)
            counts[outcome] += 1
            if fault is not None:
                give_up(content, kind, f"{kind}, input {number}: {fault}")
    return {"kind": kind, "inputs": inputs, **counts, "peak MiB": peak()}


if __name__ == "__main__":
    warnings.simplefilter("error")  # a warning would be printed beside the one line
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(json.dumps(fuzz(arguments.kind, arguments.inputs, arguments.seed)))
