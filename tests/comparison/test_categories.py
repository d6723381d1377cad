"""Categories and text in the features of a comparison, and parameters of CatBoost."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from cheap_rankers import made
from lightgbm import LGBMRanker
from sklearn.pipeline import make_pipeline

from gapboost.comparison import compare_rankers, standard_rankers
from gapboost.comparison.rankers import TREES, configured, last_step, parameter
from gapboost.comparison.spaces import SPACES
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

NAMES = ["brand", "in stock"]
CATBOOST = {"iterations": 3, "verbose": False, "allow_writing_files": False}


def products():
    """Return features with categories as text, grades and query ids."""
    X, y, qid = made(90, 12)
    frame = pd.DataFrame(X.round(4), columns=list("abcde"))
    frame["brand"] = np.where(X[:, 0] > 0, "x, y", "NA")
    frame["in stock"] = np.random.default_rng(0).choice(["True", "False", ""], len(y))
    return frame, y, qid


@pytest.mark.slow
@pytest.mark.parametrize("tune", [None, 2])
def test_all_standard_rankers_take_categories(tune, monkeypatch):
    X, y, qid = products()
    rankers = standard_rankers()
    for library, space in SPACES.items():
        trees = "iterations" if library == "catboost" else "n_estimators"
        monkeypatch.setitem(SPACES, library, {**space, trees: [2, 3]})
    for ranker in rankers.values():
        ranker.set_params(**({} if tune else dict.fromkeys(parameter(ranker, TREES), 2)))
    # CatBoost copies lists, which scikit-learn's clone takes for an error.
    places = [list(X).index(name) for name in NAMES]
    given = {"list": {"cat_features": NAMES}, "places": {"cat_features": places}, "none": {}}
    if find_spec("catboost"):
        from catboost import CatBoostRanker

        rankers |= {name: CatBoostRanker(**CATBOOST, **given[name]) for name in given}
    found = compare_rankers(
        X.astype(dict.fromkeys(NAMES, "category")), y, qid, rankers, cv=3, repeats=1,
        measures="map", tune=tune,
    )  # fmt: skip
    assert found.means()["map"].reindex(given).nunique() <= 1


def test_the_error_names_all_rankers_that_refuse_text():
    X, y, qid = products()
    rankers = {
        "LightGBM": LGBMRanker(verbose=-1),
        "GAP": LGBMGAPRanker(verbose=-1),
        "ours": XGBGAPRanker(),
    }
    with pytest.raises(ValueError, match=r"'LightGBM', .*brand.*'GAP', .*brand.*'ours', .*brand"):
        compare_rankers(X, y, qid, rankers)


@pytest.mark.parametrize("steps", [False, True], ids=["ranker", "pipeline"])
@pytest.mark.parametrize(
    ("given", "params"),
    [
        ({"iterations": 3}, {"iterations": 4}),
        ({"random_state": 5}, {}),
        ({"random_seed": 5}, {}),
        ({"eta": 0.1, "thread_count": 2}, {"depth": 4}),
    ],
)
def test_catboost_gets_parameters_once(given, params, steps):
    catboost = pytest.importorskip("catboost")
    ranker = catboost.CatBoostRanker(verbose=False, **given)
    name = "catboostranker__" if steps else ""
    ranker = configured(
        make_pipeline(ranker) if steps else ranker, {name + key: params[key] for key in params}, 1
    )
    found = last_step(ranker).get_params()
    seed = found.pop("random_seed", None) or found.pop("random_state")
    expected = {"loss_function": "YetiRank", "verbose": False, "thread_count": 1}
    expected |= {key: value for key, value in given.items() if "random" not in key} | params
    assert (seed, found) == (1, expected)
