"""Rankers of the papers' kinds: linear models and trees, trained for a measure by one of three objectives.

A linear model is XGBoost's gblinear, or Algorithm 1 of [qin2008], which climbs the smooth measure query by query. Features are
brought to 0..1 within each query, as the papers' data has them.
"""

from functools import cache
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost
from numpy.typing import NDArray

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.studies import DATA
from gapboost.datasets import RankingData, RankingSplit, load_letor, load_letor_fold

Array = NDArray[Any]
FOLDS = (1, 2, 3, 4, 5)
OBJECTIVES: dict[str, type] = {"LambdaRank": gb.LambdaRank, "SoftRank": gb.SoftRank, "ApproxRank": gb.ApproxRank}
GAP = gb.GAP(g=(0.5, 0.5))
PATIENCE = 60
ROUNDS = {"trees": 200, "linear": 300}


def per_query_range(data: RankingData) -> Array:
    """Features brought to 0..1 within each query."""
    X = data.X.copy()
    for q in np.unique(data.qid):
        rows = data.qid == q
        low, high = X[rows].min(axis=0), X[rows].max(axis=0)
        X[rows] = (X[rows] - low) / np.where(high > low, high - low, 1.0)
    return X


def dealt(data: RankingData, fold: int, seed: int = 0) -> RankingSplit:
    """Fold K trains on parts K, K+1, K+2, validates on K+3 and tests on K+4 of five random parts of the queries."""
    queries = np.random.default_rng(seed).permutation(np.unique(data.qid))
    parts = [queries[i::5] for i in range(5)]

    def rows(*numbers: int) -> RankingData:
        chosen = np.isin(data.qid, np.concatenate([parts[n % 5] for n in numbers]))
        return RankingData(data.X[chosen], data.y[chosen], data.qid[chosen])

    k = fold - 1
    return RankingSplit(rows(k, k + 1, k + 2), rows(k + 3), rows(k + 4))


@cache
def split_of(collection: str, number: int, data: Path = DATA) -> RankingSplit:
    """One fold of OHSUMED, or of a collection without folds of its own, with its features scaled by query."""
    if collection == "OHSUMED":
        split = load_letor_fold(data / "ohsumed" / f"Fold{number}")
    else:
        name = collection.lower()
        split = dealt(load_letor([data / name / f"{name}.txt.gz"]), number)
    return RankingSplit(*(RankingData(per_query_range(part), part.y, part.qid) for part in split))


def query_sizes(qid: Array) -> Array:
    """Return the number of rows of each query, whose rows are in one piece."""
    first = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
    return np.diff(np.append(first, len(qid)))


class Fold:
    """One fold with the boosters' own data sets, made once."""

    def __init__(self, collection: str, number: int, data: Path = DATA) -> None:
        self.split = split_of(collection, number, data)
        sizes = [query_sizes(part.qid) for part in self.split]
        self.trees: list[lightgbm.Dataset] = []
        for part, size in zip(self.split, sizes, strict=True):
            reference = self.trees[0] if self.trees else None
            self.trees.append(lightgbm.Dataset(part.X, part.y, group=size, reference=reference, params={"verbose": -1}))
        self.linear = [
            xgboost.DMatrix(part.X, part.y, group=size, nthread=1) for part, size in zip(self.split, sizes, strict=True)
        ]

    def value(self, measure: gb.Measure, part: int, scores: Array) -> float:
        """The mean of a measure over the queries of the training (0), validation (1) or test part (2)."""
        data = self.split[part]
        return gb.evaluate(measure, data.y, scores, data.qid, n_jobs=1)[measure]

    def fit(self, model: str, how: Any, setting: float) -> tuple[int, float, Array]:
        """Best round by the measure on validation, its value there, and scores of the test part."""
        if model == "trees":
            return self.fit_trees(how, int(setting), ROUNDS[model])
        return self.fit_linear(how, setting, ROUNDS[model])

    def fit_trees(self, how: Any, leaves: int, rounds: int) -> tuple[int, float, Array]:
        """LightGBM, learning rate 0.1."""
        history: dict[str, Any] = {}
        booster = lightgbm.train(
            {
                "objective": gapboost.lightgbm.objective(how, n_jobs=1),
                "metric": "None",
                "learning_rate": 0.1,
                "num_leaves": leaves,
                "num_threads": 1,
                "verbose": -1,
            },
            self.trees[0],
            rounds,
            valid_sets=[self.trees[1]],
            feval=gapboost.lightgbm.eval_metric(how.measure, n_jobs=1),
            callbacks=[lightgbm.record_evaluation(history), lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        values = next(iter(history["valid_0"].values()))
        best = int(np.argmax(values))
        scores = booster.predict(self.split.test.X, num_iteration=best + 1, num_threads=1)
        return best, float(values[best]), scores

    def linear_rounds(self, how: Any, penalty: float, rounds: int) -> Any:
        """The coefficients of gblinear after each round."""
        parameters = {"booster": "gblinear", "updater": "coord_descent", "nthread": 1, "base_score": 0.0}
        booster = xgboost.Booster(parameters | {"eta": 0.1, "reg_lambda": penalty}, [self.linear[0]])
        gradients = gapboost.xgboost.objective(how, n_jobs=1)
        for number in range(rounds):
            booster.update(self.linear[0], number, fobj=gradients)
            yield np.array(_weights(booster))

    def fit_linear(self, how: Any, penalty: float, rounds: int) -> tuple[int, float, Array]:
        """Fit gblinear by coordinate descent, eta 0.1."""
        best, best_value, chosen = -1, -1.0, np.zeros(0)
        for number, weights in enumerate(self.linear_rounds(how, penalty, rounds)):
            value = self.value(how.measure, 1, self.split.vali.X @ weights)
            if value > best_value:
                best, best_value, chosen = number, value, weights
            elif number - best >= PATIENCE:
                break
        return best, best_value, self.split.test.X @ chosen


def _weights(booster: xgboost.Booster) -> list[float]:
    """Coefficients of a linear booster, without its constant, on which rankings do not depend."""
    text = booster.get_dump(dump_format="text")[0]
    return [float(line) for line in text.partition("weight:")[2].split()]
