"""Makes the samples of the present format: ``python tests/persistence/make_samples.py``, once for each new format.

A sample is never made again: that it still loads is what it is for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "samples"
sys.path.insert(0, str(FOLDER.parents[1]))

from support.tables import mixed_table  # noqa: E402

from amiss import MCODE  # noqa: E402
from amiss.persistence import container as store  # noqa: E402


def main() -> None:
    X, Y = mixed_table(60)
    new_X, new_Y = mixed_table(12, seed=1)
    for kind, parameters in (("rows", {"n_neighbors": 10}), ("without-rows", {"n_neighbors": 0})):
        path = FOLDER / f"format-{store.FORMAT}-{kind}.amiss"
        if path.exists():
            sys.exit(f"{path} is there already, and old samples stay as they are")
        detector = MCODE(**parameters).fit(X, Y).calibrate(X, Y)
        detector.save(path, rows=kind == "rows")
        batch = detector.score_batch(new_X, new_Y)
        expected = {
            "X": json.loads(new_X.to_json(orient="records")),
            "Y": json.loads(new_Y.to_json(orient="records")),
            "scores": batch.scores.tolist(),
            "p_values": batch.p_values.tolist(),
            "threshold": batch.threshold,
            "fit_scores": detector.decision_scores_.tolist() if kind == "rows" else None,
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
