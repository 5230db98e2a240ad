"""Check tags by the probabilities of a PyTorch network that never saw the row.

    python examples/network_probabilities.py

Each fold is predicted by a network that was trained on the other folds. Without PyTorch, a scikit-learn network
stands in. The pictures are made on the spot: 12 numbers each, with four tags, of which some are wrong.
"""

from importlib.util import find_spec

import numpy as np
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier

import amiss


def torch_network(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """Train a network on X and Y, and give the probabilities of the tags of other rows."""
    import torch

    torch.manual_seed(0)
    inputs, targets = (torch.tensor(each, dtype=torch.float32) for each in (X, Y))
    network = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, Y.shape[1])
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=1e-3)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(network(inputs), targets).backward()
        optimizer.step()
    with torch.no_grad():
        return torch.sigmoid(network(torch.tensor(X_new, dtype=torch.float32))).double().numpy()


def sklearn_network(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """The same without PyTorch."""
    return (
        MLPClassifier(16, solver="lbfgs", alpha=10.0, max_iter=5000, random_state=0).fit(X, Y).predict_proba(X_new)
    )


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    truth = (X[:, :4] * X[:, 4:8] + 2 * X[:, 8:] > 0).astype(int)
    wrong = rng.choice(len(X), 12, replace=False)
    Y = truth.copy()
    Y[wrong, rng.integers(0, 4, len(wrong))] ^= 1

    predict = torch_network if find_spec("torch") else sklearn_network
    P = np.empty(Y.shape)
    for train, held_out in KFold(5, shuffle=True, random_state=0).split(X):
        P[held_out] = predict(X[train], Y[train], X[held_out])

    detector = amiss.MCODE.from_probabilities(P, Y)
    for note in detector.fitted_.notes:
        print(note)
    top = np.argsort(-detector.decision_scores_, kind="stable")[: len(wrong)]
    print(f"{np.isin(top, wrong).sum()} of the {len(wrong)} most unusual rows have a wrong tag.")
    print(detector.explain(int(top[0])))


if __name__ == "__main__":
    main()
