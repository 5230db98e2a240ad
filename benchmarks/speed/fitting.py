"""Our fit of all outputs, strengths and folds of one dataset, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import amiss
from amiss.arrays import Floats, Matrix
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.models.conditional import Fit
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.logistic.local import LocalCurvatures, LocalProblems, LocalRows
from amiss.models.registry import PARENTS
from amiss.models.settings import STRENGTHS


@dataclass(frozen=True)
class Fitted:
    """What our fit took and gave."""

    seconds: float
    peak_mib: float
    data_mib: float
    operations: float
    coef: Floats
    intercept: Floats
    strength: Floats


def loaded(folder: Path, name: str) -> tuple[Matrix, Floats]:
    files = sorted((folder / name).glob("*.arff*"))
    labels = folder / name / f"{name}.xml"
    data = amiss.read(*files, outputs=labels, id="protein" if name == "genbase" else None)
    return fit_encoder(data.X, SCALINGS.named("block")).transform(data.X), np.asarray(data.Y.values)


def fit(X: Matrix, Y: Floats) -> Fit:
    """The six strengths and five folds of the detector's default."""
    visible = PARENTS["others"].visible(Y.shape[1], None)
    everyone = np.ones(Y.shape, dtype=bool)
    return fit_logistic(X, Y, everyone, visible, STRENGTHS, stratified_folds(Y, 5), n_jobs=-1)


def fitted(folder: Path, name: str) -> Fitted:
    """Run this module on a dataset."""
    with tempfile.TemporaryDirectory() as place:
        result = Path(place) / "fit.npz"
        command = [sys.executable, "-m", "benchmarks.speed.fitting", str(folder), name, str(result)]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        arrays = np.load(result)
        return Fitted(**told, **{key: arrays[key] for key in arrays.files})


def _counted() -> list[float]:
    """A list to which every product with Z adds its number of additions and multiplications."""
    operations: list[float] = []
    entries: list[int] = []
    begin = LocalRows.__init__

    def beginning(self: LocalRows, Z: Matrix, *rest: Any) -> None:
        entries[:] = [Z.nnz if sparse.issparse(Z) else Z.size]
        begin(self, Z, *rest)

    def count(owner: type, method: str, coef: int, ways: int) -> None:
        plain = getattr(owner, method)

        def counting(self: Any, *arguments: Any) -> Any:
            operations.append(2.0 * ways * entries[0] * arguments[coef].shape[1])
            return plain(self, *arguments)

        setattr(owner, method, counting)

    LocalRows.__init__ = beginning  # type: ignore[method-assign, assignment]
    count(LocalRows, "margins", 0, 1)
    count(LocalProblems, "evaluate", 0, 2)
    count(LocalProblems, "hold_out", 1, 1)
    count(LocalCurvatures, "hessian_product", 0, 2)
    return operations


def _peak_mib() -> float:
    """The most memory this process ever had. (The usual ru_maxrss starts from that of its parent.)"""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _size(X: Matrix) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes


def main() -> None:
    folder, name, result = sys.argv[1:]
    X, Y = loaded(Path(folder), name)
    operations = _counted()
    start = time.perf_counter()
    done = fit(X, Y)
    seconds = time.perf_counter() - start
    model: Any = done.model
    np.savez(result, coef=model.coef, intercept=model.intercept, strength=done.strength)
    told = {
        "seconds": seconds,
        "peak_mib": _peak_mib(),
        "data_mib": (_size(X) + Y.nbytes) / 2**20,
        "operations": sum(operations),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
