"""Containers of features, grades and query ids: the model of plain arrays, or a clear error."""

import pickle
import warnings
from functools import cache, partial

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import xgboost
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, shuffled, twins

import gapboost as gb
from gapboost.model_selection import GSearchCV, measure_scorer, simplex_grid

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


# --- features -------------------------------------------------------------------------------------


def memory_mapped(X, tmp_path):
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def read_only(X, tmp_path):
    X = X.copy()
    X.flags.writeable = False
    return X


def unsorted(X, kind):
    """A sparse matrix whose indices are in no order, with every value in two halves."""
    X = kind(X)
    index = np.concatenate(
        [np.r_[i:j, i:j][::-1] for i, j in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    return kind((X.data[index] / 2, X.indices[index], 2 * X.indptr), shape=X.shape)


def frame(X):
    return pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1])


DTYPES = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 longdouble >f4 >f8 >i4 O".split()  # noqa: SIM905
KINDS = {
    **{f"numpy {dtype}": lambda X, _, dtype=dtype: X.astype(dtype) for dtype in DTYPES},
    "numpy Fortran order": lambda X, _: np.asfortranarray(X),
    "numpy read-only": read_only,
    "numpy memory-mapped": memory_mapped,
    "numpy every other column": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "numpy every other row": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "numpy masked": lambda X, _: np.ma.masked_array(X),
    "list": lambda X, _: X.tolist(),
    "tuples": lambda X, _: tuple(map(tuple, X)),
    "scipy csr": lambda X, _: sparse.csr_matrix(X),
    "scipy csc": lambda X, _: sparse.csc_matrix(X),
    "scipy csr float32": lambda X, _: sparse.csr_matrix(X.astype(np.float32)),
    "scipy csr array": lambda X, _: sparse.csr_array(X),
    "scipy csc array": lambda X, _: sparse.csc_array(X),
    "scipy csr unsorted": lambda X, _: unsorted(X, sparse.csr_matrix),
    "scipy csc unsorted": lambda X, _: unsorted(X, sparse.csc_matrix),
    "pandas": lambda X, _: frame(X),
    "pandas int": lambda X, _: frame(X.astype(int)),
    "pandas Int64": lambda X, _: frame(X).astype("Int64"),
    "pandas Float64": lambda X, _: frame(X).astype("Float64"),
    "pandas mixed": lambda X, _: frame(X).astype(
        {NAMES[0]: "int32", NAMES[1]: "float32", NAMES[2]: "UInt8"}
    ),
    "pandas numbered columns": lambda X, _: pd.DataFrame(X),
    "pandas MultiIndex": lambda X, _: frame(X).set_index(
        [np.arange(len(X)) // 3, np.arange(len(X))]
    ),
    "polars": lambda X, _: pl.DataFrame(X, schema=NAMES),
    "polars int": lambda X, _: pl.DataFrame(X.astype(int), schema=NAMES),
    "pyarrow": lambda X, _: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "pyarrow int8": lambda X, _: pa.table(dict(zip(NAMES, X.astype(np.int8).T, strict=True))),
    "pyarrow batch": lambda X, _: pa.record_batch(dict(zip(NAMES, X.T, strict=True))),
    "pyarrow in chunks": lambda X, _: pa.concat_tables(
        pa.table(dict(zip(NAMES, part.T, strict=True))) for part in (X[:7], X[7:])
    ),
}


@pytest.mark.slow(keep=20)
@twins
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "shuffled"])
def test_features(twin, kind, in_order, tmp_path):
    found = outcome(twin, lambda X: KINDS[kind](X, tmp_path), in_order)
    for a, b in zip(found, plain(twin.name, in_order), strict=True):
        npt.assert_array_equal(a, b)


MISSING = {
    "numpy masked": lambda X: np.ma.masked_invalid(X),
    "pandas": frame,
    "pandas Int64": lambda X: frame(X).astype("Int64"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES).fill_nan(None),
    "pyarrow": lambda X: pa.table(
        {n: pa.array(c, from_pandas=True) for n, c in zip(NAMES, X.T, strict=True)}
    ),
    "scipy": sparse.csr_matrix,
}


@pytest.mark.slow(keep=4)
@twins
@pytest.mark.parametrize("kind", MISSING)
def test_missing_values(twin, kind):
    rng = np.random.default_rng(0)
    gaps = {
        name: np.where(rng.random(A.shape) < 0.2, np.nan, A)
        for name, A in (("X", X), ("V", V), ("T", T))
    }
    for a, b in zip(
        outcome(twin, MISSING[kind], **gaps), outcome(twin, lambda X: X, **gaps), strict=True
    ):
        npt.assert_array_equal(a, b)


@twins
@pytest.mark.parametrize(
    "convert", [lambda X: frame(X > 9), lambda X: frame(X > 9).astype("boolean"), lambda X: X > 9]
)
def test_truth_values(twin, convert):
    found, expected = outcome(twin, convert), outcome(twin, lambda X: (X > 9).astype(float))
    for a, b in zip(found, expected, strict=True):
        npt.assert_array_equal(a, b)


LETTERS = np.array(list("abcdefgh"))


def letters(data):
    rng = np.random.default_rng(0)
    chosen = np.where(
        data.y == 2, rng.choice([1, 6], len(data)), rng.choice([0, 2, 3, 4, 5, 7], len(data))
    )
    return {"noise": rng.normal(size=len(data)), "letter": LETTERS[chosen]}


CATEGORIES = {
    ("pandas", twin): lambda data: pd.DataFrame(letters(data)).astype(
        {"letter": pd.CategoricalDtype(LETTERS)}
    )
    for twin in BY_NAME
} | {
    ("polars Enum", "xgboost"): lambda data: pl.DataFrame(letters(data)).cast(
        {"letter": pl.Enum(LETTERS.tolist())}
    ),
    ("polars", "xgboost"): lambda data: pl.DataFrame(letters(data)).cast(
        {"letter": pl.Categorical}
    ),
    ("pyarrow", "xgboost"): lambda data: pa.table(
        {
            name: pa.array(c).dictionary_encode() if c.dtype.kind == "U" else c
            for name, c in letters(data).items()
        }
    ),
}


# Versions of XGBoost that take Categorical of polars.
TAKE_CATEGORICAL = ("3.0.", "3.1.", "3.2.", "3.3.")


@pytest.mark.parametrize(("kind", "booster"), CATEGORIES)
def test_categories(kind, booster):
    if (kind, booster) == ("polars", "xgboost") and not xgboost.__version__.startswith(
        TAKE_CATEGORICAL
    ):
        pytest.skip("XGBoost takes polars' Enum alone from 3.4 on, and says so")
    twin, convert = BY_NAME[booster], CATEGORIES[kind, booster]
    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(measure=gb.AP(rel=2), n_estimators=10, **parameters).fit(
        convert(TRAIN), TRAIN.y, TRAIN.qid, eval_set=(convert(VALI), VALI.y), eval_qid=VALI.qid
    )
    best = gb.evaluate(ranker.measure_, TEST.y, TEST.y == 2, TEST.qid)[ranker.measure_]
    assert ranker.score(convert(TEST), TEST.y, TEST.qid) == best


def table_of(column):
    return lambda n: pa.table({"x": np.arange(n), "bad": column(n)})


def polars_of(dtype):
    return lambda n: pl.DataFrame({"x": np.arange(n), "bad": np.arange(n)}).cast({"bad": dtype})


UNUSABLE = {
    # LightGBM would end the whole process at these.
    "polars text": (polars_of(pl.String), ValueError, "X has .*'bad'"),
    "polars dates": (polars_of(pl.Date), ValueError, "X has .*'bad'"),
    "polars decimals": (polars_of(pl.Decimal(10, 2)), ValueError, "X has .*'bad'"),
    "polars Int128": (polars_of(pl.Int128), ValueError, "X has .*'bad'"),
    "pyarrow text": (table_of(lambda n: pa.array(["a"] * n)), ValueError, "X has .*'bad'"),
    "pyarrow nulls": (table_of(pa.nulls), ValueError, "X has .*'bad'"),
    "polars lazy": (lambda n: pl.LazyFrame({"x": range(n)}), TypeError, r"X\.collect\(\)"),
    "pandas dates": (
        lambda n: pd.DataFrame({"bad": pd.date_range("2020", periods=n)}),
        ValueError,
        "X has .*'bad'",
    ),
    "pandas text": (lambda n: pd.DataFrame({"bad": ["a"] * n}), ValueError, "bad"),
    "columns of one name": (
        lambda n: pd.DataFrame(np.ones((n, 2)), columns=["a", "a"]),
        ValueError,
        "X .*'a'",
    ),
    "text": (lambda n: np.full((n, 2), "a"), ValueError, "X has dtype"),
    "dates": (lambda n: np.zeros((n, 2), "M8[D]"), ValueError, "X has dtype"),
    "complex": (lambda n: np.ones((n, 2), complex), ValueError, "X has dtype"),
    "one dimension": (np.ones, ValueError, "X has shape"),
    "three dimensions": (lambda n: np.ones((n, 2, 2)), ValueError, "X has shape"),
    "ragged": (lambda n: [[1.0]] * (n - 1) + [[1.0, 2.0]], ValueError, "X "),
    "series": (lambda n: pd.Series(np.ones(n)), ValueError, "X has shape"),
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
    with pytest.raises((error, KeyError), match="bad" if kind == "pandas text" else message):
        good.predict(make(len(TEST)))
    with pytest.raises(error, match=message.replace("X ", r"eval_set\[0\] X ", 1)):
        ranker.fit(
            TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=[(make(len(VALI)), VALI.y)], eval_qid=[VALI.qid]
        )


@twins
@pytest.mark.parametrize(("of", "load"), [("polars", "collect"), ("dask", "compute")])
def test_lazy_frames_are_refused_as_such_where_they_hold_the_ids(twin, of, load):
    """Not with a word about a qid that is there."""
    frame = pd.DataFrame(TRAIN.X, columns=NAMES).assign(qid=TRAIN.qid)
    lazy = (
        pl.LazyFrame(frame)
        if of == "polars"
        else pytest.importorskip("dask.dataframe").from_pandas(frame)
    )
    fitted = twin.fitted(n_estimators=1)
    search = GSearchCV(twin.ranker(), {}, scoring="ap", cv=2)
    for call in (twin.ranker().fit, fitted.score, search.fit):
        with pytest.raises(TypeError, match=rf"^X is a .*X\.{load}\(\)"):
            call(lazy, TRAIN.y)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Float16], ids=str)
def test_types_of_columns_at_which_lightgbm_ends_the_process(dtype):
    source = pl.DataFrame({"x": np.arange(len(TRAIN)), "bad": np.arange(len(TRAIN)) % 3})
    table = (
        source.cast({"bad": pl.String}).cast({"bad": dtype})
        if dtype == pl.Categorical
        else source.cast({"bad": dtype})
    )
    fitted = LIGHTGBM.ranker(n_estimators=1).fit(source, TRAIN.y, TRAIN.qid)
    evals = {"eval_set": (table, TRAIN.y), "eval_qid": TRAIN.qid}
    search = GSearchCV(LIGHTGBM.ranker(), {}, scoring=gb.AP(), cv=2)
    for call, name in (
        (lambda: LIGHTGBM.ranker().fit(table, TRAIN.y, TRAIN.qid), "X"),
        (lambda: fitted.predict(table), "X"),
        (lambda: LIGHTGBM.ranker().fit(source, TRAIN.y, TRAIN.qid, **evals), r"eval_set\[0\] X"),
        (lambda: search.fit(table, TRAIN.y, TRAIN.qid), "X"),
    ):
        with pytest.raises(ValueError, match=f"^{name} has a column 'bad'"):
            call()


# --- columns have the names of training -----------------------------------------------------------

FRAMES = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "polars": lambda X, names: pl.DataFrame(X, schema=[str(name) for name in names]),
    "pyarrow": lambda X, names: pa.table(dict(zip(map(str, names), X.T, strict=True))),
}
OTHER_COLUMNS = {
    # names, one that the message has
    "reversed": (NAMES[::-1], NAMES[-1]),
    "one renamed": ([*NAMES[:4], "new", *NAMES[5:]], "new"),
    "one missing": (NAMES[:-1], NAMES[-1]),
    "two more": ([*NAMES, "new", "newer"], "new"),
    "numbers": (range(len(NAMES)), NAMES[0]),
}


def columns(n):
    return np.resize(X[:, 0], (len(TRAIN), n))


@pytest.mark.slow(keep=4)
@twins
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("trained_on", FRAMES)
def test_other_columns_than_in_training_are_refused(twin, trained_on, kind):
    # Both boosters take the columns of some of these by position, without a word.
    x = FRAMES[trained_on](X, NAMES)
    ranker = twin.ranker(n_estimators=2).fit(x, TRAIN.y, TRAIN.qid)
    npt.assert_array_equal(
        ranker.predict(FRAMES[kind](T, NAMES)), ranker.predict(FRAMES[trained_on](T, NAMES))
    )
    for names, differs in OTHER_COLUMNS.values():
        other = FRAMES[kind](columns(len(names)), names)
        evals = {"eval_set": [(other, TRAIN.y)], "eval_qid": [TRAIN.qid]}
        for called, call in (
            ("X", partial(ranker.predict, other)),
            ("X", partial(ranker.score, other, TRAIN.y, TRAIN.qid)),
            (r"eval_set\[0\] X", partial(twin.ranker().fit, x, TRAIN.y, TRAIN.qid, **evals)),
        ):
            with pytest.raises(ValueError, match=f"^{called} .*{differs!r}"):
                call()


@pytest.mark.slow(keep=2)
@twins
@pytest.mark.parametrize("kind", FRAMES)
def test_a_model_with_other_columns_is_not_continued(twin, kind, tmp_path):
    ranker = twin.ranker(n_estimators=2).fit(FRAMES[kind](X, NAMES), TRAIN.y, TRAIN.qid)
    path = tmp_path / "model.json"
    booster = ranker.booster_ if twin is LIGHTGBM else ranker.get_booster()
    booster.save_model(path)
    for model in (ranker, booster, str(path)):
        again = {twin.continued: model}
        with pytest.raises(ValueError, match=r"X has the column |feature_names mismatch"):
            twin.ranker().fit(FRAMES[kind](X[:, ::-1], NAMES[::-1]), TRAIN.y, TRAIN.qid, **again)
        assert (
            twin.ranker().fit(FRAMES[kind](X, NAMES), TRAIN.y, TRAIN.qid, **again).n_queries_in_
            == TRAIN.n_queries
        )


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
    with pytest.raises(
        ValueError, match=f"X has the column {NAMES[-1]!r} where {NAMES[0]!r} was in training"
    ):
        again.predict(frame(T)[NAMES[::-1]])
    numbered = twin.ranker(n_estimators=2).fit(pd.DataFrame(X), TRAIN.y, TRAIN.qid)
    with pytest.raises(ValueError, match="'1' where '0' was in training"):
        numbered.predict(pd.DataFrame(T).rename(columns={0: 1, 1: 0}))


# --- whole numbers --------------------------------------------------------------------------------


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f8", "longdouble", "O"])
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
    search = GSearchCV(
        LIGHTGBM.ranker(extra_trees=False), {"n_estimators": [2]}, scoring=gb.AP(), cv=2
    )
    assert search.fit(column.astype(dtype), grades, TRAIN.qid).best_score_ > 0.999


# --- grades, query ids, weights, scores -----------------------------------------------------------

ROWS = {
    **{
        f"numpy {d}": lambda v, d=d: v.astype(d)
        for d in ("f2", "f4", "f8", "i1", "i8", "u1", "u8", ">i4", ">f8", "O")
    },
    "list": lambda v: v.tolist(),
    "read-only": lambda v: read_only(v, None),
    "strided": lambda v: np.repeat(v, 2)[::2],
    "pandas": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "pandas Float32": lambda v: pd.Series(v, dtype="Float32"),
    "pandas category": lambda v: pd.Series(v).astype("category"),
    "pandas index": pd.Index,
    "pandas arrow": lambda v: pd.Series(v, dtype="int64[pyarrow]"),
    "polars": pl.Series,
    "polars Int8": lambda v: pl.Series(v, dtype=pl.Int8),
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
    "polars text": lambda v: pl.Series(v).cast(pl.String),
    "polars Categorical": lambda v: pl.Series(v).cast(pl.String).cast(pl.Categorical),
    "pyarrow dictionary": lambda v: pa.array(v.astype(str)).dictionary_encode(),
}
# Small ids, for int8.
QID, VALI_QID, TEST_QID = (
    np.unique(data.qid, return_inverse=True)[1] for data in (TRAIN, VALI, TEST)
)
WEIGHT = 1 + QID % 3
START = TRAIN.y % 2 + np.arange(len(TRAIN)) % 3


def by_rows(twin, rows, ids, features=lambda X: X):
    v = rows(VALI.y), ids(VALI_QID)
    ranker = twin.ranker(n_estimators=3).fit(
        features(X),
        rows(TRAIN.y),
        ids(QID),
        sample_weight=rows(WEIGHT),
        eval_set=[(features(V), v[0])],
        eval_qid=[v[1]],
        **{
            twin.start: rows(START),
            twin.eval_weight: [rows(1 + VALI_QID % 2)],
            twin.eval_start: [rows(VALI.y)],
        },
    )
    score = ranker.score(
        features(T), rows(TEST.y), ids(TEST_QID), sample_weight=rows(1 + TEST_QID % 2)
    )
    return ranker.predict(features(T)), twin.curve(ranker), score


@cache
def plain_rows(name):
    return by_rows(BY_NAME[name], lambda v: v, lambda v: v)


@pytest.mark.slow(keep=16)
@twins
@pytest.mark.parametrize("kind", [*ROWS, *IDS])
def test_grades_ids_weights_and_scores_to_start_from(twin, kind):
    found = by_rows(twin, ROWS.get(kind, lambda v: v), IDS.get(kind, ROWS.get(kind)))
    for a, b in zip(found, plain_rows(twin.name), strict=True):
        npt.assert_array_equal(a, b)


MIXED = {"list": "pyarrow", "polars": "pandas", "scipy csr": "pyarrow in chunks"}


@pytest.mark.slow(keep=2)
@twins
@pytest.mark.parametrize("table", MIXED)
def test_features_and_grades_of_different_libraries(twin, table):
    rows = ROWS[MIXED[table]]
    found = by_rows(twin, rows, rows, lambda X: KINDS[table](X, None))
    for a, b in zip(found, plain_rows(twin.name), strict=True):
        npt.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", [*ROWS, *IDS])
def test_evaluate(kind):
    rows, ids = ROWS.get(kind, lambda v: v), IDS.get(kind, ROWS.get(kind))
    scores = np.random.default_rng(0).integers(0, 50, len(TRAIN))
    measures = [gb.GAP(g=(0.5, 0.5)), gb.nDCG(k=5)]
    found = gb.evaluate(measures, rows(TRAIN.y), rows(scores), ids(QID), sample_weight=rows(WEIGHT))
    assert found == gb.evaluate(measures, TRAIN.y, scores, QID, sample_weight=WEIGHT)


def test_masked_rows_are_missing():
    masked = np.ma.masked_array([0, 1, 2, 0], mask=[0, 0, 0, 1])
    with pytest.raises(ValueError, match="y_true holds 1 masked values"):
        gb.evaluate(gb.AP(), masked, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="qid holds 1 masked values"):
        gb.evaluate(gb.AP(), masked.data, [1, 2, 3, 4], masked)


# --- qid as a column of the frame, or of its index ------------------------------------------------


def with_column(data, X):
    return pd.DataFrame(X, columns=NAMES).assign(qid=[f"q{i}" for i in data.qid])


TABLES = {
    "pandas": lambda table: table,
    "polars": pl.DataFrame,
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


@twins
@pytest.mark.parametrize("kind", TABLES)
def test_qid_as_a_column(twin, kind):
    """`qid` is never a feature, for both boosters and every kind of table, as in XGBoost."""
    x, v, t = (TABLES[kind](with_column(data, A)) for data, A in ((TRAIN, X), (VALI, V), (TEST, T)))
    ranker = twin.ranker(n_estimators=3).fit(x, TRAIN.y, eval_set=[(x, TRAIN.y), (v, VALI.y)])
    scores, curve, score = plain(twin.name, True)
    npt.assert_array_equal(ranker.predict(t), scores)
    npt.assert_array_equal(twin.curve(ranker), curve)
    assert ranker.score(t, TEST.y) == score
    assert ranker.n_features_in_ == len(NAMES)
    assert ranker.n_queries_in_ == TRAIN.n_queries
    if kind == "pandas":
        assert ranker.feature_names_in_.tolist() == NAMES
    for call in (
        lambda: ranker.fit(x, TRAIN.y, TRAIN.qid),
        lambda: ranker.fit(x, TRAIN.y, eval_set=(v, VALI.y), eval_qid=VALI.qid),
        lambda: ranker.score(t, TEST.y, TEST.qid),
    ):
        with pytest.raises(ValueError, match=r"qid.* is given, and .*X has a column 'qid' too"):
            call()


@pytest.mark.slow
@twins
@pytest.mark.parametrize("kind", TABLES)
def test_a_renamed_qid_is_no_feature(twin, kind):
    """scikit-learn's ColumnTransformer renames the column qid; a model would learn from the ids."""
    renamed = with_column(TRAIN, X).assign(qid=TRAIN.qid).rename(columns={"qid": "remainder__qid"})
    x = TABLES[kind](renamed)
    renamed_qid = "X has a column 'remainder__qid'.*verbose_feature_names_out=False"
    ranker = twin.ranker(n_estimators=3)
    train = TABLES[kind](frame(X))
    evals = {"eval_set": [(x, TRAIN.y)], "eval_qid": [TRAIN.qid]}
    ranker.fit(train, TRAIN.y, TRAIN.qid)
    for call in (
        lambda: ranker.predict(x),
        lambda: ranker.score(x, TRAIN.y, TRAIN.qid),
        lambda: twin.ranker().fit(x, TRAIN.y),
        lambda: twin.ranker().fit(x, TRAIN.y, TRAIN.qid),
        lambda: twin.ranker().fit(train, TRAIN.y, TRAIN.qid, **evals),
    ):
        with pytest.raises(ValueError, match=renamed_qid):
            call()


@twins
def test_a_column_transformer_keeps_qid(twin):
    x = with_column(TRAIN, X)
    half = NAMES[: len(NAMES) // 2]
    scaled = ColumnTransformer(
        [("scaled", StandardScaler(), half)],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    pipeline = make_pipeline(
        scaled.set_output(transform="pandas"), twin.ranker(n_estimators=3)
    ).fit(x, TRAIN.y)
    assert pipeline[-1].n_features_in_ == len(NAMES)
    assert pipeline[-1].n_queries_in_ == TRAIN.n_queries
    pipeline.set_params(columntransformer__verbose_feature_names_out=True)
    with pytest.raises(ValueError, match="X has a column 'remainder__qid'"):
        pipeline.fit(x, TRAIN.y)


@pytest.mark.slow(keep=1)
@twins
def test_searches_with_qid_as_a_column(twin):
    """It goes where the frame goes: scikit-learn's tools need no routing."""
    x, y, ids = with_column(TRAIN, X).assign(qid=TRAIN.qid), TRAIN.y, TRAIN.qid
    ranker, target, grid = (
        twin.ranker(n_estimators=3),
        measure_scorer(gb.AP()),
        {"g": simplex_grid(2, 2)},
    )
    ours = GSearchCV(ranker, {**grid, "n_estimators": [3]}, scoring=gb.AP(), cv=3).fit(x, y)
    same = GSearchCV(ranker, {**grid, "n_estimators": [3]}, scoring=gb.AP(), cv=3).fit(X, y, ids)
    theirs = GridSearchCV(ranker, grid, scoring=target, cv=GroupKFold(3)).fit(x, y, groups=ids)
    for name in ("mean_test_score", "rank_test_score"):
        npt.assert_array_equal(ours.cv_results_[name], same.cv_results_[name])
        npt.assert_array_equal(ours.cv_results_[name], theirs.cv_results_[name])
    assert ours.score(x, y) == same.score(X, y, ids) == theirs.score(x, y)
    own = cross_val_score(ranker, x, y, groups=ids, cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(ranker, X, y, cv=GroupKFold(3), params={"qid": ids, "groups": ids})
    npt.assert_array_equal(own, routed)
