"""Rankers that train in no time: what comparisons are made of where the boosters do not matter."""

import zlib

import numpy as np
from sklearn.base import BaseEstimator


class Noisy(BaseEstimator):
    """Score by the first feature plus noise: a weighted sum of the others.

    The weights are drawn with the seed and the rows.
    """

    def __init__(self, noise=0.3, offset=0, random_state=None):
        self.noise = noise
        self.offset = offset
        self.random_state = random_state

    def fit(self, X, y):
        # The same in any order.
        rows = zlib.crc32(np.sort(np.asarray(X, dtype=float)[:, 0]).tobytes())
        rng = np.random.default_rng([self.offset, self.random_state or 0, rows])
        self.weights_ = np.append(1.0, self.noise * rng.standard_normal(X.shape[1] - 1))
        return self

    def predict(self, X):
        return np.asarray(X, dtype=float) @ self.weights_


def made(n_queries=60, n_docs=8, n_features=5, seed=0):
    """Features, grades 0 to 2 that follow the first feature, and query ids; rows are shuffled."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_queries * n_docs, n_features))
    y = np.digitize(X[:, 0] + rng.standard_normal(len(X)), (0.5, 1.5))
    order = rng.permutation(len(X))
    return X[order], y[order], np.repeat(np.arange(n_queries), n_docs)[order] + 1000
