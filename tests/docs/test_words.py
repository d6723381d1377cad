"""Equal parameters on the pages: each row runs in the booster and here, and numbers are compared.

The rows come from the pages. A row without a case in `CASES` or a reason in `NOT_COMPARED` is a
failure.
"""

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest

import gapboost as gb

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

from gapboost.lightgbm import LGBMGAPRanker  # noqa: E402
from gapboost.lightgbm.parameter_table import LIGHTGBM  # noqa: E402
from gapboost.xgboost import XGBGAPRanker  # noqa: E402
from gapboost.xgboost.parameter_table import XGBOOST  # noqa: E402

DOCS = Path(__file__).parents[2] / "docs"
MIGRATION = (DOCS / "migration.md").read_text(encoding="utf-8")
COMPARED = (DOCS / "compared.md").read_text(encoding="utf-8")
PARAMETER_TABLES = {"LightGBM": LIGHTGBM, "XGBoost": XGBOOST}


def table(page, heading):
    """Return the cells of each row of the first table under a heading."""
    section = page.partition(f"# {heading}\n")[2].partition("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def codes(cell):
    """Return what a cell shows as code."""
    return re.findall(r"`([^`]+)`", cell)


# --- trainings of both ----------------------------------------------------------------------------


class Rows(NamedTuple):
    """A data set whose initial scores are distinct, since boosters order ties by row."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    start: np.ndarray

    @property
    def sizes(self):
        """Return the number of rows of each query."""
        return np.unique(self.qid, return_counts=True)[1]

    @property
    def binary(self):
        """Return the rows with grades 0 and 1, which XGBoost's AP and precision require."""
        return self._replace(y=np.minimum(self.y, 1))


def made(seed):
    """Return 24 queries of 10 to 18 documents, of which 2 to 5 are relevant."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 19, 24)
    qid = np.repeat(np.arange(24), sizes)
    X = rng.normal(size=(len(qid), 4))
    y = np.zeros(len(qid))
    for q in range(24):
        rows = np.flatnonzero(qid == q)
        best = rows[np.argsort(-X[rows, 0] - rng.normal(size=len(rows)))]
        n = rng.integers(2, 6)
        y[best[:n]] = rng.integers(1, 4, n)
    return Rows(X, y, qid, rng.normal(size=len(qid)).astype(np.float32))


TRAIN, VALI = made(0), made(1)
SMALL = {"n_estimators": 4, "max_depth": 3, "n_jobs": 1}

# All pairs of documents count, and no gradient is scaled: what both libraries then compute is the
# same.
BASE = {
    "LightGBM": {
        "objective": "lambdarank",
        "lambdarank_norm": False,
        "lambdarank_truncation_level": 100,
    },
    "XGBoost": {
        "objective": "rank:ndcg",
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 100,
        "lambdarank_normalization": False,
        "lambdarank_score_normalization": False,
    },
}


def trained(library, ranker, parameters, fit=None, binary=False):
    """Return predictions, without their mean, and the log of the evaluation set."""
    train, vali = (TRAIN.binary, VALI.binary) if binary else (TRAIN, VALI)
    if library == "LightGBM":
        small = {**SMALL, "verbose": -1, "min_child_samples": 5, "min_child_weight": 0.0}
        small |= {"extra_trees": False} if ranker is LGBMGAPRanker else {}
        evaluation = {
            "eval_group": [vali.sizes],
            "eval_init_score": [vali.start],
            "init_score": train.start,
        }
        start = {}
        groups = {"group": train.sizes}
    else:
        small = {**SMALL, "min_child_weight": 0.0, "reg_lambda": 0.0}
        evaluation = {
            "eval_qid": [vali.qid],
            "base_margin_eval_set": [vali.start],
            "base_margin": train.start,
        }
        evaluation["verbose"] = False
        start = {"base_margin": train.start}
        groups = {"qid": train.qid}
    model = ranker(**(small | parameters))
    model.fit(train.X, train.y, **groups, eval_set=[(vali.X, vali.y)], **evaluation, **(fit or {}))
    scores = model.predict(train.X, **start)
    (log,) = (model.evals_result_ if library == "LightGBM" else model.evals_result()).values()
    return scores - scores.mean(), dict(log)


RANKERS = {
    "LightGBM": (lightgbm.LGBMRanker, LGBMGAPRanker),
    "XGBoost": (xgboost.XGBRanker, XGBGAPRanker),
}


class Case(NamedTuple):
    """One word with one value.

    Attributes
    ----------
    value : object
    beside : mapping
        Other parameters of both trainings.
    changes : dict or None
        Parameters of the booster, by which it would train otherwise: the case then shows that the
        word has an effect.
    logs : mapping
        Names in the log of the booster, and of the same metric here.
    binary : bool
        True if the booster requires grades 0 and 1.
    """

    value: object
    beside: Mapping = MappingProxyType({})
    changes: dict | None = None
    logs: Mapping = MappingProxyType({})
    binary: bool = False


AT = {"ndcg@2": "ndcg@2", "ndcg@5": "ndcg@5"}
MAP_AT = {"map@2": "map-ap@2", "map@5": "map-ap@5"}

# By library and the first of a word's names.
CASES = {
    ("LightGBM", "objective"): [Case("lambdarank")],
    ("LightGBM", "objective_type"): [Case("lambdarank")],
    ("LightGBM", "lambdarank_truncation_level"): [
        Case(6, changes={"lambdarank_truncation_level": 100}),
        Case(20),
    ],
    ("LightGBM", "lambdarank_norm"): [Case(False, changes={"lambdarank_norm": True})],
    ("LightGBM", "sigmoid"): [Case(2.0, changes={"sigmoid": 1.0})],
    ("LightGBM", "metric"): [
        Case("ndcg", beside={"eval_at": [2, 5]}, logs=AT),
        Case("map", beside={"eval_at": [2, 5]}, logs=MAP_AT),
    ],
    ("LightGBM", "eval_at"): [
        Case((5, 10), beside={"metric": "map"}, logs={"map@5": "map-ap@5", "map@10": "map-ap@10"}),
        Case((2, 5), beside={"metric": "ndcg", "label_gain": (0, 1, 5, 6)}, logs=AT),
    ],
    ("LightGBM", "label_gain"): [
        Case(
            (0, 1, 5, 6),
            beside={"metric": "ndcg", "eval_at": [2, 5]},
            changes={"label_gain": (0, 1, 3, 7)},
            logs=AT,
        ),
    ],
    ("XGBoost", "objective"): [
        Case("rank:ndcg"),
        Case("rank:map", changes={"objective": "rank:ndcg"}, binary=True),
        Case("rank:pairwise", changes={"objective": "rank:ndcg"}),
        Case(
            "rank:pairwise",
            beside={"eval_metric": ["ndcg@5"], "ndcg_exp_gain": False},
            logs={"ndcg@5": "ndcg@5"},
        ),
    ],
    ("XGBoost", "lambdarank_num_pair_per_sample"): [
        Case(6, changes={"lambdarank_num_pair_per_sample": 100}),
        Case(6, beside={"objective": "rank:map"}, binary=True),
        Case(20),
    ],
    ("XGBoost", "lambdarank_pair_method"): [Case("topk")],
    ("XGBoost", "lambdarank_normalization"): [
        Case(False, changes={"lambdarank_normalization": True})
    ],
    ("XGBoost", "lambdarank_score_normalization"): [
        Case(False, changes={"lambdarank_score_normalization": True})
    ],
    ("XGBoost", "lambdarank_unbiased"): [Case(False, changes={"lambdarank_unbiased": True})],
    ("XGBoost", "ndcg_exp_gain"): [
        Case(
            False,
            beside={"eval_metric": ["ndcg@2", "ndcg@5-"]},
            changes={"ndcg_exp_gain": True},
            logs={"ndcg@2": "ndcg@2", "ndcg@5-": "ndcg@5"},
        ),
        Case(True, beside={"eval_metric": ["ndcg@2", "ndcg@5"]}, logs=AT),
    ],
    ("XGBoost", "disable_default_eval_metric"): [
        Case(True, beside={"eval_metric": ["ndcg@2"]}, logs={"ndcg@2": "ndcg@2"})
    ],
    ("XGBoost", "eval_metric"): [
        Case("ndcg@5-", logs={"ndcg@5-": "ndcg@5"}),
        Case("ndcg@10-", logs={"ndcg@10-": "ndcg@10"}),
        Case("pre@3", logs={"pre@3": "precision@3"}, binary=True),
        Case("pre@5", logs={"pre@5": "precision@5"}, binary=True),
        Case("map@3", logs={"map@3": "map-ap@3"}, binary=True),
        Case("map", logs={"map": "map-ap"}, binary=True),
    ],
}

# By library and the first of a word's names: values, None for all of them, and why their numbers
# are not compared.
NOT_COMPARED = {
    ("LightGBM", "boosting"): (
        None,
        "a parameter of trees, passed on; random forests are an error",
    ),
    ("LightGBM", "categorical_feature"): (None, "a parameter of trees, passed on"),
    ("LightGBM", "objective_seed"): (None, "an error"),
    ("LightGBM", "bagging_by_query"): (None, "an error"),
    ("LightGBM", "class_weight"): (None, "an error"),
    ("LightGBM", "is_unbalance"): (None, "an error"),
    ("LightGBM", "scale_pos_weight"): (None, "an error"),
    ("XGBoost", "scale_pos_weight"): (None, "an error"),
    ("LightGBM", "objective"): (["rank_xendcg"], "an error"),
    ("LightGBM", "objective_type"): (["rank_xendcg"], "an error"),
    ("LightGBM", "lambdarank_norm"): ([True], "an error"),
    ("LightGBM", "label_gain"): ([(0, 1, 3)], "the case above has a gain for grade 3 too"),
    ("XGBoost", "lambdarank_pair_method"): (["mean"], "an error"),
    ("XGBoost", "lambdarank_normalization"): ([True], "an error"),
    ("XGBoost", "lambdarank_score_normalization"): ([True], "an error"),
    ("XGBoost", "lambdarank_unbiased"): ([True], "an error"),
    ("XGBoost", "lambdarank_bias_norm"): (None, "an error"),
}


def here(library, parameters):
    """Return our parameters for the booster's, without those that turn off its scalings."""
    parameters = {n: v for n, v in parameters.items() if n != "lambdarank_score_normalization"}
    measure = "ap" if parameters.get("objective") == "rank:map" else "ndcg"
    return {**parameters, "measure": measure}


CALLS = [(library, name, case) for (library, name), cases in CASES.items() for case in cases]


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize(
    ("library", "name", "case"), CALLS, ids=lambda x: str(getattr(x, "value", x))
)
@pytest.mark.filterwarnings("ignore")
def test_a_word_trains_and_reports_the_same_numbers(library, name, case):
    theirs, ours = RANKERS[library]
    parameters = {**BASE[library], **case.beside, name: case.value}
    if name == "objective_type":
        del parameters["objective"]
    scores, log = trained(library, theirs, parameters, binary=case.binary)
    if case.changes:
        other, _ = trained(library, theirs, {**parameters, **case.changes}, binary=case.binary)
        assert np.abs(other - scores).max() > 0.01
    for alias in aliases(library, name):
        words = {n: v for n, v in parameters.items() if n != name} | {alias: case.value}
        if library == "XGBoost" and alias == "lambdarank_score_normalization":
            words = {**here(library, words), alias: case.value}
        found, our_log = trained(library, ours, here(library, words), binary=case.binary)
        # LightGBM reads its logistic function from a table, XGBoost computes in float32.
        np.testing.assert_allclose(found, scores, atol=2e-4)
        for metric, own in case.logs.items():
            np.testing.assert_allclose(our_log[own], log[metric], atol=1e-4)


def aliases(library, name):
    """Return all names of a word; XGBoost's metrics are a parameter of the ranker, and no entry."""
    return next(
        (entry.names for entry in PARAMETER_TABLES[library].rules if entry.names[0] == name),
        (name,),
    )


# --- the rows of the pages ------------------------------------------------------------------------


def first_name(library, name):
    """Return the first name of the word that `name` is a name of."""
    return next((e.names[0] for e in PARAMETER_TABLES[library].rules if name in e.names), name)


SAME = table(COMPARED, "Words that mean the same here")


@pytest.mark.parametrize("row", SAME, ids=lambda row: (codes(row[0]) or codes(row[1]))[0])
def test_each_row_of_words_that_mean_the_same_has_cases(row):
    for library, cell in zip(("LightGBM", "XGBoost"), row, strict=False):
        if cell.startswith("on Dask: "):
            continue  # parameters of a cluster: tests/cluster/test_dask_drop_in.py
        values, cases = [], []
        for code in codes(cell):
            name, _, value = re.fullmatch(r"(?:(\w+)(=|$))?(.*)", code).groups()
            if name:
                cases += CASES[library, first_name(library, name)]
            values += [value] if value else []
        shown = {str(case.value) for case in cases}
        assert {value.strip('"') for value in values} <= shown


def words():
    """Return the module that makes the tables of migration.md."""
    spec = importlib.util.spec_from_file_location("words", DOCS / "words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = [
    (library, name, value)
    for library, by_name in words().EXAMPLES.items()
    for name, values in by_name.items()
    for value in values
]


@pytest.mark.parametrize(("library", "name", "value"), EXAMPLES, ids=str)
def test_each_row_of_the_tables_of_migration_has_a_case(library, name, value):
    compared = [case.value for case in CASES.get((library, name), [])]
    values, why = NOT_COMPARED.get((library, name), ([], ""))
    assert value in compared or values is None or value in values
    if why == "an error" and value not in compared:
        with pytest.raises(ValueError, match=name):
            trained(library, RANKERS[library][1], {name: value, "measure": "ndcg"})


# --- parameters of trees --------------------------------------------------------------------------

# Values of each parameter that keeps its name and meaning, and other parameters that it requires.
TREES = {
    "LightGBM": {
        "num_leaves": (3, {}),
        "max_depth": (2, {}),
        "learning_rate": (0.3, {}),
        "n_estimators": (7, {}),
        "subsample_for_bin": (60, {}),
        "min_split_gain": (50.0, {}),
        "min_child_weight": (8.0, {}),
        "min_child_samples": (40, {}),
        "subsample": (0.5, {"subsample_freq": 1}),
        "subsample_freq": (2, {"subsample": 0.5}),
        "reg_alpha": (2.0, {}),
        "reg_lambda": (3.0, {}),
        "random_state": (7, {"subsample": 0.5, "subsample_freq": 1}),
    },
    "XGBoost": {
        "max_depth": (2, {}),
        "max_leaves": (3, {"grow_policy": "lossguide"}),
        "max_bin": (4, {}),
        "grow_policy": ("lossguide", {"max_leaves": 3}),
        "learning_rate": (0.5, {}),
        "n_estimators": (7, {}),
        "booster": ("dart", {}),
        "tree_method": ("exact", {}),
        "gamma": (0.1, {}),
        "min_child_weight": (0.7, {}),
        "max_delta_step": (0.3, {}),
        "subsample": (0.5, {}),
        "colsample_bytree": (0.5, {}),
        "colsample_bylevel": (0.5, {}),
        "colsample_bynode": (0.5, {}),
        "reg_alpha": (0.3, {}),
        "reg_lambda": (2.0, {}),
        "random_state": (5, {"subsample": 0.5}),
        "num_parallel_tree": (3, {"subsample": 0.5}),
        "monotone_constraints": ("(1,0,-1,0)", {}),
        "interaction_constraints": ("[[0,1],[2,3]]", {}),
        "feature_weights": (np.array([1.0, 0.1, 0.1, 1.0]), {"colsample_bynode": 0.5}),
    },
}
# Compared with sums of gradients, which have other units here.
PENALTIES = {
    "LightGBM": {"min_split_gain", "min_child_weight", "reg_alpha", "reg_lambda"},
    "XGBoost": {"gamma", "min_child_weight", "reg_alpha", "reg_lambda"},
}
TREES_NOT_COMPARED = {
    "LightGBM": {
        "colsample_bytree": "LightGBM draws the same share, and other columns, with any custom "
        "objective",
        "n_jobs": "changes no number",
        "importance_type": "changes no training",
    },
    "XGBoost": {
        **dict.fromkeys(("verbosity", "n_jobs", "validate_parameters"), "changes no number"),
        **dict.fromkeys(
            ("enable_categorical", "feature_types", "max_cat_to_onehot", "max_cat_threshold"),
            "categories",
        ),
        "base_score": "one number added to all scores changes no order",
        "importance_type": "changes no training",
        "missing": "is about the data set, which the booster builds",
        "device": "requires a GPU",
        "sampling_method": "requires a GPU",
        "multi_strategy": "is about several outputs",
        "early_stopping_rounds": "tests/boosters/test_early_stopping.py",
        "callbacks": "code, without numbers",
    },
}
TREE_CALLS = [(library, name) for library, names in TREES.items() for name in names]


@pytest.mark.parametrize("library", TREES)
def test_each_parameter_of_trees_has_a_case(library):
    row = words().trees(library).splitlines()[0]
    assert row.startswith("* **The same name, meaning and default**: ")
    assert set(codes(row)) == TREES[library].keys() | TREES_NOT_COMPARED[library].keys()


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize(("library", "name"), TREE_CALLS)
@pytest.mark.filterwarnings("ignore")
def test_a_parameter_of_trees_grows_the_same_trees(library, name):
    """Penalties are compared in the units that the page gives."""
    (value, beside), (theirs, ours) = TREES[library][name], RANKERS[library]
    base = {**BASE[library], **beside}
    of_theirs, fit = {**base, name: value}, {}
    if name in PENALTIES[library]:
        if library == "LightGBM":
            fit = {"sample_weight": np.full(len(TRAIN.y), TRAIN.sizes.mean())}
        else:
            of_theirs[name] = 2 * value
    scores, _ = trained(library, theirs, of_theirs, fit)
    found, _ = trained(library, ours, here(library, {**base, name: value}))
    np.testing.assert_allclose(found, scores, atol=2e-4)
    without, _ = trained(library, ours, here(library, base))
    assert np.abs(found - without).max() > 0.001


# --- what the boosters count otherwise ------------------------------------------------------------


def evaluated(metrics, y, scores, sizes):
    """Return the values of XGBoost's metrics by name."""
    data = xgboost.DMatrix(np.zeros((len(y), 1)), label=y, base_margin=scores)
    data.set_group(sizes)
    settings = {"objective": "rank:ndcg", "base_score": 0.0, "nthread": 1, "eval_metric": metrics}
    text = xgboost.Booster(settings, [data]).eval(data)
    return {name: float(value) for name, value in re.findall(r"eval-(\S+):(\S+)", text)}


def only(measure, *data, **options):
    """Return the one value of `evaluate`."""
    (value,) = gb.evaluate(measure, *data, **options).values()
    return value


def empty_query():
    y, scores, qid = np.array([0, 0, 1, 0]), np.array([1.0, 2, 1, 2]), np.array([0, 0, 1, 1])
    theirs = evaluated(["ndcg", "ndcg-"], y, scores, [2, 2])
    assert theirs["ndcg"] == pytest.approx(only("ndcg", y, scores, qid, empty=1))
    assert theirs["ndcg-"] == pytest.approx(only("ndcg", y, scores, qid))


def equal_scores():
    for y, file_order in (([1, 0], 1.0), ([0, 1], 0.5)):
        theirs = evaluated(["map"], y, np.zeros(2), [2])
        assert theirs["map"] == pytest.approx(file_order)
        assert only("ap", y, np.zeros(2)) == pytest.approx(0.75)


def precision_at_a_cutoff():
    y, scores = np.array([1, 0, 1, 1, 0]), np.arange(5.0)
    theirs = evaluated(["map@2"], y, scores, [5])
    assert (
        theirs["map@2"]
        == pytest.approx(only(gb.AP(k=2, ideal_at_k=True), y, scores))
        == pytest.approx(0.25)
    )
    assert only("ap@2", y, scores) == pytest.approx(0.5 / 3)


def short_list():
    theirs = evaluated(["pre@5"], [1, 0, 1], np.arange(3.0), [3])
    assert theirs["pre@5"] == pytest.approx(2 / 3)
    assert only("p@5", [1, 0, 1], np.arange(3.0)) == pytest.approx(2 / 5)


CONVENTIONS = {
    "a query with nothing relevant": empty_query,
    "documents with equal scores": equal_scores,
    "average precision of the first k ranks": precision_at_a_cutoff,
    "XGBoost's `pre@k` of a list shorter than k": short_list,
}


def test_each_convention_that_differs_has_a_check():
    assert [row[0] for row in table(MIGRATION, "What changes in logs, and why")[:4]] == list(
        CONVENTIONS
    )


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_convention_differs_as_the_page_says(convention):
    CONVENTIONS[convention]()


# --- CatBoost -------------------------------------------------------------------------------------

# By the first code of a row.
CATBOOST_NOT_COMPARED = {
    "YetiRank": "CatBoost draws orders at random; the metrics of its modes are rows of their own",
    "StochasticRank": "CatBoost draws noise at random, and smooths by another kernel",
    "PairLogit": "CatBoost's trees are others; its loss counts pairs by their logistic loss",
    "QuerySoftMax": "an objective of your own, of another page",
    "QueryRMSE": "without an equal",
    "ERR": "without an equal",
    "PFound": "without an equal",
}
LOSSES = table(MIGRATION, "Losses and metrics")


@pytest.mark.parametrize("row", LOSSES, ids=lambda row: codes(row[0])[0])
def test_a_metric_of_catboost_is_the_measure_of_its_row(row):
    """The measure is the first code of the second cell.

    Cutoffs are 3, below the number of relevant documents.
    """
    (theirs, *_), ours = codes(row[0]), codes(row[1])
    if theirs in CATBOOST_NOT_COMPARED:
        assert row[1].startswith("–") or CATBOOST_NOT_COMPARED[theirs] != "without an equal"
        return
    utils = pytest.importorskip("catboost.utils")
    theirs, measure = (text.replace("10", "3") for text in (theirs, ours[0]))
    measure = eval(measure, {"gb": gb})
    (value,) = utils.eval_metric(VALI.y, VALI.start, theirs, group_id=VALI.qid)
    assert value == pytest.approx(only(measure, VALI.y, VALI.start, VALI.qid), abs=1e-6)


def test_the_reasons_of_rows_of_catboost_belong_to_rows():
    assert CATBOOST_NOT_COMPARED.keys() <= {codes(row[0])[0] for row in LOSSES}


def test_what_catboost_counts_otherwise():
    """CatBoost's ERR takes labels as probabilities, and ties are in their worst order.

    Its precision divides by the length of a short list.
    """
    utils = pytest.importorskip("catboost.utils")
    y, scores = np.array([0.5, 0.0, 0.25]), np.array([3.0, 2.0, 1.0])
    qid = np.zeros(3, dtype=int)
    (err,) = utils.eval_metric(y, scores, "ERR", group_id=qid)
    assert err == pytest.approx(0.5 + 0.5 * 0.25 / 3)
    (precision,) = utils.eval_metric([1, 0, 1], scores, "PrecisionAt:top=10", group_id=qid)
    assert precision == pytest.approx(2 / 3)
    (ap,) = utils.eval_metric([1, 0, 0], np.zeros(3), "MAP", group_id=qid)
    assert ap == pytest.approx(1 / 3)
    empty = [
        utils.eval_metric([0, 0, 0], scores, name, group_id=qid)[0] for name in ("NDCG", "MAP")
    ]
    assert empty == [1.0, 0.0]
