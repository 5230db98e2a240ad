"""False-discovery levels of new rows whose outputs are of several kinds, against rows held out of the fit.

    python -m benchmarks.quality.levels --seeds 6

Of the generated table of :mod:`benchmarks.quality.mixed` 1,400 rows are fitted and calibrated to. Of the other 600
a tenth get the outputs of another row, or a shift of one output. Flagged rows at each level, how many of them are
wrong, and the share of false ones: a mean over batches, in which a batch without flags counts 0.
"""

from __future__ import annotations

import argparse

import numpy as np

from amiss import MCODE
from amiss.evaluation import inject
from benchmarks.quality.mixed import generated

LEVELS, KINDS, N_FIT, SHARE = (0.05, 0.1, 0.2, 0.5), ("swap", "shift"), 1400, 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    given = parser.parse_args()
    found: dict[tuple[str, float], list[tuple[int, int]]] = {}
    for seed in range(given.seeds):
        X, Y = generated(seed)
        rows = np.arange(len(Y))
        inside, outside = rows[:N_FIT], rows[N_FIT:]
        detector = MCODE().fit(X[inside], Y.take(inside)).calibrate(X[inside], Y.take(inside))
        for kind in KINDS:
            made, wrong = inject(Y.take(outside), SHARE, 0.05, seed, kind=kind)
            is_wrong = np.asarray(wrong).reshape(len(outside), -1).any(axis=1)
            for level in LEVELS:
                flagged = detector.score_batch(X[outside], made, fdr=level).flagged
                counts = int(flagged.sum()), int((flagged & is_wrong).sum())
                found.setdefault((kind, level), []).append(counts)
    print(f"{'error':8} {'level':>6} {'flagged':>8} {'wrong':>6} {'false share':>12}")
    for (kind, level), batches in found.items():
        flagged, wrong = (np.array(each) for each in zip(*batches, strict=True))
        false = float(np.mean((flagged - wrong) / np.maximum(flagged, 1)))
        print(f"{kind:8} {level:6.2f} {flagged.mean():8.1f} {wrong.mean():6.1f} {false:12.3f}", flush=True)


if __name__ == "__main__":
    main()
