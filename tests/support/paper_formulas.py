"""The formulas of the MCODE paper (rho, weights, scores) as plain loops, to test the package against.

Written from the paper, not from the package's code; no handling of missing values or of rho = 0.
"""

import numpy as np


def rho(X, Y, coef, intercept):
    """The probability of each observed y_i given x and the other outputs: P if y_i = 1, 1 - P otherwise."""
    (N, m), d = X.shape, Y.shape[1]
    out = np.empty((N, d))
    for n in range(N):
        for i in range(d):
            z = intercept[i] + sum(coef[j, i] * X[n, j] for j in range(m))
            z += sum(coef[m + j, i] * Y[n, j] for j in range(d) if j != i)  # y_{-i}
            # P = 1 / (1 + e^-z), and 1 - P = 1 / (1 + e^z), written so that it does not cancel
            out[n, i] = 1 / (1 + np.exp(-z)) if Y[n, i] == 1 else 1 / (1 + np.exp(z))
    return out


def global_weights(rho):
    """w_i = N / sum_n eps_i(n), with eps = 1 - rho."""
    N, d = rho.shape
    return np.array([N / sum(1 - rho[n, i] for n in range(N)) for i in range(d)])


def local_weights(rho, points, k):
    """w_i(n) = |N_k(n)| / sum of eps_i over N_k(n), the k rows nearest to row n, itself not among them."""
    out = np.empty(rho.shape)
    for n in range(len(points)):
        distance = np.sqrt(((points - points[n]) ** 2).sum(axis=1))
        neighbours = [j for j in np.argsort(distance, kind="stable") if j != n][:k]
        for i in range(rho.shape[1]):
            out[n, i] = len(neighbours) / sum(1 - rho[j, i] for j in neighbours)
    return out


def score(rho, w):
    """-sum_i w_i log rho_i(n); w is 1 (PROD), one weight per output (RW) or one per row and output (LRW)."""
    N, d = rho.shape
    w = np.broadcast_to(w, (N, d))
    return np.array([-sum(w[n, i] * np.log(rho[n, i]) for i in range(d)) for n in range(N)])
