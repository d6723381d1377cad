"""Columns that no booster takes, or with other names than in training: an error names them."""

import pickle
import sys
import warnings
from decimal import Decimal
from functools import partial

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tables import NAMES, TABLES, frame, whole, with_letters
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

from gapboost.model_selection import GSearchCV
from gapboost.preprocessing import query_relative_features

X, T = whole(TRAIN.X), whole(TEST.X)


def polars_of(dtype):
    return lambda n: pl.DataFrame({"x": np.arange(n), "bad": np.arange(n)}).cast({"bad": dtype})


DAYS = pd.date_range("2020-01-30", periods=len(TRAIN))
CONVERTIBLE = {
    "category": DAYS.day_name(),
    "int64": DAYS.tz_localize("UTC"),
    "float": [Decimal(day) / 8 for day in DAYS.day],
}


@twins
@pytest.mark.parametrize("dtype", CONVERTIBLE)
def test_conversions_that_the_error_proposes(twin, dtype):
    table = frame(X)[NAMES[:2]].assign(bad=CONVERTIBLE[dtype])
    options = {"n_estimators": 1} | ({"enable_categorical": True} if twin is XGBOOST else {})
    with pytest.raises(ValueError, match=rf"^X has columns .*'bad'.*\('{dtype}'\)"):
        twin.ranker(**options).fit(table, TRAIN.y, TRAIN.qid)
    table = table.astype({"bad": dtype})
    assert len(twin.ranker(**options).fit(table, TRAIN.y, TRAIN.qid).predict(table)) == len(TRAIN)


def ones(*names):
    return lambda n: pd.DataFrame(np.ones((n, len(names))), columns=list(names))


# What the error says, and a table of so many rows.
UNUSABLE = {
    # LightGBM would end the whole process at these.
    "polars text": ("X has .*'bad'", polars_of(pl.String)),
    "polars dates": ("X has .*'bad'", polars_of(pl.Date)),
    "polars Int128": ("X has .*'bad'", polars_of(pl.Int128)),
    "polars Float16": ("X has .*'bad'", polars_of(pl.Float16)),
    "pyarrow nulls": ("X has .*'bad'", lambda n: pa.table({"x": np.arange(n), "bad": pa.nulls(n)})),
    "pandas two of one name": ("X has two columns 'bad'", ones("bad", "bad")),
    "pyarrow two of one name": (
        "X has two columns 'bad'",
        lambda n: pa.table([np.ones(n), np.ones(n)], ["bad", "bad"]),
    ),
    "two columns qid": ("X has two columns 'qid'", ones("x", "qid", "qid")),
    "one joined name": ("X has two columns 'a bad x'", ones(("a bad", "x"), ("a", "bad x"))),
    "times": (r"expected numbers: .*X\.astype\('int64'\)$", lambda n: np.zeros((n, 2), "M8[s]")),
    "text": ("X is unusable", lambda n: np.full((n, 2), "a")),
    "complex": ("X is unusable", lambda n: np.ones((n, 2), complex)),
    "three dimensions": ("X is unusable", lambda n: np.ones((n, 2, 2))),
    "ragged": ("X is unusable", lambda n: [[1.0]] * (n - 1) + [[1.0, 2.0]]),
    "series": ("X is unusable", lambda n: pd.Series(np.ones(n))),
}


def check_refusal(ranker, make, message):
    with pytest.raises(ValueError, match=message):
        ranker.fit(make(len(TRAIN)), TRAIN.y, TRAIN.qid)
    assert not ranker.__sklearn_is_fitted__()
    good = clone(ranker).fit(TRAIN.X[:, :2], TRAIN.y, TRAIN.qid)
    with pytest.raises(ValueError, match=message):
        good.predict(make(len(TEST)))
    evals = {"eval_set": [(make(len(VALI)), VALI.y)], "eval_qid": [VALI.qid]}
    with pytest.raises(ValueError, match=message.replace("X ", r"eval_set\[0\] X ", 1)):
        ranker.fit(TRAIN.X[:, :2], TRAIN.y, TRAIN.qid, **evals)


@twins
@pytest.mark.parametrize("kind", UNUSABLE)
def test_features_that_no_booster_takes(twin, kind):
    message, make = UNUSABLE[kind]
    check_refusal(twin.ranker(n_estimators=1), make, message)


@pytest.mark.parametrize(
    ("twin", "kind"), [(LIGHTGBM, "polars"), (LIGHTGBM, "pyarrow"), (XGBOOST, "pandas")]
)
def test_categories_that_are_not_taken(twin, kind):
    """LightGBM takes categories of pandas alone: others would end the whole process."""
    options = {} if twin is LIGHTGBM else {"enable_categorical": False}
    letters = with_letters(TRAIN, "pandas")
    ranker = twin.ranker(n_estimators=1, **options)
    check_refusal(ranker, lambda n: TABLES[kind](letters[:n]), "X has .*'letter'")


@twins
def test_names_of_several_levels_are_joined(twin):
    """As XGBoost joins them; the column of query ids has one name."""
    levels = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", 1), ("qid", "")])
    plain, same = (
        pd.DataFrame(np.column_stack([X[:, :3], TRAIN.qid]), columns=columns)
        for columns in (["a x", "a y", "b 1", "qid"], levels)
    )
    expected = twin.ranker().fit(plain, TRAIN.y)
    found = twin.ranker().fit(same, TRAIN.y, eval_set=[(same.copy(), TRAIN.y)])
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    for ranker in (found, expected):
        for table in (same, plain):
            np.testing.assert_array_equal(ranker.predict(table), expected.predict(plain))
            assert ranker.score(table, TRAIN.y) == expected.score(plain, TRAIN.y)
    with pytest.raises(ValueError, match="'a y' where 'a x'"):
        found.predict(same[same.columns[[1, 0, 2]]])
    pd.testing.assert_frame_equal(query_relative_features(same), query_relative_features(plain))


DECIMAL = pd.ArrowDtype(pa.decimal128(24, 2))
OTHER_TYPES = ("M8[ns]", "m8[ns]", "str", "O", "timestamp[ns][pyarrow]", "string[pyarrow]", DECIMAL)


@twins
@pytest.mark.parametrize("dtype", OTHER_TYPES, ids=str)
def test_columns_of_pandas_that_no_booster_takes(twin, dtype):
    """An error that names the column alone; steps of a pipeline may take it."""
    table = frame(X)[NAMES[:2]].assign(bad=range(len(X)), good=1.5)
    table = table.astype({"good": "double[pyarrow]", "bad": dtype})
    fitted = twin.ranker(n_estimators=1).fit(X[:, :4], TRAIN.y, TRAIN.qid)
    for call in (fitted.predict, partial(twin.ranker().fit, y=TRAIN.y, qid=TRAIN.qid)):
        with pytest.raises(ValueError, match="bad") as caught:
            call(table)
        assert "good" not in str(caught.value)
    codes = FunctionTransformer(lambda table: table.assign(bad=table["bad"].rank()))
    search = GSearchCV(make_pipeline(codes, twin.ranker()), {}, scoring="ap", cv=2)
    assert search.fit(table, TRAIN.y, qid=TRAIN.qid).best_score_ > 0


@twins
@pytest.mark.parametrize("of", ["polars", "dask"])
@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")
def test_lazy_frames_are_refused_as_such_where_they_hold_the_ids(twin, of):
    """Not with a word about a qid that is there."""
    table = frame(TRAIN.X).assign(qid=TRAIN.qid)
    if of == "polars":
        lazy, message = pl.LazyFrame(table), "LazyFrame"
    else:
        lazy = pytest.importorskip("dask.dataframe").from_pandas(table, sort=False)
        message = r"^X is a .*X\.compute\(\)"
    search = GSearchCV(twin.ranker(), {}, scoring="ap", cv=2)
    for call in (twin.ranker().fit, twin.fitted(n_estimators=1).score, search.fit):
        with pytest.raises(TypeError, match=message):
            call(lazy, TRAIN.y)


@twins
def test_grades_of_dask_beside_features_in_memory(twin):
    y = pytest.importorskip("dask.dataframe").from_pandas(pd.Series(TRAIN.y), npartitions=2)
    found = twin.ranker(n_estimators=1).fit(TRAIN.X, y, TRAIN.qid).predict(TRAIN.X)
    npt.assert_array_equal(found, twin.fitted(n_estimators=1).predict(TRAIN.X))


# --- columns have the names of training -----------------------------------------------------------


def table_of(kind, X, names):
    return TABLES[kind](pd.DataFrame(X, columns=names))


OTHER_COLUMNS = {
    # names, one that the message has
    "reversed": (NAMES[::-1], f"'{NAMES[-1]}' where '{NAMES[0]}'"),
    "one renamed": ([*NAMES[:4], "new", *NAMES[5:]], f"'{NAMES[4]}' is missing, 'new' is new"),
    "one missing": ([NAMES[0], *NAMES[2:]], f"'{NAMES[1]}' is missing"),
    "two more": ([*NAMES, "new", "newer"], "'new' is new, 'newer' is new"),
    "numbers": (range(len(NAMES)), f"'{NAMES[0]}' is missing"),
}


@twins
@pytest.mark.parametrize("kind", TABLES)
def test_other_columns_than_in_training_are_refused(twin, kind):
    # Both boosters take the columns of some of these by position, without a word.
    ranker = twin.ranker(n_estimators=2).fit(frame(X), TRAIN.y, TRAIN.qid)
    npt.assert_array_equal(
        ranker.predict(table_of(kind, T, NAMES)), ranker.predict(table_of("pandas", T, NAMES))
    )
    for names, differs in OTHER_COLUMNS.values():
        other = table_of(kind, np.resize(X[:, 0], (len(TRAIN), len(names))), names)
        evals = {"eval_set": [(other, TRAIN.y)], "eval_qid": [TRAIN.qid]}
        for called, call in (
            ("X", partial(ranker.predict, other)),
            ("X", partial(ranker.score, other, TRAIN.y, TRAIN.qid)),
            (r"eval_set\[0\] X", partial(twin.ranker().fit, frame(X), TRAIN.y, TRAIN.qid, **evals)),
        ):
            with pytest.raises(ValueError, match=f"^{called} .*{differs}"):
                call()


@pytest.mark.slow(keep=2)
@twins
@pytest.mark.parametrize("kind", TABLES)
def test_a_model_with_other_columns_is_not_continued(twin, kind, tmp_path):
    ranker = twin.ranker(n_estimators=2).fit(table_of(kind, X, NAMES), TRAIN.y, TRAIN.qid)
    path = tmp_path / "model.json"
    booster = ranker.booster_ if twin is LIGHTGBM else ranker.get_booster()
    booster.save_model(path)
    for model in (ranker, booster, str(path)):
        again = {twin.continued: model}
        with pytest.raises(ValueError, match=r"X has the column |feature_names mismatch"):
            twin.ranker().fit(table_of(kind, X[:, ::-1], NAMES[::-1]), TRAIN.y, TRAIN.qid, **again)
        same = twin.ranker().fit(table_of(kind, X, NAMES), TRAIN.y, TRAIN.qid, **again)
        assert same.n_queries_in_ == TRAIN.n_queries


@twins
def test_arrays_go_by_position_and_pickles_know_their_columns(twin):
    by_name, by_position = (
        twin.ranker(n_estimators=2).fit(x, TRAIN.y, TRAIN.qid) for x in (frame(X), X)
    )
    with warnings.catch_warnings():
        # LightGBM's.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        npt.assert_array_equal(by_name.predict(T), by_position.predict(T))
    npt.assert_array_equal(by_position.predict(frame(T)), by_position.predict(T))
    again = pickle.loads(pickle.dumps(by_name))
    with pytest.raises(ValueError, match=f"^X .*{NAMES[-1]!r} .*{NAMES[0]!r}"):
        again.predict(frame(T)[NAMES[::-1]])
    numbered = twin.ranker(n_estimators=2).fit(pd.DataFrame(X), TRAIN.y, TRAIN.qid)
    with pytest.raises(ValueError, match=r"^X .*'1' .*'0'"):
        numbered.predict(pd.DataFrame(T).rename(columns={0: 1, 1: 0}))


@pytest.mark.parametrize("dtype", ["i4", "u8", "longdouble", "O"])
def test_whole_numbers_above_2_to_the_24_are_not_rounded(dtype):
    # LightGBM makes float32 of arrays that are not float64, where every second such number is
    # another.
    column = (2**24 + np.arange(len(TRAIN)) % 2)[:, None]
    grades = column.ravel() % 2
    for kind in (
        lambda X: X.astype(dtype),
        lambda X: pd.DataFrame(X.astype(dtype)).astype("i8"),
        np.ndarray.tolist,
    ):
        ranker = LIGHTGBM.ranker(extra_trees=False).fit(
            kind(column), grades, TRAIN.qid, eval_set=[(kind(column), grades)], eval_qid=[TRAIN.qid]
        )
        assert ranker.score(kind(column), grades, TRAIN.qid) == LIGHTGBM.curve(ranker)[-1] > 0.999


@pytest.mark.parametrize("kinds", [[1, 2], [1, 7], ["a", "b"]])
def test_xgboost_takes_no_categories_that_training_lacks(kinds):
    """It would take 2 for the next one that training has, 3."""

    def table(kinds):
        return pd.DataFrame({"x0": X[:, 0], "kind": pd.Categorical(np.resize(kinds, len(TRAIN.y)))})

    ranker = XGBOOST.ranker(enable_categorical=True)
    trained, new = table([1, 3]), table(kinds)
    ranker.fit(trained, TRAIN.y, TRAIN.qid)
    evals = {"eval_set": [(new, TRAIN.y)], "eval_qid": [TRAIN.qid]}
    for call in (
        lambda: ranker.predict(new),
        lambda: clone(ranker).fit(new, TRAIN.y, TRAIN.qid, xgb_model=ranker),
        lambda: clone(ranker).fit(trained, TRAIN.y, TRAIN.qid, **evals),
    ):
        with pytest.raises(ValueError, match=r"X has the category .* in 'kind', which training"):
            call()
    with pytest.raises(ValueError, match=r"^X has another type of 'kind' than training"):
        ranker.predict(trained.astype(float))
    with pytest.raises(ValueError, match=r"^X has categories that are floats, or a column of cat"):
        ranker.predict(trained.assign(kind=pd.Categorical([None] * len(trained))))


def test_categories_without_pyarrow(monkeypatch):
    kinds = pd.Categorical(np.arange(len(TRAIN)) % 3)
    table = pd.DataFrame({"x0": X[:, 0], "kind": kinds})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ranker = XGBOOST.ranker(enable_categorical=True).fit(table, TRAIN.y, TRAIN.qid)
    assert len(ranker.predict(table)) == len(TRAIN)
