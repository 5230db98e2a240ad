"""What people write by hand: pandas, out-of-fold logistic regression, cleanlab's scores, a list.

python -m benchmarks.whole_job.script TABLE.csv LIST.csv
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from cleanlab.multilabel_classification.rank import get_label_quality_scores
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def chances(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Out-of-fold probabilities of one output."""
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return np.asarray(cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1])


def main() -> None:
    source, target = sys.argv[1:]
    frame = pd.read_csv(source)
    outputs = [name for name in frame if name.startswith("y")]
    X, Y = frame.drop(columns=outputs).to_numpy(), frame[outputs].to_numpy()
    predicted = np.column_stack(Parallel(n_jobs=2)(delayed(chances)(X, y) for y in Y.T))
    labels = [list(np.flatnonzero(row)) for row in Y]
    frame["score"] = get_label_quality_scores(labels, predicted)
    for i, name in enumerate(outputs):
        frame[f"probability_{name}"] = predicted[:, i]
    frame.sort_values("score").to_csv(target, index=False)


if __name__ == "__main__":
    main()
