"""A small graded task with ids as users have them, for tests that train many rankers."""

import numpy as np
import pytest

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker


def task():
    """X, y and ids of queries that are neither sorted nor contiguous: rows are shuffled."""
    train = load_digits_ranking((36, 20, 20), 16).train
    rows = np.random.default_rng(0).permutation(len(train))
    qid = np.array([f"query {i}" for i in train.qid])
    return train.X[rows], train.y[rows], qid[rows]


RANKERS = [
    LGBMGAPRanker(n_estimators=4, n_jobs=1, verbose=-1),
    XGBGAPRanker(n_estimators=4, n_jobs=1),
]
both = pytest.mark.parametrize("ranker", RANKERS, ids=["lightgbm", "xgboost"])


def assert_same_search(found, expected):
    """Check that both searches have the same scores, and the same best candidate."""
    for key, values in expected.cv_results_.items():
        if key.startswith(("split", "mean_test", "std_test", "rank_test")):
            np.testing.assert_array_equal(found.cv_results_[key], values)
    for name in ("best_index_", "best_score_", "n_splits_"):
        assert getattr(found, name) == getattr(expected, name)
