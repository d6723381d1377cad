"""Public functions with good arguments, of which tests of bad input replace one.

FUNCTIONS = {name: (function, {argument: good value})}.
"""

import numpy as np
from bad_input import QID, X, Y, check_refusal
from cheap_rankers import Noisy
from collections_on_disk import MADE

import gapboost
from gapboost import analysis, explain, lightgbm, model_selection, xgboost
from gapboost._boosters.ranker import OWN_NAMES
from gapboost.analysis import trec
from gapboost.calibration import CalibratedRanker, reliability
from gapboost.comparison import compare_rankers
from gapboost.datasets import load_digits_ranking, load_letor, load_letor_fold
from gapboost.evaluation import PerQuery
from gapboost.measures import AP, GAP
from gapboost.preprocessing import query_relative_features


def per_query_values(n, qid=None):
    return PerQuery({AP(): np.arange(n) / 9}, np.arange(n) if qid is None else np.array(qid))


def fit(ranker, **always):
    """Parameters and arguments of fit in one call."""

    def call(**given):
        names = {"n_estimators", "n_jobs", "random_state", *OWN_NAMES} & given.keys()
        parameters = {name: given.pop(name) for name in names}
        return ranker(n_estimators=2, n_jobs=1, **always, **parameters).fit(**given)

    return call


def search(*, X, y, qid, group=None, **options):
    return model_selection.GSearchCV(**options).fit(X, y, qid=qid, group=group)


def calibrate(*, X, y, qid, train_qid, **parameters):
    return CalibratedRanker(**parameters).fit(X, y, qid, train_qid=train_qid)


# --- good values ----------------------------------------------------------------------------------

GRADED = GAP(g=(0.5, 0.5))
ROWS = {"X": X, "y": Y, "qid": QID}
FEW_ROWS = {"y_true": [0, 1, 2, 0], "y_score": [4.0, 3.0, 2.0, 1.0], "qid": ["a", "a", "b", "b"]}
FIT_LIGHTGBM = fit(lightgbm.LGBMGAPRanker, verbose=-1, min_child_samples=1)
FIT_XGBOOST = fit(xgboost.XGBGAPRanker)
RANKER = lightgbm.LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1, min_child_samples=1)
FITTED = FIT_LIGHTGBM(**ROWS)
QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1, "b": 2}}
RUNS = {
    "x": {"1": {"a": 1.0, "b": 2.0}, "2": {"a": 1.0}},
    "y": {"1": {"a": 3.0, "b": 2.0}, "2": {"b": 3.5, "a": 2.0}},
}
ON_RUN, ON_RUNS = {"qrels": QRELS, "run": RUNS["x"]}, {"qrels": QRELS, "runs": RUNS}
LISTS = analysis.ranked_lists(Y, np.arange(40.0), QID)
VALUES = analysis.system_values([AP(), GRADED], QRELS, RUNS)
CURVE = analysis.precision_recall(AP(), [0, 1], [1, 2])
OPTIMALITY = {
    "measures": [AP()],
    "weights": [1.0, 2.0, 3.0],
    **ROWS,
    "n_directions": 2,
    "n_jobs": 1,
}
CLICKS = {
    "grades": [0, 1, 2] * 20,
    "clicks": [0, 1, 2] * 20,
    "impressions": [4] * 60,
    "n_resamples": 10,
}
SEARCH = {"estimator": RANKER, "param_grid": {"g": [(0.5, 0.5)]}, "scoring": AP(), "cv": 2, **ROWS}
RELATIVE = {
    "X": X, "qid": QID, "group": None, "kinds": ("zscore", "rank"), "columns": [0, 2],
}  # fmt: skip
CALIBRATION = {
    "ranker": Noisy().fit(X, Y),
    "grades": (1, 2),
    "method": "logistic",
    "X": X + Y[:, None],
    "y": Y,
    "qid": np.repeat(np.arange(10), 4),
    "train_qid": [11, 12],
}

FUNCTIONS = {
    # --- values and gradients
    "evaluate": (gapboost.evaluate, {"measures": [AP(), GRADED], **FEW_ROWS}),
    "gradients": (gapboost.LambdaRank(GRADED).gradients, FEW_ROWS),
    # --- analyses
    "trec.rankings": (trec.rankings, ON_RUN),
    "trec.evaluate": (trec.evaluate, {"measures": AP(), **ON_RUN}),
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
        {"measure": GRADED, "value": 0.7, "counts": [17, 2, 1]},
    ),
    "informativeness": (
        analysis.informativeness,
        {"measures": [AP()], "lists": LISTS, "minimum": 1, "n_jobs": 1},
    ),
    "threshold_sweep": (
        analysis.threshold_sweep,
        {"lists": LISTS[:1], "grid": [(0.5, 0.5)], "others": (), "minimum": 1, "n_jobs": 1},
    ),
    "local_optimality": (analysis.local_optimality, OPTIMALITY),
    "robustness": (
        analysis.robustness,
        {"measures": [AP()], **ON_RUNS, "fractions": (0.5,), "repeats": 1, "n_jobs": 1},
    ),
    "significance": (
        analysis.significance,
        # Fewer resamples than changes of sign: they are drawn.
        {"first": [0.1, 0.2, 0.4], "second": [0.0, 0.1, 0.2], "n_resamples": 7},
    ),
    "significance by query": (
        analysis.significance,
        {"first": per_query_values(3), "second": per_query_values(3, [2, 1, 0])},
    ),
    "system_values": (analysis.system_values, {"measures": [AP()], **ON_RUNS, "n_jobs": 1}),
    "discriminative_power": (analysis.discriminative_power, {"values": VALUES, "n_resamples": 20}),
    "correlation": (analysis.correlation, {"values": VALUES}),
    # --- rankers and callbacks
    "LGBMGAPRanker": (FIT_LIGHTGBM, {**ROWS, "eval_set": [(X, Y)], "eval_qid": [QID]}),
    "XGBGAPRanker": (FIT_XGBOOST, {**ROWS, "eval_set": [(X, Y)], "eval_qid": [QID]}),
    "lightgbm.objective": (lightgbm.objective, {"measure": "gap", "g": (0.5, 0.5)}),
    "xgboost.objective": (xgboost.objective, {"measure": "gap", "g": (0.5, 0.5)}),
    "lightgbm.eval_metric": (lightgbm.eval_metric, {"measure": "gap"}),
    "xgboost.eval_metric": (xgboost.eval_metric, {"measure": "gap"}),
    # --- what is built on rankers
    "simplex_grid": (model_selection.simplex_grid, {"n_grades": 2, "steps": 2}),
    "uniform_g": (model_selection.uniform_g, {"n_grades": 2}),
    "measure_scorer": (model_selection.measure_scorer, {"measure": AP()}),
    "g_from_clicks": (model_selection.g_from_clicks, CLICKS),
    "GSearchCV": (search, SEARCH),
    "compare_rankers": (
        compare_rankers,
        {**ROWS, "rankers": {"one": Noisy(), "other": Noisy(0.1)}, "cv": 2},
    ),
    "query_relative_features": (query_relative_features, RELATIVE),
    "explain.pair": (explain.pair, {"ranker": FITTED, "X": X, "a": 0, "b": 1}),
    "explain.query": (explain.query, {"ranker": FITTED, "X": X, "qid": QID}),
    "explain.measure": (explain.measure, {"ranker": FITTED, **ROWS, "measure": AP()}),
    "report": (gapboost.report, {"ranker": FITTED, **ROWS, "measures": AP(), "ignore": ["ties"]}),
    "CalibratedRanker": (calibrate, CALIBRATION),
    "reliability": (
        reliability,
        {"y_true": Y, "y_prob": np.linspace(0, 1, 40), "qid": QID, "grade": 1, "n_bins": 4},
    ),
    "load_digits_ranking": (load_digits_ranking, {"n_queries": (3, 1, 1), "n_docs": 5}),
    "load_letor": (load_letor, {"path": MADE / "letor" / "Fold1" / "test.txt.gz"}),
    "load_letor_fold": (load_letor_fold, {"directory": MADE / "letor" / "Fold1"}),
}


def refused(function, argument, value, expected="", named=None):
    """Check that the function refuses a value of an argument, and what its message has."""
    call, good = FUNCTIONS[function]
    check_refusal(named or argument, lambda: call(**{**good, argument: value}), expected)
