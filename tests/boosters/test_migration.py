"""Parameters of the boosters without effect here: one error, whose replacements fit."""

import re

import numpy as np
import pandas as pd
import pytest
from twins import LIGHTGBM, QID, VALI, XGBOOST, X, Y, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost._boosters.ranker import OWN_NAMES

N = len(Y)


def error_of(ranker):
    with pytest.raises(ValueError, match="without effect here") as error:
        ranker.fit(X, Y, QID)
    return str(error.value)


GENRES = pd.DataFrame(X).add_prefix("f").assign(genre=pd.Categorical(np.arange(N) % 3))
NDCG = {"eval_metric": ["ndcg@5", "ndcg@10"]}
GAINS = {"measure": gb.nDCG(gains=(0, 1, 3))}
LINEAR = {"measure": gb.nDCG(gains="linear")}
# Parameters of the constructor, arguments of fit, and what is to replace all of them there.
REPLACED = {
    "lightgbm": [
        ({"label_gain": "0,1,3", "measure": "ndcg@5"}, {}, GAINS, {}),
        ({"sigmoid": 2.0, "lambdarank_truncation_level": 20}, {}, {}, {}),
        ({"objective": "rank_xendcg"}, {}, {"measure": "ndcg"}, {}),
        ({"application": "lambdarank"}, {}, {"measure": "ndcg"}, {}),
        ({"loss": "binary"}, {}, {}, {}),
        ({"lambdarank_norm": False, "bagging_by_query": True}, {}, {}, {}),
        ({"boosting_type": "rf"}, {}, {}, {}),
        ({"boosting": "random_forest"}, {}, {}, {}),
        ({"max_leaves": 4}, {}, {"num_leaves": 4}, {}),
        ({"objective_seed": 3}, {}, {"random_state": 3}, {}),
        ({"ndcg_eval_at": "5,10"}, {}, {}, NDCG),
        ({}, {"eval_at": np.array([5, 10])}, {}, NDCG),
        ({}, {"eval_at": 0}, {}, {"eval_metric": ["ndcg"]}),
        ({"metric": ["map", "ndcg@3"]}, {}, {}, {"eval_metric": ["map", "ndcg@3"]}),
        ({"metric": "map,lambdarank,rmse"}, {}, {}, {"eval_metric": ["map", "ndcg"]}),
        ({"metrics": "None"}, {}, {}, {}),
        ({"metric": [gb.nDCG(k=3), ["map"]]}, {}, {}, {"eval_metric": ["nDCG(k=3)"]}),
        ({"metric": gb.nDCG()}, {}, {}, {"eval_metric": ["nDCG()"]}),
        ({"metric": max}, {}, {}, {"eval_metric": None}),
        ({"eval_metric": "map"}, {}, {}, {"eval_metric": None}),
        ({"cat_features": ["genre"]}, {}, {}, {"categorical_feature": ["genre"]}),
        ({"cat_feature": "name:genre"}, {}, {}, {"categorical_feature": ["genre"]}),
        ({}, {"cat_features": ["genre"]}, {}, {"categorical_feature": None}),
        ({}, {"early_stopping_rounds": 3}, {"early_stopping_rounds": 3}, {}),
        ({}, {"verbose": False}, {"verbose": -1}, {}),
        ({"callbacks": []}, {}, {}, {"callbacks": None}),
        ({}, {"base_margin": np.zeros(N)}, {}, {"init_score": None}),
        ({}, {"xyz": 3}, {}, {}),
        ({"num_leafs": 4, "xyz": 3, "ndcg_exp_gain": True}, {}, {"num_leaves": 4}, {}),
        # The nearest name is an alias that LightGBM would ignore.
        ({"min_data_in_leafs": 3}, {}, {"min_data_in_leaf": 3}, {}),
        ({"metrics": "map", "class_weight": "balanced", "is_unbalance": True}, {}, {},
         {"eval_metric": ["map"], "sample_weight": None}),
        ({"pos_bagging_fraction": 0.5, "neg_bagging_fraction": 0.5, "neg_subsample": 0.5}, {}, {},
         {}),
        # The ranker lists other names of these with a default, which LightGBM prefers.
        ({"eta": 0.5, "min_data_per_leaf": 3}, {}, {"learning_rate": 0.5, "min_child_samples": 3},
         {}),
    ],
    "xgboost": [
        ({"objective": "rank:ndcg", "measure": "ndcg"}, {}, {"measure": "ndcg"}, {}),
        ({"objective": "lambdarank"}, {}, {"measure": "ndcg"}, {}),
        ({"ndcg_exp_gain": False, "eval_metric": ["ndcg@10", "map@5"]}, {}, LINEAR, {}),
        ({"ndcg_exp_gain": True}, {}, {}, {}),
        ({"label_gain": [0, 1, 3]}, {}, GAINS, {}),
        ({"lambdarank_unbiased": True}, {}, {}, {"position": None}),
        ({"lambdarank_unbiased": False, "lambdarank_bias_norm": 1.0}, {}, {}, {}),
        ({"lambdarank_truncation_level": 9, "lambdarank_norm": False, "sigmoid": 2.0}, {}, {}, {}),
        ({"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 3}, {}, {}, {}),
        ({"lambdarank_normalization": False, "lambdarank_score_normalization": False}, {}, {}, {}),
        ({"num_trees": 3}, {}, {"n_estimators": 3}, {}),
        ({"num_boost_round": 3}, {}, {"n_estimators": 3}, {}),
        ({"max_dept": 3, "min_child_wieght": 3}, {}, {"max_depth": 3, "min_child_weight": 3}, {}),
        ({"lambdas": 3}, {}, {"reg_lambda": 3}, {}),  # lambda is a word of Python
        ({"eval_at": "5,10"}, {}, NDCG, {}),
        ({}, {"eval_at": [5, 10]}, NDCG, {}),
        ({"metric": "map"}, {}, {"eval_metric": ["map"]}, {}),
        ({}, {"eval_metric": "ndcg@5", "early_stopping_rounds": 3},
         {"eval_metric": "ndcg@5", "early_stopping_rounds": 3}, {}),
        ({"cat_features": ["genre"]}, {}, {"enable_categorical": True}, {}),
        ({}, {"init_score": np.zeros(N)}, {}, {"base_margin": None}),
        ({}, {"verbose_eval": False}, {}, {"verbose": None}),
        ({}, {"xyz": 3, "sample_weights": np.ones(N)}, {}, {"sample_weight": None}),
    ],
    "both": [
        ({}, {"metric": None, "label_gain": None}, {}, {}),
        ({"objective": "rank:map"}, {}, {"measure": "ap"}, {}),
        ({"objective": "rank:pairwise"}, {}, {"objective": "ranknet"}, {}),
        ({}, {"group_id": QID, "group_weight": QID}, {}, {"qid": None, "sample_weight": None}),
        ({}, {"weight": np.ones(N)}, {}, {"sample_weight": None}),
        ({"scale_pos_weight": 2}, {}, {}, {"sample_weight": None}),
        ({}, {"groups": QID, "qid": None}, {}, {"qid": None}),
        ({"iterations": 9, "depth": 3, "l2_leaf_reg": 2, "loss_function": "YetiRank"}, {},
         {"n_estimators": 9, "max_depth": 3, "reg_lambda": 2, "measure": "ndcg"}, {}),
    ],
}  # fmt: skip
BOOSTERS = {"lightgbm": [LIGHTGBM], "xgboost": [XGBOOST], "both": [LIGHTGBM, XGBOOST]}
NAMES = {"gb": gb}
FOR_DOTS = {
    "qid": QID,
    "position": np.arange(N) % 20,
    "callbacks": [],
    "verbose": False,
    "eval_metric": "map",
    "categorical_feature": ["genre"],
}


def obey(message, of_ranker, of_fit):
    """Take out what the message replaces; return the new parameters and arguments of fit."""
    new, new_of_fit = {}, {}
    for line in message.splitlines()[1:]:
        old, instead = re.fullmatch(r"  (.*) -> (.*)", line).groups()
        (of_fit if old.endswith(" in fit") else of_ranker).pop(old.partition("=")[0])
        # Reasons and alternatives follow.
        code = re.sub("(, or|: |; |, and ).*", "", instead)
        if code == "leave it out":
            continue
        name, _, value = re.sub(" in fit$| in the constructor$", "", code).partition("=")
        dots = value == "..."
        found = FOR_DOTS.get(name, np.ones(N)) if dots else eval(value, NAMES)
        (new_of_fit if code.endswith(" in fit") else new)[name] = found
    return new, new_of_fit


@pytest.mark.parametrize(
    ("twin", "of_ranker", "of_fit", "expected", "expected_in_fit"),
    [(twin, *case) for name in REPLACED for twin in BOOSTERS[name] for case in REPLACED[name]],
    ids=lambda value: getattr(value, "name", None) or (str([*value]) if value else "-"),
)
def test_obeying_the_message_leads_to_a_fit(twin, of_ranker, of_fit, expected, expected_in_fit):
    of_ranker, of_fit = (
        dict(of_ranker),
        {"eval_set": [(GENRES.copy(), Y)], "eval_qid": [QID], **of_fit},
    )
    if "group_id" not in of_fit:
        of_fit = {"qid": QID, **of_fit}
    with pytest.raises(ValueError, match="without effect here") as error:
        twin.ranker(**of_ranker).fit(GENRES, Y, **of_fit)
    found = obey(str(error.value), of_ranker, of_fit)
    assert of_ranker.keys() <= {*OWN_NAMES, "eval_metric"}, "a parameter is in no line"
    for new, wanted in zip(found, (expected, expected_in_fit), strict=True):
        assert new.keys() == wanted.keys()
        assert all(new[name] == value for name, value in wanted.items() if value is not None)
    options = {"enable_categorical": True} if twin is XGBOOST else {}
    twin.ranker(**{**options, **of_ranker, **found[0]}).fit(GENRES, Y, **{**of_fit, **found[1]})


@twins
def test_other_names_of_the_booster_count_as_those_of_the_ranker(twin):
    given, listed = {
        "lightgbm": (
            {"feature_fraction": 0.9, "lambda_l1": 0.1, "max_bin": None, "max_bins": 30},
            {"colsample_bytree": 0.9, "reg_alpha": 0.1, "max_bin": 30},
        ),
        "xgboost": (
            {"eta": 0.2, "lambda": 2, "alpha": 0.1, "max_cached_hist_node": 9, "nthread": 1},
            {"learning_rate": 0.2, "reg_lambda": 2, "reg_alpha": 0.1},
        ),
    }[twin.name]
    found, expected = (
        twin.ranker(**options).fit(X, Y, QID).predict(X) for options in (given, listed)
    )
    np.testing.assert_array_equal(found, expected)


@twins
def test_native_metrics_are_metrics_of_a_ranker(twin):
    """Of either booster: their measures are reported."""
    metrics = ["ap", gb.lightgbm.eval_metric(["ndcg@5"]), gb.xgboost.eval_metric("egap")]
    ranker = twin.fitted(evals=[VALI], watch={"eval_metric": metrics})
    (log,) = ranker.evals_result_.values()
    assert list(log) == ["gap", "ap", "ndcg@5", "egap"]
    with pytest.raises(ValueError, match="expected 'ndcg@10', which counts"):
        twin.fitted(evals=[VALI], watch={"eval_metric": "ndcg@10-"})


@twins
def test_lambdarank_is_an_objective_of_a_measure(twin):
    def fit(**parameters):
        return twin.ranker(n_estimators=1, **parameters).fit(X, Y, QID)

    with pytest.raises(ValueError, match=r"objective='lambdarank' -> measure='ndcg', or leave"):
        fit(objective="lambdarank")
    assert fit(objective="lambdarank", measure=gb.GAP()).objective_ == fit().objective_
    assert fit(objective="lambdarank", measure="ndcg").measure_ == gb.nDCG()
    assert fit(objective="lambdarank", g=(0.5, 0.5)).g_ == (0.5, 0.5)


@twins
def test_parameters_of_an_objective_have_equals_here(twin):
    """What the message proposes is an objective that trains."""
    given = {
        "lightgbm": {"lambdarank_norm": False, "lambdarank_truncation_level": 7},
        "xgboost": {"lambdarank_normalization": False, "lambdarank_num_pair_per_sample": 7},
    }[twin.name]
    message = error_of(twin.ranker(**given, sigmoid=2.0))
    proposed = re.findall(r"objective=gb\.LambdaRank\(\.\.\., (.*?)\)", message)
    objective = eval(f"gb.LambdaRank('ap', {', '.join(proposed)})")
    expected = {"sigma": 2.0, "truncation": 7, "normalize": False, "score_distance": None}
    assert objective == gb.LambdaRank("ap", **expected)
    assert twin.ranker(n_estimators=1, objective=objective).fit(X, Y, QID).measure_ == gb.AP()
