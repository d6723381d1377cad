"""Every member of a data set keeps to its documents, however rows are brought together."""

from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import gapboost as gb
from gapboost.data import RankingDataset
from gapboost.measures.labels import grade_limit

RNG = np.random.default_rng(4)
N = 60
DOCUMENT = np.arange(N)
QID = RNG.permutation(np.repeat(list("gapboost"), [1, 2, 4, 8, 15, 9, 11, 10])[:N])
GRADES = RNG.integers(0, 4, N)
TABLES = {
    "array": lambda columns: np.column_stack(columns),
    "sparse": lambda columns: sparse.csr_matrix(np.column_stack(columns)),
    "pandas": lambda columns: pd.DataFrame(dict(enumerate(columns))),
    "polars": lambda columns: pl.DataFrame({f"c{i}": c for i, c in enumerate(columns)}),
}
LABELS = {
    "one": (lambda y: y, [gb.GAP()]),
    "fractional": (lambda y: y / 4, [gb.GAP()]),
    "array": (
        lambda y: np.column_stack((y, 3 - y)),
        [gb.OfLabel(gb.AP(), 0), gb.OfLabel(gb.AP(), 1)],
    ),
    "pandas": (
        lambda y: pd.DataFrame({"a": y, "b": 3 - y}),
        [gb.OfLabel(gb.AP(), "a"), gb.OfLabel(gb.AP(), "b")],
    ),
}


def read(table):
    """Return a table as an array."""
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("table", TABLES)
def test_members_keep_to_their_documents(table, labels):
    make, measures = LABELS[labels]
    data = RankingDataset.of(
        TABLES[table]([DOCUMENT, -DOCUMENT]),
        make(GRADES),
        QID,
        sample_weight=1.0 + DOCUMENT,
        init_score=DOCUMENT / 8,
        position=[f"slot {i % 7}" for i in DOCUMENT],
        limit=grade_limit(measures),
    )
    data = replace(data, docid=DOCUMENT.astype(str))
    queries = data.query_data.queries
    assert queries.ids.tolist() == list(dict.fromkeys(QID))
    grouped = data.grouped()
    chosen = np.array([1, 3, 4])
    for found, ids in ((data, QID), (grouped, QID), (grouped.select(chosen), queries.ids[chosen])):
        documents = read(found.X)[:, 0].astype(int)
        assert sorted(documents) == DOCUMENT[np.isin(QID, ids)].tolist()
        npt.assert_array_equal(read(found.X)[:, 1], -documents)
        npt.assert_array_equal(found.qid, QID[documents])
        npt.assert_array_equal(read(found.y), read(make(GRADES))[documents])
        npt.assert_array_equal(found.init_score, documents / 8)
        npt.assert_array_equal(found.docid, documents.astype(str))
        slots = [found.positions.ids[code] for code in found.positions.codes]
        assert slots == [f"slot {i % 7}" for i in documents]
        of_queries = found.query_data
        by_query = documents if found is not data else documents[queries.rows]
        npt.assert_allclose(of_queries.row_weights, 1.0 + by_query, rtol=1e-12)
        for label, expected in zip(found.labels, read(make(GRADES)).reshape(N, -1).T, strict=True):
            npt.assert_array_equal(label, expected[by_query])
        sizes = [np.sum(query == QID) for query in of_queries.queries.ids]
        npt.assert_array_equal(of_queries.queries.sizes, sizes)
    assert grouped.grouped() is grouped


def test_grades_of_a_file_are_checked_when_they_are_used():
    data = RankingDataset(np.zeros((2, 1)), np.array([0, 300]), np.array([1, 1]))
    assert data.n_queries == 1
    with pytest.raises(ValueError, match="y holds 300 in row 1"):
        _ = data.query_data
    with pytest.raises(ValueError, match="inconsistent"):
        RankingDataset(data.X, data.y, data.qid[1:])
