"""A model file alone says what the model was trained for."""

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from twins import TEST, TRAIN, VALI, XGBOOST

import gapboost as gb
from gapboost.xgboost import XGBGAPRanker


def says(file):
    """Return the objective that the vendor's booster reads from a file."""
    if file.suffix == ".txt":
        return lightgbm.Booster(model_file=file).params["objective"].removeprefix("custom ")
    return xgboost.Booster(model_file=file).attr("gapboost_objective")


def test_load_model_of_what_does_not_say_goes_by_the_parameters(tmp_path):
    theirs = xgboost.XGBRanker(n_estimators=2).fit(TRAIN.X, TRAIN.y, qid=np.sort(TRAIN.qid))
    theirs.save_model(tmp_path / "model.json")
    loaded = XGBGAPRanker(measure="ap")
    loaded.load_model(tmp_path / "model.json")
    assert loaded.measure_ == gb.AP()


def test_load_model_drops_the_rounds_after_the_best_one(tmp_path):
    """XGBRanker keeps them in its files, and a booster of such a file predicts by all of them."""
    theirs = xgboost.XGBRanker(
        n_estimators=60, learning_rate=0.5, early_stopping_rounds=3, eval_metric="ndcg@5"
    )
    theirs.fit(
        TRAIN.X,
        TRAIN.y,
        qid=np.sort(TRAIN.qid),
        eval_set=[(VALI.X, VALI.y)],
        eval_qid=[np.sort(VALI.qid)],
    )
    theirs.save_model(tmp_path / "theirs.json")
    ours = XGBGAPRanker()
    ours.load_model(tmp_path / "theirs.json")
    assert ours.best_iteration == theirs.best_iteration
    assert (
        ours.get_booster().num_boosted_rounds()
        == ours.best_iteration_
        < theirs.get_booster().num_boosted_rounds()
    )
    ours.save_model(tmp_path / "ours.json")
    found = xgboost.Booster(model_file=tmp_path / "ours.json").inplace_predict(TEST.X)
    npt.assert_array_equal(found, theirs.predict(TEST.X))


def test_load_model_wants_the_missing_value_of_the_training(tmp_path):
    """XGBoost's files do not say which value was missing, and predictions go by the parameter."""
    zeros = XGBOOST.fitted(missing=0)
    zeros.save_model(tmp_path / "zeros.json")
    loaded = XGBGAPRanker()
    with pytest.raises(
        ValueError, match=r"missing is nan, but the model was trained with 0\.0; expected the same"
    ):
        loaded.load_model(tmp_path / "zeros.json")
    loaded.set_params(missing=0.0).load_model(tmp_path / "zeros.json")
    npt.assert_array_equal(loaded.predict(TEST.X), zeros.predict(TEST.X))
    on = XGBOOST.fitted(missing=-1.0, fit={"xgb_model": zeros})
    on.save_model(tmp_path / "on.json")
    XGBGAPRanker(missing=-1).load_model(tmp_path / "on.json")
    XGBOOST.fitted().save_model(tmp_path / "gaps.json")
    with pytest.raises(ValueError, match=r"missing is 0\.0, but the model was trained with nan"):
        loaded.load_model(tmp_path / "gaps.json")
    XGBGAPRanker().load_model(tmp_path / "gaps.json")


def test_load_model_replaces_all_of_a_fit(tmp_path):
    XGBOOST.fitted(measure="ap").save_model(tmp_path / "model.json")
    fitted = XGBOOST.fitted(measure="ndcg", evals=[VALI])
    booster, scores = fitted.get_booster(), fitted.predict(TEST.X)
    fitted.load_model(tmp_path / "model.json")
    assert fitted.measure_ == gb.AP()
    assert not {"evals_result_", "n_queries_in_"} & vars(fitted).keys()
    npt.assert_array_equal(booster.inplace_predict(TEST.X), scores)


def test_load_model_knows_the_columns(tmp_path):
    import polars as pl

    names = [f"column {i}" for i in range(TRAIN.n_features)]
    XGBOOST.ranker().fit(pl.DataFrame(TRAIN.X, schema=names), TRAIN.y, TRAIN.qid).save_model(
        tmp_path / "model.json"
    )
    loaded = XGBGAPRanker()
    loaded.load_model(tmp_path / "model.json")
    with pytest.raises(
        ValueError, match="X has the column 'column 22' where 'column 0' was in training"
    ):
        loaded.predict(pl.DataFrame(TEST.X, schema=names[::-1]))
