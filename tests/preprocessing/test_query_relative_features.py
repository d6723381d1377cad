"""Query-relative features against pandas' groupby, for any rows, ids and tables."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

from gapboost.preprocessing import QueryRelativeFeatures, query_relative_features

KINDS = ("zscore", "rank")
kinds = pytest.mark.parametrize("kind", KINDS)


def by_groupby(X, qid, kind):
    frame = pd.DataFrame(np.asarray(X, dtype=np.float64))
    groups = frame.groupby(np.asarray(qid))
    if kind == "zscore":
        found = (frame - groups.transform("mean")) / groups.transform("std", ddof=0)
    else:
        found = (groups.rank() - 1) / (groups.transform("count") - 1)
    return found.mask((groups.transform("nunique") <= 1) & frame.notna(), 0.0).to_numpy()


def table(n, dtype=np.float64):
    """Return columns of all kinds: ties, constants, NaN, an offset, large values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)).astype(dtype)
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 0.1
    X[:, 3] = rng.exponential(size=n) ** 5
    X[:, 4] *= X[:, 4] > 1
    X[:, 5] += 100  # with more, the sums of pandas lose digits
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def check(X, qid, kind, **options):
    found = query_relative_features(X, qid, kinds=[kind], **options)
    n = X.shape[1]
    np.testing.assert_array_equal(found[:, :n], X)
    # One rounding of the output in float32.
    tolerance = 1e-6 if X.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(
        found[:, n:], by_groupby(X, qid, kind), rtol=tolerance, atol=tolerance
    )
    assert found.dtype == X.dtype


IDS = {
    "in order": np.sort(np.random.default_rng(0).integers(0, 90, 900)),
    "any order": np.random.default_rng(0).integers(0, 90, 900),
    "strings": np.array([f"q{i}" for i in np.random.default_rng(0).integers(0, 90, 900)]),
    "single documents": np.random.default_rng(0).permutation(900),
    "one list": np.zeros(900),
}


@kinds
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ids", IDS)
def test_equals_groupby(ids, dtype, kind):
    check(table(900, dtype), IDS[ids], kind)


@pytest.mark.slow(keep=1)
@kinds
@pytest.mark.parametrize(("n", "n_queries"), [(30_000, 6_000), (50_000, 1)])
def test_many_queries_and_one_long_list(n, n_queries, kind):
    qid = np.random.default_rng(0).integers(0, n_queries, n)
    X = table(n)
    check(X, qid, kind)


@kinds
@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324])
def test_any_scale(kind, scale):
    found = query_relative_features(
        np.array([[-1.0], [0.0], [1.0]]) * scale, group=[3], kinds=[kind]
    )
    expected = {"zscore": [-np.sqrt(1.5), 0.0, np.sqrt(1.5)], "rank": [0.0, 0.5, 1.0]}[kind]
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-15, atol=1e-15)


@kinds
def test_a_large_offset_costs_no_digits(kind):
    values = np.array([[0.0], [1.0], [5.0]])
    found, expected = (
        query_relative_features(X, group=[3], kinds=[kind])[:, 1]
        for X in (values + 2.0**50, values)
    )
    np.testing.assert_array_equal(found, expected)


@kinds
def test_memory_layouts_and_types(kind):
    X, qid = table(900), IDS["any order"]
    expected = query_relative_features(X, qid, kinds=[kind])
    for same in (
        np.asfortranarray(X),
        X[::-1][::-1],
        X.astype(object),
        X.astype(">f8"),
        np.ma.masked_invalid(X),
    ):
        np.testing.assert_array_equal(query_relative_features(same, qid, kinds=[kind]), expected)
    whole = np.arange(900)[:, None] * 3
    found, expected = (
        query_relative_features(v, qid, kinds=[kind]) for v in (whole, whole.astype(float))
    )
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


def test_group_sizes_and_several_kinds():
    X, sizes = table(900), [100, 1, 799]
    both = query_relative_features(X, group=sizes, kinds=KINDS, columns=[5, 0])
    qid = np.repeat([0, 1, 2], sizes)
    for place, kind in enumerate(KINDS):
        expected = by_groupby(X[:, [5, 0]], qid, kind)
        np.testing.assert_allclose(
            both[:, 20 + 2 * place : 22 + 2 * place], expected, rtol=1e-9, atol=1e-9
        )
    assert both.shape == (900, 24)


# --- data frames ----------------------------------------------------------------------------------

COLUMNS = {
    "bm25": [1.0, 3.0, 5.0, 2.0],
    "clicks": [1, None, 2, 7],
    "brand": ["a", "b", "a", "a"],
    "fresh": [True, False, True, False],
}
NAMES = [*COLUMNS, *(f"{name}_zscore_in_query" for name in ("bm25", "clicks", "fresh"))]
PANDAS = pd.DataFrame(COLUMNS, [3, 3, 1, 0]).astype({"clicks": "Int64", "brand": "category"})
POLARS = pl.DataFrame(COLUMNS).cast({"brand": pl.Categorical})
FRAMES = {"pandas": PANDAS, "polars": POLARS, "arrow": POLARS.to_arrow()}
FRAME_QID = ["x", "y", "x", "y"]
EXPECTED = np.array([[-1, -1, 0], [1, np.nan, 0], [1, 1, 0], [-1, 0, 0]])


@pytest.mark.parametrize("column", [None, FRAME_QID, [0, 1, 0, 1]])
@pytest.mark.parametrize("library", FRAMES)
def test_data_frames(library, column):
    """A column qid holds the queries and stays; also one of numbers gets no new features."""
    frame = FRAMES[library]
    if column is not None:
        add = {"pandas": "assign", "polars": "with_columns"}.get(library)
        series = pl.Series(column)
        frame = getattr(frame, add)(qid=series) if add else frame.append_column("qid", [column])
    found = query_relative_features(frame, FRAME_QID if column is None else None)
    assert type(found) is type(frame)
    names = found.column_names if library == "arrow" else list(found.columns)
    raw_names = [*NAMES[:4], *(["qid"] if column else [])]
    assert names == [*raw_names, *NAMES[4:]]
    new = [np.asarray(found[name], dtype=float) for name in NAMES[4:]]
    np.testing.assert_array_equal(np.transpose(new), EXPECTED)
    raw = found[raw_names] if library == "pandas" else found.select(raw_names)
    assert raw.equals(frame)
    if library == "pandas":
        assert list(found.index) == [3, 3, 1, 0]
    if column is not None:
        with pytest.raises(ValueError, match="qid is given, and X has a column 'qid' too"):
            query_relative_features(frame, FRAME_QID)


def test_float32_columns_of_a_frame_stay_float32():
    frame = PANDAS[["bm25"]].astype(np.float32)
    assert set(query_relative_features(frame, FRAME_QID).dtypes) == {np.dtype(np.float32)}
    mixed = query_relative_features(PANDAS.astype({"bm25": np.float32}), FRAME_QID)
    assert mixed["bm25"].dtype == np.float32
    assert mixed["bm25_zscore_in_query"].dtype == np.float64


def test_columns_by_name_leave_texts_alone():
    frame = PANDAS.assign(title=["a", "b", "c", "d"])
    assert list(query_relative_features(frame, FRAME_QID).columns[5:]) == NAMES[4:]
    found = query_relative_features(frame, FRAME_QID, columns=["fresh", "bm25"], kinds=["rank"])
    assert list(found.columns[5:]) == ["fresh_rank_in_query", "bm25_rank_in_query"]
    assert found["title"].tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library):
    X, qid = table(900)[:, :2], IDS["strings"]
    names = ["x0", "x1", "x0_zscore_in_query", "x1_zscore_in_query"]
    transformer = QueryRelativeFeatures().set_output(transform=library)
    found = transformer.fit_transform(X, qid=qid)
    assert type(found).__module__.startswith(library)
    assert list(found.columns) == names == transformer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy(), query_relative_features(X, qid))
    for frame in (PANDAS, POLARS):
        found = clone(transformer).fit_transform(frame, qid=FRAME_QID)
        assert type(found).__module__.startswith(library)
        assert list(found.columns) == NAMES


# --- a transformer --------------------------------------------------------------------------------


def test_attributes_clone_and_pickle():
    transformer = QueryRelativeFeatures(kinds=KINDS).fit(PANDAS, qid=FRAME_QID)
    assert transformer.n_features_in_ == 4
    assert transformer.feature_names_in_.tolist() == NAMES[:4]
    assert transformer.columns_.tolist() == [0, 1, 3]
    assert transformer.median_list_length_ == 2
    again = pickle.loads(pickle.dumps(transformer))
    pd.testing.assert_frame_equal(
        *(t.transform(PANDAS, qid=FRAME_QID) for t in (again, transformer))
    )
    assert repr(clone(transformer)) == "QueryRelativeFeatures(kinds=('zscore', 'rank'))"
    with pytest.raises(ValueError, match="feature names should match"):
        transformer.transform(PANDAS.rename(columns={"bm25": "score"}), qid=FRAME_QID)


def test_a_warning_where_lists_are_far_shorter():
    X = table(90)
    transformer = QueryRelativeFeatures().fit(X, group=[30] * 3)
    with pytest.warns(
        UserWarning, match="the median list has 14 documents, and 30 in fit; expected whole lists"
    ):
        transformer.transform(X[:14], group=[14])
    transformer.transform(X[:15], group=[15])


@pytest.mark.parametrize("values", [[-np.inf, 0.0], [-1.7e308, 1.7e308], [np.inf, np.inf]])
def test_zscores_that_are_not_finite_are_refused(values):
    X = table(90)
    X[[12, 17], 3] = values
    with pytest.raises(ValueError, match=r"^X has no 'x3_zscore_in_query' in row 1\d, "):
        query_relative_features(X, np.arange(90) // 10)
    query_relative_features(X, np.arange(90) // 10, columns=[0, 1])


def test_other_bad_tables():
    for X, options, named in (
        (sparse.csr_matrix(np.eye(4)), {}, r"for X, .*toarray\(\)"),
        (np.zeros((4, 0)), {}, "0 feature"),
        (np.zeros(4), {}, "^X "),
        (np.full((4, 2), "a", object), {}, "to float: 'a'"),
        (PANDAS, {"columns": ["brand"]}, "^columns .*'brand'"),
    ):
        with pytest.raises((ValueError, TypeError), match=named):
            query_relative_features(X, FRAME_QID, **options)


# --- columns that would silently be others ----------------------------------------------------


def test_columns_with_integer_names_keep_their_order():
    frame = pd.DataFrame(table(90)[:, :3], columns=[7, 3, 5])
    transformer = QueryRelativeFeatures().fit(frame, group=[90])
    names = ["7", "3", "5", *(f"{name}_zscore_in_query" for name in (7, 3, 5))]
    assert list(transformer.transform(frame, group=[90]).columns) == names
    with pytest.raises(ValueError, match="feature names should match"):
        transformer.transform(frame[[3, 5, 7]], group=[90])
    with pytest.raises(ValueError, match="two columns '7'"):
        transformer.fit(frame.rename(columns={3: "7"}), group=[90])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_second_column_of_one_name_is_refused(library):
    frame = FRAMES[library][["bm25"]]
    once = query_relative_features(frame, FRAME_QID)
    with pytest.raises(ValueError, match=r"^X has the column 'bm25_zscore_in_query' already"):
        query_relative_features(once, FRAME_QID, columns=["bm25"])
    with pytest.raises(ValueError, match=r"^columns is \['bm25', 'bm25'\]"):
        query_relative_features(frame, FRAME_QID, columns=["bm25", "bm25"])
    with pytest.raises(ValueError, match=r"^qid is empty"):
        query_relative_features(frame[:0], FRAME_QID[:0])


def test_columns_that_hold_no_numbers_any_more_are_named():
    """A column with None is one of objects, as a service may build it."""
    frame = pd.DataFrame(table(90)[:, :3], columns=list("abc"))
    qid = np.arange(90) // 10
    fitted = QueryRelativeFeatures().fit(frame, qid=qid)
    with pytest.raises(ValueError, match=r"X has numbers in \['b', 'c'\]"):
        fitted.transform(frame.astype({"a": object}), qid=qid)
    with pytest.raises(ValueError, match=r"^columns is None, and X has numbers in \[\]"):
        QueryRelativeFeatures().fit(frame.astype(object), qid=qid)


class OneList(QueryRelativeFeatures):
    """Treat all rows as one list in scikit-learn's checks; users get an error without qid."""

    def fit(self, X, y=None, qid=None):
        return super().fit(X, y, np.zeros(_num_samples(X)) if qid is None else qid)

    def transform(self, X, qid=None):
        return super().transform(X, np.zeros(_num_samples(X)) if qid is None else qid)

    def fit_transform(self, X, y=None, qid=None):
        return self.fit(X, y, qid).transform(X, qid)


CANNOT_APPLY = {
    "check_methods_subset_invariance": "a value depends on the other documents of its list"
}


@pytest.mark.slow(keep=10)
@pytest.mark.filterwarnings("ignore:the median list has")
@parametrize_with_checks([OneList()], expected_failed_checks=lambda estimator: CANNOT_APPLY)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "Int64", "int64[pyarrow]", "polars"])
def test_whole_numbers_that_would_become_equal_are_refused(kind):
    # Times in nanoseconds.
    times = [2**60 + 1, 2**60 + 2, 5, 6]
    X = {
        "array": lambda: np.array(times)[:, None],
        "list": lambda: [[time] for time in times],
        "polars": lambda: pl.DataFrame({"time": [*times[:3], None]}),
        "pandas": lambda: pd.DataFrame({"time": times}),
    }.get(kind, lambda: pd.DataFrame({"time": [*times[:3], None]}, dtype=kind))()
    with pytest.raises(ValueError, match=r"^X.* equal in float64"):
        query_relative_features(X, [1, 1, 2, 2])
