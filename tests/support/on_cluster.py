"""Data of tests on clusters: queries whose gradients depend on neither ties nor bins of workers."""

import numpy as np
import pandas as pd

import gapboost as gb

MEASURE = gb.GAP(g=(0.5, 0.5))


def ranking(n_queries, seed=0, longest=20):
    """Return a data frame: features f0 to f5, y, qid, start and weight, query by query.

    Features have few distinct values, so that workers agree on the bins. No two initial scores are
    equal, as the order of ties depends on the worker. Weights are those of queries.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, longest, n_queries)
    X = rng.integers(0, 8, (sizes.sum(), 6)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(6)])
    frame["y"] = np.digitize(X[:, 0] + X[:, 1] + 2.4 * rng.standard_normal(len(X)), [9, 12])
    frame["qid"] = np.repeat(np.arange(n_queries), sizes)
    frame["start"] = rng.permutation(len(X)) / len(X)
    frame["weight"] = np.repeat(rng.integers(1, 4, n_queries), sizes).astype(float)
    return frame


def features(frame):
    """Return the features of `ranking` as an array."""
    return frame[[f"f{i}" for i in range(6)]].to_numpy()


def gap(frame, scores):
    """Return the mean GAP of `frame` at these scores."""
    return gb.evaluate(MEASURE, frame.y, scores, frame.qid)[MEASURE]
