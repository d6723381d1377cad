"""Calls of the boosters' own rankers also work with ours: containers, names, copies, files."""

import inspect
import pickle
import warnings

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from twins import LIGHTGBM, SIZES, TEST, TRAIN, VALI, XGBOOST, twins

import gapboost as gb
from gapboost.model_selection import GSearchCV

X, Y, QID = TRAIN.X, TRAIN.y, TRAIN.qid
WEIGHTS = 1.0 + QID % 3


def same_model(one, other):
    np.testing.assert_array_equal(one.predict(TEST.X), other.predict(TEST.X))
    assert one.evals_result_ == other.evals_result_


# --- columns --------------------------------------------------------------------------------------

COLUMNS = {
    "numpy": lambda v: v.reshape(-1, 1),
    "masked": lambda v: np.ma.array(v.reshape(-1, 1)),
    "pandas": lambda v: pd.DataFrame({"v": v}),
    "arrow": lambda v: pa.table({"v": pa.chunked_array([v[:7], v[7:]])}),
    "polars": lambda v: pl.DataFrame({"v": v}),
}


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", COLUMNS)
@twins
def test_columns_of_one_value_a_row(twin, kind):
    """Grades, weights and first scores, of training and evaluation sets."""
    start = np.linspace(-1.0, 1.0, len(Y))

    def fitted(shape):
        y, weight, first = shape(Y), shape(WEIGHTS), shape(start)
        fit = {
            "sample_weight": weight,
            twin.start: first,
            "eval_set": [(VALI.X, shape(VALI.y)), (X, y)],
            "eval_qid": [VALI.qid, QID],
            twin.eval_weight: [shape(np.ones(len(VALI.y))), weight],
            twin.eval_start: [shape(np.zeros(len(VALI.y))), first],
        }
        return twin.ranker().fit(X, y, QID, **fit)

    with pytest.warns(
        DataConversionWarning, match="A column-vector .* was passed when a 1d array was expected"
    ) as caught:
        found = fitted(COLUMNS[kind])
    assert any(f"y and sample_weight and {twin.start} was passed" in str(w.message) for w in caught)
    assert any("eval_set[0] y" in str(w.message) for w in caught)
    assert {w.filename for w in caught if w.category is DataConversionWarning} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)
        expected = fitted(np.asarray)
    same_model(found, expected)


@twins
def test_columns_of_other_shapes_and_with_masks_stay_errors(twin):
    with pytest.raises(ValueError, match="y has 2 labels a row"):
        twin.ranker().fit(X, np.column_stack([Y, Y]), QID)
    with (
        pytest.warns(DataConversionWarning),
        pytest.raises(ValueError, match="y holds 1 masked values"),
    ):
        twin.ranker().fit(X, np.ma.array(Y, mask=np.arange(len(Y)) == 3).reshape(-1, 1), QID)
    with pytest.raises(ValueError, match="y_true has 2 labels a row"):
        twin.fitted().score(TEST.X, np.column_stack([TEST.y, TEST.y]), TEST.qid)


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_are_evaluated(kind):
    scores, weight = np.linspace(-1.0, 1.0, len(TEST.y)), 1.0 + TEST.qid % 3
    expected = gb.evaluate("ap", TEST.y, scores, TEST.qid, sample_weight=weight)
    column = COLUMNS[kind]
    with pytest.warns(
        DataConversionWarning, match="y_true and y_score and sample_weight was passed"
    ) as caught:
        found = gb.evaluate(
            "ap", column(TEST.y), column(scores), TEST.qid, sample_weight=column(weight)
        )
    assert found == expected
    assert [w.filename for w in caught] == [__file__]


@twins
def test_score_takes_columns(twin):
    ranker = twin.fitted()
    weight = 1.0 + TEST.qid % 3
    with pytest.warns(DataConversionWarning, match="y_true and sample_weight was passed") as caught:
        found = ranker.score(
            TEST.X, TEST.y.reshape(-1, 1), TEST.qid, sample_weight=weight.reshape(-1, 1)
        )
    assert found == ranker.score(TEST.X, TEST.y, TEST.qid, sample_weight=weight)
    assert [w.filename for w in caught] == [__file__]


def test_a_search_takes_a_column_too():
    grid = {"g": [(0.5, 0.5), (0.9, 0.1)]}
    searches = []
    for y in (Y.clip(0, 2), Y.clip(0, 2).reshape(-1, 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            searches.append(GSearchCV(LIGHTGBM.ranker(), grid, scoring="ap", cv=2).fit(X, y, QID))
    assert any(w.category is DataConversionWarning for w in caught)
    assert searches[0].best_score_ == searches[1].best_score_


# --- predictions ----------------------------------------------------------------------------------

FLAGS = [
    {"raw_score": True},
    {"num_iteration": 3},
    {"start_iteration": 2, "num_iteration": 4},
    {"pred_leaf": True},
    {"pred_contrib": True},
    {"pred_leaf": True, "num_iteration": 2},
    {"pred_early_stop": True, "pred_early_stop_margin": 0.05, "pred_early_stop_freq": 2},
    {"predict_disable_shape_check": True},
    {"num_threads": 1},
]


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "-".join(flags))
def test_every_flag_of_predictions_of_lightgbm(flags):
    """Predictions equal LightGBM's, which stop early for its own objectives alone."""
    ranker = LIGHTGBM.fitted(n_estimators=20)
    found = ranker.predict(TEST.X, **flags)
    expected = ranker.to_vendor().predict(TEST.X, **flags)
    np.testing.assert_array_equal(found, expected, strict=True)
    assert (found.shape == TEST.y.shape and np.array_equal(found, ranker.predict(TEST.X))) == (
        flags.keys() <= {"raw_score", "predict_disable_shape_check", "num_threads"}
    )


def test_flags_of_predictions_among_the_parameters():
    flags = {"pred_early_stop": True, "pred_early_stop_margin": 0.05, "pred_early_stop_freq": 2}
    plain, told = LIGHTGBM.fitted(n_estimators=20), LIGHTGBM.fitted(n_estimators=20, **flags)
    np.testing.assert_array_equal(told.predict(TEST.X), plain.predict(TEST.X, **flags))
    np.testing.assert_array_equal(
        told.predict(TEST.X, pred_early_stop=False), plain.predict(TEST.X)
    )
    assert not np.array_equal(told.predict(TEST.X), plain.predict(TEST.X))


@twins
def test_names_of_columns_are_checked_as_the_caller_says(twin):
    """Names are checked by default; LightGBM's flag gives its own error, or turns the check off."""
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(TEST.X, columns=names)
    ranker = twin.ranker().fit(pd.DataFrame(X, columns=names), Y, QID)
    renamed = frame.rename(columns={"x1": "z"})
    for other in (renamed, pl.from_pandas(renamed)):
        with pytest.raises(
            ValueError, match="lacks the column 'x1' and has the unknown column 'z'"
        ):
            ranker.predict(other)
    np.testing.assert_array_equal(
        ranker.predict(renamed, validate_features=False), ranker.predict(frame)
    )
    theirs = lightgbm.basic.LightGBMError if twin is LIGHTGBM else ValueError
    with pytest.raises(theirs, match=r"x1.*z"):
        ranker.predict(renamed, validate_features=True)
    with pytest.raises(ValueError, match=r"x1.*z"):
        ranker.predict(pl.from_pandas(renamed), validate_features=True)
    np.testing.assert_array_equal(
        ranker.predict(frame, validate_features=True), ranker.predict(frame)
    )


@twins
def test_a_wrong_number_of_columns_is_an_error_of_the_type_that_the_booster_raises(twin):
    theirs = twin.vendor(n_estimators=2, n_jobs=1).fit(X, Y, group=SIZES)
    for columns in (X.shape[1] - 1, X.shape[1] + 1):
        other = np.resize(TEST.X, (5, columns))
        for ranker in (theirs, twin.fitted()):
            with pytest.raises(ValueError, match=f"{columns}"):
                ranker.predict(other)


@twins
def test_evaluation_sets_without_queries_are_an_error_of_the_type_that_the_booster_raises(twin):
    for ranker in (twin.vendor(n_estimators=2, n_jobs=1), twin.ranker()):
        with pytest.raises(ValueError, match=r"eval_group|qid"):
            ranker.fit(X, Y, group=SIZES, eval_set=[(VALI.X, VALI.y)])


@pytest.mark.parametrize("saved", ["text", "path", "booster", "ranker"])
def test_a_model_of_lightgbm_to_continue(saved, tmp_path):
    first, file = LIGHTGBM.fitted(), tmp_path / "model.txt"
    first.booster_.save_model(file)
    model = {"text": str(file), "path": file, "booster": first.booster_, "ranker": first}[saved]
    found = LIGHTGBM.fitted(fit={"init_model": model})
    assert found.booster_.num_trees() == 10
    np.testing.assert_array_equal(found.predict(TEST.X, num_iteration=5), first.predict(TEST.X))


@pytest.mark.parametrize(
    "flags",
    [
        {"output_margin": True},
        {"iteration_range": (0, 3)},
        {"iteration_range": (2, 4)},
        {"base_margin": np.arange(len(TEST.y)) / 7},
        {"validate_features": False},
    ],
    ids=lambda flags: next(iter(flags)),
)
def test_every_flag_of_predictions_of_xgboost(flags):
    ranker = XGBOOST.fitted()
    found = ranker.predict(TEST.X, **flags)
    np.testing.assert_array_equal(found, ranker.to_vendor().predict(TEST.X, **flags), strict=True)
    assert np.array_equal(found, ranker.predict(TEST.X)) == (
        flags.keys() <= {"output_margin", "validate_features"}
    )


def test_leaves_of_xgboost():
    ranker = XGBOOST.fitted()
    for trees in (None, (0, 2)):
        found = ranker.apply(TEST.X, iteration_range=trees)
        np.testing.assert_array_equal(
            found, ranker.to_vendor().apply(TEST.X, iteration_range=trees), strict=True
        )
        assert found.shape == (len(TEST.y), 5 if trees is None else 2)


@pytest.mark.parametrize("saved", ["text", "booster", "ranker"])
def test_a_model_of_xgboost_to_continue(saved, tmp_path):
    first, file = XGBOOST.fitted(), tmp_path / "model.ubj"
    first.save_model(file)
    model = {"text": str(file), "booster": first.get_booster(), "ranker": first}[saved]
    found = XGBOOST.fitted(fit={"xgb_model": model})
    assert found.get_booster().num_boosted_rounds() == 10
    np.testing.assert_array_equal(
        found.predict(TEST.X, iteration_range=(0, 5)), first.predict(TEST.X)
    )


# --- classes, copies, pictures --------------------------------------------------------------------


@twins
@pytest.mark.filterwarnings("ignore:(?s).*own.*are not used")  # what XGBoost says of it
def test_subclasses_take_parameters_of_their_own(twin):
    class Mine(twin.ranker_class):
        def __init__(self, *, own=3, measure="ndcg", **kwargs):
            super().__init__(measure=measure, **kwargs)
            self.own = own

    mine = Mine(own=4, n_estimators=3, n_jobs=1)
    assert {"own": 4, "measure": "ndcg", "n_estimators": 3}.items() <= mine.get_params().items()
    found = pickle.loads(pickle.dumps(clone(mine).get_params()))
    assert found["own"] == 4
    same_model(
        mine.fit(X, Y, QID),
        twin.ranker_class(measure="ndcg", n_estimators=3, n_jobs=1).fit(X, Y, QID),
    )


@twins
def test_subclasses_of_subclasses_without_a_word_of_their_own(twin):
    class Mine(twin.ranker_class):
        pass

    class Finest(Mine):
        pass

    parameters = {"n_estimators": 3, "n_jobs": 1, "g": (0.3, 0.7)}
    plain = twin.ranker_class(**parameters)
    assert Finest(**parameters).get_params() == plain.get_params()
    found = (
        clone(Finest(**parameters))
        .set_params(n_estimators=2)
        .set_params(n_estimators=3)
        .fit(X, Y, QID)
    )
    assert type(found) is Finest
    assert type(found.to_vendor()) is twin.vendor
    same_model(found, plain.fit(X, Y, QID))


def test_pictures_of_lightgbm():
    plt = pytest.importorskip("matplotlib.pyplot")
    ranker = LIGHTGBM.fitted(evals=[VALI], metric="ndcg")
    for picture in (
        lightgbm.plot_importance(ranker),
        lightgbm.plot_metric(ranker, metric="ndcg"),
        lightgbm.plot_metric(ranker, metric="map-gap"),
        lightgbm.plot_split_value_histogram(
            ranker, feature=int(np.argmax(ranker.feature_importances_))
        ),
    ):
        assert picture.has_data()
    plt.close("all")


def test_pictures_of_xgboost():
    plt = pytest.importorskip("matplotlib.pyplot")
    assert xgboost.plot_importance(XGBOOST.fitted()).has_data()
    plt.close("all")


def test_graphs_of_trees():
    """`plot_tree` of both boosters draws these graphs with graphviz's programs."""
    pytest.importorskip("graphviz")
    ours, theirs = LIGHTGBM.fitted(), LIGHTGBM.fitted().to_vendor()
    assert lightgbm.create_tree_digraph(ours).source == lightgbm.create_tree_digraph(theirs).source
    ours = XGBOOST.fitted()
    assert (
        xgboost.to_graphviz(ours, tree_idx=1).source
        == xgboost.to_graphviz(ours.to_vendor(), tree_idx=1).source
    )


@twins
def test_signatures_of_the_installed_boosters_are_taken(twin):
    """A new parameter or argument of theirs is met here before a user meets it."""
    ours, theirs = twin.ranker_class, twin.vendor
    for method in ("__init__", "fit", "predict"):
        known = inspect.signature(getattr(ours, method)).parameters
        wanted = inspect.signature(getattr(theirs, method)).parameters
        assert wanted.keys() - known.keys() == set()
    defaults = {name: value for name, value in theirs().get_params().items() if name != "objective"}
    ours(**{**defaults, "n_estimators": 2}).fit(X, Y, QID)
