"""What the pages say of metrics that agree with nobody: the boosters', CatBoost's and others'."""

import re

import lightgbm
import numpy as np
import pytest
import xgboost
from evaluators import EVALUATORS, booster_metric, rows_of
from sklearn.metrics import average_precision_score
from test_evaluators import close, section

import gapboost as gb

both = pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
# nDCG .5, and a query with nothing relevant.
EMPTY = rows_of([0, 0, 1, 0, 0, 0], [3, 2, 1, 3, 2, 1], [0, 0, 0, 1, 1, 1])


@both
def test_weighted_ndcg_of_the_boosters_forgets_weights_of_empty_queries(library):
    weights = [1, 3]
    right = {"empty": 1, "sample_weight": weights}
    (ndcg, ap) = gb.evaluate(["ndcg", "map"], EMPTY.y, EMPTY.scores, EMPTY.qid, **right).values()
    assert ndcg == close(0.875)
    assert booster_metric(library, "ndcg", EMPTY, weights) == close(0.375, 1e-6)
    assert booster_metric(library, "map", EMPTY, weights) == close(ap, 1e-6)
    if library == "LightGBM":
        assert booster_metric(library, "ndcg", EMPTY, [0.1, 0.1]) == close(5.25, 1e-6)
    else:
        with pytest.raises(xgboost.core.XGBoostError):
            booster_metric(library, "ndcg", EMPTY, [0.1, 0.1])


@both
def test_gains_of_the_boosters_are_exponential_by_default(library):
    rows = rows_of([1, 0, 3, 2], [4, 3, 2, 1])
    (ours,) = gb.evaluate("ndcg@3", rows.y, rows.scores).values()
    assert booster_metric(library, "ndcg@3", rows) == close(ours, 1e-6)


@both
def test_a_file_sorted_by_grade_has_ndcg_1_before_the_first_tree(library):
    y, ties, qid = np.tile([2, 1, 0, 0], 5), np.zeros(20), np.repeat(np.arange(5), 4)
    assert booster_metric(library, "ndcg", rows_of(y, ties, qid)) == close(1, 1e-6)
    assert booster_metric(library, "ndcg", rows_of(y[::-1], ties, qid)) < 0.8


def test_xgboosts_auc_of_rankings_depends_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    y, scores, qid = rng.integers(0, 2, 1000), rng.permutation(1000), np.repeat(np.arange(200), 5)
    falling = (np.arange(0, 1000, 5)[:, None] + np.argsort(-scores.reshape(200, 5))).ravel()
    one = booster_metric("XGBoost", "auc", rows_of(y, scores, qid))
    other = booster_metric("XGBoost", "auc", rows_of(y[falling], scores[falling], qid))
    assert abs(one - other) > 0.1
    assert booster_metric("XGBoost", "auc", rows_of(y, y, qid)) < 0.9  # no ranking is better


@pytest.mark.parametrize("grade", [0.5, 0.6])
def test_lightgbms_map_takes_grades_above_one_half_as_relevant(grade):
    rows = rows_of([0, 0, grade], [3, 2, 1])
    (ours,) = gb.evaluate("ap(rel=0.51)", rows.y, rows.scores, empty=1).values()
    assert booster_metric("LightGBM", "map", rows) == close(ours)


def test_xgboosts_aucpr_is_no_average_precision():
    y, scores = np.array([0, 1, 0, 1, 1, 0, 0, 1]), np.arange(8.0)
    (ours,) = gb.evaluate("ap", y, scores).values()
    assert ours == close(average_precision_score(y, scores))
    theirs = booster_metric("XGBoost", "aucpr", rows_of(y, scores), objective="binary:logistic")
    assert abs(theirs - ours) > 0.01


@pytest.mark.parametrize("metric", ["ndcg", "map"])
@pytest.mark.parametrize("rank", [32, 33])
def test_xgboosts_metrics_without_a_cutoff_end_at_rank_32(metric, rank):
    rows = rows_of(np.arange(1, 41) == rank, np.arange(40.0, 0, -1))
    (ours,) = gb.evaluate(metric, rows.y, rows.scores).values()
    assert booster_metric("XGBoost", f"{metric}@1000", rows) == close(ours, 1e-6)
    found = booster_metric("XGBoost", metric, rows)
    assert found == (close(ours, 1e-6) if rank == 32 else 0)


def test_precision_of_short_lists_in_xgboost():
    short = rows_of([1, 0, 1], [3, 2, 1])
    assert booster_metric("XGBoost", "pre@5", short) == close(2 / 3, 1e-6)
    assert gb.evaluate("p@5", short.y, short.scores) == {"precision@5": close(2 / 5)}


@pytest.mark.parametrize("metric", ["MAP", "MRR", "Precision", "Recall"])
def test_torchmetrics_takes_scores_of_0_and_below_as_not_retrieved(metric):
    y, scores = np.array([1, 0, 1]), np.array([-1.0, -2.0, -3.0])
    value = EVALUATORS["torchmetrics"]
    assert value(metric, rows_of(y, scores)) == 0 < value(metric, rows_of(y, scores + 4))


@pytest.mark.parametrize("metric", ["NormalizedDCG", "HitRate", "RPrecision"])
def test_torchmetrics_takes_any_scores_for_others(metric):
    y, scores = np.array([1, 0, 1]), np.array([-1.0, -2.0, -3.0])
    value = EVALUATORS["torchmetrics"]
    assert value(metric, rows_of(y, scores)) == value(metric, rows_of(y, scores + 4)) > 0


def test_precision_of_implicit_is_a_ratio_of_sums():
    """3 hits of the first 5; the users have 1 and 4 relevant items."""
    y, qid = [1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1], [0] * 5 + [1] * 7
    rows = rows_of(y, np.arange(12.0, 0, -1), qid)
    assert EVALUATORS["implicit"]("precision@5", rows) == close(3 / (1 + 4))
    (mean,) = gb.evaluate("recall(capped=true)@5", *rows[:3]).values()
    assert mean == close((1 + 2 / 4) / 2)


def test_ndcg_of_rectools_is_below_1_for_perfect_rankings_by_default():
    rows = rows_of([1, 0, 0], [3, 2, 1])
    best = np.sum(1 / np.log2(np.arange(2, 12)))
    assert EVALUATORS["RecTools"]("NDCG(k=10)", rows) == close(1 / best)
    assert EVALUATORS["RecTools"]("NDCG(k=10, divide_by_achievable=True)", rows) == close(1)


def test_gdeval_merges_topics_with_hyphens():
    rows, name = rows_of([1, 1], [1, 1]), "nDCG(dcg='exp-log2')@5"
    values = [
        EVALUATORS["ir_measures"](name, rows._replace(qid=np.array(ids)))
        for ids in ([1, 2], ["a-1", "b-1"])
    ]
    assert values[0] == close(1)
    assert values[1] < 0.5


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
            "success@k (hit rate)": "Success@5", "R-precision": "Rprec",
            "RBP": "RBP(rel=1)", "INSQ": "INSQ(max_rel=1)", "ERR": "ERR@5", "bpref": "Bpref",
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
    table = section("Which library has which")
    head, _, *rows = re.findall(r"^\| *(.*?) *\|$", table, re.M)
    column = [cell.strip() for cell in head.split("|")].index(library)
    cells = {cells[0].strip(): cells[column].split() for cells in (row.split("|") for row in rows)}
    names = OF_THE_TABLE[library]
    assert {row for row, marks in cells.items() if marks} == set(names)
    for row, (metric, objective) in names.items():
        assert ("E" in cells[row], "T" in cells[row]) == (metric is not None, objective is not None)
        assert objective is None or trains(library, objective)
        if metric:
            assert np.isfinite(EVALUATORS[library](metric, rows_of([1, 0, 1], [3, 2, 1])))
