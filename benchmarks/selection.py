"""`GSearchCV` beside `GridSearchCV`, and `compare_rankers` beside the bare fits that it makes.

Both searches run once, on the digits. Every score of each candidate on each fold must be equal.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import sklearn
import xgboost
from sklearn.model_selection import GridSearchCV, GroupKFold

import gapboost as gb
from benchmarks.harness import BOOSTERS, RATIO, Row, Subject, race, ranking_task
from gapboost.comparison import compare_rankers
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, measure_scorer, simplex_grid
from gapboost.xgboost import XGBGAPRanker

TARGET = gb.nDCG(k=10)
QUIET = {"n_jobs": 1, "verbose": -1}
SEARCHED = {
    "LightGBM": LGBMGAPRanker(num_leaves=7, random_state=0, **QUIET),
    "XGBoost": XGBGAPRanker(max_depth=3, n_jobs=1, random_state=0),
}
COMPARED = {
    "LightGBM lambdarank": lightgbm.LGBMRanker(random_state=1, **QUIET),
    "LightGBM regression": lightgbm.LGBMRegressor(random_state=1, **QUIET),
    "LightGBM GAP": LGBMGAPRanker(random_state=1, **QUIET),
    "XGBoost rank:ndcg": xgboost.XGBRanker(n_jobs=1, random_state=1),
    "XGBoost GAP": XGBGAPRanker(n_jobs=1, random_state=1),
}
N_DOCS, N_FEATURES, N_FOLDS = 20, 20, 5


def searches(smoke: bool) -> Iterator[Row]:
    """Yield the times of both searches for each booster."""
    trees, folds = (range(10, 21, 10), 2) if smoke else (range(10, 201, 10), 5)
    data = load_digits_ranking((30, 5, 5), 20)[0] if smoke else load_digits_ranking()[0]
    grid = {"g": simplex_grid(2, 2), "n_estimators": list(trees)}
    for booster, ranker in SEARCHED.items():
        ranker.set_params(n_estimators=2).fit(data.X, data.y, qid=data.qid)  # compiles
        ours = GSearchCV(ranker, grid, scoring=TARGET, cv=folds)
        with sklearn.config_context(enable_metadata_routing=True):
            scoring, groups = measure_scorer(TARGET), {"groups": data.qid}
            theirs = GridSearchCV(ranker, grid, scoring=scoring, cv=GroupKFold(folds))
            runs = {
                "GSearchCV": partial(ours.fit, data.X, data.y, qid=data.qid),
                "GridSearchCV": partial(theirs.fit, data.X, data.y, qid=data.qid, **groups),
            }
            rows = race(runs, "GridSearchCV", 1, "s", 1, once=list(runs))
        for fold in range(folds):
            name = f"split{fold}_test_score"
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-9)
        for row in rows:
            yield {"booster": booster, **row}


def bare(X: Any, y: Any, qid: Any) -> None:
    """Fit and predict, nothing else."""
    for train, test in GroupKFold(N_FOLDS).split(X, y, qid):
        for name, ranker in COMPARED.items():
            sizes = np.full(len(train) // N_DOCS, N_DOCS)
            queries = {"group": sizes} if "lambdarank" in name else {"qid": qid[train]}
            queries = {} if "regression" in name else queries
            sklearn.clone(ranker).fit(X[train], y[train], **queries).predict(X[test])


def comparison(smoke: bool) -> list[Row]:
    """Return the seconds of bare fits and comparisons; both processes start before timing."""
    X, y, qid = ranking_task(N_DOCS, 400 if smoke else 20_000)
    X = X[:, :N_FEATURES].copy()

    def compare(n_jobs: int) -> None:
        compare_rankers(X, y, qid, COMPARED, cv=N_FOLDS, repeats=1, n_jobs=n_jobs, progress=False)

    runs = {
        "bare fits": lambda: bare(X, y, qid),
        "`compare_rankers`": lambda: compare(1),
        "`compare_rankers`, two processes": lambda: compare(2),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = race(runs, "bare fits", 1 if smoke else 3, "s", 1)
    # The processor time of other processes is not this one's.
    return [*rows[:-1], {**rows[-1], "processor s": None, RATIO: None}]


PACKAGES = (*BOOSTERS, "scikit-learn")
SUBJECTS = [
    Subject("search", "GSearchCV beside GridSearchCV", searches, PACKAGES),
    Subject("comparison", "compare_rankers beside the bare fits", comparison, PACKAGES),
]
