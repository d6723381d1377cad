"""Some of the queries of a data set, with documents, weights, recall base and features in order."""

import numpy as np
import pytest

import gapboost as gb
from gapboost._data.judged import judged
from gapboost.evaluation import query_values

N_QUERIES, N = 9, 900
CHOSEN = np.array([1, 2, 5, 8])

GRADES = {
    "whole": lambda rng: rng.integers(0, 4, N),
    "few levels": lambda rng: rng.integers(0, 7, N) / 2,
    "levels by query": lambda rng: rng.integers(0, 40, N) / 16,
}


@pytest.fixture(params=GRADES)
def columns(request):
    """Grades, query ids in random order, weights that vary within queries, and scores."""
    rng = np.random.default_rng(3)
    return (
        GRADES[request.param](rng),
        rng.integers(0, N_QUERIES, N),
        rng.integers(1, 4, N) / 2,
        rng.standard_normal(N),
    )


@pytest.mark.parametrize("form", ["numbers", "mask"])
def test_a_subset_is_what_its_rows_are(columns, form):
    y, qid, weight, scores = columns
    data = judged(y, qid, sample_weight=weight, real=True)
    rows = np.isin(qid, data.queries.ids[CHOSEN])
    alone = judged(y[rows], qid[rows], sample_weight=weight[rows], real=True)
    mask = np.isin(np.arange(N_QUERIES), CHOSEN)
    some = data.subset(mask if form == "mask" else CHOSEN)
    np.testing.assert_array_equal(some.queries.ids, alone.queries.ids)
    np.testing.assert_array_equal(some.queries.offsets, alone.queries.offsets)
    np.testing.assert_array_equal(some.grades, alone.grades)
    np.testing.assert_array_equal(some.row_weights, alone.row_weights)
    np.testing.assert_array_equal(some.weights, alone.weights)
    np.testing.assert_array_equal(some.occurring, alone.occurring)
    assert some.summary == alone.summary
    measures = [gb.AP(rel=0.5), gb.nDCG(k=10), gb.ERR(top=4)]
    grouped = alone.queries.grouped(scores[rows])
    for found, expected in zip(
        *(query_values(measures, one, grouped) for one in (some, alone)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    objective = gb.LambdaRank(gb.AP(rel=0.5))
    gradients = np.empty((2, 2, len(grouped)))
    for one, (grad, hess) in zip((some, alone), gradients, strict=True):
        objective.prepared(one, 1)(grouped, grad, hess)
    np.testing.assert_array_equal(*gradients)


def test_a_subset_keeps_the_recall_base_and_no_row_numbers():
    data = judged(
        [2, 0, 1, 0], ["b", "a", "b", "c"], recall_base={"a": (1, 1), "b": (0, 3, 4), "c": (2, 0)}
    )
    some = data.subset(np.array([0, 2]))
    assert some.queries.ids.tolist() == ["b", "c"]
    assert some.queries.rows is None
    assert some.base.counts.tolist() == [[0, 3, 4], [2, 0, 0]]
    assert some.codes.tolist() == [2, 1, 0]
    assert some.factors is None
