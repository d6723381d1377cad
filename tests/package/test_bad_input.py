"""Bad input raises an error that begins with the name of the argument and says what is expected.

What is expected of a kind of argument is written once, for all functions that take it.
"""

import numpy as np
import pandas as pd
import pytest
from bad_input import QID, X, Y, inf, nan
from cheap_rankers import Noisy
from good_calls import FUNCTIONS, per_query_values, refused
from scipy import sparse
from sklearn.svm import SVC

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_good_input_is_good(function):
    call, good = FUNCTIONS[function]
    assert call(**good) is not None


PRINTED = """GSearchCV.estimator evaluate.ties evaluate.empty compare_rankers.repeats
    compare_rankers.shuffle LGBMGAPRanker.objective LGBMGAPRanker.unknown XGBGAPRanker.unknown"""


@pytest.mark.parametrize("argument", PRINTED.split())
def test_messages_print_no_rows_of_a_table(argument):
    function, name = argument.split(".")
    call, good = FUNCTIONS[function]
    table = pd.DataFrame(X)
    for value in (table, [(table, Y)], {"a": table}):
        with pytest.raises((ValueError, TypeError), match=r"DataFrame of shape \(40, 3\)"):
            call(**{**good, name: value})


# --- kinds of arguments ---------------------------------------------------------------------------

TABLE = np.ones((2, 2))
NO_OPTION = ("other", 0.5, ["row"], TABLE)
NO_MAPPING = (None, "text", [("a", 1)], TABLE)
NO_MAPPINGS = ({"1": 2}, {"1": ["a"]})
NO_VALUES = (None, 3, "text", np.ones((3, 2)), ["a", "b", "c"])
NO_FEATURES = (X + 1j, sparse.csr_matrix(X + 1j), sparse.coo_array(X[:, 0]), dict(enumerate(X.T)))
NO_MEASURE = (None, 3, print, {"gap"}, {gb.AP(): 1}, b"gap")
KINDS = [
    # What is expected, values, and the arguments of this kind.
    (
        "a whole number",
        (None, True, "3", 1.5, nan, [3], -1, 0),
        """simplex_grid.n_grades simplex_grid.steps uniform_g.n_grades g_from_clicks.n_resamples
        compare_rankers.repeats load_digits_ranking.n_docs mean_curve.levels
        informativeness.minimum threshold_sweep.minimum local_optimality.n_directions
        robustness.repeats significance.n_resamples discriminative_power.n_resamples
        reliability.n_bins""",
    ),
    (
        "a whole number",
        ("2", 1.5, True),
        "compare_rankers.n_jobs informativeness.n_jobs",
    ),
    (
        "a number ",
        (None, True, "0.5", nan, 0, 1.0, TABLE),
        "g_from_clicks.confidence significance.confidence discriminative_power.level",
    ),
    (
        "a whole number >= 0",
        ("seed", -1, 1.5, nan, True, TABLE),
        """g_from_clicks.random_state GSearchCV.random_state load_digits_ranking.random_state
        significance.random_state local_optimality.random_state robustness.random_state
        discriminative_power.random_state""",
    ),
    (
        '"expected" or "trec_eval"',
        NO_OPTION,
        "trec.rankings.ties trec.evaluate.ties system_values.ties robustness.ties",
    ),
    ('"expected" or "row"', NO_OPTION, "precision_recall.ties evaluate.ties"),
    ('0, 1 or "skip"', NO_OPTION, "trec.evaluate.empty evaluate.empty"),
    ('"warn", "zero" or "skip"', NO_OPTION, "evaluate.missing_queries"),
    ('"tau" or "tau_ap"', NO_OPTION, "correlation.kind"),
    ("True or False", NO_OPTION, "compare_rankers.shuffle"),
    ("True, False or None", NO_OPTION, "compare_rankers.progress"),
    (
        "{topic: {document: grade}}",
        (*NO_MAPPING, *NO_MAPPINGS),
        "trec.rankings.qrels trec.evaluate.qrels system_values.qrels",
    ),
    ("{topic: {document: grade}}", NO_MAPPING, "robustness.qrels"),
    (
        "{topic: {document: score}}",
        (*NO_MAPPING, *NO_MAPPINGS),
        "trec.rankings.run trec.evaluate.run system_values.runs",
    ),
    ("{system: {topic: {document: score}}}", NO_MAPPING, "robustness.runs"),
    (
        "a measure",
        NO_MEASURE,
        """measure_scorer.measure precision_recall.measure expected_value.measure
        maximum_entropy.measure LGBMGAPRanker.measure XGBGAPRanker.measure
        lightgbm.objective.measure xgboost.objective.measure lightgbm.eval_metric.measure
        xgboost.eval_metric.measure""",
    ),
    (
        "measure",
        (*NO_MEASURE, [gb.GAP], ["ap", "gpa"]),
        """evaluate.measures GSearchCV.scoring compare_rankers.measures trec.evaluate.measures
        informativeness.measures local_optimality.measures system_values.measures
        robustness.measures""",
    ),
    (
        "one number of documents for each",
        ("text", 3, [-1, 5], [1.5, 2], [nan, 2.0], ["a", "b"], {17, 2, 1}),
        "maximum_entropy.counts maximum_entropy.recall_base expected_value.recall_base",
    ),
    ("values of a measure", NO_VALUES, "significance.first significance.second"),
    ("finite numbers", NO_VALUES, "local_optimality.weights local_optimality.step_sizes"),
    ("shares in (0, 1]", NO_VALUES, "robustness.fractions"),
    (
        "n_features",
        (np.ones(40), None, 3, "text", np.ones((4, 1, 1)), [[1], [1, 2]], *NO_FEATURES),
        """GSearchCV.X compare_rankers.X query_relative_features.X LGBMGAPRanker.X
        XGBGAPRanker.X""",
    ),
    (
        "grades",
        (Y - 1, Y * nan, Y + 1j, np.full(40, "good")),
        "GSearchCV.y compare_rankers.y explain.measure.y",
    ),
    (
        "row",
        (QID[1:], QID * nan, np.ones((40, 2)), "customer_id"),
        """GSearchCV.qid compare_rankers.qid query_relative_features.qid explain.measure.qid
        report.qid""",
    ),
    ("RankedList", (None, [1], "a"), "informativeness.lists threshold_sweep.lists"),
    ("SystemValues", (None, X), "discriminative_power.values correlation.values"),
    (
        "numbers >= 0",
        (3, "text", np.ones((60, 2)), [-1] * 60, [nan] * 60),
        "g_from_clicks.clicks g_from_clicks.impressions",
    ),
]
CASES = [
    (name, value, expected)
    for expected, values, names in KINDS
    for name in names.split()
    for value in values
]


@pytest.mark.parametrize(("name", "value", "expected"), CASES)
def test_kinds_of_arguments(name, value, expected):
    function, _, argument = name.rpartition(".")
    refused(function, argument, value, expected)


class Refusing(Noisy):
    """Take no grade above 1, as some losses do."""

    def fit(self, X, y):
        if (y > 1).any():
            raise RuntimeError("labels beyond 1")
        return super().fit(X, y)


OTHER = Noisy()
CUT = [(range(5), range(5, 40))]
ONE, TWO = range(20), range(20, 40)  # of whole queries
SHARED = [[(ONE, ONE, TWO)], [(ONE, TWO, ONE)], [(TWO, ONE, ONE)]]
EARLY = {"one": OTHER, "early": LGBMGAPRanker(early_stopping_round=3)}
ONE_FUNCTION = [
    # function, argument, values, the name in the message if it is another
    ("measure_scorer", "measure", [gb.GAP()]),
    ("g_from_clicks", "grades", [None, [], [-1] * 60, [0.5] * 60]),
    ("GSearchCV", "estimator", [None, "gap", SVC()]),
    ("GSearchCV", "param_grid", [{"g": [(0.5, 0.6)]}], "g"),
    ("GSearchCV", "param_grid", [{"n_estimators": [0]}], "n_estimators in param_grid"),
    ("GSearchCV", "scoring", [gb.GAP(), []]),
    ("GSearchCV", "cv", [[]]),
    ("GSearchCV", "cv", [CUT, [(ONE, ONE)]], "fold 0 of cv"),
    ("GSearchCV", "group", [[10] * 4], "qid"),
    ("GSearchCV", "qid", [None]),
    ("GSearchCV", "y", [Y[1:]], None),
    ("compare_rankers", "X", [X[1:]]),
    ("compare_rankers", "qid", [None]),
    ("compare_rankers", "group", [[10] * 4], "qid"),
    ("compare_rankers", "rankers", ["text", [("a", 1)], {"one": OTHER}, {1: OTHER, 2: OTHER}]),
    ("compare_rankers", "rankers", [{"one": kind, "other": OTHER} for kind in (3, Noisy)]),
    ("compare_rankers", "rankers", [{"one": OTHER, "other": Refusing()}]),
    ("compare_rankers", "rankers", [{"one": OTHER, "other": LGBMGAPRanker(g=(1.0,))}]),
    ("compare_rankers", "rankers", [EARLY]),
    ("compare_rankers", "measures", ["gab", ["ap", "map"], []]),
    ("compare_rankers", "choose_by", ["gab", ["ap"], 3]),
    ("compare_rankers", "cv", [[], [(ONE, TWO)] * 2]),
    ("compare_rankers", "cv", [CUT, *SHARED], "fold 0 of cv"),
    ("compare_rankers", "tune", [1, 2, 2.0, "3"]),
    ("compare_rankers", "spaces", [{"one": {"noise": [1, 2]}}]),
    ("load_digits_ranking", "n_queries", ["abc", [3, 0, 1], [3, 1.5, 1]]),
    ("load_letor", "n_features", [-1, 0]),
    ("load_letor", "zero_based", ["other", 0.5, ["row"], nan]),
    ("load_letor_fold", "zero_based", ["other"]),
    ("query_relative_features", "kinds", ["zscore", [], ["other"], ["rank", "rank"], None]),
    ("query_relative_features", "columns", ["bm25", [], [20], [-1], 0]),
    ("query_relative_features", "group", [[40]], "qid"),
    ("system_values", "runs", [{}]),
    ("trec.rankings", "run", [{"1": {"a": "9.5"}}]),
    ("trec.rankings", "qrels", [{}, {"1": {"a": "x"}}]),
    ("expected_value", "probabilities", [None, 3, [[1.0]] * 4, [[-0.5, 1.5]] * 4]),
    ("maximum_entropy", "recall_base", [[17, 1, 1]], "counts"),
    ("maximum_entropy", "value", [None, "a", nan, inf, [0.7]]),
    ("mean_curve", "curves", [None, 3, "a", [1], []]),
    ("local_optimality", "weights", [[nan] * 3]),
    ("local_optimality", "weights", [[], [1.0, 2.0]], "X"),
    ("local_optimality", "epsilon", [None, "a", nan, [1]]),
    ("reliability", "y_prob", [[0.5] * 39, [1.2] * 40, [nan] * 40, [[0.1, 0.2]] * 40]),
    ("reliability", "y_true", [Y - 1]),
    ("reliability", "qid", [[1] * 40, None]),
    ("reliability", "grade", [0]),
    ("robustness", "fractions", [[0.0], [1.1], [nan]]),
    ("threshold_sweep", "grid", [3, "0.5", {(0.5, 0.5)}, [], [None]]),
    ("significance", "measure", [gb.AP(), "gap"]),
    ("significance by query", "first", [None, [0.1, 0.2, 0.4], gb.evaluate("ap", Y, X[:, 0], QID)]),
    ("significance by query", "second", [None, np.ones(3), per_query_values(2)]),
    ("significance by query", "measure", [gb.AP(rel=2), nan]),
]


@pytest.mark.parametrize(
    ("function", "argument", "value", "named"),
    [(*case[:2], value, *(case[3:] or [None])) for case in ONE_FUNCTION for value in case[2]],
)
def test_arguments_of_one_function(function, argument, value, named):
    refused(function, argument, value, named=named)
