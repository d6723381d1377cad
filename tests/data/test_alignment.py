"""Which query a value belongs to: the index of pandas, users without rows."""

import functools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning
from twins import twins

import gapboost as gb
from gapboost import explain
from gapboost.calibration import CalibratedRanker
from gapboost.comparison import compare_rankers
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV
from gapboost.preprocessing import query_relative_features
from gapboost.xgboost import XGBGAPRanker

N_QUERIES, LENGTH = 20, 10
RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(N_QUERIES), LENGTH)[RNG.permutation(N_QUERIES * LENGTH)]
X = RNG.normal(size=(len(QID), 4))
Y = RNG.integers(0, 4, len(QID))


def value(measure="ap", y=Y, scores=X[:, 0], qid=QID, **given):
    (found,) = gb.evaluate(measure, y, scores, qid, **given).values()
    return found


# --- the index of a Series or DataFrame -----------------------------------------------------------

# In the order of the ids, as groupby makes it; queries first occur in another order.
WEIGHTS = pd.Series(np.random.default_rng(1).random(N_QUERIES) + 0.1, index=range(N_QUERIES))
BY_ROW = WEIGHTS.loc[QID].to_numpy()


@pytest.mark.parametrize("form", ["series", "frame", "reversed", "text"])
def test_weights_of_queries_are_aligned_by_the_index(form):
    weights, qid = WEIGHTS, QID
    if form == "frame":
        weights = WEIGHTS.to_frame()
    elif form == "reversed":
        weights = WEIGHTS[::-1]
    elif form == "text":
        weights, qid = WEIGHTS.rename(str), QID.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        found = value(qid=qid, sample_weight=weights)
    assert found == pytest.approx(value(sample_weight=BY_ROW), abs=1e-15)


@twins
def test_rankers_align_weights_of_queries(twin):
    by_index, by_row = (
        twin.ranker(n_estimators=3).fit(X, Y, QID, sample_weight=w) for w in (WEIGHTS, BY_ROW)
    )
    np.testing.assert_array_equal(by_index.predict(X), by_row.predict(X))
    scores = [by_row.score(X, Y, QID, sample_weight=w) for w in (WEIGHTS, BY_ROW)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-15)


def test_weights_of_rows_keep_their_order():
    index = np.random.default_rng(2).permutation(len(QID))
    assert value(sample_weight=pd.Series(BY_ROW, index=index)) == value(sample_weight=BY_ROW)


@pytest.mark.parametrize("rows", [[0, 1, 2], [0, 0, 1, 2]], ids=["one row a query", "more rows"])
def test_one_rule_for_weights_with_an_index(rows):
    """By the index if it has exactly the ids, else by row, else an error that names a query."""
    ids, relevant = np.array(["a", "b", "c"])[rows], np.array([1, 0, 0])[rows]

    def weighted(weights):
        return value("p@1", relevant, np.ones(len(ids)), ids, sample_weight=weights)

    assert weighted(pd.Series({"c": 10.0, "b": 1.0, "a": 0.0})) == 0
    assert weighted(pd.Series(np.array([3.0, 1.0, 0.0])[rows], index=range(len(ids)))) == 0.75
    for index in (["a", "b", "x"], ["b", "a", "b"]):
        with pytest.raises(ValueError, match=r"^sample_weight .* query 'c'"):
            weighted(pd.Series(1.0, index=index))


def test_weights_of_rounded_ids_are_refused():
    weights = pd.Series([1.0, 2.0], index=[2.0**53, 2.0**53])
    with pytest.raises(ValueError, match=r"^sample_weight has no weight of query"):
        value("p@1", [1, 0, 0], [1, 1, 2], [2**53, 2**53 + 1, 2**53 + 1], sample_weight=weights)


# --- sizes of queries -----------------------------------------------------------------------------

SIZES = np.array([5, 2, 9, 3])
NAMES = ["d", "a", "c", "b"]
ROWS = pd.DataFrame({"x": np.arange(19.0), "user": np.repeat(NAMES, SIZES)})
BY_INDEX = ROWS.set_index("user")
BY_LEVELS = ROWS.set_index(["user", ROWS.index])
BY_PAIRS = ROWS.assign(day=ROWS["user"].str.upper()).set_index(["user", "day"])
IN_ORDER = [
    (BY_INDEX, BY_INDEX.groupby("user", sort=False).size()),
    (ROWS[["x"]], ROWS.groupby("user", sort=False).size()),
    (ROWS[["x"]], ROWS["user"].value_counts(sort=False)),
    (ROWS[["x"]], pd.Series(SIZES)),
    *((table, pd.Series(SIZES, [0, 1, 0, 1])) for table in (ROWS[["x"]], BY_INDEX)),
    (ROWS, pd.Series(SIZES, pd.Index(["d", "a", "d", "a"], name="user"))),
    (BY_INDEX[2:17], pd.Series([3, 2, 9, 1], NAMES)),  # the index shows another order of size
    (BY_INDEX.iloc[::-1], BY_INDEX.iloc[::-1].groupby("user", sort=False).size()),
    (BY_INDEX.loc[["c", "d"]], BY_INDEX.index.value_counts()[:2]),  # the rows are sorted by size
    (ROWS[["x"]][:4], pd.Series([2, 2], ["b", "a"], name="count")),
]
ANY_ORDER = [
    (BY_INDEX, BY_INDEX.groupby("user").size()),
    (BY_INDEX, BY_INDEX.index.value_counts()),
    (BY_INDEX.iloc[::-2], BY_INDEX.iloc[::-2].groupby("user").size()),
    (BY_INDEX, BY_INDEX.groupby("user").size().to_frame()),
    (BY_LEVELS, BY_LEVELS.groupby("user").size()),
    (BY_PAIRS, BY_PAIRS.groupby(["user", "day"]).size()),
    (ROWS, ROWS.groupby("user").size()),
    (pl.DataFrame(ROWS), ROWS.groupby("user").size()),
]
BY_SIZE = [
    *((ROWS[["x"]], ROWS["user"].value_counts(ascending=rises)) for rises in (True, False)),
    (ROWS[["x"]].to_numpy(), pl.DataFrame(ROWS)["user"].value_counts(sort=True)["count"]),
]


@pytest.mark.parametrize("case", range(len(IN_ORDER)))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_sizes_in_the_order_of_the_rows(case):
    table, sizes = IN_ORDER[case]
    found = query_relative_features(table, group=sizes, columns=["x"])
    expected = query_relative_features(table, group=np.asarray(sizes), columns=["x"])
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("case", range(len(ANY_ORDER)))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_sizes_are_aligned_by_the_ids_of_the_rows(case):
    table, sizes = ANY_ORDER[case]
    plain = table.to_pandas() if isinstance(table, pl.DataFrame) else table
    ids = plain["user"] if "user" in plain else plain.index.get_level_values("user")
    found = query_relative_features(table, group=sizes, columns=["x"])
    expected = query_relative_features(table, ids.to_numpy(), columns=["x"])
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("case", range(len(BY_SIZE)))
def test_sizes_that_are_sorted_by_size_are_refused(case):
    table, sizes = BY_SIZE[case]
    with pytest.raises(ValueError, match=r"^group .*order.*qid"):
        query_relative_features(table, group=sizes)


@twins
def test_every_entry_point_looks_at_the_index_of_sizes(twin):
    table, y = BY_INDEX, np.arange(19) % 2
    sizes, right = BY_SIZE[1][1], table.groupby("user", sort=False).size()
    table = table.reset_index(drop=True)
    ranker = twin.ranker(n_estimators=2, n_jobs=1).fit(table, y, group=right)
    by_ids = twin.ranker(n_estimators=2, n_jobs=1).fit(table, y, BY_INDEX.index)
    np.testing.assert_array_equal(ranker.predict(table), by_ids.predict(table))
    aligned = twin.ranker(n_estimators=2, n_jobs=1).fit(BY_INDEX, y, group=sizes)
    np.testing.assert_array_equal(aligned.predict(table), by_ids.predict(table))
    assert ranker.score(BY_INDEX, y, group=sizes) == ranker.score(table, y, BY_INDEX.index)
    scores = np.arange(19.0)
    found = gb.evaluate("ap", pd.Series(y, BY_INDEX.index), scores, group=sizes)
    assert found == gb.evaluate("ap", y, scores, BY_INDEX.index)
    evals = {"eval_set": [(table.copy(), y)], "eval_group": [sizes]}
    search = GSearchCV(twin.ranker(), {}, scoring="ap", cv=2)
    for call in (
        lambda: twin.ranker().fit(table, y, group=sizes),
        lambda: twin.ranker().fit(table, y, group=right, **evals),
        lambda: ranker.score(table, y, group=sizes),
        lambda: search.fit(table, y, group=sizes),
        lambda: gb.evaluate("ap", y, scores, group=sizes),
        lambda: compare_rankers(table, y, None, {"a": ranker, "b": by_ids}, group=sizes),
    ):
        with pytest.raises(ValueError, match=r"group.* order.*qid"):
            call()


COUNTS = {i: [100, 50, 50, 50 + 30 * i] for i in range(N_QUERIES)}


@pytest.mark.parametrize("columns", [[0, 1, 2, 3], [3, 1, 2, 0], [1, 2, 3]])
def test_a_data_frame_of_the_recall_base_has_ids_and_grades(columns):
    frame = pd.DataFrame.from_dict(COUNTS, orient="index")[columns]
    assert value(recall_base=frame) == value(recall_base=COUNTS)
    array = np.array([COUNTS[i] for i in pd.unique(QID)])
    assert value(recall_base=frame[::-1]) == value(recall_base=array)


@pytest.mark.parametrize("missing", ["skip", "zero"])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_a_recall_base_by_dates(unit, missing):
    """numpy makes whole numbers of nanoseconds."""
    days = pd.to_datetime(["2026-01-05", "2026-01-02", "2026-01-03"]).as_unit(unit)
    base = {day: [2, 1 + i] for i, day in enumerate(days)}
    given = {"missing_queries": missing, "per_query": True}
    found = gb.evaluate(
        "recall@1", [1, 0, 1], [3, 2, 1], days[[0, 0, 1]], recall_base=base, **given
    )
    expected = [1, 0.5, 0] if missing == "zero" else [1, 0.5]
    np.testing.assert_array_equal(found["recall@1"], expected)
    assert found.to_pandas().index.tolist() == days[: len(expected)].tolist()


def test_a_series_of_the_recall_base_has_ids_and_grades_in_its_index():
    frame = pd.DataFrame.from_dict(COUNTS, orient="index")
    assert value(recall_base=frame.stack()[::-1]) == value(recall_base=COUNTS)
    assert value(recall_base=pd.Series(COUNTS)[::-1]) == value(recall_base=COUNTS)
    # As groupby makes it, without grades that a query does not have.
    every = pd.DataFrame({"qid": QID, "grade": Y})
    assert value(recall_base=every.groupby(["qid", "grade"]).size()) == value()


def test_a_table_of_the_recall_base_with_other_labels_is_refused():
    frame = pd.DataFrame.from_dict(COUNTS, orient="index")
    for twice in (
        pd.concat([frame, frame[3:4]]),
        frame[[0, 1, 2, 3, 3]],
        frame.stack().iloc[[3, 3]],
    ):
        with pytest.raises(ValueError, match=r"^recall_base .*3\)?.* twice"):
            value(recall_base=twice)
    for other in (pd.Series(5, index=range(N_QUERIES)), pl.DataFrame(np.ones((N_QUERIES, 20)))):
        with pytest.raises(ValueError, match=r"^recall_base is .*mapping"):
            value(recall_base=other)
    with pytest.raises(ValueError, match=r"^recall_base lacks query"):
        value(recall_base=frame.rename(str))
    with pytest.raises(ValueError, match=r"^recall_base .*grades"):
        value(recall_base=frame.rename(columns=str))


# --- queries of the recall base that have no rows -------------------------------------------------

RECALL_BASE = {i: [100, 20] for i in range(2 * N_QUERIES)}
BINARY = (Y > 1).astype(int)


def recall(**given):
    return value("recall@10", BINARY, recall_base=RECALL_BASE, **given)


def of_every_query(measure, base, **given):
    given |= {"recall_base": base, "missing_queries": "zero", "per_query": True}
    return gb.evaluate(measure, BINARY, X[:, 0], QID, **given)


def test_grades_and_scores_that_are_swapped_raise_a_warning():
    rng = np.random.default_rng(0)
    scores, grades, qid = rng.random(60), rng.integers(0, 3, 60), np.repeat([1, 2], 30)
    with pytest.warns(UserWarning, match=r"^y_true has a different grade in nearly each"):
        gb.evaluate("gap", scores, grades, qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gb.evaluate("gap", grades, scores, qid)
        gb.evaluate("gap", scores, rng.random(60), qid)  # fractional grades
        gb.evaluate("gap", scores[:5], grades[:5])


@pytest.mark.parametrize(
    "scores", [[0.3, -0.2, 1.5], [399.25, 400, 401.5], np.linspace(0, 1, 99)], ids=str
)
def test_errors_of_swapped_grades_and_scores_ask_for_it(scores):
    grades = np.arange(len(scores)) % 3
    with pytest.raises(ValueError, match=r"^y_true .*swapped\?$"):
        gb.evaluate("gap", scores, grades)
    with pytest.raises(ValueError, match=r"^y_true (?!.*swapped)"):
        gb.evaluate("gap", grades - 1, scores)
    with pytest.raises(ValueError, match=r"^y_true (?!.*swapped)"):
        gb.evaluate("gap", -np.abs(scores), np.asarray(scores) / 7)


def test_queries_without_rows_raise_a_warning():
    with pytest.warns(UserWarning, match=r"^recall_base has 20 queries without rows"):
        found = recall()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recall(missing_queries="skip") == found
        assert value("recall@10", BINARY, recall_base={i: [100, 20] for i in range(20)}) == found


def test_queries_without_rows_count_zero():
    assert recall(missing_queries="zero") == pytest.approx(BINARY.sum() / 20 / 40, abs=1e-15)
    by_query = of_every_query("recall@10", RECALL_BASE)
    (values,) = by_query.values()
    assert list(by_query.qid) == [*pd.unique(QID), *range(20, 40)]
    assert not values[20:].any()


@pytest.mark.parametrize(("empty", "expected"), [(0, 0.0), (1, 1.0), ("skip", np.nan)])
def test_a_query_without_rows_and_relevant_documents_is_empty(empty, expected):
    base = {**{i: {0: 100, 1: 20} for i in range(20)}, "x": {0: 5}, "y": {0.5: 3}}
    (values,) = of_every_query("ap", base, empty=empty).values()
    np.testing.assert_array_equal(values[20:], [expected, expected])


def test_weights_for_queries_without_rows_are_unknown():
    with pytest.raises(ValueError, match=r"^missing_queries "):
        recall(missing_queries="zero", sample_weight=BY_ROW)
    with pytest.raises(ValueError, match=r"^missing_queries is 'count'; expected"):
        recall(missing_queries="count")


# --- labels of rows -------------------------------------------------------------------------------

LABELLED = {
    "X": pd.DataFrame(X).add_prefix("x"),
    **{name: pd.Series(values) for name, values in [("y", Y), ("qid", QID), ("scores", X[:, 0])]},
    "sample_weight": pd.Series(BY_ROW),
    "position": pd.Series(np.arange(len(QID)) % LENGTH),
}
RANKER = XGBGAPRanker(n_estimators=2)


@functools.cache
def fitted():
    return RANKER.fit(LABELLED["X"], Y, QID)


TAKE_ROWS = {
    "fit": (LGBMGAPRanker(n_estimators=2, verbose=-1).fit, "X y qid sample_weight position"),
    "score": (lambda **given: fitted().score(**given), "X y qid sample_weight"),
    "search": (
        GSearchCV(RANKER, {"learning_rate": [0.1]}, scoring="ap", cv=2).fit,
        "X y qid sample_weight position",
    ),
    "evaluate": (value, "y scores qid sample_weight"),
    "gradients": (
        lambda y, scores, qid: gb.LambdaRank("ap").gradients(y, scores, qid),
        "y scores qid",
    ),
    "ranks": (gb.SoftRank("ap").ranks, "y_score qid"),
    "report": (lambda **given: gb.report(fitted(), **given), "X y qid"),
    "monitoring": (
        lambda **rows: gb.report(fitted(), **rows, X_train=LABELLED["X"].copy(), qid_train=QID),
        "X qid",
    ),
    "explain": (lambda **given: explain.measure(fitted(), **given, measure="ap"), "X y qid"),
    "calibration": (lambda **given: CalibratedRanker(fitted()).fit(**given), "X y qid"),
    "features": (query_relative_features, "X qid"),
}


@pytest.mark.parametrize("function", TAKE_ROWS)
def test_row_labels_in_another_order_are_refused(function):
    """Rows are taken by position: values of other rows would come together."""
    call, names = TAKE_ROWS[function]
    good = {name: LABELLED["scores" if name == "y_score" else name] for name in names.split()}
    rows = np.random.default_rng(3).permutation(len(QID))
    together = {name: values.iloc[rows] for name, values in good.items()}
    call(**together)
    for name in good:
        with pytest.raises(ValueError, match=r"row labels of .* in another order"):
            call(**{**good, name: together[name]})


# --- columns of shape (N, 1) ----------------------------------------------------------------------


def test_columns_of_two_dimensions_are_flattened():
    for kind in (np.asarray, pd.DataFrame):
        for given in ({"y": Y}, {"scores": X[:, 0]}):
            with pytest.warns(DataConversionWarning):
                assert value(**{k: kind(v[:, None]) for k, v in given.items()}) == value()
    with pytest.warns(DataConversionWarning):
        np.testing.assert_array_equal(
            query_relative_features(X, QID[:, None]), query_relative_features(X, QID)
        )
