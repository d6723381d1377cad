"""Categories and text in the features of a comparison: all standard rankers, files and memory."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cheap_rankers import made
from lightgbm import LGBMRanker
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from gapboost.comparison import __main__ as command
from gapboost.comparison import compare_rankers, standard_rankers
from gapboost.comparison.estimators import configured, few_trees, last_step
from gapboost.comparison.spaces import SPACES
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

NAMES = ["brand", "code", "in stock"]
CATBOOST = {"iterations": 3, "verbose": False, "allow_writing_files": False}


def products():
    """Return documents with categories of text, of integers and of truth values, some missing."""
    X, y, qid = made(90, 12)
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(X.round(4), columns=list("abcde")).assign(
        brand=np.where(X[:, 0] > 0, "x, y", "NA"),
        code=generator.integers(0, 5, len(y)),
        label=y,
        qid=qid,
    )
    frame["in stock"] = generator.choice([True, False, None], len(y))
    frame.loc[::7, "brand"] = None
    return frame


def of_text(frame):
    """Return the features with categories of text that CatBoost takes too."""
    X = frame.drop(columns=["label", "qid"])
    return X.assign(
        **{name: X[name].astype(object).where(X[name].notna(), "").astype(str) for name in NAMES}
    )


def small_rankers(**params):
    rankers = standard_rankers()
    for ranker in rankers.values():
        ranker.set_params(**few_trees(ranker), **params)
    return rankers


@pytest.fixture
def file(tmp_path, request, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = products()
    if request.param == "x.csv":
        frame.to_csv("x.csv", index=False)
    else:
        frame.astype(dict.fromkeys(NAMES, "category")).to_parquet("x.parquet")
    return request.param


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("file", "tune"),
    [("x.csv", ["--tune", "2"]), ("x.parquet", [])],
    indirect=["file"],
    ids=["csv, tuned", "parquet"],
)
def test_all_standard_rankers_take_categories(file, tune, monkeypatch, capsys):
    pytest.importorskip("catboost")
    rankers = small_rankers() if not tune else standard_rankers()
    monkeypatch.setattr(command, "standard_rankers", lambda: rankers)
    for library, space in SPACES.items():
        trees = "iterations" if library == "catboost" else "n_estimators"
        monkeypatch.setitem(SPACES, library, {**space, trees: [2, 3]})
    options = ["--categorical", *NAMES] if file == "x.csv" else []
    assert (
        command.main([file, *options, *tune, "--cv", "3", "--repeats", "1", "--n-jobs", "1"]) == 0
    )
    out = capsys.readouterr().out
    assert all(f"   3  {name} " in out for name in rankers)


@pytest.mark.slow
@pytest.mark.parametrize("tune", [None, 2])
def test_categories_in_evaluation_sets(tune, monkeypatch):
    catboost = pytest.importorskip("catboost")
    frame = products()
    X = of_text(frame).astype(dict.fromkeys(NAMES, "category"))
    rankers = small_rankers(early_stopping_rounds=2)
    monkeypatch.setitem(SPACES, "catboost", {"iterations": [2, 3], "depth": [2, 3]})
    command.set_categories(rankers, NAMES)
    places = [list(X).index(name) for name in NAMES]
    # CatBoost copies lists, which scikit-learn's clone takes for an error.
    rankers["list"] = catboost.CatBoostRanker(
        cat_features=NAMES, early_stopping_rounds=2, **CATBOOST
    )
    rankers["places"] = catboost.CatBoostRanker(
        cat_features=places, early_stopping_rounds=2, **CATBOOST
    )
    found = compare_rankers(
        X, frame["label"], frame["qid"], rankers, cv=3, repeats=1, measures="map", tune=tune,
        leave_out=[name for name in rankers if tune and "CatBoost" not in name],
    )  # fmt: skip
    if tune is None:
        assert found.means().loc["list", "map"] == found.means().loc["places", "map"]


def test_the_error_lists_all_columns_of_text():
    frame = products()
    y, qid = frame.pop("label"), frame.pop("qid")
    rankers = {
        "LightGBM": LGBMRanker(verbose=-1),
        "GAP": LGBMGAPRanker(verbose=-1),
        "ours": XGBGAPRanker(),
    }
    with pytest.raises(
        ValueError, match=r"^X has columns 'brand' of type (str|object), 'in stock' of type object;"
    ) as caught:
        compare_rankers(frame, y, qid, rankers)
    for said in (
        "X.astype(dict.fromkeys(['brand', 'in stock'], 'category'))",
        "'GAP', which fails on these data (ValueError: expected numbers or categories)",
        "'ours', which fails",
    ):
        assert said in str(caught.value)
    with pytest.raises(
        ValueError, match=r"^X has a column 'brand' of type string; expected numbers or categories"
    ):
        compare_rankers(frame.convert_dtypes(), y, qid, rankers)
    expected = (
        "^X has columns 'brand' of type .*, 'day' of type datetime.*; expected numbers or "
        "categories$"
    )
    frame["day"] = pd.Timestamp("2024-01-01")
    for X in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=expected):
            compare_rankers(X, y, qid, rankers)
        for ranker in (rankers["GAP"], rankers["ours"]):
            with pytest.raises(ValueError, match=expected):
                ranker.fit(X, y, qid=qid)


@pytest.mark.parametrize("steps", [False, True], ids=["ranker", "pipeline"])
@pytest.mark.parametrize(
    ("given", "params"),
    [
        ({"n_estimators": 3}, {"iterations": 4}),
        ({"random_seed": 5}, {}),
        ({"eta": 0.1, "max_depth": 3, "thread_count": 2}, {"learning_rate": 0.2, "depth": 4}),
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
    expected = {
        "loss_function": "YetiRank",
        "verbose": False,
        "thread_count": given.get("thread_count", 1),
    }
    assert (seed, found) == (1, expected | params)


def test_rankers_that_take_text_get_it():
    catboost = pytest.importorskip("catboost")
    frame = products()
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["brand"]), remainder="drop"
    )
    rankers = {
        "pipeline": make_pipeline(encode, Ridge()),
        "CatBoost": catboost.CatBoostRanker(cat_features=NAMES, **CATBOOST),
    }
    found = compare_rankers(
        of_text(frame), frame["label"], frame["qid"], rankers, cv=3, repeats=1, measures="map"
    )
    assert found.means()["map"].between(0, 1).all()
