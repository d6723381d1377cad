"""What pages say of CatBoost, and of how the three libraries stop early."""

import re

import pytest
from evaluators import EVALUATORS, rows_of
from pages import rows_of_table
from test_evaluators import close
from twins import LIGHTGBM, QID, XGBOOST, X, Y, twins

pytest.importorskip("catboost")


def catboost_ranker(**given):
    import catboost

    given = {"loss_function": "YetiRank", "depth": 2, "allow_writing_files": False, **given}
    return catboost.CatBoostRanker(verbose=False, **given)


@pytest.mark.parametrize(
    ("metric", "y", "scores", "value"),
    [
        ("MRR", [1, 0, 0, 0], [1, 1, 1, 1], 1 / 4),  # ties: the worst order
        ("MAP", [0, 0, 0, 1], [1, 1, 1, 1], 1 / 4),
        ("MAP:border=1.5", [1.5, 2], [2, 1], 1 / 2),  # above the border
        ("PrecisionAt:top=5", [1, 0, 1], [3, 2, 1], 2 / 3),  # of a short list
        ("ERR", [0.5, 0, 1], [3, 2, 1], 1 / 2 + 1 / 2 / 3),  # labels are probabilities
        ("QueryAUC:type=Ranking", [2, 0, 1], [3, 2, 1], 2 / 3),
    ],
)
def test_metrics_of_catboost(metric, y, scores, value):
    assert EVALUATORS["CatBoost"](metric, rows_of(y, scores)) == close(value)


@pytest.mark.parametrize("n", [200, 800])
def test_learning_rate_and_trees_of_catboosts_ranker(n):
    ranker = catboost_ranker().fit(X[:n], Y[:n], group_id=QID[:n])
    found = ranker.get_all_params()
    assert found["learning_rate"] == close(0.03, 1e-6)
    assert ranker.tree_count_ == 1000
    assert found["grow_policy"] == "SymmetricTree"


def test_defaults_in_the_table_of_parameters():
    lgbm, xgb = (
        twin.ranker_class(n_jobs=1, verbosity=0).fit(X, Y, QID) for twin in (LIGHTGBM, XGBOOST)
    )
    text, config = lgbm.booster_.model_to_string(), xgb.get_booster().save_config()
    theirs = catboost_ranker(depth=None).fit(X, Y, group_id=QID)
    values = {
        "CatBoostRanker": theirs.get_all_params(),
        "LGBMGAPRanker": lgbm.get_params() | dict(re.findall(r"\[(\w+): (.+)\]", text)),
        "XGBGAPRanker": dict(re.findall(r'"(\w+)":"([^"]*)"', config)),
    }
    values["XGBGAPRanker"]["n_estimators"] = xgb.get_booster().num_boosted_rounds()
    values["XGBGAPRanker"]["reg_lambda"] = values["XGBGAPRanker"]["lambda"]
    found = [
        (float(values[column][name]), float(value))
        for row in rows_of_table("migration.md", "Parameters of CatBoostRanker")
        for column in values
        for name, value in re.findall(r"`(\w+)` \(([\d.]+)\)", row[column])
    ]
    assert len(found) == 13
    for value, expected in found:
        assert value == close(expected, 1e-6)


def test_early_stopping_without_evaluation_sets_grows_all_trees():
    ranker = catboost_ranker(iterations=30, early_stopping_rounds=1)
    assert ranker.fit(X, Y, group_id=QID).tree_count_ == 30


@twins
def test_early_stopping_without_evaluation_sets_is_an_error(twin):
    given = {"early_stopping_rounds" if twin is XGBOOST else "early_stopping_round": 1}
    rows = {"qid": QID} if twin is XGBOOST else {"group": [20] * 40}
    with pytest.raises(ValueError, match=r"(?i)at least (1|one)|must have"):
        twin.vendor(n_estimators=3, **given).fit(X, Y, **rows)
