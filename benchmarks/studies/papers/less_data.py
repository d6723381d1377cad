"""Training for the whole list or for its top, by number of training queries and of features: Figure 4 of [yilmaz2009]."""

from functools import partial
from typing import Any

import lightgbm
import numpy as np

import gapboost as gb
import gapboost.lightgbm
from benchmarks.studies.papers.optima import by_correlation
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import FOLDS, split_of
from gapboost._data.judged import judged
from gapboost.datasets import RankingData

TRAINED = {"AP": gb.AP(), "nDCG": gb.nDCG(), "P@10": gb.Precision(k=10), "nDCG@10": gb.nDCG(k=10)}
TESTED = ("P@10", "nDCG@10")
SIZES, FEATURES = (12, 50, 200, 800), (2, 9, 46)
ROUNDS, STEP = 100, 10


def less_data() -> Parts:
    """Trees of 15 leaves on MQ2007; the round is chosen by the test measure on validation, as in the paper.

    The first ones of a random order of a fold's training queries train. Features are those that go most with the grades of the
    fold's training part.
    """

    def trained(number: int, n_features: int, size: int) -> Rows:
        split = split_of("MQ2007", number)
        columns = by_correlation(split.train)[:n_features]
        rng = np.random.default_rng(number)
        queries = rng.permutation(np.unique(split.train.qid))[:size]
        kept = np.isin(split.train.qid, queries)
        train = RankingData(split.train.X[kept], split.train.y[kept], split.train.qid[kept])
        parts = [RankingData(part.X[:, columns], part.y, part.qid) for part in (train, split.vali, split.test)]
        rows = []
        for name, measure in TRAINED.items():
            values = tested(measure, parts)
            where = {"fold": number, "features": n_features, "queries": size, "trained": name}
            rows.append(where | values)
        return rows

    return {
        f"fold {number} features {n_features} queries {size}": partial(trained, number, n_features, size)
        for number in FOLDS
        for n_features in FEATURES
        for size in SIZES
    }


def tested(measure: gb.Measure, parts: list[RankingData]) -> dict[str, float]:
    """Values on the test part, each at the round that is best by it on the validation part."""
    train, vali, test = parts
    rows = lightgbm.Dataset(
        train.X, train.y, group=judged(train.y, train.qid).queries.sizes, params={"verbose": -1, "min_data_in_leaf": 5}
    )
    params: dict[str, Any] = {
        "objective": gapboost.lightgbm.objective(measure, n_jobs=1), "metric": "None", "learning_rate": 0.1,
        "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "verbose": -1,
    }  # fmt: skip
    model = lightgbm.train(params, rows, ROUNDS)
    values = {}
    for name in TESTED:
        by = TRAINED[name]
        rounds = range(STEP, ROUNDS + 1, STEP)
        on_vali = [value(model, by, vali, n) for n in rounds]
        values[name] = value(model, by, test, rounds[int(np.argmax(on_vali))])
    return values


def value(model: lightgbm.Booster, measure: gb.Measure, part: RankingData, rounds: int) -> float:
    """Of a number of trees."""
    scores = model.predict(part.X, num_iteration=rounds, num_threads=1)
    return float(gb.evaluate(measure, part.y, scores, part.qid, n_jobs=1)[measure])
