"""How long boosted trees take, beside linear models: one table, in one run.

    python -m benchmarks.speed.boosting

2,400 rows, 300 inputs and 6 outputs, half of them no linear function of the inputs. Seconds of a fit, and
milliseconds to score 100 new rows. The estimate by which ``model="auto"`` counts its time budget stands beside
what its fits take.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from amiss import MCODE
from amiss.arrays import Floats
from amiss.models.boosting.fit import MOST_TREES, Boosting, boosted, seconds_of_fit
from amiss.models.folds import stratified_folds
from amiss.threads import one_openmp_thread


def table(n_rows: int, n_inputs: int) -> tuple[Floats, Floats]:
    """Inputs, and six outputs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_inputs))
    curved = [X[:, 0] * X[:, 1], np.sin(3 * X[:, 4]), X[:, 1] ** 2 - 1]
    straight = [X[:, 2] + X[:, 3], X[:, 5] - X[:, 6], X[:, 9]]
    return X, (np.column_stack([*curved, *straight]) + 0.3 * rng.normal(size=(n_rows, 6)) > 0).astype(float)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=2400)
    parser.add_argument("--inputs", type=int, default=300)
    given = parser.parse_args()
    X, Y = table(given.rows, given.inputs)
    new = table(given.rows + 100, given.inputs)
    for kind in ("linear", "boosting", "auto"):
        begin = time.perf_counter()
        detector = MCODE(model=kind).fit(X, Y)
        seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        detector.decision_function(new[0][-100:] + 1e-3, new[1][-100:])
        score = 1000 * (time.perf_counter() - begin)
        print(f"{kind:9} {seconds:7.1f} s {score:7.0f} ms for 100 new rows", flush=True)
    for rows, inputs in ((300, 20), (300, 300), (2400, 20), (2400, 300), (20000, 20)):
        X, Y = table(rows, inputs)
        view = Boosting(X, Y, np.ones(Y.shape, dtype=bool), stratified_folds(Y, 5)).view(np.zeros(6, dtype=bool))
        with one_openmp_thread():
            boosted(view, Y[:, 0], np.ones(rows, dtype=bool), 2)  # what is imported once
            begin = time.thread_time()
            boosted(view, Y[:, 0], np.ones(rows, dtype=bool), MOST_TREES)
            taken = time.thread_time() - begin
        print(f"a fit of {rows} x {inputs}: {taken:.2f} s of CPU, counted as {seconds_of_fit(rows, inputs):.2f}")


if __name__ == "__main__":
    main()
