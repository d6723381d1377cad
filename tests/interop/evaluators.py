"""Evaluators under one call: ``EVALUATORS[library](name, rows)`` is the library's own number.

A library that is not installed skips the test.
"""

import re
from typing import NamedTuple

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy.sparse import csr_matrix


class Rows(NamedTuple):
    """Documents of queries that lie together; a score of NaN is a document without a result."""

    y: np.ndarray
    scores: np.ndarray
    qid: np.ndarray
    documents: np.ndarray

    @property
    def sizes(self):
        return np.unique(self.qid, return_counts=True)[1]

    def lists(self):
        """Yield the grades and scores of each query."""
        for query in np.unique(self.qid):
            rows = self.qid == query
            yield self.y[rows], self.scores[rows]

    def retrieved(self):
        return Rows(*(column[~np.isnan(self.scores)] for column in self))

    def by_topic(self, values):
        found = {}
        for query, document, value in zip(self.qid, self.documents, values, strict=True):
            found.setdefault(str(query), {})[str(document)] = value.item()
        return found

    def trec(self):
        """Return judgments and a run."""
        run = self.retrieved()
        return self.by_topic(self.y), run.by_topic(run.scores)


def rows_of(y, scores, qid=None, documents=None):
    """Return rows; one query and documents in rising order by default."""
    n = len(y)
    qid = np.zeros(n, int) if qid is None else np.asarray(qid)
    documents = [f"d{row:06}" for row in range(n)] if documents is None else documents
    return Rows(np.asarray(y), np.asarray(scores, float), qid, np.asarray(documents))


def booster_metric(library, metric, rows, weights=None, **settings):
    """Return a metric of LightGBM or XGBoost, with weights of queries."""
    column = np.arange(len(rows.y))[:, None]
    if library == "XGBoost":
        matrix = xgboost.DMatrix(column, rows.y, base_margin=rows.scores, group=rows.sizes)
        if weights is not None:
            matrix.set_weight(weights)
        settings = {"objective": "rank:ndcg", "eval_metric": metric, **settings}
        return float(xgboost.Booster(settings, [matrix]).eval(matrix).rpartition(":")[2])
    weights = None if weights is None else np.repeat(weights, rows.sizes)
    given = {"group": rows.sizes, "weight": weights, "init_score": rows.scores}
    data = lightgbm.Dataset(column, rows.y, **given)
    metric, _, k = metric.partition("@")
    settings = {"objective": "regression", "metric": metric, "verbose": -1, **settings}
    return lightgbm.Booster({**settings, "eval_at": [int(k or 5)]}, data).eval_train()[0][2]


def of_lightgbm(name, rows):
    return booster_metric("LightGBM", name, rows)


def of_xgboost(name, rows):
    y = rows.y > 0 if name.startswith("map") else rows.y
    return booster_metric("XGBoost", name, rows._replace(y=y), ndcg_exp_gain=False)


def of_catboost(name, rows):
    evaluator = pytest.importorskip("catboost.utils", reason="CatBoost is not installed")
    (value,) = evaluator.eval_metric(rows.y, rows.scores, name, group_id=rows.qid)
    return value


def of_trec_eval(name, rows):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    asked = {re.sub(r"_(\d+)$", r".\1", name)}
    qrels, run = rows.trec()
    found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    return np.mean([values[name] for values in found.values()])


def of_ir_measures(name, rows):
    ir_measures = pytest.importorskip("ir_measures")
    if name.startswith(("RBP", "INSQ")):
        pytest.importorskip("cwl")  # cwl-eval
    measure = ir_measures.parse_measure(name)
    return ir_measures.calc_aggregate([measure], *rows.trec())[measure]


def of_ranx(name, rows):
    ranx = pytest.importorskip("ranx")
    qrels, run = rows.trec()
    return float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name, make_comparable=True))


def of_torchmetrics(name, rows):
    torch, metrics = pytest.importorskip("torch"), pytest.importorskip("torchmetrics.retrieval")
    name, _, k = name.partition("@")
    metric = getattr(metrics, f"Retrieval{name}")(**({"top_k": int(k)} if k else {}))
    y = rows.y if "DCG" in name else rows.y > 0
    indexes = np.unique(rows.qid, return_inverse=True)[1]
    return float(metric(*map(torch.tensor, (rows.scores, y, indexes))))


def of_scikit_learn(name, rows):
    metrics = pytest.importorskip("sklearn.metrics")
    name, _, k = name.partition("@")
    metric = getattr(metrics, name)
    if name == "average_precision_score":
        return np.mean([metric(y > 0, scores) for y, scores in rows.lists()])
    given = {"k": int(k)} if k else {}
    return np.mean([metric([y], [scores], **given) for y, scores in rows.lists()])


def of_rectools(name, rows):
    metrics = pytest.importorskip("rectools.metrics")
    frame = pd.DataFrame({"user_id": rows.qid, "item_id": rows.documents, "y": rows.y})
    ranks = frame.assign(falling=-rows.scores).groupby("user_id").falling.rank("first")
    results = frame.assign(rank=ranks).dropna().astype({"rank": int})
    return eval(name, vars(metrics)).calc(results, frame[frame.y > 0])


class Recommender:
    """What implicit's evaluation asks of a model: the items of users, best first."""

    def __init__(self, rows):
        order = np.lexsort((-rows.scores, rows.qid))
        self.items = [order[rows.qid[order] == query] for query in np.unique(rows.qid)]

    def recommend(self, users, user_items, N, **given):
        found = [np.pad(self.items[user], (0, N), constant_values=-1)[:N] for user in users]
        return np.array(found, np.int32), np.zeros((len(users), N), np.float32)


def of_implicit(name, rows):
    evaluation = pytest.importorskip("implicit.evaluation")
    name, _, k = name.partition("@")
    relevant, users = rows.y > 0, np.unique(rows.qid, return_inverse=True)[1]
    cells = (np.ones(relevant.sum()), (users[relevant], np.flatnonzero(relevant)))
    test = csr_matrix(cells, shape=(users.max() + 1, len(rows.y)))
    found = evaluation.ranking_metrics_at_k(
        Recommender(rows), csr_matrix(test.shape), test, K=int(k), show_progress=False
    )
    return found[name]


EVALUATORS = {
    "LightGBM": of_lightgbm,
    "XGBoost": of_xgboost,
    "CatBoost": of_catboost,
    "trec_eval": of_trec_eval,
    "ir_measures": of_ir_measures,
    "ranx": of_ranx,
    "torchmetrics": of_torchmetrics,
    "scikit-learn": of_scikit_learn,
    "RecTools": of_rectools,
    "implicit": of_implicit,
}
