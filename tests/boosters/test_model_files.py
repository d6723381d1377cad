"""A model file of XGBoost alone says what the model was trained for."""

from dataclasses import dataclass

import numpy.testing as npt
import polars as pl
import pytest
import xgboost
from twins import TEST, TRAIN, VALI, XGBOOST

import gapboost as gb
from gapboost.xgboost import XGBGAPRanker


def load(path, **parameters):
    ranker = XGBGAPRanker(n_jobs=1, **parameters)
    ranker.load_model(path)
    return ranker


@dataclass(frozen=True, repr=False)
class AP(gb.AP):
    """A measure of a user's own, with the name of gapboost's."""


OBJECTIVES = [
    gb.LambdaRank(gb.GAP(g=(0.3, 0.7), k=7), sigma=2.0, truncation=5, normalize=False),
    gb.RankNet(gb.nDCG(k=10, gains=(0, 1, 1e20))),
    gb.SoftRank(gb.AP(rel=2), sigma=0.5),
    gb.ApproxRank(gb.xGAP(g=(0.0, 1.0)), beta=3.0),
    gb.LambdaRank(0.7 * gb.GAP(g=(1 / 3, 2 / 3)) + 1e-7 * gb.AP() + 2 * gb.RBP(p=0.9)),
    gb.LambdaRank(gb.DCG(gains="linear", discount_by="letor")),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_the_objective(objective, tmp_path):
    ranker = XGBOOST.fitted(objective=objective, n_estimators=2, min_child_weight=1e-9)
    for suffix in ("json", "ubj"):
        ranker.save_model(tmp_path / f"model.{suffix}")
        loaded = load(tmp_path / f"model.{suffix}")
        assert loaded.objective_ == ranker.objective_
        npt.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))
        assert loaded.score(TEST.X, TEST.y, TEST.qid) == ranker.score(TEST.X, TEST.y, TEST.qid)


def test_a_users_own_measure_is_that_of_the_parameters(tmp_path):
    XGBOOST.fitted(measure=AP()).save_model(tmp_path / "model.json")
    assert load(tmp_path / "model.json", measure=AP()).measure_ == AP()
    other = XGBOOST.fitted(evals=[VALI])
    before, scores = dict(vars(other)), other.predict(TEST.X)
    with pytest.raises(ValueError, match="the model was trained"):
        other.load_model(tmp_path / "model.json")
    assert vars(other) == before
    npt.assert_array_equal(other.predict(TEST.X), scores)


def test_files_of_xgbranker(tmp_path):
    """The measure is that of the parameters; rounds after the best one are dropped."""
    theirs = xgboost.XGBRanker(
        n_estimators=60, learning_rate=0.5, early_stopping_rounds=3, eval_metric="ndcg@5"
    )
    evaluation = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    theirs.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, **evaluation)
    theirs.save_model(tmp_path / "theirs.json")
    ours = load(tmp_path / "theirs.json", measure="ap")
    assert ours.measure_ == gb.AP()
    assert ours.best_iteration == theirs.best_iteration
    n_rounds = ours.get_booster().num_boosted_rounds()
    assert n_rounds == ours.best_iteration_ < theirs.get_booster().num_boosted_rounds()
    ours.save_model(tmp_path / "ours.json")
    found = xgboost.Booster(model_file=tmp_path / "ours.json").inplace_predict(TEST.X)
    npt.assert_array_equal(found, theirs.predict(TEST.X))


def test_load_model_replaces_all_of_a_fit(tmp_path):
    XGBOOST.fitted(measure="ap").save_model(tmp_path / "model.json")
    fitted = XGBOOST.fitted(measure="ndcg", evals=[VALI], fit={"position": TRAIN.y})
    booster, scores = fitted.get_booster(), fitted.predict(TEST.X)
    fitted.load_model(tmp_path / "model.json")
    assert fitted.measure_ == gb.AP()
    assert fitted.position_bias_ is None
    assert not {"evals_result_", "n_queries_in_", "step_"} & vars(fitted).keys()
    npt.assert_array_equal(booster.inplace_predict(TEST.X), scores)


def test_the_columns(tmp_path):
    names = [f"column {i}" for i in range(TRAIN.n_features)]
    ranker = XGBOOST.ranker().fit(pl.DataFrame(TRAIN.X, schema=names), TRAIN.y, TRAIN.qid)
    ranker.save_model(tmp_path / "model.json")
    with pytest.raises(ValueError, match="'column 22' where 'column 0' was"):
        load(tmp_path / "model.json").predict(pl.DataFrame(TEST.X, schema=names[::-1]))
