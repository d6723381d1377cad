"""Other names of the parameters that the rankers' constructors list: each has the same effect."""

import inspect
import re

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
from sklearn.base import clone
from twins import LIGHTGBM, SIZES, TEST, TRAIN, XGBOOST, X, Y, twins

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.parameter_table import LIGHTGBM as LIGHTGBMS
from gapboost.model_selection import GSearchCV
from gapboost.xgboost.parameter_table import ALIASES

# Another value than the default for each parameter of the constructors that has an alias.
VALUES = {
    "boosting_type": "dart",
    "num_leaves": 5,
    "learning_rate": 0.7,
    "n_estimators": 3,
    "subsample_for_bin": 50,
    "min_split_gain": 1.5,
    "min_child_weight": 100.0,
    "min_child_samples": 60,
    "subsample": 0.5,
    "subsample_freq": 1,
    "colsample_bytree": 0.4,
    "reg_alpha": 5.0,
    "reg_lambda": 50.0,
    "random_state": 7,
    "n_jobs": 1,
    "extra_trees": False,
    "gamma": 0.4,
}
TWO = (
    "eta is 0.2, but learning_rate, another name of the same parameter, is 0.3; expected "
    "learning_rate alone"
)

# What the effect of a parameter depends on.
TOGETHER = {
    "boosting_type": {"drop_rate": 1.0, "skip_drop": 0.0},
    "subsample": {"subsample_freq": 1},
    "subsample_freq": {"subsample": 0.5},
}


def of_lightgbm():
    """Pairs of a constructor's parameter and another name for it, from LightGBM itself."""
    groups = lightgbm.basic._ConfigAliases._get_all_param_aliases().values()
    listed = {*inspect.signature(LGBMGAPRanker).parameters} - {"objective", "kwargs"}
    return [
        (name, alias)
        for names in groups
        for name in listed & {*names}
        for alias in names
        if alias != name
    ]


CASES = [
    *((LIGHTGBM, *case) for case in of_lightgbm()),
    *((XGBOOST, name, alias) for alias, name in ALIASES.items()),
]


def test_the_aliases_are_those_of_lightgbm():
    assert {alias: name for name, alias in of_lightgbm()} == LIGHTGBMS.aliases()
    assert {
        "eta",
        "max_leaf_nodes",
        "l2_regularization",
        "min_data_per_leaf",
        "seed",
    } < LIGHTGBMS.aliases().keys()


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize(
    ("twin", "name", "alias"), CASES, ids=lambda case: getattr(case, "name", case)
)
def test_an_alias_has_the_effect_of_the_name(twin, name, alias):
    fixed = {"n_estimators": 5, "n_jobs": 1, **TOGETHER.get(name, {})}
    fixed.pop(name, None)
    quiet = {"verbose": -1, "min_data_in_bin": 1} if twin is LIGHTGBM else {}
    default, by_name, by_alias = (
        twin.ranker_class(**fixed, **quiet, **given).fit(X, Y, group=SIZES)
        for given in ({}, {name: VALUES[name]}, {alias: VALUES[name]})
    )
    expected = by_name.predict(TEST.X)
    npt.assert_array_equal(by_alias.predict(TEST.X), expected)
    npt.assert_array_equal(by_alias.to_vendor().predict(TEST.X), expected)
    assert by_alias.objective_ == by_name.objective_
    assert name == "n_jobs" or (default.predict(TEST.X) != expected).any()


@pytest.mark.parametrize("alias", ["eta", "seed", "max_leaf"])
def test_the_parameters_stay_under_the_names_that_were_given(alias):
    assert LGBMGAPRanker(**{alias: 4}).get_params()[alias] == 4


@twins
def test_two_names_with_different_values(twin):
    for parameters in ({"eta": 0.2, "learning_rate": 0.3}, {"learning_rate": 0.3, "eta": 0.2}):
        with pytest.raises(ValueError, match=re.escape(TWO)):
            twin.ranker(**parameters).fit(X, Y, group=SIZES)
    equal = twin.fitted(eta=0.2, learning_rate=0.2)
    npt.assert_array_equal(equal.predict(TEST.X), twin.fitted(learning_rate=0.2).predict(TEST.X))


@pytest.mark.parametrize("search", [{"max_leaf": [2, 30]}, {"max_leaves": [2, 30]}])
def test_a_search_over_an_alias(search):
    """Each candidate trains with its own value."""
    ranker = LGBMGAPRanker(n_estimators=3, n_jobs=1, verbose=-1)
    found = GSearchCV(ranker, search, scoring=gb.AP(), cv=2).fit(X, Y, TRAIN.qid)
    few, many = np.split(found.cv_results_["mean_test_score"], 2)
    assert (few != many).any()


@pytest.mark.parametrize("module", ["gapboost.lightgbm"])
def test_no_parameter_of_lightgbm_replaces_an_attribute(module):
    """LightGBM sets an attribute `_<name>` of the ranker for each parameter `<name>`.

    A method of that name would be lost.
    """
    package = pytest.importorskip(module)
    (kind,) = (getattr(package, name) for name in package.__all__ if name.endswith("LGBMGAPRanker"))
    names = sorted(LIGHTGBMS.known())
    assert {"task", "boost", "train"} < set(names)
    assert [
        name for name in names if hasattr(kind, name) and not hasattr(lightgbm.LGBMRanker, name)
    ] == []
    ranker = kind(**dict.fromkeys(names, "value"))
    for attribute in dir(kind):
        assert attribute not in vars(ranker) or hasattr(lightgbm.LGBMRanker, attribute), attribute
    assert ranker.get_params().items() >= dict.fromkeys(names, "value").items()


@pytest.mark.parametrize("parameters", [{"task": "train"}, {"boost": "gbdt"}, {"train": ""}])
def test_parameters_that_are_called_like_private_methods(parameters):
    ranker = LIGHTGBM.fitted(**parameters)
    npt.assert_array_equal(ranker.predict(TEST.X), LIGHTGBM.fitted().predict(TEST.X))
    assert parameters.items() <= clone(ranker).get_params().items()
