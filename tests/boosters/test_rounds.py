"""Rounds and trees of LightGBM: a round that finds no split adds no tree."""

import lightgbm
import numpy as np
import pytest

from gapboost.lightgbm import LGBMGAPRanker


def few_queries(seed, n_queries=40):
    """Rows in which a tree of three sampled columns often finds no split."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 20, 10))
    X[:, 3:] = X[:, 3:] > 2.2
    y = np.digitize(X[:, 0] + rng.normal(size=len(X)), [0.7, 1.8])
    return X, y, np.repeat(np.arange(n_queries), 20)


# With these, rounds without a split are common with few queries.
FEW_SPLITS = {"colsample_bytree": 0.3, "extra_trees": True}
KINDS = {
    "sampled columns": FEW_SPLITS,
    "sampled rows": {"subsample": 0.5, "subsample_freq": 1},
    "goss": {"data_sample_strategy": "goss"},
    "defaults": {},
}


def fitted(seed, fit=None, **parameters):
    """Return a ranker, by default stopped early, the values of its rounds, and its score."""
    train, (X, y, qid) = few_queries(seed), few_queries(100 + seed, 20)
    given = {"n_estimators": 200, "early_stopping_rounds": 20, "random_state": seed, **parameters}
    ranker = LGBMGAPRanker(n_jobs=1, verbose=-1, **given)
    ranker.fit(*train[:2], qid=train[2], eval_set=[(X, y)], eval_qid=[qid], **(fit or {}))
    return ranker, ranker.evals_result_["valid_0"]["gap"], ranker.score(X, y, qid)


@pytest.mark.parametrize("kind", KINDS)
def test_a_ranker_that_stopped_early_scores_the_best_value(kind):
    rounds, trees = [], []
    for seed in range(5):
        ranker, values, score = fitted(seed, **KINDS[kind])
        assert score == pytest.approx(max(values), rel=1e-12)
        assert ranker.best_iteration_ == ranker.booster_.num_trees()
        rounds.append(int(np.argmax(values)) + 1)
        trees.append(ranker.best_iteration_)
    assert all(t <= r for t, r in zip(trees, rounds, strict=True))
    assert kind != "sampled columns" or trees != rounds


def test_factors_of_positions_are_those_of_the_best_round():
    given = {"fit": {"position": np.tile(np.arange(20), 40)}, "colsample_bytree": 0.3}
    stopped, values, _ = fitted(1, **given)
    best = int(np.argmax(values)) + 1
    shorter, _, _ = fitted(1, **given, n_estimators=best, early_stopping_rounds=None)
    assert stopped.position_bias_ == shorter.position_bias_


def test_dart_raises_where_a_round_has_no_split():
    # LightGBM does not put the trees back that such a round dropped.
    options = {"boosting_type": "dart", "n_estimators": 60, "early_stopping_rounds": None}
    messages = []
    for seed in range(10):
        try:
            _, values, score = fitted(seed, **options, **FEW_SPLITS)
        except ValueError as error:
            messages.append(str(error))
        else:
            assert score == pytest.approx(values[-1], rel=1e-6)
    assert messages
    assert all("boosting_type is 'dart'" in message for message in messages)


def test_an_early_stopped_model_in_a_file_of_lightgbm_predicts_the_same(tmp_path):
    ranker, _, _ = fitted(8, colsample_bytree=0.3)
    X = few_queries(3)[0]
    ranker.booster_.save_model(tmp_path / "model.txt")
    loaded = lightgbm.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(ranker.to_vendor().predict(X), ranker.predict(X))


def test_no_number_of_rounds():
    """LightGBM compares None with a number; another name of the parameter overrules it."""
    X, y, qid = few_queries(0)
    ranker = LGBMGAPRanker(n_estimators=None, n_jobs=1, verbose=-1)
    with pytest.raises(ValueError, match=r"^n_estimators is None"):
        ranker.fit(X, y, qid)
    assert ranker.set_params(num_iterations=3).fit(X, y, qid).booster_.num_trees() == 3
