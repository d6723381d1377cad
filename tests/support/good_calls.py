"""Public functions with good arguments, which tests of bad input and fuzzers change."""

import numpy as np
from bad_input import QID, X, Y
from cheap_rankers import Noisy

import gapboost
import gapboost.lightgbm
import gapboost.xgboost
from gapboost import analysis, explain
from gapboost._boosters.ranker import OWN_NAMES
from gapboost.analysis import trec
from gapboost.calibration import CalibratedRanker, reliability
from gapboost.comparison import compare_rankers
from gapboost.datasets import RankingData, load_digits_ranking
from gapboost.evaluation import PerQuery
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.measures import AP, GAP
from gapboost.model_selection import (
    GSearchCV,
    g_from_clicks,
    measure_scorer,
    simplex_grid,
    uniform_g,
)
from gapboost.preprocessing import query_relative_features

# --- analyses -------------------------------------------------------------------------------------

QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1, "b": 2}}
RUNS = {
    "x": {"1": {"a": 1.0, "b": 2.0}, "2": {"a": 1.0}},
    "y": {"1": {"a": 3.0, "b": 2.0}, "2": {"b": 3.5}},
}
LISTS = analysis.ranked_lists(Y, np.arange(40.0), QID)
VALUES = analysis.system_values([AP(), GAP(g=(0.5, 0.5))], QRELS, RUNS)
CURVE = analysis.precision_recall(AP(), [0, 1], [1, 2])


def per_query_values(n, qid=None, values=None):
    return PerQuery(
        {AP(): np.arange(n if values is None else values) / 9},
        np.arange(n) if qid is None else np.array(qid),
    )


def mean_values(values):
    return values.means


ON_RUNS = {"qrels": QRELS, "runs": RUNS}
ANALYSES = {
    "trec.map_gains": (trec.map_gains, {"qrels": QRELS, "grades": {0: 0, 1: 1, 2: 2}}),
    "trec.rankings": (trec.rankings, {"qrels": QRELS, "run": RUNS["x"]}),
    "trec.evaluate": (trec.evaluate, {"measures": AP(), "qrels": QRELS, "run": RUNS["x"]}),
    "precision_recall": (
        analysis.precision_recall,
        {"measure": AP(), "y_true": [0, 1, 2], "y_score": [1, 2, 3]},
    ),
    "mean_curve": (analysis.mean_curve, {"curves": [CURVE], "levels": 5}),
    "expected_value": (
        analysis.expected_value,
        {"measure": AP(), "probabilities": [[0.5, 0.5]] * 4, "recall_base": [2, 2]},
    ),
    "maximum_entropy": (
        analysis.maximum_entropy,
        {"measure": GAP(g=(0.5, 0.5)), "value": 0.7, "counts": [17, 2, 1]},
    ),
    "informativeness": (
        analysis.informativeness,
        {"measures": [AP()], "lists": LISTS, "minimum": 1, "n_jobs": 1},
    ),
    "threshold_sweep": (
        analysis.threshold_sweep,
        {"lists": LISTS[:1], "grid": [(0.5, 0.5)], "others": (), "minimum": 1, "n_jobs": 1},
    ),
    "local_optimality": (
        analysis.local_optimality,
        {
            "measures": [AP()],
            "weights": [1.0, 2.0, 3.0],
            "datasets": {"t": (X, Y, QID)},
            "n_directions": 2,
            "n_jobs": 1,
        },
    ),
    "robustness": (
        analysis.robustness,
        {"measures": [AP()], **ON_RUNS, "fractions": (0.5,), "repeats": 1, "n_jobs": 1},
    ),
    "significance": (
        analysis.significance,
        {"first": [0.1, 0.2, 0.4], "second": [0.1, 0.3, 0.2], "n_resamples": 10},
    ),
    "significance by query": (
        analysis.significance,
        {"first": per_query_values(3), "second": per_query_values(3, [2, 1, 0])},
    ),
    "system_values": (analysis.system_values, {"measures": [AP()], **ON_RUNS, "n_jobs": 1}),
    "SystemValues.best": (VALUES.best, {"n": 1}),
    "SystemValues.on_topics": (VALUES.on_topics, {"topics": ["1"]}),
    "discriminative_power": (analysis.discriminative_power, {"values": VALUES, "n_resamples": 20}),
    "correlation": (analysis.correlation, {"values": VALUES}),
    "topic_bootstrap": (
        analysis.topic_bootstrap,
        {"values": VALUES, "statistic": mean_values, "n_resamples": 2},
    ),
}

# --- rankers, their callbacks and cross-validation ------------------------------------------------

ROWS = {"X": X, "y": Y, "qid": QID}
EVALS = {"eval_set": [(X, Y)], "eval_qid": [QID]}

GROUPS = {"X": X, "y": Y, "group": [10] * 4, "eval_set": [(X, Y)], "eval_group": [[10] * 4]}

LIGHTGBM = {"n_estimators": 2, "n_jobs": 1, "verbose": -1, "min_child_samples": 1}
XGBOOST = {"n_estimators": 2, "n_jobs": 1}
PARAMETERS = (*OWN_NAMES, "random_state", "n_jobs", "n_estimators")


def fit(ranker, always):
    """Parameters and arguments of fit in one call."""

    def call(**given):
        parameters = {name: given.pop(name) for name in PARAMETERS if name in given}
        return ranker(**{**always, **parameters}).fit(**given)

    return call


LGBM = gapboost.lightgbm.LGBMGAPRanker
XGB = gapboost.xgboost.XGBGAPRanker
RANKERS = {
    "LGBMGAPRanker": (fit(LGBM, LIGHTGBM), {**ROWS, **EVALS}),
    "XGBGAPRanker": (fit(XGB, XGBOOST), {**ROWS, **EVALS}),
    "LGBMGAPRanker by group": (fit(LGBM, LIGHTGBM), GROUPS),
    "XGBGAPRanker by group": (fit(XGB, XGBOOST), GROUPS),
    "LGBMGAPRanker by eval_X": (
        fit(LGBM, LIGHTGBM),
        {**ROWS, "eval_X": X, "eval_y": Y, "eval_qid": [QID]},
    ),
    "lightgbm.objective": (gapboost.lightgbm.objective, {"measure": "gap", "g": (0.5, 0.5)}),
    "xgboost.objective": (gapboost.xgboost.objective, {"measure": "gap", "g": (0.5, 0.5)}),
    "lightgbm.eval_metric": (gapboost.lightgbm.eval_metric, {"measure": "gap"}),
    "xgboost.eval_metric": (gapboost.xgboost.eval_metric, {"measure": "gap"}),
}

# --- grids, scorers, clicks, the search and data --------------------------------------------------

RANKER = LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1, min_child_samples=1)
CLICKS = {
    "grades": [0, 1, 2] * 20,
    "clicks": [0, 1, 2] * 20,
    "impressions": [4] * 60,
    "n_resamples": 10,
}

FITTED = LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1, min_child_samples=1).fit(X, Y, QID)


def search(*, X, y, qid, group=None, **options):
    return GSearchCV(**options).fit(X, y, qid=qid, group=group)


def calibrate(*, X, y, qid, train_qid, **parameters):
    return CalibratedRanker(**parameters).fit(X, y, qid, train_qid=train_qid)


TEN_QUERIES = np.repeat(np.arange(10), 4)
RISING = X + Y[:, None]

SELECTION = {
    "simplex_grid": (simplex_grid, {"n_grades": 2, "steps": 2}),
    "uniform_g": (uniform_g, {"n_grades": 2}),
    "measure_scorer": (measure_scorer, {"measure": AP()}),
    "g_from_clicks": (g_from_clicks, CLICKS),
    "GSearchCV": (
        search,
        {
            "estimator": RANKER,
            "param_grid": {"g": [(0.5, 0.5)]},
            "scoring": AP(),
            "cv": 2,
            "X": X,
            "y": Y,
            "qid": QID,
        },
    ),
    "compare_rankers": (
        compare_rankers,
        {"X": X, "y": Y, "qid": QID, "rankers": {"one": Noisy(), "other": Noisy(0.1)}, "cv": 2},
    ),
    "query_relative_features": (
        query_relative_features,
        {
            "X": X,
            "qid": QID,
            "group": None,
            "kinds": ("zscore", "rank"),
            "columns": [0, 2],
            "n_jobs": 1,
        },
    ),
    "explain.pair": (explain.pair, {"ranker": FITTED, "X": X, "a": 0, "b": 1}),
    "explain.query": (explain.query, {"ranker": FITTED, "X": X, "qid": QID}),
    "explain.measure": (
        explain.measure,
        {"ranker": FITTED, "X": X, "y": Y, "qid": QID, "measure": AP()},
    ),
    "report": (
        gapboost.report,
        {"ranker": FITTED, "X": X, "y": Y, "qid": QID, "measures": AP(), "ignore": ["ties"]},
    ),
    "CalibratedRanker": (
        calibrate,
        {
            "ranker": Noisy().fit(X, Y),
            "grades": (1, 2),
            "method": "logistic",
            "X": RISING,
            "y": Y,
            "qid": TEN_QUERIES,
            "train_qid": [11, 12],
        },
    ),
    "reliability": (
        reliability,
        {"y_true": Y, "y_prob": np.linspace(0, 1, 40), "qid": QID, "grade": 1, "n_bins": 4},
    ),
    "load_digits_ranking": (load_digits_ranking, {"n_queries": (3, 1, 1), "n_docs": 5}),
    "RankingData": (RankingData, {"X": X, "y": Y, "qid": QID}),
}
