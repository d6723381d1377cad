"""Ensembles of trees as models that are linear in their leaf values."""

import lightgbm
import numpy as np
import pytest
import xgboost

from benchmarks.studies.papers.ensembles import leaf_indicators, leaf_values
from gapboost.analysis import local_optimality
from gapboost.datasets import load_digits_ranking


@pytest.fixture(scope="module")
def digits():
    return load_digits_ranking()


def rankers():
    from gapboost.lightgbm import LGBMGAPRanker
    from gapboost.xgboost import XGBGAPRanker

    tree = dict(n_estimators=12, n_jobs=1, random_state=0)
    return {
        "lightgbm": LGBMGAPRanker(verbose=-1, num_leaves=6, **tree),
        "xgboost": XGBGAPRanker(max_depth=3, **tree),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_leaves_add_up_to_the_scores(digits, name):
    ranker = rankers()[name].fit(digits.train.X, digits.train.y, qid=digits.train.qid)
    indicators, values = leaf_indicators(ranker, digits.test.X), leaf_values(ranker)
    assert indicators.shape == (len(digits.test.y), len(values))
    assert (indicators.sum(axis=1) == 12).all()
    scores = indicators @ values
    predicted = ranker.predict(digits.test.X)
    assert np.ptp(scores) > 0.1
    np.testing.assert_allclose(scores - scores.mean(), predicted - predicted.mean(), atol=1e-4)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_leaves_up_to_the_best_iteration(digits, name):
    ranker = rankers()[name]
    options = {}
    if name == "lightgbm":
        options["callbacks"] = [lightgbm.early_stopping(2, verbose=False)]
        options["eval_qid"] = [digits.test.qid]
        ranker.set_params(learning_rate=2.0, n_estimators=60)
    else:
        options |= dict(eval_qid=[digits.test.qid], verbose=False)
        ranker.set_params(learning_rate=2.0, n_estimators=60, early_stopping_rounds=2)
    data = digits.train
    ranker.fit(data.X, data.y, qid=data.qid, eval_set=[(digits.test.X, digits.test.y)], **options)
    used = ranker.best_iteration_ if name == "lightgbm" else ranker.best_iteration + 1
    assert used < 58
    indicators = leaf_indicators(ranker, digits.test.X)
    assert (indicators.sum(axis=1) == used).all()
    scores, predicted = indicators @ leaf_values(ranker), ranker.predict(digits.test.X)
    np.testing.assert_allclose(scores - scores.mean(), predicted - predicted.mean(), atol=1e-3)


def test_trees_that_are_not_linear_in_their_leaves(digits):
    data = digits.train
    dart = xgboost.XGBRanker(booster="dart", rate_drop=0.5, n_estimators=10, n_jobs=1, random_state=0)
    order = np.argsort(data.qid, kind="stable")
    dart.fit(data.X[order], data.y[order], qid=np.unique(data.qid, return_inverse=True)[1][order])
    with pytest.raises(ValueError, match="the leaf values of XGBRanker miss its predictions"):
        leaf_indicators(dart, data.X)
    with pytest.raises(TypeError, match="expected a fitted ranker"):
        leaf_values(object())


def test_training_finds_a_better_place_than_chance(digits):
    ranker = rankers()["lightgbm"].fit(digits.train.X, digits.train.y, qid=digits.train.qid)
    data = {"train": (leaf_indicators(ranker, digits.train.X), digits.train.y, digits.train.qid)}
    options = dict(n_directions=15, step_sizes=(0.5,), random_state=0, n_jobs=1)
    trained = local_optimality([ranker.measure_], leaf_values(ranker), data, **options)
    shuffled = np.random.default_rng(0).permutation(leaf_values(ranker))
    chance = local_optimality([ranker.measure_], shuffled, data, **options)
    assert trained.values[0, 0] == pytest.approx(
        ranker.score(digits.train.X, digits.train.y, digits.train.qid), abs=1e-3
    )
    assert trained.improved[0, 0] < chance.improved[0, 0]
