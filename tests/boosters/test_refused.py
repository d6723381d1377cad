"""Arguments and parameters that the rankers refuse: the error names them."""

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
    "n_estimators": ["10", 2.5, -1],
    "n_jobs": ["a"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in OWN.items() for v in vs], ids=str)
@twins
def test_bad_own_parameters(twin, name, value):
    parameters, fit = twin.stopping(3)
    watched = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid], **fit}
    with pytest.raises((ValueError, TypeError), match=name):
        twin.ranker(**parameters, **{name: value}).fit(X, Y, QID, **watched)


@twins
def test_early_stopping_without_an_evaluation_set(twin):
    parameters, fit = twin.stopping(3)
    name = {"lightgbm": "early_stopping_round", "xgboost": "early_stopping_rounds"}[twin.name]
    for of_ranker, of_fit in ((parameters, fit), ({name: 3}, {})):
        with pytest.raises(ValueError, match=r"^eval_set is missing.*early stopping"):
            twin.ranker(**of_ranker).fit(X, Y, QID, **of_fit)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"eval_y": VALI.y, "eval_qid": [VALI.qid]}, "eval_X has 1"),
        ({"eval_X": VALI.X, "eval_qid": [VALI.qid]}, "eval_y 1"),
        ({"eval_X": [VALI.X], "eval_y": [VALI.y], "eval_qid": [VALI.qid]}, "^eval_X is a list"),
        ({"y": np.resize([0, 1], 8), "X": X[:8], "qid": np.zeros(8)}, "min_child_samples"),
        ({"X": 0 * X}, "X has no feature"),
    ],
    ids=["eval_y alone", "eval_X alone", "a list", "too few rows", "constant columns"],
)
def test_what_lightgbm_ignores_or_does_not_name(given, named):
    with pytest.raises(ValueError, match=named):
        LIGHTGBM.ranker().fit(**{"X": X, "y": Y, "qid": QID, **given})


# --- arguments of fit and score -------------------------------------------------------------------

NAMED = pd.DataFrame(X).rename(columns=str).assign(qid=QID, user=QID)
IDS, USER = NAMED.drop(columns="user"), NAMED.drop(columns="qid")
GRADES = np.array(["bad", "fair", "good"])[Y]


def fit_with(parameters=None, **given):
    """Return a function that fits a ranker with other parameters or arguments."""
    return lambda ranker: ranker.set_params(**(parameters or {})).fit(
        **{"X": X, "y": Y, "qid": QID, **given}
    )


def score_with(*args, **given):
    return lambda ranker: ranker.fit(X, Y, QID).score(*args, **given)


REFUSED = {
    # LightGBM's third argument is weights: ids must not be taken for them.
    "expected one of them": [
        fit_with(group=SIZES),
        fit_with(qid=QID % 2, group=SIZES),
        fit_with(X=IDS),
        fit_with(X=IDS, qid=None, group=SIZES),
        fit_with(eval_set=[(IDS, Y)], eval_qid=[QID]),
        lambda ranker: ranker.fit(IDS, Y).score(IDS, Y, QID),
        score_with(X, Y, QID, group=SIZES),
    ],
    "qid is missing": [fit_with(qid=None)],
    r"eval_qid\[0\] is missing": [fit_with(eval_set=[(VALI.X, VALI.y)])],
    "qid is missing in score": [score_with(X, Y)],
    "^qid has .*makes ids of sizes": [fit_with(qid=SIZES)],
    "^group has the sum": [fit_with(qid=None, group=SIZES[1:])],
    r"X\['user'\], and X without that column": [
        fit_with(X=USER, qid="user"),
        fit_with(X=USER, eval_set=[(USER.copy(), Y)], eval_qid=["user"]),
        score_with(USER, Y, qid="user"),
        lambda ranker: gb.evaluate("gap", Y, X[:, 0], "user"),
    ],
    "eval_": [
        fit_with(eval_set=[(VALI.X[:, :5], VALI.y)], eval_qid=[VALI.qid]),
        fit_with(eval_set=[(X, Y)], eval_qid=QID),
        fit_with(eval_set=[(X, Y)], eval_qid=[QID, QID]),
        fit_with(eval_set=[X], eval_qid=[QID]),
        fit_with(eval_set=X, eval_qid=[QID]),
        fit_with(eval_qid=[QID]),
    ],
    "^X has no columns": [
        fit_with(X=IDS[["qid"]], qid=None),
        fit_with(X=sparse.csr_matrix((N, 0))),
    ],
    "^X has shape .* and y .*the other way round": [fit_with(X=Y, y=X)],
    "^y is .*0, 1, 2 .*in their order": [fit_with(y=GRADES)],
    r"^position is .*one position a row, .*X\['rank'\]": [fit_with(position="rank")],
    "index .*exactly the query ids": [fit_with(sample_weight=pd.Series(np.ones(len(SIZES) + 1)))],
    r"^sample_weight is .*as pandas\.Series\(sample_weight\)": [fit_with(sample_weight={7: 2.0})],
    "^y holds no query with two different grades": [fit_with(y=QID % 2)],
    "qid is another in each row": [fit_with(qid=np.arange(N))],
    "measure is": [fit_with({"measure": gb.AP()}, y=np.where(Y > 0, Y + 1, 1))],
    "objective": [
        fit_with({"objective": gb.LambdaRank(gb.nDCG()), "measure": "ap"}),
        fit_with({"objective": gb.LambdaRank(gb.nDCG()), "g": (0.5, 0.5)}),
    ],
}


@pytest.mark.parametrize(
    ("message", "call"), [(message, call) for message in REFUSED for call in REFUSED[message]]
)
@twins
@pytest.mark.filterwarnings("ignore:y has no grade 0")
def test_arguments_that_are_refused(twin, message, call):
    with pytest.raises(ValueError, match=message):
        call(twin.ranker())


@pytest.mark.parametrize("names", [["a", "a"], ["a"], list("abc"), "a", ["a", "training"]])
def test_names_of_evaluation_sets(names):
    """LightGBM reports two sets of one name as one; one called "training" stops nothing."""
    sets = {"eval_set": [(VALI.X, VALI.y)] * 2, "eval_qid": [VALI.qid] * 2}
    with pytest.raises(ValueError, match=r"^eval_names is"):
        LIGHTGBM.ranker().fit(X, Y, QID, **sets, eval_names=names)


@twins
def test_columns_of_a_model_to_continue(twin):
    model = twin.ranker().fit(X[:, :4], Y, QID)
    with pytest.raises(ValueError, match=r"^X has 2 columns, but the model to continue has 4"):
        twin.ranker().fit(X[:, :2], Y, QID, **{twin.continued: model})


INFINITE = np.where(np.arange(N)[:, None] == 3, -np.inf, X)


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
        for given in ({"fit": fit}, fit, {"interaction_constraints": "[0,1],[2,3]"}, options):
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
    ranker, turned = twin.ranker().fit(COLUMNS, Y, QID), COLUMNS[list("bacd")]
    np.testing.assert_array_equal(ranker.predict(COLUMNS.assign(qid=1)), ranker.predict(COLUMNS))
    by_position = ranker.predict(turned.set_axis(COLUMNS.columns, axis=1))
    found = ranker.predict(turned, validate_features=False)
    np.testing.assert_array_equal(found, by_position)


@twins
def test_arguments_that_predict_does_not_have(twin):
    with pytest.raises(TypeError, match="unexpected keyword argument 'qid'"):
        twin.ranker().fit(X, Y, QID).predict(X, qid=QID)
