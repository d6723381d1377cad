"""Containers of features, grades and query ids: the model of plain arrays, or a clear error."""

import pickle
import re
import warnings
from functools import cache, partial

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, shuffled, twins

import gapboost as gb
from gapboost import explain
from gapboost.comparison import compare_rankers
from gapboost.data import features
from gapboost.export import write_ltr_plugin
from gapboost.model_selection import GSearchCV
from gapboost.preprocessing import query_relative_features

NAMES = TRAIN.feature_names


def whole(X):
    """Integers that every dtype holds.

    They are never 0, which sparse matrices and XGBoost read as missing.
    """
    return np.floor(np.abs(X) * 16).clip(0, 100) + 1


X, V, T = whole(TRAIN.X), whole(VALI.X), whole(TEST.X)
ORDER, _ = shuffled(TRAIN)
BY_NAME = {twin.name: twin for twin in (LIGHTGBM, XGBOOST)}


@cache
def plain(name, in_order):
    """Return the outcome of float64 arrays."""
    return outcome(BY_NAME[name], lambda X: X, in_order)


def outcome(twin, convert, in_order=True, X=X, V=V, T=T):
    rows = slice(None) if in_order else ORDER
    ranker = twin.ranker(n_estimators=3).fit(
        convert(X[rows]),
        TRAIN.y[rows],
        TRAIN.qid[rows],
        eval_set=[(convert(V), VALI.y)],
        eval_qid=[VALI.qid],
    )
    return (
        ranker.predict(convert(T)),
        twin.curve(ranker),
        ranker.score(convert(T), TEST.y, TEST.qid),
    )


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        npt.assert_array_equal(a, b)


# --- features -------------------------------------------------------------------------------------


def unsorted(X, kind):
    """A sparse matrix whose indices are in no order, with every value in two halves."""
    X = kind(X)
    index = np.concatenate(
        [np.r_[i:j, i:j][::-1] for i, j in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    return kind((X.data[index] / 2, X.indices[index], 2 * X.indptr), shape=X.shape)


def frame(X):
    return pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1])


# Kinds of tables, from one of pandas.
TABLES = {
    "pandas": lambda table: table,
    "polars": pl.DataFrame,
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


def arrow(X):
    return TABLES["pyarrow"](frame(X))


KINDS = {
    **{
        f"numpy {dtype}": lambda X, dtype=dtype: X.astype(dtype)
        for dtype in ("f2", "f4", "i1", "u8", "longdouble", ">f4", ">i4", "O")
    },
    "numpy Fortran order": np.asfortranarray,
    "numpy every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "numpy masked": lambda X: np.ma.masked_invalid(X),
    "list": lambda X: X.tolist(),
    "scipy csr": sparse.csr_matrix,
    "scipy csc array": sparse.csc_array,
    "scipy csr unsorted": lambda X: unsorted(X, sparse.csr_matrix),
    "scipy csc unsorted": lambda X: unsorted(X, sparse.csc_matrix),
    "pandas": frame,
    "pandas Int64": lambda X: frame(X).astype("Int64"),
    "pandas Float64": lambda X: frame(X).astype("Float64"),
    **{
        f"pandas {dtype}[pyarrow]": lambda X, dtype=dtype: frame(X).astype(f"{dtype}[pyarrow]")
        for dtype in ("int64", "uint8", "float", "double")
    },
    "pandas mixed": lambda X: frame(X).astype({NAMES[0]: "int32", NAMES[1]: "float32"}),
    "pandas numbered columns": pd.DataFrame,
    "pandas MultiIndex": lambda X: frame(X).set_index([np.arange(len(X)) // 3, np.arange(len(X))]),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars int": lambda X: pl.DataFrame(X.astype(int), schema=NAMES),
    "pyarrow": arrow,
    "pyarrow in chunks": lambda X: pa.concat_tables([arrow(X[:7]), arrow(X[7:])]),
}


@pytest.mark.slow(keep=16)
@twins
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "shuffled"])
def test_features(twin, kind, in_order):
    assert_same(outcome(twin, KINDS[kind], in_order), plain(twin.name, in_order))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_matrices_of_the_caller_stay_as_they_are(kind):
    given = unsorted(X, kind)
    parts = given.data, given.indices, given.indptr
    before = [part.copy() for part in parts]
    features(given)
    for part, expected in zip(parts, before, strict=True):
        npt.assert_array_equal(part, expected)


@pytest.mark.slow(keep=4)
@twins
@pytest.mark.parametrize(
    "kind",
    [
        "numpy masked",
        "pandas",
        "pandas Int64",
        "pandas Float64",
        "pandas int64[pyarrow]",
        "pandas float[pyarrow]",
        "pyarrow",
        "polars",
        "scipy csr",
    ],
)
def test_missing_values(twin, kind):
    rng = np.random.default_rng(0)
    gaps = {
        name: np.where(rng.random(A.shape) < 0.2, np.nan, A)
        for name, A in (("X", X), ("V", V), ("T", T))
    }
    assert_same(outcome(twin, KINDS[kind], **gaps), outcome(twin, lambda X: X, **gaps))


@twins
@pytest.mark.parametrize(
    "convert",
    [
        lambda X: frame(X > 9).astype("boolean"),
        lambda X: frame(X > 9).astype("bool[pyarrow]"),
        lambda X: X > 9,
    ],
    ids=["boolean", "bool[pyarrow]", "numpy"],
)
def test_truth_values(twin, convert):
    assert_same(outcome(twin, convert), outcome(twin, lambda X: (X > 9).astype(float)))


LETTERS = np.array(list("abcdefgh"))


def with_letters(data, kind):
    rng = np.random.default_rng(0)
    chosen = np.where(
        data.y == 2, rng.choice([1, 6], len(data)), rng.choice([0, 2, 3, 4, 5, 7], len(data))
    )
    letter = pd.Categorical.from_codes(chosen, LETTERS)
    table = TABLES[kind](pd.DataFrame({"noise": rng.normal(size=len(data)), "letter": letter}))
    # From XGBoost 3.4 on polars' Categorical is an error.
    return table.cast({"letter": pl.Enum(LETTERS)}) if kind == "polars" else table


@pytest.mark.parametrize(
    ("kind", "twin"), [("pandas", LIGHTGBM), *((kind, XGBOOST) for kind in TABLES)]
)
def test_categories(kind, twin):
    convert = partial(with_letters, kind=kind)
    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(measure=gb.AP(rel=2), n_estimators=10, **parameters).fit(
        convert(TRAIN), TRAIN.y, TRAIN.qid, eval_set=[(convert(VALI), VALI.y)], eval_qid=[VALI.qid]
    )
    best = gb.evaluate(ranker.measure_, TEST.y, TEST.y == 2, TEST.qid)[ranker.measure_]
    assert ranker.score(convert(TEST), TEST.y, TEST.qid) == best


def with_dictionary(data, null=slice(0, 0)):
    """Return `with_letters` in a column of Arrow's categories, with some letters missing."""
    letters = with_letters(data, "pandas").astype({"letter": object})
    letters.loc[null, "letter"] = None
    column = pd.arrays.ArrowExtensionArray(pa.array(letters["letter"]).dictionary_encode())
    return letters.assign(letter=column), letters.astype({"letter": "category"})


@twins
@pytest.mark.parametrize("null", [slice(0, 0), slice(0, 90)], ids=["", "null"])
def test_categories_that_arrow_backs(twin, null):
    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(measure=gb.AP(rel=2), n_estimators=5, **parameters)
    arrow, plain = with_dictionary(TRAIN, null)
    expected = ranker.fit(plain, TRAIN.y, TRAIN.qid).predict(plain)
    npt.assert_array_equal(ranker.fit(arrow, TRAIN.y, TRAIN.qid).predict(arrow), expected)
    # Categories that do not occur.
    npt.assert_array_equal(ranker.predict(arrow[-9:]), expected[-9:])


@twins
def test_frames_that_arrow_backs_elsewhere(twin, tmp_path):
    """Searches, comparisons, reports, explanations and exported models read them as numbers."""
    plain = frame(np.where(X == 3, np.nan, X)).reset_index(drop=True)
    arrow = plain.convert_dtypes(dtype_backend="pyarrow")
    assert set(arrow.dtypes.astype(str)) == {"int64[pyarrow]"}
    ranker = twin.ranker(n_estimators=2).fit(plain, TRAIN.y, TRAIN.qid)

    def searched(table):
        search = GSearchCV(ranker, {"max_depth": [1, 3]}, scoring="ap", cv=2)
        return search.fit(table, TRAIN.y, TRAIN.qid).cv_results_["mean_test_score"]

    def compared(table):
        rankers = {"a": ranker, "b": twin.ranker(n_estimators=3)}
        found = compare_rankers(table, TRAIN.y, TRAIN.qid, rankers, cv=2, repeats=1, measures="ap")
        return [found.values(name, found.measures[0]) for name in rankers]

    def written(table):
        return write_ltr_plugin(ranker, table, tmp_path / "model.json").read_text()

    for what in (
        searched,
        compared,
        written,
        lambda table: gb.report(ranker, table, TRAIN.y, TRAIN.qid).values,
        lambda table: explain.query(ranker, table[:9], TRAIN.qid[:9]).values,
        lambda table: explain.measure(ranker, table, TRAIN.y, TRAIN.qid),
        lambda table: query_relative_features(table, TRAIN.qid).iloc[:, len(NAMES) :].to_numpy(),
    ):
        npt.assert_equal(*(np.asarray(what(table)).tolist() for table in (arrow, plain)))


def polars_of(dtype):
    return lambda n: pl.DataFrame({"x": np.arange(n), "bad": np.arange(n)}).cast({"bad": dtype})


DAYS = pd.date_range("2020-01-30", periods=len(TRAIN)).to_series(index=range(len(TRAIN)))
# Columns beside one of categories, the missing value in a row of it.
COLUMNS = {
    "nothing": None,
    "text": DAYS.dt.day_name(),
    "times": DAYS,
    "times with a zone": DAYS.dt.tz_localize("UTC"),
    "days": DAYS.dt.date,
    "durations": DAYS - DAYS[0],
    "periods": DAYS.dt.to_period(),
    "intervals": pd.cut(DAYS.dt.day, 3),
    "categories of times": DAYS.astype("category"),
    "text and numbers": DAYS.dt.day_name().where(DAYS.dt.day > 9, 3),
    "tuples": DAYS.dt.day.map(lambda day: (day,)),
}
MADE_BY_PANDAS = [*COLUMNS][6:]


@twins
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("column", COLUMNS)
def test_obeying_the_message_makes_columns_usable(twin, kind, column):
    """LightGBM takes categories of pandas alone: others would end the whole process."""
    table = with_letters(TRAIN, "pandas")
    if column in MADE_BY_PANDAS and kind != "pandas":
        pytest.skip("these are types of pandas")
    if column != "nothing":
        table["bad"] = COLUMNS[column].where(np.arange(len(TRAIN)) != 3)
    table, bad = TABLES[kind](table), "bad" if column != "nothing" else "letter"
    X = TRAIN.X[:, : table.shape[1]]
    fitted, options = twin.ranker(n_estimators=1).fit(X, TRAIN.y, TRAIN.qid), {}
    evals = {"eval_set": [(table, TRAIN.y)], "eval_qid": [TRAIN.qid]}
    # XGBoost takes categories by default from 3.4 on.
    takes_categories = (twin, kind) == (LIGHTGBM, "pandas") or fitted.get_params().get(
        "enable_categorical", False
    )
    if column == "nothing" and takes_categories:
        return
    for call in (
        lambda: fitted.predict(table),
        lambda: twin.ranker().fit(X, TRAIN.y, TRAIN.qid, **evals),
        lambda: twin.ranker().fit(table, TRAIN.y, TRAIN.qid),
    ):
        with pytest.raises(ValueError, match=rf"X has columns .*'{bad}'") as caught:
            call()
    message = str(caught.value)
    for _ in range(2):  # XGBoost's option for categories may be the second message
        advice = re.search(r": (X\S*\.astype\(.*\))(,|$)", message)
        table = eval(advice[1], {"X": table}) if advice else table
        if twin is XGBOOST and "enable_categorical=True" in message:
            options = {"enable_categorical": True}
        try:
            twin.ranker(n_estimators=1, **options).fit(table, TRAIN.y, TRAIN.qid).predict(table)
            return
        except ValueError as error:
            message = str(error)
    pytest.fail(message)


NO_NUMBERS = "X has .*'bad'"
UNUSABLE = {
    # LightGBM would end the whole process at these.
    "polars text": (polars_of(pl.String), ValueError, NO_NUMBERS),
    "polars dates": (polars_of(pl.Date), ValueError, NO_NUMBERS),
    "polars Int128": (polars_of(pl.Int128), ValueError, NO_NUMBERS),
    "polars Float16": (polars_of(pl.Float16), ValueError, NO_NUMBERS),
    "pyarrow nulls": (
        lambda n: pa.table({"x": np.arange(n), "bad": pa.nulls(n)}),
        ValueError,
        NO_NUMBERS,
    ),
    "pandas two of one name": (
        lambda n: pd.DataFrame(np.ones((n, 2)), columns=["bad", "bad"]),
        ValueError,
        "X has two columns 'bad'",
    ),
    "pyarrow two of one name": (
        lambda n: pa.table([np.ones(n), np.ones(n)], ["bad", "bad"]),
        ValueError,
        "X has two columns 'bad'",
    ),
    "pandas two columns qid": (
        lambda n: pd.DataFrame(np.ones((n, 3)), columns=["x", "qid", "qid"]),
        ValueError,
        "X has two columns 'qid'",
    ),
    "pandas two columns of one joined name": (
        lambda n: pd.DataFrame(np.ones((n, 2)), columns=[["a bad", "a"], ["x", "bad x"]]),
        ValueError,
        "X has two columns 'a bad x'",
    ),
    "text": (lambda n: np.full((n, 2), "a"), ValueError, "X is unusable"),
    "complex": (lambda n: np.ones((n, 2), complex), ValueError, "X is unusable"),
    "three dimensions": (lambda n: np.ones((n, 2, 2)), ValueError, "X is unusable"),
    "ragged": (lambda n: [[1.0]] * (n - 1) + [[1.0, 2.0]], ValueError, "X is unusable"),
    "series": (lambda n: pd.Series(np.ones(n)), ValueError, "X is unusable"),
}


@twins
@pytest.mark.parametrize("kind", UNUSABLE)
def test_features_that_no_booster_takes(twin, kind):
    make, error, message = UNUSABLE[kind]
    ranker = twin.ranker()
    with pytest.raises(error, match=message):
        ranker.fit(make(len(TRAIN)), TRAIN.y, TRAIN.qid)
    assert not ranker.__sklearn_is_fitted__()
    good = twin.ranker(n_estimators=1).fit(TRAIN.X[:, :2], TRAIN.y, TRAIN.qid)
    with pytest.raises(error, match=message):
        good.predict(make(len(TEST)))
    with pytest.raises(error, match=message.replace("X ", r"eval_set\[0\] X ", 1)):
        ranker.fit(
            TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=[(make(len(VALI)), VALI.y)], eval_qid=[VALI.qid]
        )


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


# --- grades, query ids, weights, scores -----------------------------------------------------------

ROWS = {
    **{f"numpy {d}": lambda v, d=d: v.astype(d) for d in ("f2", "f4", "u1", "u8", ">i4", "O")},
    "list": lambda v: v.tolist(),
    "strided": lambda v: np.repeat(v, 2)[::2],
    "pandas": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "pandas category": lambda v: pd.Series(v).astype("category"),
    "pandas index": pd.Index,
    "pandas arrow": lambda v: pd.Series(v, dtype="int64[pyarrow]"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow in chunks": lambda v: pa.chunked_array([v[:7], v[7:]]),
}
IDS = {
    "strings": lambda v: np.char.add("query ", v.astype(str)),
    "bytes": lambda v: v.astype("S"),
    "dates": lambda v: v.astype("M8[D]"),
    "pandas string": lambda v: pd.Series(v).astype("string"),
    "pandas dates": lambda v: pd.to_datetime(v, unit="D", utc=True),
    "pandas MultiIndex": lambda v: pd.MultiIndex.from_arrays([v // 5, v % 5]),
    "polars above 2**53": lambda v: pl.Series(v + 2**53),
    "pyarrow above 2**53": lambda v: pa.chunked_array([v[:7] + 2**53, v[7:] + 2**53]),
    "polars text": lambda v: pl.Series(v).cast(pl.String),
    "pyarrow dictionary": lambda v: pa.array(v.astype(str)).dictionary_encode(),
}
# Small ids, for uint8.
QID, VALI_QID, TEST_QID = (
    np.unique(data.qid, return_inverse=True)[1] for data in (TRAIN, VALI, TEST)
)
WEIGHT = 1 + QID % 3


@pytest.mark.parametrize("kind", [*ROWS, *IDS])
def test_evaluate(kind):
    rows, ids = ROWS.get(kind, lambda v: v), IDS.get(kind, ROWS.get(kind))
    scores = np.random.default_rng(0).integers(0, 50, len(TRAIN))
    measures = [gb.GAP(g=(0.5, 0.5)), gb.nDCG(k=5)]
    found = gb.evaluate(measures, rows(TRAIN.y), rows(scores), ids(QID), sample_weight=rows(WEIGHT))
    assert found == gb.evaluate(measures, TRAIN.y, scores, QID, sample_weight=WEIGHT)


def by_rows(twin, rows, ids, features=lambda X: X):
    evals = {twin.eval_weight: [rows(1 + VALI_QID % 2)], twin.eval_start: [rows(VALI.y)]}
    start = TRAIN.y % 2 + np.arange(len(TRAIN)) % 3
    ranker = twin.ranker(n_estimators=3).fit(
        features(X),
        rows(TRAIN.y),
        ids(QID),
        sample_weight=rows(WEIGHT),
        eval_set=[(features(V), rows(VALI.y))],
        eval_qid=[ids(VALI_QID)],
        **{twin.start: rows(start), **evals},
    )
    weight = rows(1 + TEST_QID % 2)
    score = ranker.score(features(T), rows(TEST.y), ids(TEST_QID), sample_weight=weight)
    return ranker.predict(features(T)), twin.curve(ranker), score


@twins
@pytest.mark.parametrize(
    ("rows", "ids", "table"),
    [
        ("pandas", "strings", "polars"),
        ("polars", "polars", "list"),
        ("pyarrow in chunks", "pandas dates", "pandas"),
        ("list", "list", "scipy csr"),
    ],
)
def test_grades_ids_weights_and_scores_to_start_from(twin, rows, ids, table):
    found = by_rows(twin, ROWS[rows], {**ROWS, **IDS}[ids], KINDS[table])
    assert_same(found, by_rows(twin, lambda v: v, lambda v: v))


# --- qid as a column of the frame -----------------------------------------------------------------


def with_column(data, X):
    return pd.DataFrame(X, columns=NAMES).assign(qid=[f"q{i}" for i in data.qid])


@twins
@pytest.mark.parametrize("kind", TABLES)
def test_qid_as_a_column(twin, kind):
    """`qid` is never a feature, for both boosters and every kind of table, as in XGBoost."""
    x, v, t = (TABLES[kind](with_column(data, A)) for data, A in ((TRAIN, X), (VALI, V), (TEST, T)))
    ranker = twin.ranker(n_estimators=3).fit(x, TRAIN.y, eval_set=[(x, TRAIN.y), (v, VALI.y)])
    found = ranker.predict(t), twin.curve(ranker), ranker.score(t, TEST.y)
    assert_same(found, plain(twin.name, True))
    assert ranker.n_features_in_ == len(NAMES)
    assert ranker.n_queries_in_ == TRAIN.n_queries
    if kind == "pandas":
        assert ranker.feature_names_in_.tolist() == NAMES
    for call in (
        lambda: ranker.fit(x, TRAIN.y, TRAIN.qid),
        lambda: ranker.fit(x, TRAIN.y, eval_set=[(v, VALI.y)], eval_qid=[VALI.qid]),
        lambda: ranker.score(t, TEST.y, TEST.qid),
    ):
        with pytest.raises(ValueError, match=r"qid.* is given, and .*X has a column 'qid' too"):
            call()


@twins
@pytest.mark.parametrize("kind", TABLES)
def test_a_renamed_qid_is_missing(twin, kind):
    """scikit-learn's ColumnTransformer renames the column qid."""
    x = TABLES[kind](with_column(TRAIN, X).rename(columns={"qid": "remainder__qid"}))
    with pytest.raises(ValueError, match=r"^qid is missing"):
        twin.ranker().fit(x, TRAIN.y)
