"""Parts of a fit on a cluster, without a cluster: layout, tie keys, files, and the exchange."""

import os
import queue
import re
import socket
import sys
import threading
from multiprocessing import AuthenticationError
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gapboost as gb
from gapboost._boosters.rows import RankingRows
from gapboost._data.judged import Whole, judged
from gapboost.dask import exchange, training
from gapboost.dask.columns import Columns, categories_of
from gapboost.dask.exchange import Coordinator, Exchange, PeerLost
from gapboost.dask.layout import LIMIT, PartitionLayout, layout_of, partition_workers, query_workers
from gapboost.dask.shards import make_shard, survey
from gapboost.dask.storage import dump, dump_rows, load, load_rows
from gapboost.objectives import tie_order

pytestmark = pytest.mark.timeout(120)

NAMES = ("y", "qid", "sample_weight", "start", "position")


def counted(parts):
    """The census of partitions given as lists of query ids."""
    ids = [np.array(part) for part in parts]
    return layout_of(
        [survey(np.arange(len(i)) % 3, i, None, None, None, NAMES) for i in ids], NAMES
    )


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.lists(st.integers(0, 30), max_size=40), min_size=1, max_size=8).filter(any),
    n_workers=st.integers(1, 5),
)
def test_every_query_has_one_owner_and_its_rows_keep_their_order(parts, n_workers):
    found = counted(parts)
    rows = [q for part in parts for q in part]
    queries = judged(np.zeros(len(rows)), rows).queries  # as a local ranker sees them
    np.testing.assert_array_equal(found.sizes, queries.sizes)
    np.testing.assert_array_equal(found.begins, queries.offsets[:-1])
    documents = np.array([len(part) for part in parts])
    owner = query_workers(
        found, partition_workers(documents, [None] * len(parts), n_workers), n_workers
    )
    assert owner.shape == found.sizes.shape
    assert set(owner.tolist()) <= set(range(n_workers))
    # What pieces bring together on a worker: its queries in the order of the whole, with all of
    # their rows.
    for w in range(n_workers):
        codes = []
        for part, known in zip(parts, found.by_partition(), strict=True):
            if part:
                y, kept = np.zeros(len(part)), owner[known.codes] == w
                arguments = known, kept, ("X", "y"), Columns(1, (), {}, "X")
                codes.append(
                    make_shard(
                        np.zeros((len(part), 1)), y, np.array(part), None, None, None, *arguments
                    ).code
                )
        together = np.concatenate(codes)
        own = np.flatnonzero(owner == w)
        np.testing.assert_array_equal(
            np.bincount(together, minlength=len(owner))[own], found.sizes[own]
        )
        assert len(together) == found.sizes[own].sum()
        if len(own):
            np.testing.assert_array_equal(
                judged(np.zeros(len(together)), together).queries.ids, own
            )
    # No worker has more than its share but by one query, or for the sake of partitions that need
    # not be cut.
    loads = np.bincount(owner, found.sizes, minlength=n_workers)
    single = n_workers  # documents that had a worker to themselves
    assert (
        loads.max()
        <= max(LIMIT * len(rows) / n_workers, len(rows) / n_workers + found.sizes.max()) + single
    )
    assert 1 not in loads or len(rows) == 1


def test_partitions_that_respect_queries_stay_whole():
    parts = [[0] * 50 + [1] * 50, [2] * 90, [3] * 110, [4] * 100]
    found = counted(parts)
    home = partition_workers(np.array([100, 90, 110, 100]), [None] * 4, 2)
    owner = query_workers(found, home, 2)
    np.testing.assert_array_equal(owner[found.code], home[found.partition])
    assert sorted(np.bincount(owner, found.sizes).tolist()) == [190, 210] or np.bincount(
        owner, found.sizes
    ).tolist() == [200, 200]


def test_only_queries_that_are_cut_move():
    parts = [[0] * 40 + [1] * 40 + [2] * 10, [2] * 30 + [3] * 40 + [4] * 20]
    found = counted(parts)
    owner = query_workers(found, partition_workers(np.array([90, 90]), [0, 1], 2), 2)
    assert owner[[0, 1, 3, 4]].tolist() == [0, 0, 1, 1]


def test_partitions_stay_where_they_are_in_memory():
    assert partition_workers(np.array([10, 10, 10, 10]), [1, 0, 1, 0], 2).tolist() == [1, 0, 1, 0]
    # unless one worker would do all the work
    assert np.bincount(partition_workers(np.array([10, 10, 10, 10]), [1, 1, 1, 1], 2)).tolist() == [
        2,
        2,
    ]


def test_one_large_partition_is_shared_by_whole_queries():
    found = counted([np.repeat(np.arange(40), 5).tolist()])
    owner = query_workers(found, partition_workers(np.array([200]), [None], 4), 4)
    np.testing.assert_array_equal(np.bincount(owner), [10, 10, 10, 10])


def test_no_worker_has_a_single_document():
    found = counted([[0] * 1000 + [1], [2] * 900])
    np.testing.assert_array_equal(query_workers(found, np.array([0, 1]), 3), [0, 1, 1])
    found = counted([[0] * 1000, [1]])
    np.testing.assert_array_equal(query_workers(found, np.array([0, 1]), 2), [0, 0])


def test_ids_of_different_types_stay_apart():
    parts = [
        np.array([2**63 + 1, 2**63 + 1], dtype=np.uint64),
        np.array([1, 2**53 + 1, 2**53], dtype=np.int64),
        np.array(["1", "one"]),
        np.array(["longer than one"]),
    ]
    found = layout_of([survey(np.arange(len(i)), i, None, None, None, NAMES) for i in parts], NAMES)
    assert len(found.sizes) == 7
    assert found.sizes[0] == 2


@pytest.mark.parametrize(
    ("n_rows", "sizes", "message"),
    [
        (
            4,
            [2, 3],
            "X in partition 3 has 4 rows but y in partition 3 has 5; expected the same number",
        ),
        (
            5,
            [3, 2],
            r"y in partition 3 came out different when it was computed again; .* call persist\(\)",
        ),
    ],
)
def test_partitions_that_changed_are_found(n_rows, sizes, message):
    names = ("X in partition 3", "y in partition 3")
    qid = np.array([4, 4, 2, 2, 2])
    known = PartitionLayout(np.array([0, 1]), np.array(sizes), None)
    with pytest.raises(ValueError, match=message):
        make_shard(
            np.zeros((n_rows, 1)),
            np.zeros(5),
            qid,
            None,
            None,
            None,
            known,
            None,
            names,
            Columns(1, (), {}, "X"),
        )


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "kind": pd.Categorical(["x", "y"])})
OTHER_COLUMNS = {
    "order": (
        FRAME[["b", "a", "kind"]],
        "has the column 'b' where 'a' was in the metadata of X; expected a, b, kind",
    ),
    "name": (
        FRAME.rename(columns={"b": "c"}),
        "lacks the column 'b' and has the unknown column 'c'; expected a, b, kind",
    ),
    "missing": (FRAME[["a", "kind"]], "lacks the column 'b'; expected a, b, kind"),
    "categories": (
        FRAME.assign(kind=pd.Categorical(["x", "z"])),
        "has the column 'kind' with the categories 'x', 'z'; expected the categories 'x', 'y', as "
        "in the metadata of X",
    ),
    "order of categories": (
        FRAME.assign(kind=pd.Categorical(["x", "y"], categories=["y", "x"])),
        "has the column 'kind' with the categories 'y', 'x'; expected the categories 'x', 'y'",
    ),
    "no category": (
        FRAME.assign(kind=[0, 1]),
        "has the column 'kind' with no categories; expected the categories 'x'",
    ),
    "unexpected category": (
        FRAME.assign(a=pd.Categorical([1, 2])),
        "has the column 'a' with the categories 1, 2; expected no categories",
    ),
    "array": (np.zeros((2, 2)), r"has shape (2, 2); expected 3 columns, as in the training set"),
    "sparse": (
        sparse.csr_matrix((2, 4)),
        r"has shape (2, 4); expected 3 columns, as in the training set",
    ),
    "one dimension": (np.zeros(2), r"has shape (2,); expected 3 columns, as in the training set"),
}


@pytest.mark.parametrize("case", OTHER_COLUMNS)
def test_partitions_with_other_columns_are_refused(case):
    columns = Columns(3, tuple(FRAME.columns), categories_of(FRAME), "X")
    columns.check(FRAME, "X in partition 0")
    # Integers where other partitions have missing values.
    columns.check(FRAME.assign(a=[1, 2]), "X in partition 0")
    X, message = OTHER_COLUMNS[case]
    with pytest.raises(ValueError, match="^X in partition 1 " + re.escape(message)):
        columns.check(X, "X in partition 1")


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_tie_keys_of_a_part_are_those_of_the_whole(monkeypatch, at_once):
    monkeypatch.setattr(tie_order, "KEYS_AT_ONCE", at_once)
    qid = np.repeat(np.arange(30), np.random.default_rng(0).integers(1, 9, 30))
    y = np.arange(len(qid)) % 3
    data = judged(y, qid)
    keys, begins = tie_order.tie_keys(3, data), data.queries.offsets[:-1]
    for own in (np.arange(30) % 3 == 1, np.arange(30) > 20, np.arange(30) == 0):
        rows = own[qid]
        part = judged(y[rows], qid[rows])
        whole = Whole(begins[own], data.summary)
        object.__setattr__(part, "whole", whole)
        np.testing.assert_array_equal(tie_order.tie_keys(3, part), keys[rows])


@pytest.mark.parametrize(
    "objective", [gb.LambdaRank(gb.AP()), gb.SoftRank(gb.AP()), gb.ApproxRank(gb.AP())]
)
def test_gradients_of_a_part_are_those_of_the_whole(objective):
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), rng.integers(2, 9, 30))
    y, weights = np.arange(len(qid)) % 2, rng.random(30)
    scores = rng.integers(0, 3, len(qid)).astype(float)
    expected = objective.gradients(y, scores, qid, sample_weight=weights)
    sizes = np.bincount(qid)
    for own in (np.arange(30) % 3 == 1, np.arange(30) > 20):
        rows = own[qid]
        part = judged(y[rows], qid[rows], sample_weight=weights[own])
        whole = Whole(
            (np.cumsum(sizes) - sizes)[own], judged(y, qid, sample_weight=weights).summary
        )
        object.__setattr__(part, "whole", whole)
        grad, hess = np.empty(rows.sum()), np.empty(rows.sum())
        objective.prepared(part, 1)(scores[rows], grad, hess)
        np.testing.assert_allclose(grad, expected[0][rows], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(hess, expected[1][rows], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((60, 2), dtype=np.float32, order="F"),
        np.ones((60, 0)),
        sparse.csr_matrix((60, 3)),
        sparse.random(60, 3, 0.5, format="csr", random_state=0),
        pd.DataFrame(
            {
                "a": np.arange(60.0),
                "kind": pd.Categorical(["x", "y", None] * 20),
                "n": pd.array([1, None] * 30),
            }
        ),
    ],
    ids=["dense", "no column", "zeros", "sparse", "frame"],
)
def test_rows_in_files_may_be_written_to(X, tmp_path):
    rows = RankingRows(X, judged(np.arange(60) % 3, np.arange(60) // 6), np.arange(60.0), True)
    dump_rows(rows, str(tmp_path / "rows"))
    for _ in range(2):
        found = load_rows(str(tmp_path / "rows"))
        assert type(found.X) in (type(X), np.memmap)
        if isinstance(X, pd.DataFrame):
            pd.testing.assert_frame_equal(pd.DataFrame(found.X), X, check_categorical=False)
        else:
            np.testing.assert_array_equal(
                *(sparse.csr_matrix(one).toarray() for one in (found.X, X))
            )
        for name in ("codes", "base.counts", "weights"):
            np.testing.assert_array_equal(attrgetter(name)(found.data), attrgetter(name)(rows.data))
        np.testing.assert_array_equal(found.start, rows.start)
        found.start[:] = 0  # the file stays as it is


def test_files_hold_what_only_this_process_can_import(tmp_path):
    dump(lambda: np.arange(3), tmp_path / "job")
    assert load(tmp_path / "job")().tolist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["job"]


def together(hub, ranks, work):
    """Run ``work(exchange, rank)`` in threads; return results, and the ranks that saw a loss."""
    results, lost = {}, set()

    def peer(rank):
        try:
            results[rank] = work(Exchange(hub.address, rank, lambda: lost.add(rank)), rank)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=peer, args=(rank,)) for rank in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return results, lost


@pytest.fixture
def hub():
    hub = Coordinator("127.0.0.1", 3)
    yield hub
    hub.close()


def test_sums_are_the_same_number_for_everyone(hub):
    values = np.random.default_rng(0).standard_normal((50, 3, 2, 2)) * 10.0 ** np.arange(-8, 8, 8)

    def work(exchange, rank):
        found = [exchange.total(round_[rank]) for round_ in values]
        exchange.finish()
        return np.array(found)

    results, lost = together(hub, range(3), work)
    assert not lost
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_allclose(results[0], values.sum(axis=1), rtol=1e-14)


def test_everyone_learns_that_one_is_gone(hub):
    def work(exchange, rank):
        exchange.gather(b"first")
        if rank == 1:
            exchange.close()
            return None
        return exchange.gather(b"second")

    results, lost = together(hub, range(3), work)
    assert isinstance(results[0], PeerLost)
    assert isinstance(results[2], PeerLost)
    assert lost >= {0, 2}


def test_closing_the_hub_ends_those_who_wait_for_a_late_one(hub):
    # a process that comes when the hub is closed is refused, which is another error
    all_here = threading.Barrier(3, timeout=30)

    def work(exchange, rank):
        all_here.wait()
        return exchange.gather(b"")

    def close():
        all_here.wait()
        hub.close()

    threading.Thread(target=close).start()
    results, _ = together(hub, range(2), work)
    assert all(isinstance(result, PeerLost) for result in results.values()), results


@pytest.mark.skipif(sys.platform == "win32", reason="sockets are no file descriptors here")
def test_leaving_ends_no_socket_that_has_got_the_number_of_ours(hub, monkeypatch):
    """XGBoost opens sockets in the same process, when the others leave its network."""
    lost = threading.Event()
    ours = Exchange(hub.address, 0, lost.set)
    theirs, end = socket.socketpair()
    number = type(ours._connection).fileno

    def late(connection):
        """Return the number of a connection that is closed and then reused for another socket."""
        found = number(connection)
        if threading.current_thread() is threading.main_thread():
            hub.close()
            if lost.wait(0.5):
                os.dup2(theirs.fileno(), found)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(type(ours._connection), "fileno", late)
        ours.close()
    assert lost.wait(30)
    with theirs, end:
        theirs.sendall(b"still there")
        assert end.recv(20) == b"still there"


def greet(exchange, rank):
    answer = exchange.gather(b"%d" % rank)
    exchange.finish()
    return answer


GREETINGS = {rank: [b"0", b"1", b"2"] for rank in range(3)}


def test_strangers_are_not_let_in(hub):
    with pytest.raises(AuthenticationError, match="digest sent was rejected"):
        Exchange(hub.address._replace(authkey=b"?" * 32), 0, lambda: None)
    assert together(hub, range(3), greet) == (GREETINGS, set())


@pytest.mark.parametrize("first_words", [b"", b"\0", b"\0\0\0\5ab", b"GET / HTTP/1.1\r\n\r\n"])
def test_strangers_that_say_too_little_do_not_stop_the_hub(first_words, monkeypatch, hub):
    monkeypatch.setattr(exchange, "CONNECT_SECONDS", 0.2)
    with socket.create_connection(hub.address[:2]) as stranger:
        stranger.sendall(first_words)
        assert together(hub, range(3), greet) == (GREETINGS, set())


def test_ranks_that_are_taken_or_too_high_are_refused(hub):
    first = Exchange(hub.address, 1, lambda: None)
    lost = queue.SimpleQueue()
    for rank in (1, 3):
        Exchange(hub.address, rank, lambda: lost.put(None))
        lost.get(timeout=30)
    one = threading.Thread(target=greet, args=(first, 1))
    one.start()
    assert together(hub, [0, 2], greet) == ({rank: GREETINGS[rank] for rank in (0, 2)}, set())
    one.join(30)
    assert not one.is_alive()


def test_those_that_come_after_the_last_are_refused(hub):
    all_here = threading.Barrier(4, timeout=30)

    def late():
        all_here.wait()
        with pytest.raises((PeerLost, ConnectionRefusedError)):
            Exchange(hub.address, 0, lambda: None)

    def work(exchange, rank):
        exchange.gather(b"")
        all_here.wait()
        return greet(exchange, rank)

    one = threading.Thread(target=late)
    one.start()
    assert together(hub, range(3), work) == (GREETINGS, set())
    one.join(30)
    assert not one.is_alive()


def test_connections_are_kept_alive(hub):
    one = Exchange(hub.address, 0, lambda: None)
    with socket.fromfd(one._connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as shared:
        assert shared.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        for name in exchange.KEEPALIVE.keys() & set(dir(socket)):
            assert (
                shared.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
                == exchange.KEEPALIVE[name]
            ), name
    one.close()


def test_a_system_without_the_options_of_keeping_alive(hub, monkeypatch):
    """macOS and Windows lack some of them."""
    for name in exchange.KEEPALIVE:
        monkeypatch.delattr(socket, name, raising=False)
    assert together(hub, range(3), greet) == (GREETINGS, set())


def test_paths_of_workers_travel_as_text(monkeypatch, tmp_path):
    """A path object of Windows cannot be unpickled on Linux, or the other way round."""
    monkeypatch.setattr(training, "get_worker", lambda: SimpleNamespace(local_directory=tmp_path))
    monkeypatch.setattr(training, "_folders", {})
    found = training.files_of_rows("fit", 1, 2)
    assert [type(path) for path in found] == [str, str]
    assert [Path(path).name for path in found] == ["rows-0", "rows-1"]
    assert (
        {Path(path).parent for path in found}
        == {tmp_path / "gapboost-fit-1"}
        == training._folders["fit"]
    )
