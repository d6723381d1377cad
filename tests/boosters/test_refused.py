"""Arguments and parameters that the rankers refuse: the error names them."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from twins import LIGHTGBM, QID, SIZES, VALI, XGBOOST, X, Y, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost

N = len(Y)
# A bad value of each argument with one entry a row, by kind.
ROWS = {
    "NaN": lambda values: np.where(np.arange(N) == 3, np.nan, values),
    "infinite": lambda values: np.where(np.arange(N) == 3, np.inf, values),
    "short": lambda values: values[:-1],
    "two columns": lambda values: np.column_stack([values, values]),
    "a number": lambda values: 3,
    "strings": lambda values: np.full(N, "a"),
}


def fit(ranker, **given):
    return ranker.fit(**{"X": X, "y": Y, "qid": QID, **given}).predict(X).tolist()


def evaluate(ranker, y=Y, qid=QID, **given):
    given = {name: [value] for name, value in given.items()}
    ranker.fit(X, Y, QID, eval_set=[(X.copy(), y)], eval_qid=[qid], **given)
    return ranker.evals_result_


def score(ranker, **given):
    return ranker.fit(X, Y, QID).score(**{"X": X, "y": Y, "qid": QID, **given})


# Arguments; those that the boosters name differently by the names of their attributes in `twins`.
ENTRY_POINTS = {
    fit: ["y", "qid", "sample_weight", "position", "start"],
    evaluate: ["y", "qid", "eval_weight", "eval_start"],
    score: ["y", "qid", "sample_weight"],
}
CASES = [
    (entry, argument, kind)
    for entry, arguments in ENTRY_POINTS.items()
    for argument in arguments
    for kind in ROWS
]
NAMES = [case for case in CASES if case[1] in ("qid", "position") and case[2] == "strings"]


def rows_of(argument, kind):
    good = {"y": Y, "qid": QID}.get(argument, np.ones(N))
    return ROWS[kind](good.astype(float))


@pytest.mark.parametrize(
    ("entry", "argument", "kind"), [case for case in CASES if case not in NAMES]
)
@twins
def test_bad_values_of_rows(twin, entry, argument, kind):
    name = getattr(twin, argument, argument)
    # scikit-learn's tools find the row from the message.
    with pytest.raises((ValueError, TypeError), match=name):
        entry(twin.ranker(), **{name: rows_of(argument, kind)})


@pytest.mark.parametrize(("entry", "argument", "kind"), NAMES)
@twins
def test_ids_and_positions_are_names(twin, entry, argument, kind):
    names = rows_of(argument, kind)
    numbers = np.unique(names, return_inverse=True)[1]
    named, numbered = (entry(twin.ranker(), **{argument: rows}) for rows in (names, numbers))
    assert named == numbered


OWN = {
    "measure": [3, "mpa", None, gb.QMeasure()],
    "g": [(0.5, 0.6), (-1, 2), "half"],
    "objective": ["softmax", 3, "rank:ndcg"],
    "stopping_metric": ["ap", 3],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in OWN.items() for v in vs], ids=str)
@twins
def test_bad_own_parameters(twin, name, value):
    parameters, fit = twin.stopping(3)
    watched = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid], **fit}
    with pytest.raises((ValueError, TypeError), match=name):
        twin.ranker(**parameters, **{name: value}).fit(X, Y, QID, **watched)


@twins
def test_parameters_that_do_not_go_together(twin):
    for other in ({"measure": "ap"}, {"g": (0.5, 0.5)}):
        with pytest.raises(ValueError, match="objective"):
            twin.ranker(objective=gb.LambdaRank(gb.nDCG()), **other).fit(X, Y, QID)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"eval_y": VALI.y, "eval_qid": [VALI.qid]}, "eval_X has 1"),
        ({"eval_X": VALI.X, "eval_qid": [VALI.qid]}, "eval_y 1"),
        ({"y": np.resize([0, 1], 8), "X": X[:8], "qid": np.zeros(8)}, "min_child_samples"),
        ({"X": 0 * X}, "X has no feature"),
    ],
    ids=["eval_y alone", "eval_X alone", "too few rows", "constant columns"],
)
def test_what_lightgbm_ignores_or_does_not_name(given, named):
    with pytest.raises(ValueError, match=named):
        LIGHTGBM.ranker().fit(**{"X": X, "y": Y, "qid": QID, **given})


IGNORED = {
    "lightgbm": {
        "lambdarank_truncation_level": 10,
        "lambdarank_norm": False,
        "sigmoid": 2.0,
        "label_gain": [0, 1, 3],
        "metric": "ndcg",
        "metrics": "map",
        "eval_at": [5],
        "ndcg_eval_at": [5],
        "objective_seed": 3,
        "bagging_by_query": True,
        "pos_bagging_fraction": 0.5,
        "neg_bagging_fraction": 0.5,
        "neg_subsample": 0.5,
        "class_weight": "balanced",
        "is_unbalance": True,
        "scale_pos_weight": 2,
        "application": "lambdarank",
        # The ranker lists other names of these with a default, which LightGBM prefers.
        "eta": 0.5,
        "max_leaves": 4,
        "min_data_per_leaf": 3,
    },
    "xgboost": {
        "lambdarank_pair_method": "mean",
        "lambdarank_num_pair_per_sample": 3,
        "lambdarank_normalization": False,
        "lambdarank_score_normalization": False,
        "lambdarank_unbiased": True,
        "lambdarank_bias_norm": 1.0,
        "ndcg_exp_gain": False,
        "scale_pos_weight": 2,
    },
}


def error_of(ranker):
    with pytest.raises(ValueError, match="without effect here") as error:
        ranker.fit(X, Y, QID)
    return str(error.value)


@twins
def test_parameters_that_change_nothing_are_one_error(twin):
    for name, value in IGNORED[twin.name].items():
        message = error_of(twin.ranker(**{name: value}))
        assert re.match(rf"{name}: without effect here.*\n  {name}=.* -> ", message)
    message = error_of(twin.ranker(**IGNORED[twin.name]))
    for name in IGNORED[twin.name]:
        assert re.search(rf"[ ]{name}=.* -> ", message)


GENRES = pd.DataFrame(X).add_prefix("f").assign(genre=pd.Categorical(np.arange(N) % 3))
NDCG = {"eval_metric": ["ndcg@5", "ndcg@10"]}
MAP = {"eval_metric": ["map@5", "map@10"]}
GAINS = {"measure": gb.nDCG(gains=(0, 1, 3))}
LINEAR = {"measure": gb.nDCG(gains="linear")}
# Parameters of the constructor, arguments of fit, and what is to replace all of them there.
REPLACED = {
    "lightgbm": [
        ({"label_gain": [0, 1, 3]}, {}, GAINS, {}),
        ({"label_gain": [0, 1, 3], "sigmoid": 2.0}, {}, {"objective": None}, {}),
        ({"label_gain": [0, 1, 3], "g": (0.5, 0.5)}, {}, GAINS, {}),
        ({"label_gain": [0, 1, 3], "objective": "rank_xendcg"}, {}, GAINS, {}),
        ({"label_gain": [0, 1, 3], "objective": gb.LambdaRank("ap")}, {}, {}, {}),
        ({"sigmoid": 2.0, "measure": "ap"}, {}, {"objective": None}, {}),
        ({"sigmoid": 2.0, "g": (0.5, 0.5)}, {}, {"objective": None}, {}),
        ({"sigmoid": 2.0, "objective": "ranknet"}, {}, {"objective": None}, {}),
        ({"sigmoid": 2.0, "objective": "softrank"}, {}, {}, {}),
        ({"objective": "rank_xendcg"}, {}, {"measure": "ndcg"}, {}),
        ({"application": "lambdarank", "measure": "ndcg"}, {}, {}, {}),
        ({"loss": "binary"}, {}, {}, {}),
        ({"lambdarank_truncation_level": 20, "lambdarank_norm": False}, {}, {}, {}),
        ({"bagging_by_query": True}, {}, {}, {}),
        ({"max_leaves": 4}, {}, {"num_leaves": 4}, {}),
        ({"objective_seed": 3}, {}, {"random_state": 3}, {}),
        ({"eval_at": [5, 10]}, {"eval_at": [5]}, {}, NDCG),
        ({"ndcg_eval_at": "5,10"}, {}, {}, NDCG),
        ({}, {"eval_at": "5,10"}, {}, NDCG),
        ({}, {"eval_at": np.array([5, 10])}, {}, NDCG),
        ({}, {"eval_at": 3}, {}, {"eval_metric": ["ndcg@3"]}),
        ({}, {"eval_at": 0}, {}, {"eval_metric": ["ndcg"]}),
        ({}, {"eval_metric": "map", "eval_at": [5, 10]}, {}, MAP),
        ({"eval_metric": "map", "eval_at": [5, 10]}, {}, {}, MAP),
        ({"metric": ["map", "ndcg"]}, {"eval_at": [3]}, {}, {"eval_metric": ["map@3", "ndcg@3"]}),
        ({"metric": "map,lambdarank"}, {}, {}, {"eval_metric": ["map", "ndcg"]}),
        ({"metric": "None", "eval_at": [5]}, {}, {}, {}),
        ({"metric": "rmse"}, {}, {}, {}),
        ({"metric": "map"}, {"eval_metric": "ndcg@7"}, {}, {"eval_metric": ["ndcg@7", "map"]}),
        ({}, {"eval_metric": [gb.AP(rel=2), "p"], "eval_at": 3}, {},
         {"eval_metric": ["AP(rel=2)@3", "p@3"]}),
        ({"cat_features": ["genre"]}, {}, {}, {"categorical_feature": ["genre"]}),
        ({"cat_feature": "name:genre"}, {}, {}, {"categorical_feature": ["genre"]}),
        ({}, {"cat_features": ["genre"]}, {}, {"categorical_feature": ["genre"]}),
        ({}, {"early_stopping_rounds": 3}, {"early_stopping_rounds": 3}, {}),
        ({}, {"verbose": False}, {"verbose": -1}, {}),
        ({}, {"base_margin": np.zeros(N)}, {}, {"init_score": None}),
        ({}, {"xyz": 3}, {}, {}),
        ({"num_leafs": 4, "xyz": 3, "ndcg_exp_gain": True}, {}, {"num_leaves": 4}, {}),
    ],
    "xgboost": [
        ({"objective": "rank:ndcg"}, {}, {"measure": "ndcg"}, {}),
        ({"objective": "rank:ndcg", "measure": "ndcg"}, {}, {}, {}),
        ({"objective": "rank:ndcg", "g": (0.5, 0.5)}, {}, {"measure": "ndcg"}, {}),
        ({"objective": "rank:map", "ndcg_exp_gain": False}, {}, {"measure": "ap"}, {}),
        ({"objective": "rank:ndcg", "ndcg_exp_gain": False}, {}, LINEAR, {}),
        ({"objective": "rank:pairwise"}, {}, {"objective": "ranknet"}, {}),
        ({"ndcg_exp_gain": True}, {}, {}, {}),
        ({"label_gain": [0, 1, 3]}, {}, GAINS, {}),
        ({"lambdarank_unbiased": True}, {}, {}, {"position": None}),
        ({"lambdarank_unbiased": False, "lambdarank_bias_norm": 1.0}, {}, {}, {}),
        ({"lambdarank_truncation_level": 9, "lambdarank_norm": False, "sigmoid": 2.0}, {},
         {"objective": None}, {}),
        ({"eval_at": "5,10"}, {}, NDCG, {}),
        ({}, {"eval_at": [5, 10]}, NDCG, {}),
        ({"metric": "map"}, {}, {"eval_metric": ["map"]}, {}),
        ({}, {"eval_metric": "ndcg@5", "early_stopping_rounds": 3},
         {"eval_metric": "ndcg@5", "early_stopping_rounds": 3}, {}),
        ({"cat_features": ["genre"]}, {}, {"enable_categorical": True}, {}),
        ({}, {"init_score": np.zeros(N)}, {}, {"base_margin": None}),
        ({}, {"xyz": 3, "sample_weights": np.ones(N)}, {}, {"sample_weight": None}),
    ],
    "both": [
        ({}, {"group_id": QID, "group_weight": QID}, {}, {"qid": None, "sample_weight": None}),
        ({"scale_pos_weight": 2}, {}, {}, {"sample_weight": None}),
    ],
}  # fmt: skip
BOOSTERS = {"lightgbm": [LIGHTGBM], "xgboost": [XGBOOST], "both": [LIGHTGBM, XGBOOST]}
FOR_DOTS = {"qid": QID, "position": np.arange(N) % 20}


def obey(message, of_ranker, of_fit):
    """Take out what the message replaces; return the new parameters and arguments of fit."""
    new, new_of_fit = {}, {}
    for line in message.splitlines()[1:]:
        old, instead = re.fullmatch(r"  (.*) -> (.*)", line).groups()
        for one in re.split(r", (?=\w+=)", old):
            (of_fit if one.endswith(" in fit") else of_ranker).pop(one.partition("=")[0])
        # Reasons and alternatives follow.
        code, _, without = re.sub("(, or|: |; |, and ).*", "", instead).partition(", without ")
        for name in filter(None, without.split(" and ")):
            of_ranker.pop(name, None)
        if code == "leave it out":
            continue
        name, _, value = re.sub(" in fit$| in the constructor$", "", code).partition("=")
        dots = value == "..."
        found = FOR_DOTS.get(name, np.ones(N)) if dots else eval(value, {"gb": gb})
        (new_of_fit if code.endswith(" in fit") else new)[name] = found
    return new, new_of_fit


@pytest.mark.parametrize(
    ("twin", "of_ranker", "of_fit", "expected", "expected_in_fit"),
    [(twin, *case) for name in REPLACED for twin in BOOSTERS[name] for case in REPLACED[name]],
    ids=lambda value: getattr(value, "name", None) or (str([*value]) if value else "-"),
)
def test_obeying_the_message_leads_to_a_fit(twin, of_ranker, of_fit, expected, expected_in_fit):
    of_ranker, of_fit = (
        dict(of_ranker),
        {"eval_set": [(GENRES.copy(), Y)], "eval_qid": [QID], **of_fit},
    )
    if "group_id" not in of_fit:
        of_fit["qid"] = QID
    with pytest.raises(ValueError, match="without effect here") as error:
        twin.ranker(**of_ranker).fit(GENRES, Y, **of_fit)
    found = obey(str(error.value), of_ranker, of_fit)
    for new, wanted in zip(found, (expected, expected_in_fit), strict=True):
        assert new.keys() == wanted.keys()
        assert all(new[name] == value for name, value in wanted.items() if value is not None)
    options = {"enable_categorical": True} if twin is XGBOOST else {}
    twin.ranker(**{**options, **of_ranker, **found[0]}).fit(GENRES, Y, **{**of_fit, **found[1]})


MISSPELT = {
    "lightgbm": {
        # The nearest name is an alias that LightGBM would ignore.
        "num_leafs": "num_leaves",
        "min_data_in_leafs": "min_data_in_leaf",
        "xyz": "leave it out: LightGBM has no such parameter",
    },
    "xgboost": {
        "max_dept": "max_depth",
        "min_child_wieght": "min_child_weight",
        "lambdas": "lambda",
    },
}


@twins
def test_misspelt_parameters_are_in_the_same_error(twin):
    foreign = {"lightgbm": "label_gain", "xgboost": "lambdarank_unbiased"}[twin.name]
    given = {foreign: [0, 1], **dict.fromkeys(MISSPELT[twin.name], 3)}
    with pytest.raises(ValueError, match=foreign) as error:
        twin.ranker(**given).fit(X, Y, QID)
    for name, new in MISSPELT[twin.name].items():
        assert f"\n  {name}=3 -> {new}" in str(error.value)


@twins
def test_other_names_of_the_booster_count_as_those_of_the_ranker(twin):
    given, listed = {
        "lightgbm": (
            {"feature_fraction": 0.9, "lambda_l1": 0.1, "max_bin": None, "max_bins": 30},
            {"colsample_bytree": 0.9, "reg_alpha": 0.1, "max_bin": 30},
        ),
        "xgboost": (
            {"eta": 0.2, "lambda": 2, "alpha": 0.1, "max_cached_hist_node": 9, "nthread": 1},
            {"learning_rate": 0.2, "reg_lambda": 2, "reg_alpha": 0.1},
        ),
    }[twin.name]
    found, expected = (
        twin.ranker(**options).fit(X, Y, QID).predict(X) for options in (given, listed)
    )
    np.testing.assert_array_equal(found, expected)


@twins
def test_native_metrics_are_metrics_of_a_ranker(twin):
    """Of either booster: their measures are reported."""
    metrics = ["ap", gb.lightgbm.eval_metric(["ndcg@5"]), gb.xgboost.eval_metric("egap")]
    given = {"eval_metric": metrics}
    ranker = twin.fitted(evals=[VALI], **({"fit": given} if twin is LIGHTGBM else given))
    (log,) = ranker.evals_result_.values()
    assert list(log) == ["gap", "ap", "ndcg@5", "egap"]
    given = {"eval_metric": "ndcg@10-"}
    with pytest.raises(ValueError, match="expected 'ndcg@10', which counts"):
        twin.fitted(evals=[VALI], **({"fit": given} if twin is LIGHTGBM else given))


# --- queries --------------------------------------------------------------------------------------


@twins
def test_queries_are_given_once(twin):
    # LightGBM's third argument is weights: ids must not be taken for them.
    frame = pd.DataFrame(X).rename(columns=str).assign(qid=QID)
    for call in (
        lambda ranker: ranker.fit(X, Y, QID, group=SIZES),
        lambda ranker: ranker.fit(X, Y, QID % 2, group=SIZES),
        lambda ranker: ranker.fit(frame, Y, qid=QID),
        lambda ranker: ranker.fit(frame, Y, group=SIZES),
        lambda ranker: ranker.fit(X, Y, QID).score(X, Y, QID, group=SIZES),
    ):
        with pytest.raises(ValueError, match="expected one of them"):
            call(twin.ranker())


@twins
def test_queries_are_missing(twin):
    ranker = twin.ranker()
    with pytest.raises(ValueError, match="qid is missing"):
        ranker.fit(X, Y)
    with pytest.raises(ValueError, match=re.escape("eval_qid[0] is missing")):
        ranker.fit(X, Y, QID, eval_set=[(VALI.X, VALI.y)])
    with pytest.raises(ValueError, match="qid is missing in score"):
        ranker.fit(X, Y, QID).score(X, Y)


@twins
def test_sizes_and_names_are_no_query_ids(twin):
    with pytest.raises(ValueError, match=r"^qid has .*fit takes them as group="):
        twin.ranker().fit(X, Y, SIZES)
    with pytest.raises(ValueError, match=r"^group has the sum"):
        twin.ranker().fit(X, Y, group=SIZES[1:])
    frame = pd.DataFrame(X).rename(columns=str).assign(user=QID)
    ranker = twin.ranker().fit(X, Y, QID)
    evaluation = {"eval_set": [(frame.copy(), Y)], "eval_qid": ["user"]}
    for call in (
        lambda: twin.ranker().fit(frame, Y, qid="user"),
        lambda: twin.ranker().fit(frame, Y, frame["user"], **evaluation),
        lambda: ranker.score(frame, Y, qid="user"),
        lambda: gb.evaluate("gap", Y, X[:, 0], "user"),
    ):
        with pytest.raises(ValueError, match=r"X\['user'\], and X without that column"):
            call()


@pytest.mark.parametrize(
    "given",
    [
        {"eval_set": [(VALI.X[:, :5], VALI.y)], "eval_qid": [VALI.qid]},
        {"eval_set": [(X, Y)], "eval_qid": QID},
        {"eval_set": [(X, Y)], "eval_qid": [QID, QID]},
        {"eval_set": [X], "eval_qid": [QID]},
        {"eval_set": X, "eval_qid": [QID]},
        {"eval_qid": [QID]},
    ],
    ids=["fewer columns", "no list", "two entries", "no pair", "an array", "no set"],
)
@twins
def test_evaluation_sets_that_do_not_fit(twin, given):
    with pytest.raises(ValueError, match="eval_"):
        twin.ranker().fit(X, Y, QID, **given)


@pytest.mark.parametrize("names", [["a", "a"], ["a"], list("abc"), "a", ["a", "training"]])
def test_names_of_evaluation_sets(names):
    """LightGBM reports two sets of one name as one; one called "training" stops nothing."""
    sets = {"eval_set": [(VALI.X, VALI.y)] * 2, "eval_qid": [VALI.qid] * 2}
    with pytest.raises(ValueError, match=r"^eval_names is"):
        LIGHTGBM.ranker().fit(X, Y, QID, **sets, eval_names=names)


@twins
def test_no_columns(twin):
    for table in (pd.DataFrame({"qid": QID}), sparse.csr_matrix((N, 0))):
        with pytest.raises(ValueError, match=r"^X has no columns"):
            twin.ranker().fit(table, Y, QID if sparse.issparse(table) else None)


@twins
def test_columns_of_a_model_to_continue(twin):
    model = twin.ranker().fit(pd.DataFrame(X[:, :4], columns=list("abcd")), Y, QID)
    for table, message in (
        (X[:, :2], "^X has 2 columns, but the model to continue has 4"),
        (pd.DataFrame(X[:, :4], columns=list("bacd")), "^X has the column 'b' where 'a' was"),
    ):
        with pytest.raises(ValueError, match=message):
            twin.ranker().fit(table, Y, QID, **{twin.continued: model})


INFINITE = np.where(np.arange(N)[:, None] == 3, -np.inf, X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": Y, "y": X}, r"^X has shape .* and y .*the other way round"),
        ({"y": np.array(["bad", "fair", "good"])[Y]}, "^y is .*0, 1, 2 .*in their order"),
        ({"position": "rank"}, r"^position is .*one position a row, .*X\['rank'\]"),
        ({"sample_weight": pd.Series(np.ones(len(SIZES) + 1))}, "index .*exactly the query ids"),
    ],
    ids=["swapped", "words", "position", "one weight more"],
)
@twins
def test_the_advice_fits_what_was_found(twin, given, message):
    with pytest.raises(ValueError, match=message):
        twin.ranker().fit(**{"X": X, "y": Y, "qid": QID, **given})


@pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_infinite_features(convert):
    """XGBoost takes them in predictions alone, and LightGBM everywhere."""
    LIGHTGBM.ranker().fit(convert(INFINITE), Y, QID)
    sets = {"eval_set": [(convert(INFINITE), Y)], "eval_qid": [QID]}
    with pytest.raises(ValueError, match=r"^eval_set\[0\] X has infinite"):
        XGBOOST.ranker().fit(X, Y, QID, **sets)
    with pytest.raises(ValueError, match=r"^X has infinite") as error:
        XGBOOST.ranker().fit(convert(INFINITE), Y, QID)
    advised = eval(str(error.value).rpartition("such as ")[2], {"X": pd.DataFrame(INFINITE)})
    XGBOOST.ranker().fit(advised, Y, QID).predict(convert(INFINITE))


@twins
def test_an_evaluation_set_of_which_all_values_are_equal(twin):
    """Early stopping would end at the first tree without a word."""
    parameters, of_fit = twin.stopping(1)
    sets = {"eval_set": [(X.copy(), np.zeros(N, int))], "eval_qid": [QID], **of_fit}
    with pytest.warns(UserWarning, match=r"^eval_set\[0\] y holds no query") as caught:
        ranker = twin.ranker(**parameters).fit(X, Y, QID, **sets)
    assert caught[0].filename == __file__
    assert ranker.best_iteration_ == 1


@twins
def test_nothing_to_learn(twin):
    with pytest.raises(ValueError, match=r"^y holds no query with two different grades"):
        twin.ranker().fit(X, QID % 2, QID)
    with pytest.raises(ValueError, match="measure is"):
        twin.ranker(measure=gb.AP(rel=1)).fit(X, np.where(Y > 0, Y + 1, 1), QID)


class OnDevice:
    """An array of a GPU, which numpy may not read without a copy to the host."""

    __cuda_array_interface__ = None

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self):
        return self.values


@twins
def test_columns_on_a_gpu_are_copied(twin):
    weight = np.ones(N)
    y, qid, on_device = OnDevice(Y), OnDevice(QID), OnDevice(weight)
    ranker = twin.ranker().fit(X, y, qid, on_device, eval_set=[(X, y)], eval_qid=[qid])
    plain = twin.ranker().fit(X, Y, QID, weight)
    np.testing.assert_array_equal(ranker.predict(X), plain.predict(X))
    assert ranker.score(X, y, qid, on_device) == plain.score(X, Y, QID)


# --- columns --------------------------------------------------------------------------------------

COLUMNS = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(d=lambda frame: frame.d > frame.d[0])


@pytest.mark.parametrize("place", [0, 2, 4])
@twins
def test_positions_of_columns_count_the_columns_without_qid(twin, place):
    """As `xgboost.XGBRanker` counts them. LightGBM's users would count ``qid`` too: an error."""
    columns = COLUMNS.rename(columns={"d": "9"})  # which is a name, and no position
    frame = columns.copy()
    frame.insert(place, "qid", QID)
    constraints = [[0, 1], [2, 3]] if twin is LIGHTGBM else "[[0, 1], [2, 3]]"
    options = {"n_estimators": 20, "interaction_constraints": constraints}
    fit = {"categorical_feature": [min(place, 3)]} if twin is LIGHTGBM else {}
    if twin is LIGHTGBM and place < 4:
        for given in ({"fit": fit}, {"interaction_constraints": "[0,1],[2,3]"}, options):
            with pytest.raises(ValueError, match=r"behind the column 'qid'"):
                twin.ranker(**{n: v for n, v in given.items() if n != "fit"}).fit(
                    frame, Y, **given.get("fit", {})
                )
        fit = {"categorical_feature": ["9"]}
        options["interaction_constraints"] = None
    found = twin.ranker(**options).fit(frame, Y, **fit).predict(frame)
    expected = twin.ranker(**options).fit(columns, Y, QID, **fit).predict(columns)
    np.testing.assert_array_equal(found, expected)
    assert (expected != twin.ranker(n_estimators=20).fit(columns, Y, QID).predict(columns)).any()


@pytest.mark.parametrize("position", [-1, 4, 7])
@pytest.mark.parametrize("name", ["categorical_feature", "cat_column", "interaction_constraints"])
def test_positions_of_no_column(name, position):
    """LightGBM ignores them."""
    value = [[0, position]] if name == "interaction_constraints" else [position]
    given = {name: value}
    fit = given if name == "categorical_feature" else {}
    for table in (COLUMNS, COLUMNS.to_numpy(), COLUMNS.assign(qid=QID)):
        qid = None if "qid" in table else QID
        with pytest.raises(ValueError, match=f"{name} is .*but X has 4 features"):
            LIGHTGBM.ranker(**({} if fit else given)).fit(table, Y, qid, **fit)


def test_weights_of_features_beside_a_column_qid():
    frame = COLUMNS.copy()
    frame.insert(0, "qid", QID)
    weights = np.ones(5)
    with pytest.raises(ValueError, match="feature_weights has shape"):
        XGBOOST.ranker(feature_weights=weights).fit(frame, Y)
    XGBOOST.ranker(feature_weights=weights[1:]).fit(frame, Y)


@pytest.mark.parametrize("place", ["ranker", "fit"])
def test_weights_of_features(place):
    """Columns are drawn by them: the other features are never used."""
    given = {"feature_weights": np.where(np.arange(X.shape[1]) == 3, 1.0, 1e-9)}
    of_ranker, of_fit = (given if place == one else {} for one in ("ranker", "fit"))
    ranker = XGBOOST.ranker(colsample_bynode=0.05, random_state=0, **of_ranker)
    ranker.fit(X, Y, QID, **of_fit)
    assert np.argmax(ranker.feature_importances_) == 3
    assert ranker.feature_importances_[3] > 0.99
    if place == "ranker":
        with pytest.raises(ValueError, match="feature_weights is given to the ranker and to fit"):
            ranker.fit(X, Y, QID, **given)


@twins
def test_a_column_of_grades_is_flattened(twin):
    plain = twin.ranker().fit(X, Y, QID)
    with pytest.warns(DataConversionWarning, match="y"):
        found = twin.ranker().fit(X, Y[:, None], QID)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    with pytest.warns(DataConversionWarning, match="y"):
        assert found.score(X, Y[:, None], QID) == plain.score(X, Y, QID)
    with pytest.warns(DataConversionWarning):
        found.fit(X, Y, QID, eval_set=[(VALI.X, VALI.y[:, None])], eval_qid=[VALI.qid])


@twins
def test_columns_in_another_order(twin):
    ranker = twin.ranker().fit(COLUMNS, Y, QID)
    turned = COLUMNS[list("bacd")]
    for call in (
        lambda: ranker.predict(turned),
        lambda: ranker.score(turned, Y, QID),
        lambda: twin.ranker().fit(COLUMNS, Y, QID, eval_set=[(turned, Y)], eval_qid=[QID]),
    ):
        with pytest.raises(ValueError, match="'b' where 'a'"):
            call()
    np.testing.assert_array_equal(ranker.predict(COLUMNS.assign(qid=1)), ranker.predict(COLUMNS))
    by_position = ranker.predict(turned.set_axis(COLUMNS.columns, axis=1))
    found = ranker.predict(turned, validate_features=False)
    np.testing.assert_array_equal(found, by_position)
