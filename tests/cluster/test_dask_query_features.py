"""Query-relative features of Dask collections against those of one table."""

from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import gapboost.preprocessing
from gapboost.dask import query_relative_features

KINDS = ("zscore", "rank")
N_QUERIES = 12

assert_frame_equal = partial(pd.testing.assert_frame_equal, check_exact=True)


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(partition_of_query, seed=0, ids=lambda query: query):
    """A frame of features, query ids and partitions; rows of a partition are shuffled."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.repeat(np.arange(N_QUERIES), rng.integers(1, 9, N_QUERIES)))
    query = query[np.argsort(partition_of_query[query], kind="stable")]
    frame = pd.DataFrame(
        rng.integers(0, 5, (len(query), 3)).astype(np.float32), columns=["a", "b", "c"]
    )
    frame.loc[::7, "b"] = np.nan
    frame["kind"] = pd.Categorical.from_codes(rng.integers(0, 2, len(query)), ["x", "y"])
    frame["qid"] = [ids(q) for q in query.tolist()]
    return frame, partition_of_query[query]


def partitioned(frame, partition, n_partitions):
    parts = [dask.delayed(frame[partition == p]) for p in range(n_partitions)]
    return dd.from_delayed(parts, meta=frame[:0])


def local(X, qid=None, **parameters):
    return gapboost.preprocessing.query_relative_features(X, qid, **parameters)


@pytest.mark.parametrize("seed", range(5))
def test_columns_do_not_depend_on_the_partitions(seed):
    """Some partitions are empty."""
    n_partitions = seed + 1
    partition_of_query = np.random.default_rng(seed).integers(0, n_partitions, N_QUERIES)
    frame, partition = rows(partition_of_query, seed)
    sizes = tuple(np.bincount(partition, minlength=n_partitions).tolist())

    found = query_relative_features(partitioned(frame, partition, n_partitions), kinds=KINDS)
    assert found.npartitions == n_partitions
    expected = local(frame, kinds=KINDS)
    assert_frame_equal(found.compute(), expected)
    assert found.dtypes.tolist() == expected.dtypes.tolist()

    X = frame[["a", "b", "c"]].to_numpy()
    blocks = da.from_array(X, chunks=(sizes, 2))
    arrays = query_relative_features(
        blocks, da.from_array(frame.qid.to_numpy(), chunks=(sizes,)), kinds=KINDS
    )
    assert arrays.chunks == (sizes, (9,))
    expected = local(X, frame.qid, kinds=KINDS)
    assert arrays.dtype == expected.dtype == np.float32
    assert_array_equal(arrays.compute(), expected)


def test_query_ids_beside_a_data_frame_and_chosen_columns():
    frame, partition = rows(np.arange(N_QUERIES) // 4, ids=lambda query: f"query {query}")
    whole = partitioned(frame, partition, 3)
    X = frame.drop(columns="qid")
    found = query_relative_features(whole.drop(columns="qid"), whole.qid, columns=["c", "a"])
    assert_frame_equal(found.compute(), local(X, frame.qid, columns=["c", "a"]))


def test_divisions_are_kept():
    frame, _ = rows(np.arange(N_QUERIES))
    ends = np.cumsum(frame.groupby("qid").size()).tolist()
    whole = dd.from_pandas(frame, npartitions=1).repartition(
        divisions=[0, *ends[:-1], len(frame) - 1]
    )
    found = query_relative_features(whole)
    assert found.divisions == whole.divisions
    assert_frame_equal(found.compute(), local(frame))


@pytest.mark.parametrize("ids", [int, str, lambda query: (query, "a")], ids=["int", "str", "tuple"])
def test_a_split_query_is_an_error_when_it_is_computed(ids):
    frame, _ = rows(np.zeros(N_QUERIES, dtype=int), ids=ids)
    sizes = (len(frame) // 2, len(frame) - len(frame) // 2)
    qid = np.fromiter(frame.qid, dtype=object, count=len(frame))
    split = len(set(qid[: sizes[0]]) & set(qid[sizes[0] :]))
    assert split > 1
    lazy = query_relative_features(
        da.from_array(frame[["a"]].to_numpy(), chunks=(sizes, 1)),
        da.from_array(qid, chunks=(sizes,)),
    )
    with pytest.raises(
        ValueError,
        match=rf"^qid has {split} queries split between partitions, such as .* 0 and 1; exp",
    ):
        lazy.compute()
    with pytest.raises(ValueError, match=r"^qid has .* split between partitions"):
        lazy.blocks[0].compute()


def test_the_words_of_the_error_work():
    frame, _ = rows(np.zeros(N_QUERIES, dtype=int))
    X = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(ValueError, match=r"expected each query whole .*: X\.shuffle\('qid'\)"):
        query_relative_features(X).compute()
    found = query_relative_features(X.shuffle("qid"))
    assert_frame_equal(found.compute().sort_index(), local(frame))


def test_errors():
    frame, partition = rows(np.arange(N_QUERIES) // 4)
    X = partitioned(frame, partition, 3)
    with pytest.raises(ValueError, match=r"^qid is missing; expected a Dask array"):
        query_relative_features(X.drop(columns="qid"))
    with pytest.raises(
        TypeError, match=r"^X is a pandas\.DataFrame; expected a Dask array or dataframe"
    ):
        query_relative_features(frame)
    with pytest.raises(ValueError, match=r"^columns holds 'd', which is no column of X"):
        query_relative_features(X, columns=["d"])
    frame.loc[partition == 1, "b"] = np.inf
    with pytest.raises(
        ValueError, match=r"^in partition 1, X holds an infinite value in the column 'b', row 0"
    ):
        query_relative_features(partitioned(frame, partition, 3)).compute()
