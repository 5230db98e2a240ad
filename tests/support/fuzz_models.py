"""Load mutated model files, in a process of its own with little memory in which nothing may be executed.

    cd tests && python -m support.fuzz_models --inputs 100000 --seed 1

A third of the files have bytes changed; in a third the checksum is made right again, as somebody would who
means harm; in a third the JSON or the table of arrays is changed, and the checksum made right. A file is loaded,
and then scores rows to finite numbers, or refused by one line that names it. Anything else (another exception,
a warning, a crash, a hang, memory beyond the cap, an import, a command, a file opened for writing) ends the run.
Prints what happened as JSON.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import random
import sys
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

import amiss
from amiss.errors import DataError
from amiss.persistence.container import FORMAT
from support import cpu_time, fuzz_readers, mutations
from support.kinds import few_trees
from support.model_files import description, signed

FORBIDDEN = (
    *("exec", "compile", "import", "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen"),
    *("pickle.find_class", "ctypes.dlopen", "socket.connect", "os.remove", "os.rename", "shutil.rmtree"),
)
CAP = 256 << 20
SAMPLES = pathlib.Path(__file__).parents[1] / "persistence" / "samples"
JUNK = [
    None,
    True,
    -1,
    0,
    1,
    2,
    0.5,
    10**9,
    2**63,
    -(2**63),
    1e308,
    "",
    "x",
    "auto",
    [],
    [[]],
    {},
    [0],
    ["a", "a"],
]
JUNK += [[0] * 1000, "[" * 1000, {"a": {"b": []}}, "\u0000", "9" * 5000]


def tables() -> list[tuple[object, np.ndarray, dict[str, object]]]:
    """Inputs, outputs and parameters of small models of every kind."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), (rng.random((40, 3)) < 0.5).astype(float)
    gaps = np.where(rng.random(Y.shape) < 0.1, np.nan, Y)
    words = np.column_stack([X[:, :2].astype(object), rng.choice(["red", "green", "blue"], 40)])
    thin = sparse.csr_array(np.where(rng.random((40, 30)) < 0.05, 1.0, 0.0))
    several = np.column_stack(
        [Y[:, 0], rng.integers(0, 5, 40), np.minimum(rng.poisson(1, 40), 3), rng.poisson(5, 40), X @ [1, 2, 3]]
    )
    several[::7, rng.integers(0, 5, 6)] = np.nan
    few = {"n_neighbors": 5, "n_jobs": 1}
    kinds = {**few, "output_kinds": {"y1": "class", "y2": ["0", "1", "2", "3"], "y3": "count"}}
    return [
        (X, Y, few),
        (words, gaps, {**few, "fdr": 0.2}),
        (thin, Y, {**few, "rule": "lrw", "crossfit": False}),
        (X, Y, {**few, "n_neighbors": 0}),
        (words, several, kinds),
        (X, several, {**kinds, "n_neighbors": 0}),
    ]


def some_new(X: object, Y: np.ndarray) -> tuple[object, np.ndarray]:
    """A row of the fit, one that was rounded, and others."""
    rows = X[:4].copy()
    if not sparse.issparse(rows):
        rows[1, 0] = round(rows[1, 0], 6)
        rows[2:, 0] += 0.1
    return rows, np.vstack([Y[:3], abs(1 - Y[3:4])])


def models(folder: pathlib.Path) -> list[tuple[bytes, object, object]]:
    """Model files, each with rows to score by it."""
    found = []
    for X, Y, parameters in tables():
        with few_trees(2):  # mutations cut long files off
            detector = amiss.MCODE(**parameters).fit(X, Y).calibrate(X, Y)
        detector.save(folder / "m.amiss", rows=parameters["n_neighbors"] != 0)
        found.append(((folder / "m.amiss").read_bytes(), *some_new(X, Y)))
    return found + samples()


def samples() -> list[tuple[bytes, object, object]]:
    """Files of older formats, which are migrated when they are loaded."""
    found = []
    for path in sorted(SAMPLES.glob("*.amiss")):
        said = json.loads(path.with_suffix(".json").read_text())
        if description(path)["format"] < FORMAT:
            Y = pd.DataFrame(said["Y"][:4], **({} if "-kinds" in path.stem else {"dtype": float}))
            found.append((path.read_bytes(), pd.DataFrame(said["X"][:4]), Y))
    return found


def restructured(content: bytes, rng: random.Random) -> bytes:
    """One thing changed in the description, or in the kind, shape or place of an array."""
    length = int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8 : 8 + length]), content[8 + length :]
    if rng.random() < 0.5:
        description = json.loads(header["__metadata__"]["amiss"])
        _change(description, rng)
        header["__metadata__"]["amiss"] = json.dumps(description)
    else:
        names = [name for name in header if name != "__metadata__"]
        name, other = rng.choice(names), rng.choice(names)
        change = rng.randrange(5)
        if change == 0:
            header[name], header[other] = header[other], header[name]
        elif change == 1:
            header[name]["dtype"] = rng.choice(
                ["F64", "F32", "I64", "I32", "U8", "BOOL", "U64", "F16", "I8", "C64"]
            )
        elif change == 2:
            header[name]["shape"] = header[name]["shape"][::-1]
        elif change == 3:
            header[name]["shape"] = [rng.choice([0, 1, 7, 2**31, 2**62]) for _ in range(rng.randrange(4))]
        else:
            del header[name]
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def _change(value: object, rng: random.Random) -> None:
    """Something somewhere inside a JSON value becomes something else."""
    while True:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        if not keys:
            return
        key = rng.choice(list(keys))
        if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.7:
            value = value[key]
            continue
        if rng.random() < 0.2:
            del value[key]
        else:
            value[key] = rng.choice(JUNK)
        return


class Watch:
    """Notes what is executed while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, details: tuple[object, ...]) -> None:
        if self.on and (event in FORBIDDEN or (event == "open" and str(details[1])[:1] in "wax")):
            self.seen.append(event)


def tried(path: pathlib.Path, X: object, Y: object) -> tuple[str, str | None]:
    """Was it loaded or refused, and what is wrong with that."""
    outcome = "refused"
    try:
        with cpu_time.limited(fuzz_readers.SECONDS):
            detector = amiss.load(path)
            outcome = "refuses the rows"
            batch = detector.score_batch(X, Y)
            batch.remarks()
    except DataError as error:
        named = outcome != "refused" or str(error).startswith(str(path))
        return outcome, None if named and "\n" not in str(error) else f"unclear: {error}"
    except BaseException as error:
        return outcome, f"{type(error).__name__}: {error}"
    return "scores", None if np.isfinite(batch.scores).all() else "a score is not finite"


def fuzz(inputs: int, seed: int) -> dict[str, object]:
    rng, watch = random.Random(seed), Watch()
    counts: collections.Counter[str] = collections.Counter()
    with fuzz_readers.scratch_folder() as folder:
        originals, path = models(folder), folder / "t.amiss"
        for content, X, Y in originals:
            path.write_bytes(content)
            amiss.load(path).score_batch(X, Y).remarks()
        fuzz_readers.limit_memory(CAP)
        for number in range(inputs):
            original, X, Y = rng.choice(originals)
            if number % 3 < 2:
                content = mutations.mutated(original, rng, mutations.BINARY_TOKENS)
                content = signed(content) if number % 3 else content
            else:
                content = signed(restructured(original, rng))
            path.write_bytes(content)
            watch.on = True
            outcome, fault = tried(path, X, Y)
            watch.on = False
            counts[outcome] += 1
            fault = fault or (f"executed {watch.seen}" if watch.seen else None)
            if fault is not None:
                fuzz_readers.give_up(content, "amiss", f"input {number}: {fault}")
    return {"inputs": inputs, **counts, "peak MiB": fuzz_readers.peak()}


if __name__ == "__main__":
    warnings.simplefilter("error")
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(json.dumps(fuzz(arguments.inputs, arguments.seed)))
