"""Gains of query-relative features for rankers trained on whole lists that serve other lists."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import gapboost as gb
from benchmarks.studies.effectiveness.data import Collection, rows
from gapboost.comparison.verdicts import estimate_difference
from gapboost.datasets import RankingData
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.preprocessing import query_relative_features

FOLDS, REPEATS = 5, 3
NDCG = gb.nDCG(k=10)
MEASURES = (NDCG, "map", "gap")
KINDS = {"z-scores": ["zscore"], "percentile ranks": ["rank"], "both": ["zscore", "rank"]}

Array = NDArray[np.float64]
# Takes the best feature's values in one list and a random generator; returns the rows to serve.
Selection = Callable[[Array, np.random.Generator], NDArray[np.intp]]


def best(n: int, values: Array) -> NDArray[np.intp]:
    """Return the rows of the `n` highest values; equal values in the order of rows."""
    return np.argsort(-values, kind="stable")[:n]


SERVED: dict[str, Selection] = {
    "whole list": lambda values, _: np.arange(len(values)),
    "random half": lambda values, rng: rng.permutation(len(values))[: -(-len(values) // 2)],
    "best third by one feature": lambda values, _: best(-(-len(values) // 3), values),
    "best 50 by one feature": lambda values, _: best(50, values),
}
ALONE = "each document alone"


def splits(data: RankingData, repeat: int) -> Iterator[tuple[RankingData, RankingData]]:
    """Yield the training and the test part of each fold of whole queries."""
    queries = np.random.default_rng(repeat).permutation(np.unique(data.qid))
    for fold in range(FOLDS):
        tested = queries[fold::FOLDS]
        yield rows(data, np.setdiff1d(queries, tested)), rows(data, tested)


def best_feature(train: RankingData) -> tuple[int, int]:
    """Return the column with the highest nDCG@10 on the training queries, and its sign."""
    found = {
        (column, sign): gb.evaluate(NDCG, train.y, sign * train.X[:, column], train.qid)[NDCG]
        for column in range(train.X.shape[1])
        for sign in (1, -1)
    }
    return max(found, key=lambda which: found[which])


def served(test: RankingData, feature: Array, select: Selection, rng: np.random.Generator) -> RankingData:
    """Return the documents of each list that are served."""
    chosen = [
        lines[select(feature[lines], rng)] for lines in (np.flatnonzero(test.qid == q) for q in np.unique(test.qid))
    ]
    kept = np.concatenate(chosen)
    return RankingData(test.X[kept], test.y[kept], test.qid[kept])


def values(ranker: LGBMGAPRanker, kinds: list[str], shown: RankingData, alone: bool = False) -> Array:
    """Return the mean of the measures for each query."""
    lists = np.arange(len(shown.y)) if alone else shown.qid
    X = query_relative_features(shown.X, lists, kinds=kinds) if kinds else shown.X
    of_measures = gb.evaluate(MEASURES, shown.y, ranker.predict(X), shown.qid, per_query=True)
    return np.mean(list(of_measures.values()), axis=0)


def gains(data: RankingData, repeat: int) -> Iterator[tuple[Array, dict[tuple[str, str], Array]]]:
    """Yield the test queries of each fold, and their gains by kind of features and kind of list."""
    for fold, (train, test) in enumerate(splits(data, repeat)):
        models = {}
        for name, kinds in {"raw": [], **KINDS}.items():
            X = query_relative_features(train.X, train.qid, kinds=kinds) if kinds else train.X
            models[name] = LGBMGAPRanker(random_state=repeat, n_jobs=1, verbose=-1).fit(X, train.y, qid=train.qid)
        column, sign = best_feature(train)
        rng = np.random.default_rng([repeat, fold])
        parts = {name: served(test, sign * test.X[:, column], select, rng) for name, select in SERVED.items()}
        found = {}
        for name, shown in {**parts, ALONE: parts["whole list"]}.items():
            raw = values(models["raw"], [], shown)
            for kind, kinds in KINDS.items():
                found[kind, name] = values(models[kind], kinds, shown, alone=name == ALONE) - raw
        yield np.unique(test.qid), found


def estimates(source: Collection) -> list[dict[str, object]]:
    """Return the mean gain for each kind of features and kind of list on one collection."""
    folds = [fold for repeat in range(REPEATS) for fold in gains(source.data, repeat)]
    queries = [tested for tested, _ in folds]
    rows = []
    for kind, name in folds[0][1]:
        pairs = [(found[kind, name], np.zeros(len(tested))) for tested, found in folds]
        one = estimate_difference(pairs, queries)
        rows.append(
            {
                "features": kind, "served": name, "queries": len(np.unique(source.data.qid)), "gain": one.mean,
                "error": one.error, "freedom": one.freedom,
            }
        )  # fmt: skip
    return rows
