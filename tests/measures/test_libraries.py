"""The same numbers as other libraries: the rows of docs/measures.md, scikit-learn, ir_measures."""

import math
import re
import shutil
from pathlib import Path

import ir_measures
import lightgbm
import numpy as np
import pytest
import pytrec_eval
import xgboost
from scipy.stats import kendalltau, rankdata, spearmanr
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

import gapboost as gb

PAGE = Path(__file__).parents[2] / "docs" / "measures.md"
ROWS = re.findall(
    r'^\| (LightGBM|XGBoost|CatBoost|trec_eval)\b.* \| `(.+)` \| `"(.+)"` \| ([01]) \|$',
    PAGE.read_text(),
    re.M,
)
QUERIES, TOP = 1000, 3
RNG = np.random.default_rng(0)
SIZES = RNG.integers(2, 30, QUERIES)
QID = np.repeat(np.arange(QUERIES), SIZES)
Y = RNG.integers(0, 4, len(QID)) * (RNG.random(len(QID)) < 0.6)
Y[np.isin(QID, RNG.choice(QUERIES, QUERIES // 10))] = 0
S = RNG.permutation(len(QID)) / 64  # exact in float32
# Averages of two judges, exact in float32.
HALVES = Y * 0.5


def of_lightgbm(name):
    data = lightgbm.Dataset(np.arange(len(Y))[:, None], Y, group=SIZES, init_score=S)
    metric = {"metric": name.partition("@")[0], "eval_at": [5]}
    settings = {"objective": "lambdarank", "verbose": -1, **metric}
    ((_, found, value, *_),) = lightgbm.Booster(settings, data).eval_train()
    assert found == name
    return Y, value


def of_xgboost(name):
    y = Y > 0 if name.startswith("map") else HALVES
    data = xgboost.DMatrix(np.zeros((len(y), 1)), y, base_margin=S, group=SIZES)
    settings = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "eval_metric": name}
    return y, float(xgboost.Booster(settings, [data]).eval(data).rpartition(":")[2])


def of_catboost(name):
    evaluator = pytest.importorskip("catboost.utils", reason="CatBoost is not installed")
    (value,) = evaluator.eval_metric(HALVES, S, name, group_id=QID)
    return HALVES, value


def of_trec_eval(name):
    qrels, run = {}, {}
    for row, query in enumerate(map(str, QID)):
        qrels.setdefault(query, {})[f"d{row}"] = int(Y[row])
        run.setdefault(query, {})[f"d{row}"] = float(S[row])
    asked = {re.sub(r"_(\d+)$", r".\1", name)}
    found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    return Y, np.mean([values[name] for values in found.values()])


LIBRARIES = {
    "LightGBM": of_lightgbm,
    "XGBoost": of_xgboost,
    "CatBoost": of_catboost,
    "trec_eval": of_trec_eval,
}


def test_the_page_has_rows_of_each_library():
    assert {library for library, *_ in ROWS} == set(LIBRARIES)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("library", "name", "measure", "empty"), ROWS)
def test_the_same_number_as_another_library(library, name, measure, empty):
    y, theirs = LIBRARIES[library](name)
    (ours,) = gb.evaluate(measure, y, S, QID, empty=int(empty)).values()
    # XGBoost adds up in single precision.
    assert ours == pytest.approx(theirs, rel=1e-7 if library == "XGBoost" else 1e-12)
    (other,) = gb.evaluate(measure, y, S, QID, empty=1 - int(empty)).values()
    assert other != pytest.approx(theirs, rel=1e-4)


# --- scikit-learn and scipy -----------------------------------------------------------------------


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def tied_lists(seed, how_many=60):
    """Grades and scores of lists with ties."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        n = rng.integers(3, 120)
        grades, scores = rng.integers(0, TOP + 1, n), rng.integers(0, rng.integers(1, 2 * n), n)
        grades[:2] = (0, 1)
        yield grades, scores


def test_average_precision_is_scikit_learns():
    measures = [gb.AP(rel=rel) for rel in (1, 2, 3)]
    for grades, _ in tied_lists(14):
        scores = np.random.default_rng(len(grades)).permutation(len(grades))
        values = gb.evaluate(measures, grades, scores)
        for measure in measures:
            if (grades >= measure.rel).any():
                assert values[measure] == close(
                    average_precision_score(grades >= measure.rel, scores)
                )


def test_average_precision_with_ties_is_the_mean_over_their_orders():
    """scikit-learn's and XGBoost's are others, so that `evaluate` without qid is not theirs."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 10, 400) / 10
    y = (rng.random(400) < 0.1 + 0.5 * scores).astype(int)
    (ours,) = gb.evaluate("ap", y, scores).values()
    orders = [scores + 0.01 * rng.random(400) for _ in range(2000)]
    means = [average_precision_score(y, order) for order in orders]
    # Three standard errors.
    assert abs(np.mean(means) - ours) < 3 * np.std(means) / math.sqrt(len(means))
    assert average_precision_score(y, scores) < ours - 0.005
    data = xgboost.DMatrix(np.zeros((400, 1)), y, base_margin=scores)
    booster = xgboost.Booster({"eval_metric": "aucpr"}, [data])
    assert abs(float(booster.eval(data).rpartition(":")[2]) - ours) > 0.005


def test_xgboosts_aucpr_differs_without_ties_too():
    y, scores = np.array([0, 1, 0, 1, 1, 0, 0, 1]), np.arange(8.0)
    (ours,) = gb.evaluate("ap", y, scores).values()
    assert ours == close(average_precision_score(y, scores))
    data = xgboost.DMatrix(np.zeros((8, 1)), y, base_margin=scores)
    theirs = float(xgboost.Booster({"eval_metric": "aucpr"}, [data]).eval(data).rpartition(":")[2])
    assert abs(theirs - ours) > 0.01


def test_cumulated_gains_are_scikit_learns_which_averages_over_ties():
    cutoffs = (None, 1, 5, 50)
    for grades, scores in tied_lists(15):
        for k in cutoffs:
            ndcg, dcg = gb.nDCG(k=k), gb.DCG(gains="linear", k=k)
            values = gb.evaluate([ndcg, dcg], grades, scores)
            assert values[ndcg] == close(ndcg_score([2**grades - 1], [scores], k=k))
            assert values[dcg] == close(dcg_score([grades], [scores], k=k))


def test_orders_of_pairs_are_scikit_learns_and_scipys():
    for grades, scores in tied_lists(18):
        tau, accuracy = gb.evaluate(["kendalltau", "pairwiseaccuracy"], grades, scores).values()
        assert accuracy == close((tau + 1) / 2)
        # tau-b also divides by the pairs of different scores.
        pairs = [np.count_nonzero(x[:, None] != x) / 2 for x in (grades, scores)]
        theirs = kendalltau(grades, scores).statistic * math.sqrt(pairs[0] * pairs[1])
        if pairs[1]:
            assert tau * pairs[0] == close(theirs, 1e-9)
        (accuracy,) = gb.evaluate("pairwiseaccuracy", grades > 0, scores).values()
        assert accuracy == close(roc_auc_score(grades > 0, scores))


def test_spearmans_rho_is_scipys_without_ties():
    for grades, _ in tied_lists(19):
        scores = np.random.default_rng(len(grades)).permutation(len(grades))
        (rho,) = gb.evaluate("spearmanrho", grades, scores).values()
        assert rho == close(spearmanr(rankdata(grades), scores).statistic)


# --- ir_measures ----------------------------------------------------------------------------------

IR = ir_measures
PAIRS = [
    (IR.AP(rel=2) @ 5, gb.AP(rel=2, k=5)),
    (IR.nDCG @ 100, gb.nDCG(gains="linear", k=100)),
    *((IR.P(rel=r) @ k, gb.Precision(rel=r, k=k)) for r, k in ((1, 1), (2, 10), (3, 60))),
    (IR.R(rel=2) @ 10, gb.Recall(rel=2, k=10)),
    (IR.Success(rel=3) @ 10, gb.Success(rel=3, k=10)),
    (IR.RR(rel=2), gb.RR(rel=2)),
    (IR.Rprec(rel=2), gb.RPrecision(rel=2)),
]
OF_GDEVAL = [
    *((IR.nDCG(dcg="exp-log2") @ k, gb.nDCG(k=k)) for k in (1, 5, 20)),
    *((IR.ERR @ k, gb.ERR(top=4, k=k)) for k in (1, 5, 20)),  # its scale ends at 4
]


def compare(pairs, tolerance):
    """Compare on judgments and a run, each with documents that the other one lacks."""
    rng = np.random.default_rng(16)
    qrels, run, rows, recall_base = [], [], [], {}
    for query in map(str, range(25)):
        judged = {f"d{doc}": int(g) for doc, g in enumerate(rng.integers(0, TOP + 1, 30))}
        judged["best"] = TOP
        retrieved = [name for name in judged if rng.random() < 0.7] + ["u0", "u1", "u2"]
        scores = rng.permutation(len(retrieved)) / 4
        qrels += [ir_measures.Qrel(query, name, grade) for name, grade in judged.items()]
        for name, score in zip(retrieved, scores, strict=True):
            run.append(ir_measures.ScoredDoc(query, name, score))
            rows.append((judged.get(name, 0), score, query))
        recall_base[query] = np.bincount(list(judged.values()), minlength=TOP + 1)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    ours = [measure for _, measure in pairs]
    values = gb.evaluate(ours, *columns, recall_base=recall_base, per_query=True)
    compared = 0
    for metric in ir_measures.iter_calc([theirs for theirs, _ in pairs], qrels, run):
        found = values[dict(pairs)[metric.measure]][values.qid.tolist().index(metric.query_id)]
        assert found == pytest.approx(metric.value, abs=tolerance, rel=0), metric
        compared += 1
    assert compared == len(pairs) * 25


def test_equals_ir_measures():
    compare(PAIRS, 1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval.pl")
def test_equals_gdeval():
    compare(OF_GDEVAL, 5.1e-6)  # it prints five digits


# --- where the boosters' own metrics agree with nobody --------------------------------------------


def own_metric(library, metric, y, scores, sizes, weights=None):
    """Return a value of the booster's own metric, with weights of queries."""
    column = np.arange(len(y))[:, None]
    if library == "XGBoost":
        matrix = xgboost.DMatrix(column, y, base_margin=scores, group=sizes)
        if weights is not None:
            matrix.set_weight(weights)
        settings = {"objective": "rank:ndcg", "eval_metric": metric}
        return float(xgboost.Booster(settings, [matrix]).eval(matrix).rpartition(":")[2])
    rows = None if weights is None else np.repeat(weights, sizes)
    data = lightgbm.Dataset(column, y, group=sizes, weight=rows, init_score=scores)
    settings = {"objective": "regression", "metric": metric, "eval_at": [5], "verbose": -1}
    return lightgbm.Booster(settings, data).eval_train()[0][2]


EMPTY = ([0, 0, 1, 0, 0, 0], [3.0, 2.0, 1.0, 3.0, 2.0, 1.0], [3, 3])  # nDCG .5, then an empty query


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
def test_weighted_ndcg_of_the_boosters_forgets_weights_of_empty_queries(library):
    y, scores, sizes = EMPTY
    qid, weights = np.repeat([0, 1], sizes), [1, 3]
    (ours,) = gb.evaluate("ndcg", y, scores, qid, empty=1, sample_weight=weights).values()
    assert ours == close(0.875)
    assert own_metric(library, "ndcg", *EMPTY, weights) == close(0.375, 1e-6)
    right = {"empty": 1, "sample_weight": weights}
    (ours,) = gb.evaluate("map", y, scores, qid, **right).values()
    assert own_metric(library, "map", *EMPTY, weights) == close(ours, 1e-6)
    if library == "LightGBM":
        assert own_metric(library, "ndcg", *EMPTY, [0.1, 0.1]) == close(5.25, 1e-6)
    else:
        with pytest.raises(xgboost.core.XGBoostError):
            own_metric(library, "ndcg", *EMPTY, [0.1, 0.1])


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
def test_the_boosters_break_ties_by_the_order_of_rows(library):
    y, ties = np.tile([2, 1, 0, 0], 5), np.zeros(20)
    assert own_metric(library, "ndcg", y, ties, [4] * 5) == close(1, 1e-6)
    assert own_metric(library, "ndcg", y[::-1], ties, [4] * 5) < 0.8


def test_xgboosts_auc_of_rankings_depends_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    y, scores, sizes = rng.integers(0, 2, 1000), rng.permutation(1000), [5] * 200
    falling = (np.arange(0, 1000, 5)[:, None] + np.argsort(-scores.reshape(200, 5))).ravel()
    one = own_metric("XGBoost", "auc", y, scores, sizes)
    other = own_metric("XGBoost", "auc", y[falling], scores[falling], sizes)
    assert abs(one - other) > 0.1
    assert own_metric("XGBoost", "auc", y, y, sizes) < 0.9  # no ranking is better


@pytest.mark.parametrize("grade", [0.5, 0.6])
def test_lightgbms_map_takes_grades_above_one_half_as_relevant(grade):
    value = own_metric("LightGBM", "map", [0, 0, grade], [3.0, 2.0, 1.0], [3])
    (ours,) = gb.evaluate("ap(rel=0.51)", [0, 0, grade], [3, 2, 1], empty=1).values()
    assert value == close(ours)


# --- the table of libraries -----------------------------------------------------------------------

# Metric and objective of each row of the table.
OF_THE_TABLE = {
    "LightGBM": {"nDCG": ("ndcg", "lambdarank"), "AP": ("map", None)},
    "XGBoost": {
        "nDCG": ("ndcg", "rank:ndcg"),
        "AP": ("map", "rank:map"),
        "P@k": ("pre@5", None),
        "pairs of different grades": (None, "rank:pairwise"),
    },
    "CatBoost": {
        "nDCG": ("NDCG", "YetiRank:mode=NDCG"),
        "AP": ("MAP", "YetiRank:mode=MAP"),
        "DCG": ("DCG", "YetiRank:mode=DCG"),
        "P@k": ("PrecisionAt:top=5", None),
        "recall@k": ("RecallAt:top=5", None),
        "pairs of different grades": ("QueryAUC:type=Ranking", "PairLogit"),
        "RR": ("MRR", "YetiRank:mode=MRR"),
        "ERR": ("ERR", "YetiRank:mode=ERR"),
    },
    "ir_measures": {
        row: (name, None)
        for row, name in {
            "nDCG": "nDCG@5", "AP": "AP", "P@k": "P@5", "recall@k": "R@5", "RR": "RR",
            "success@k (hit rate)": "Success@5", "R-precision": "Rprec", "RBP": "RBP",
            "INSQ": "INSQ", "ERR": "ERR@5", "bpref": "Bpref",
            "pairs of different grades": "Accuracy",
        }.items()
    },
}  # fmt: skip


def trains(library, objective):
    """Train by the objective; return False if the library does not change its scores."""
    x = np.arange(200) % 7 + np.arange(200)[:, None] / 1000
    y, sizes, few = np.arange(200) % 7 // 6, [20] * 10, {"max_depth": 2}
    if library == "LightGBM":
        data = lightgbm.Dataset(x, y, group=sizes)
        model = lightgbm.train({"objective": objective, "verbose": -1, **few}, data, 2)
        return np.ptp(model.predict(x)) > 0
    if library == "XGBoost":
        data = xgboost.DMatrix(x, y, group=sizes)
        return np.ptp(xgboost.train({"objective": objective, **few}, data, 2).predict(data)) > 0
    catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
    settings = {"iterations": 2, "depth": 2, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostRanker(loss_function=objective, **settings)
    return np.ptp(model.fit(x, y, group_id=np.repeat(np.arange(10), sizes)).predict(x)) > 0


@pytest.mark.parametrize("library", OF_THE_TABLE)
def test_the_table_of_libraries(library):
    table = PAGE.read_text().partition("## Which library has which")[2].partition("\n## ")[0]
    head, _, *rows = re.findall(r"^\| *(.*?) *\|$", table, re.M)
    column = [cell.strip() for cell in head.split("|")].index(library)
    cells = {cells[0].strip(): cells[column].split() for cells in (row.split("|") for row in rows)}
    names = OF_THE_TABLE[library]
    assert {row for row, marks in cells.items() if marks} == set(names)
    for row, (metric, objective) in names.items():
        assert ("E" in cells[row], "T" in cells[row]) == (metric is not None, objective is not None)
        assert objective is None or trains(library, objective)
        if library == "CatBoost" and metric:
            of_catboost(metric)
        elif library == "ir_measures":
            assert isinstance(ir_measures.parse_measure(metric), ir_measures.measures.Measure)
        elif metric:
            own_metric(library, metric, *EMPTY)


def test_precision_of_short_lists_in_xgboost():
    short = ([1, 0, 1], [3.0, 2.0, 1.0])
    assert own_metric("XGBoost", "pre@5", *short, [3]) == close(2 / 3, 1e-6)
    assert gb.evaluate("p@5", *short) == {"precision@5": close(2 / 5)}


@pytest.mark.parametrize(
    ("metric", "y", "scores", "value"),
    [
        ("MRR", [1, 0, 0, 0], [1, 1, 1, 1], 1 / 4),  # ties: the worst order
        ("MAP", [0, 0, 0, 1], [1, 1, 1, 1], 1 / 4),
        ("PrecisionAt:top=5", [1, 0, 1], [3, 2, 1], 2 / 3),  # of a short list
        ("ERR", [0.5, 0, 1], [3, 2, 1], 1 / 2 + 1 / 2 / 3),  # labels are probabilities
        ("QueryAUC:type=Ranking", [2, 0, 1], [3, 2, 1], 2 / 3),
    ],
)
def test_what_migration_says_of_catboost(metric, y, scores, value):
    evaluator = pytest.importorskip("catboost.utils", reason="CatBoost is not installed")
    assert evaluator.eval_metric(y, scores, metric, group_id=[0] * len(y)) == [close(value)]
