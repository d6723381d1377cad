"""Rows become queries: any ids in any order, weights of queries or rows, grades and recall bases."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import rows_of_queries

from gapboost.queries import MAX_GRADE, checked_grades, checked_scores, grouped_rows, judged

ids = st.one_of(
    st.lists(st.integers(-3, 3).map(lambda i: i + 2**62), min_size=1, max_size=12),
    st.lists(st.sampled_from(["", "a", "b", "äö", "a "]), min_size=1, max_size=12),
    st.lists(st.one_of(st.integers(0, 2), st.sampled_from(["0", "1"]), st.booleans()), min_size=1, max_size=12).map(
        lambda mixed: np.array([*mixed, None], dtype=object)[:-1]
    ),
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(ids)
def test_groups_are_the_oracles(qid):
    expected = rows_of_queries(np.asarray(qid).tolist())
    queries = grouped_rows(qid, len(qid))
    assert queries.ids.tolist() == list(expected)
    assert len(queries) == len(expected)
    assert queries.n_rows == len(qid)
    assert queries.sizes.tolist() == [len(rows) for rows in expected.values()]
    assert queries.offsets.dtype == np.int64
    values = np.arange(len(qid)) * 10
    together = queries.grouped(values)
    pieces = np.split(together, queries.offsets[1:-1])
    assert [piece.tolist() for piece in pieces] == [[10 * row for row in rows] for rows in expected.values()]
    assert queries.ungrouped(together).tolist() == values.tolist()
    assert (queries.rows is None) == (together.tolist() == values.tolist())


def test_ids_of_different_types_stay_apart():
    qid = np.array([1, "1", 1, ("1",), None], dtype=object)[:4]
    assert grouped_rows(qid, 4).ids.tolist() == [1, "1", ("1",)]


def test_ids_that_differ_in_the_last_bit():
    qid = np.array([2**63 - 1, 2**63 - 2, 2**63 - 1])  # the same number in float64, and in 32 bits
    assert grouped_rows(qid, 3).sizes.tolist() == [2, 1]
    assert grouped_rows(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64), 2).sizes.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["U1", "U2", "U3", "U8", ">U3", "S1", "S3", "S4", "S8", "S13"])
def test_strings_of_any_width(dtype):
    rng = np.random.default_rng(0)
    words = np.array(["", "a", "b", "ab", "ba", "abc", "abd", "xxxxxxxz", "xxxxxxxy"]).astype(dtype)
    for qid in (np.repeat(words, 3), np.repeat(words[::2], 2)[::2], rng.choice(words, 50), words[:1]):
        found = grouped_rows(qid, len(qid))
        expected = grouped_rows(qid.astype(object), len(qid))
        assert found.ids.tolist() == expected.ids.tolist()
        np.testing.assert_array_equal(found.offsets, expected.offsets)
        rows = np.arange(len(qid))
        np.testing.assert_array_equal(found.grouped(rows), expected.grouped(rows))


def test_pandas():
    frame = pd.DataFrame({"grade": [0, 1, 2, 1], "qid": ["b", "a", "b", "a"], "w": [1.0, 2.0, 1.0, 2.0]})
    frame.index = [7, 3, 7, 1]  # positions count, not labels
    for qid in (frame.qid, frame.qid.astype("category"), frame.qid.astype("string"), frame.qid.map({"a": 1, "b": 2})):
        data = judged(frame.grade.astype("Int64"), qid, sample_weight=frame.w)
        assert data.grades.tolist() == [0, 2, 1, 1]
        assert data.weights.tolist() == [1, 2]
        assert data.queries.sizes.tolist() == [2, 2]


def test_one_query_without_ids():
    queries = grouped_rows(None, 5)
    assert queries.offsets.tolist() == [0, 5]
    assert queries.rows is None


def test_counts_and_what_they_know():
    data = judged([1, 0, 3, 0, 0, 1], ["b", "a", "b", "a", "c", "c"])
    assert data.counts.tolist() == [[0, 1, 0, 1], [2, 0, 0, 0], [1, 1, 0, 0]]
    assert data.occurring.tolist() == [0, 1, 3]
    assert data.n_contrasts == 2
    assert judged([1, 1, 0, 2], [1, 1, 2, 3]).n_contrasts == 0
    with_missing = judged([1, 0], [1, 2], recall_base={1: (0, 1), 2: (5, 0, 1)})
    assert with_missing.counts.tolist() == [[0, 1, 0], [5, 0, 1]]
    assert with_missing.occurring.tolist() == [0, 1, 2]
    assert judged([1, 0], None, known=(3, "a measure")).counts.tolist() == [[1, 1, 0, 0]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, object])
def test_grades_of_any_dtype(dtype):
    grades = checked_grades(np.array([0, 1, 1], dtype=dtype), "y_true")
    assert grades.dtype == np.int32
    assert grades.tolist() == [0, 1, 1]
    assert checked_grades([MAX_GRADE, 0], "y_true").tolist() == [MAX_GRADE, 0]


def test_scores_keep_their_precision():
    for dtype in (np.float32, np.float64):
        scores = np.linspace(0, 1, 4, dtype=dtype)
        assert checked_scores(scores, 4) is scores
        assert checked_scores(scores[::-1], 4).flags.c_contiguous
    for dtype in (np.int64, np.float16, bool, object, ">f4"):
        assert checked_scores(np.array([0, 1], dtype=dtype), 2).dtype == np.float64


def test_weights_of_queries_or_rows():
    qid = ["b", "a", "b", "c"]
    for given_weights in ([2.0, 0, 1], [2, 0, 2, 1], np.array([2, 0, 2, 1], dtype=np.float32)):
        weights = judged([0, 1, 2, 3], qid, sample_weight=given_weights).weights
        assert weights.dtype == np.float64
        assert weights.tolist() == [2, 0, 1]
    assert judged([0, 1, 2, 3], qid).weights.tolist() == [1, 1, 1]
    # one row a query: the two readings are one
    assert judged([0, 1], [5, 4], sample_weight=[3, 2]).weights.tolist() == [3, 2]
