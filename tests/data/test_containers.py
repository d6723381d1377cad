"""Containers of features, grades and query ids: the model of plain arrays, or a clear error."""

from functools import cache, partial

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from tables import NAMES, TABLES, frame, whole, with_letters
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, booster_of, shuffled, twins

import gapboost as gb
from gapboost import explain
from gapboost.comparison import compare_rankers
from gapboost.data import features
from gapboost.export import write_ltr_plugin
from gapboost.model_selection import GSearchCV
from gapboost.preprocessing import query_relative_features

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
    **{f"pandas {kind}": lambda X, kind=kind: frame(X).astype(kind) for kind in (">f4", ">i8")},
    "pandas numbered columns": pd.DataFrame,
    "pandas MultiIndex": lambda X: frame(X).set_index([np.arange(len(X)) // 3, np.arange(len(X))]),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars int": lambda X: pl.DataFrame(X.astype(int), schema=NAMES),
    "pyarrow": arrow,
    "pyarrow batch": lambda X: arrow(X).to_batches()[0],
    "pyarrow in chunks": lambda X: pa.concat_tables([arrow(X[:7]), arrow(X[7:])]),
}


@pytest.mark.slow(keep=16)
@twins
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "shuffled"])
def test_features(twin, kind, in_order):
    assert_same(outcome(twin, KINDS[kind], in_order), plain(twin.name, in_order))


@twins
@pytest.mark.parametrize("kind", ["numpy f4", "scipy csc array"])
@pytest.mark.filterwarnings("ignore:X .*feature names")
def test_names_on_one_side_only(twin, kind):
    """Columns are taken by position: of evaluation sets, predictions, and models to continue."""
    ranker = twin.ranker(n_estimators=2)

    def outcome(first, second):
        watched = {"eval_set": [(second(V), VALI.y)], "eval_qid": [VALI.qid]}
        fitted = ranker.fit(first(X), TRAIN.y, TRAIN.qid, **watched)
        found = fitted.predict(second(T)), twin.curve(fitted)
        before = {twin.continued: booster_of(fitted)}
        again = ranker.fit(second(X), TRAIN.y, TRAIN.qid, **before)
        return *found, again.predict(T)

    expected = outcome(KINDS["numpy f4"], KINDS["numpy f4"])
    assert_same(outcome(KINDS[kind], frame), expected)
    assert_same(outcome(frame, KINDS[kind]), expected)


@pytest.mark.filterwarnings("ignore:.*gblinear.*")
def test_columns_of_a_linear_model():
    """XGBoost predicts by fewer of them without a word, and fails in continuing with a frame."""
    ranker = XGBOOST.ranker(n_estimators=2, booster="gblinear", max_depth=None)
    before = ranker.fit(X, TRAIN.y, TRAIN.qid).get_booster()
    ranker.fit(frame(X), TRAIN.y, TRAIN.qid, xgb_model=before)
    npt.assert_array_equal(ranker.predict(T), ranker.predict(frame(T)))
    with pytest.raises(ValueError, match=r"^X has 22 columns; expected 23"):
        ranker.predict(T[:, 1:])


def test_frames_of_numbers_and_categories_are_not_copied():
    """A copy would take longer than the prediction of a few rows."""
    table = frame(X).assign(word=pd.Categorical(["a"] * len(X)), code=pd.Categorical([1] * len(X)))
    assert features(table) is table


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


@pytest.mark.slow(keep=1)
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


@twins
@pytest.mark.parametrize("kind", TABLES)
def test_a_renamed_qid_is_missing(twin, kind):
    """scikit-learn's ColumnTransformer renames the column qid."""
    x = TABLES[kind](with_column(TRAIN, X).rename(columns={"qid": "remainder__qid"}))
    with pytest.raises(ValueError, match=r"^qid is missing; .*made 'remainder__qid' of it"):
        twin.ranker().fit(x, TRAIN.y)
