"""Linear models and trees, trained for a measure by one of three objectives.

A linear model is XGBoost's gblinear. Features are scaled to 0..1 within each query, as in the
papers' data.
"""

from functools import cache
from typing import Any

import lightgbm
import numpy as np
import xgboost
from numpy.typing import NDArray

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.studies import DATA
from benchmarks.studies.effectiveness.data import rows
from gapboost.datasets import RankingData, RankingSplit, load_letor, load_letor_fold

Array = NDArray[Any]
FOLDS = (1, 2, 3, 4, 5)
OBJECTIVES = {kind.__name__: kind for kind in (gb.LambdaRank, gb.SoftRank, gb.ApproxRank)}
GAP = gb.GAP(g=(0.5, 0.5))
PATIENCE = 60
ROUNDS = {"trees": 200, "linear": 300}


def per_query_range(data: RankingData) -> Array:
    """Return features scaled to 0..1 within each query."""
    X = data.X.copy()
    for q in np.unique(data.qid):
        rows = data.qid == q
        low, high = X[rows].min(axis=0), X[rows].max(axis=0)
        X[rows] = (X[rows] - low) / np.where(high > low, high - low, 1.0)
    return X


def random_fold(data: RankingData, fold: int) -> RankingSplit:
    """Return fold K of five random parts of the queries.

    It trains on the parts K, K+1 and K+2, validates on K+3 and tests on K+4.
    """
    queries = np.random.default_rng(0).permutation(np.unique(data.qid))
    parts = [queries[(i + fold - 1) % 5 :: 5] for i in range(5)]
    return RankingSplit(*(rows(data, one) for one in (np.concatenate(parts[:3]), *parts[3:])))


@cache
def split_of(collection: str, number: int) -> RankingSplit:
    """Return a fold, given or random, with its features scaled by query."""
    if collection == "OHSUMED":
        split = load_letor_fold(DATA / "ohsumed" / f"Fold{number}")
    else:
        name = collection.lower()
        split = random_fold(load_letor([DATA / name / f"{name}.txt.gz"]), number)
    return RankingSplit(*(RankingData(per_query_range(part), part.y, part.qid) for part in split))


def query_sizes(qid: Array) -> Array:
    """Return the number of rows of each query, whose rows are in one piece."""
    first = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
    return np.diff(np.append(first, len(qid)))


class Fold:
    """A fold with the boosters' own data sets."""

    def __init__(self, collection: str, number: int) -> None:
        self.split = split_of(collection, number)
        sizes = [query_sizes(part.qid) for part in self.split]
        train, vali, _ = self.split
        quiet = {"verbose": -1}
        self.trees = lightgbm.Dataset(train.X, train.y, group=sizes[0], params=quiet)
        self.watched = self.trees.create_valid(vali.X, vali.y, group=sizes[1], params=quiet)
        self.linear = xgboost.DMatrix(train.X, train.y, group=sizes[0], nthread=1)

    def value(self, measure: gb.Measure, part: int, scores: Array) -> float:
        """Return the mean of a measure on the training (0), validation (1) or test part (2)."""
        data = self.split[part]
        return gb.evaluate(measure, data.y, scores, data.qid, n_jobs=1)[measure]

    def fit(self, model: str, how: Any, setting: float) -> tuple[int, float, Array]:
        """Return the best round on validation, its value there, and scores of the test part."""
        if model == "trees":
            return self.fit_trees(how, int(setting))
        return self.fit_linear(how, setting)

    def fit_trees(self, how: Any, leaves: int) -> tuple[int, float, Array]:
        """Fit LightGBM, learning rate 0.1."""
        history: dict[str, Any] = {}
        objective = gapboost.lightgbm.objective(how, n_jobs=1)
        parameters = {"objective": objective, "num_leaves": leaves, "learning_rate": 0.1}
        parameters |= {"metric": "None", "num_threads": 1, "verbose": -1}
        stopping = lightgbm.early_stopping(PATIENCE, verbose=False)
        watching = {
            "valid_sets": [self.watched],
            "feval": gapboost.lightgbm.eval_metric(how.measure, n_jobs=1),
            "callbacks": [lightgbm.record_evaluation(history), stopping],
        }
        booster = lightgbm.train(parameters, self.trees, ROUNDS["trees"], **watching)
        values = next(iter(history["valid_0"].values()))
        best = int(np.argmax(values))
        scores = booster.predict(self.split.test.X, num_iteration=best + 1, num_threads=1)
        return best, float(values[best]), scores

    def fit_linear(self, how: Any, penalty: float) -> tuple[int, float, Array]:
        """Fit gblinear by coordinate descent, eta 0.1."""
        parameters = {"booster": "gblinear", "updater": "coord_descent", "nthread": 1}
        parameters |= {"base_score": 0.0, "eta": 0.1, "reg_lambda": penalty}
        booster = xgboost.Booster(parameters, [self.linear])
        gradients = gapboost.xgboost.objective(how, n_jobs=1)
        best, best_value, chosen = -1, -1.0, np.zeros(0)
        for number in range(ROUNDS["linear"]):
            booster.update(self.linear, number, fobj=gradients)
            weights = coefficients(booster)
            value = self.value(how.measure, 1, self.split.vali.X @ weights)
            if value > best_value:
                best, best_value, chosen = number, value, weights
            elif number - best >= PATIENCE:
                break
        return best, best_value, self.split.test.X @ chosen


def coefficients(booster: xgboost.Booster) -> Array:
    """Return the coefficients of a linear booster without its constant."""
    text = booster.get_dump(dump_format="text")[0]
    return np.array([float(line) for line in text.partition("weight:")[2].split()])
