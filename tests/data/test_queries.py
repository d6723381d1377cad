"""Rows become queries: ids in any order, weights of queries or rows, grades and recall bases."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import rows_of_queries

from gapboost.data.grades import MAX_GRADE, checked_grades
from gapboost.data.queries import grouped_rows
from gapboost.data.query_data import DataSummary, group_by_query
from gapboost.validation import checked_scores

ids = st.one_of(
    st.lists(st.integers(-3, 3).map(lambda i: i + 2**62), min_size=1, max_size=12),
    st.lists(st.sampled_from(["", "a", "b", "äö", "a "]), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab")), min_size=1, max_size=12),
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(ids)
def test_groups_are_the_oracles(qid):
    expected = rows_of_queries(qid)
    queries = grouped_rows(qid, len(qid))
    assert queries.ids.tolist() == list(expected)
    assert len(queries) == len(expected)
    assert queries.n_rows == len(qid)
    assert queries.sizes.tolist() == [len(rows) for rows in expected.values()]
    assert queries.offsets.dtype == np.int64
    values = np.arange(len(qid)) * 10
    together = queries.grouped(values)
    pieces = np.split(together, queries.offsets[1:-1])
    assert [piece.tolist() for piece in pieces] == [
        [10 * row for row in rows] for rows in expected.values()
    ]
    assert queries.ungrouped(together).tolist() == values.tolist()
    assert (queries.rows is None) == (together.tolist() == values.tolist())


DISTINCT = {
    "strings": ["a", "b", "ab", ""],
    "strings that end in NUL": ["a", "a\0", "a\0\0"],
    "integers": [2**63 - 1, 2**63 - 2, -1],
    "unsigned integers": [2**64 - 1, 2**64 - 2],
    "integers beyond 64 bits": [2**200, 2**200 + 1],
    "integers of both signs": [-1, 2**63, 2**63 + 1],
    "decimals": [Decimal("1.10000000000000000001"), Decimal("1.10000000000000000002")],
    "tuples": [(1, 2), (3, 4), (2, 1)],
    "days": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
}
COLUMNS = [list, tuple, lambda ids: np.fromiter(ids, dtype=object, count=len(ids))]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("what", DISTINCT)
def test_ids_stay_what_they_are(what, kind):
    ids = DISTINCT[what]
    found = grouped_rows(kind([*ids, *ids]), 2 * len(ids))
    assert found.ids.tolist() == ids
    assert found.sizes.tolist() == [2] * len(ids)


@pytest.mark.parametrize(
    ("ids", "dtype"),
    [
        ([3, 1, 3], np.int64),
        (["b", "a"], "U1"),
        ([b"b"], "S1"),
        ([1.0], float),
        ([(1, 2)], object),
    ],
    ids=str,
)
def test_ids_of_one_type_come_back_as_an_array_of_it(ids, dtype):
    assert grouped_rows(ids, len(ids)).ids.dtype == dtype


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("given", [[1.0, 0.5], [True, False]], ids=str)
def test_weights_and_masks_are_no_ids(given, kind):
    with pytest.raises(ValueError, match=r"^qid holds .* sample_weight"):
        group_by_query([0, 1], kind(given))


def test_recall_bases_by_any_key_that_names_the_query():
    days = ["2020-01-02", "2020-01-01"]
    counts = [[5, 1], [5, 2]]
    for unit, key in (
        ("us", datetime.datetime.fromisoformat),
        ("D", datetime.date.fromisoformat),
        ("D", np.datetime64),
    ):
        base = {key(day): count for day, count in zip(days, counts, strict=True)}
        found = group_by_query([1, 1], np.array(days, dtype=f"M8[{unit}]"), recall_base=base)
        assert found.base.counts.tolist() == counts
    base = {1: counts[0], np.int64(2): counts[1]}
    assert group_by_query([1, 1], [1, 2], recall_base=base).base.counts.tolist() == counts


def test_one_query_without_ids():
    queries = grouped_rows(None, 5)
    assert queries.offsets.tolist() == [0, 5]
    assert queries.rows is None


def test_counts_and_what_they_know():
    data = group_by_query([1, 0, 3, 0, 0, 1], ["b", "a", "b", "a", "c", "c"])
    assert data.base.counts.tolist() == [[0, 1, 0, 1], [2, 0, 0, 0], [1, 1, 0, 0]]
    assert data.occurring.tolist() == [0, 1, 3]
    assert data.summary.n_mixed_grades == 2
    assert group_by_query([1, 1, 0, 2], [1, 1, 2, 3]).summary.n_mixed_grades == 0
    # The listed documents of grade 0 count where the recall base has fewer.
    assert group_by_query([1, 0, 0], None, recall_base=[[1, 4]]).base.counts.tolist() == [[2, 4]]
    assert group_by_query([0], None, recall_base=[[0]]).base.counts.tolist() == [[1]]
    with_missing = group_by_query([1, 0], [1, 2], recall_base={1: (0, 1), 2: (5, 0, 1)})
    assert with_missing.base.counts.tolist() == [[0, 1, 0], [5, 0, 1]]
    assert with_missing.occurring.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, object]
)
def test_grades_of_any_dtype(dtype):
    grades = checked_grades(np.array([0, 1, 1], dtype=dtype), "y_true")
    assert grades.dtype == np.int32
    assert grades.tolist() == [0, 1, 1]
    assert checked_grades([MAX_GRADE, 0], "y_true").tolist() == [MAX_GRADE, 0]


def test_scores_keep_their_precision():
    for dtype in (np.float32, np.float64):
        scores = np.linspace(0, 1, 4, dtype=dtype)
        assert np.shares_memory(checked_scores(scores, 4), scores)
        assert checked_scores(scores[::-1], 4).flags.c_contiguous
    for dtype in (np.int64, np.float16, bool, object, ">f4"):
        assert checked_scores(np.array([0, 1], dtype=dtype), 2).dtype == np.float64


def test_weights_of_queries_or_rows():
    qid = ["b", "a", "b", "c"]
    for given_weights in ([2.0, 0, 1], [2, 0, 2, 1], np.array([2, 0, 2, 1], dtype=np.float32)):
        weights = group_by_query([0, 1, 2, 3], qid, sample_weight=given_weights).weights
        assert weights.dtype == np.float64
        assert weights.tolist() == [2, 0, 1]
    assert group_by_query([0, 1, 2, 3], qid).weights.tolist() == [1, 1, 1]
    # one row a query: the two readings are one
    assert group_by_query([0, 1], [5, 4], sample_weight=[3, 2]).weights.tolist() == [3, 2]
    differing = group_by_query([0, 1, 2, 3], qid, sample_weight=[1, 0, 3, 4])
    assert differing.weights.tolist() == [2, 0, 4]
    assert differing.row_factors.tolist() == [0.5, 1.5, 1, 1]
    assert differing.row_weights.tolist() == [1, 3, 0, 4]


@pytest.fixture
def rows():
    """Grades, ids, weights of rows and recall bases of five queries of different sizes."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(5), [3, 1, 6, 2, 4])
    y = rng.integers(0, 3, 16)
    base = {q: np.bincount(y[qid == q], minlength=3) + rng.integers(1, 9, 3) for q in range(5)}
    return y, qid, rng.integers(1, 9, 16), base


def test_some_queries_are_those_of_their_rows_alone(rows):
    y, qid, weights, base = rows
    numbers = np.array([0, 2, 3])
    taken = np.isin(qid, numbers)
    whole = group_by_query(y, qid, sample_weight=weights, recall_base=base)
    found = whole.take(np.flatnonzero(taken), numbers)
    alone = group_by_query(y[taken], qid[taken], sample_weight=weights[taken], recall_base=base)
    for name in ("grades", "row_factors", "weights", "row_weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
    np.testing.assert_array_equal(found.base.counts, alone.base.counts)
    assert found.summary == alone.summary


def test_a_summary_of_parts_is_that_of_the_whole(rows):
    y, qid, weights, _ = rows
    parts = [qid < 2, qid >= 2]
    whole, *of_parts = (
        group_by_query(y[part], qid[part], sample_weight=weights[part]).summary
        for part in (slice(None), *parts)
    )
    found = DataSummary.of_parts(of_parts)
    assert found.grades == whole.grades
    assert found[:-1] == pytest.approx(whole[:-1], rel=1e-12)
