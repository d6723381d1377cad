"""Versions are declared alike everywhere; deviations of older boosters are handled."""

import re
import tomllib
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pytest
from ranking_task import task

import gapboost.lightgbm.versions
import gapboost.xgboost.versions
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
X, Y, QID = task()


def declared(extra):
    (requirement,) = PROJECT["optional-dependencies"][extra]
    return requirement.partition(">=")[2]


def test_the_readme_says_what_is_declared():
    pythons = [
        c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", c)
    ]
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert (
        f"LightGBM from {declared('lightgbm')} and XGBoost from {declared('xgboost')} on, on "
        f"Python {pythons[0]} to {pythons[-1]}" in " ".join(README.split())
    )


def test_a_ranker_of_arrays_has_no_names_of_features():
    ranker = LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1).fit(X, Y, qid=QID)
    assert not hasattr(ranker, "feature_names_in_")
    ranker.predict(X)  # without a warning that names are missing
    names = [f"f{i}" for i in range(X.shape[1])]
    assert (
        ranker.fit(pd.DataFrame(X, columns=names), Y, qid=QID).feature_names_in_.tolist() == names
    )


def test_tables_of_polars_for_lightgbm_4_6(monkeypatch):
    table = pl.DataFrame(X, schema=[f"f{i}" for i in range(X.shape[1])])
    expected = LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1).fit(X, Y, qid=QID).predict(X)
    monkeypatch.setattr(gapboost.lightgbm.versions, "BEFORE_4_7", True)
    assert isinstance(gapboost.lightgbm.versions.readable(table), pd.DataFrame)
    assert gapboost.lightgbm.versions.readable(X) is X
    monkeypatch.undo()
    ranker = LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1).fit(
        table, Y, qid=QID, eval_set=[(table, Y)], eval_qid=[QID]
    )
    npt.assert_array_equal(ranker.predict(table), expected)


def test_evaluation_sets_for_lightgbm_4_6(monkeypatch):
    monkeypatch.setattr(gapboost.lightgbm.versions, "BEFORE_4_7", True)
    assert gapboost.lightgbm.versions.evaluation_sets(["X", "V"], ["y", "v"]) == {
        "eval_set": [("X", "y"), ("V", "v")]
    }
    assert gapboost.lightgbm.versions.evaluation_sets([], []) == {"eval_set": None}


CATEGORIES = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.array(list("cab"))[Y])})


@pytest.mark.parametrize(
    "table",
    [CATEGORIES, pl.from_pandas(CATEGORIES), pl.from_pandas(CATEGORIES).to_arrow()],
    ids=["pandas", "polars", "arrow"],
)
def test_categories_for_xgboost_3_0(monkeypatch, table):
    monkeypatch.setattr(gapboost.xgboost.versions, "KEEPS_CATEGORIES", False)
    ranker = XGBGAPRanker(
        n_estimators=10, n_jobs=1, enable_categorical=True, feature_types=["q", "c"]
    )
    refused = pytest.raises(
        TypeError, match=r"X has a column 'kind' of categories.*; expected XGBoost 3.1 or later"
    )
    with refused:
        ranker.fit(table, Y, qid=QID)
    codes = np.column_stack([X[:, 0], Y])
    ranker.fit(codes, Y, qid=QID)
    assert ranker.score(codes, Y, qid=QID) > 0.99
    with refused:
        ranker.predict(table)
