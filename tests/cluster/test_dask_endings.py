"""Ends of fits on a cluster: after training, by Ctrl-C, and by the end of the client."""

import gc
import logging
import os
import signal
import sys
import threading
from functools import partial

import pytest
from clusters import alive, cut, endless, python, ranking, wait_until, written
from distributed import Client, LocalCluster, Semaphore
from in_training import NETWORKS, broken, stuck, unjoinable, watched, without_a_tracker
from numpy.testing import assert_array_equal

from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker, training
from gapboost.dask.session import TURN, Session
from gapboost.dask.training import files_of_rows, open_coordinator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

RANKERS = {"lightgbm": partial(DaskLGBMGAPRanker, verbose=-1), "xgboost": DaskXGBGAPRanker}
booster = pytest.mark.parametrize("booster", RANKERS)


@pytest.fixture(scope="module")
def cluster():
    """Two workers in this process. Clients in other processes can reach them."""
    options = {
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "processes": False,
        "protocol": "tcp",
    }
    with LocalCluster(n_workers=2, **options) as cluster:
        yield cluster
    gc.collect()


@pytest.fixture(scope="module")
def two(cluster):
    """A client of the cluster."""
    with Client(cluster, set_as_default=False) as client:
        yield client


def small(booster, client, **parameters):
    """A ranker, and what it is to be fitted on."""
    X, y, qid = ranking(40, 0)
    ranker = RANKERS[booster](client=client, **{"n_estimators": 5, **parameters})
    return ranker, {"X": cut(X, 200), "y": cut(y, 200), "qid": cut(qid, 200)}


LEAVING = [("xgboost", broken, "Broken pipe"), ("lightgbm", stuck, "0.5 s")]
if sys.platform != "win32":  # where sockets are no file descriptors
    LEAVING.append(("xgboost", without_a_tracker, "0.5 s"))


@pytest.mark.parametrize(
    ("booster", "how", "said"), LEAVING, ids=[f"{name}, {how.__name__}" for name, how, _ in LEAVING]
)
def test_a_fit_that_has_trained_outlives_its_network(
    booster, how, said, two, monkeypatch, tmp_path
):
    def scores():
        ranker, given = small(booster, two)
        return ranker.fit(**given).to_local().predict(ranking(40, 0)[0])

    expected = scores()
    with monkeypatch.context() as patched:
        ring = partial(how, str(tmp_path / "log"), NETWORKS[booster])
        patched.setattr(type(small(booster, two)[0]), "_booster_network", staticmethod(ring))
        assert_array_equal(scores(), expected)
    # The processes are gone, or go now; other ones train.
    assert_array_equal(scores(), expected)
    assert said in (tmp_path / "log").read_text()


def test_an_error_in_joining_the_network_is_raised_by_fit(two, monkeypatch):
    """The other process waits in the exchange, whose code is the same for both boosters."""
    ranker, given = small("xgboost", two)
    with monkeypatch.context() as patched:
        patched.setattr(
            type(ranker), "_booster_network", staticmethod(partial(unjoinable, NETWORKS["xgboost"]))
        )
        with pytest.raises(OSError, match="Address already in use"):
            ranker.fit(**given)
    assert ranker.fit(**given).n_queries_in_ == 40


@booster
@pytest.mark.parametrize(
    ("of", "name", "error"),
    [
        (Client, "run", OSError("Timed out trying to connect")),
        (Client, "run", RuntimeError("IOLoop is closed")),
        (Semaphore, "release", OSError("Timed out trying to connect")),
    ],
)
def test_a_fit_that_has_trained_outlives_its_cleanup(
    booster, of, name, error, two, monkeypatch, caplog
):
    ranker, given = small(booster, two)
    with monkeypatch.context() as patched:
        true = getattr(of, name)

        def after(self, *arguments, **options):
            true(self, *arguments, **options)
            raise error

        patched.setattr(of, name, after)
        with caplog.at_level(logging.WARNING, "gapboost"):
            ranker.fit(**given)
    assert ranker.n_queries_in_ == 40
    assert str(error) in caplog.text
    assert small(booster, two)[0].fit(**given).n_queries_in_ == 40


@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends any process here")
@booster
def test_ctrl_c_in_a_terminal_is_the_clients_in_training_processes_too(booster, two, tmp_path):
    """It reaches all processes of the terminal; the client ends those that train for it."""
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
        ranker, given = small(booster, two, objective=watched(folder, "interrupt"), n_estimators=10)
        assert ranker.fit(**given).n_queries_in_ == 40
        for process in written(folder):
            os.kill(process, signal.SIGINT)
    assert written(folders[0]).keys() == written(folders[1]).keys()


def in_thread(ranker, given):
    """A thread that fits, and a list for the error of `fit`."""
    errors = []

    def fit():
        try:
            ranker.fit(**given)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    return thread, errors


def client_process(booster, cluster, folder):
    """A process that fits as a client of the cluster."""
    code = (
        "import sys; from clusters import fit_from_another_process; "
        "fit_from_another_process(*sys.argv[1:])"
    )
    return python("-c", code, booster, cluster.scheduler_address, str(folder))


def check_cluster_is_free(cluster, folder, client):
    """Wait until a fit that wrote to `folder` has left no process, file or turn, and fit again."""
    wait_until(lambda: not any(map(alive, written(folder))))
    wait_until(lambda: not files_of_fits(cluster))
    wait_until(lambda: not turns(cluster).leases[TURN])
    assert small("lightgbm", client)[0].fit(**small("lightgbm", client)[1]).n_queries_in_ == 40


def files_of_fits(cluster):
    places = [worker.local_directory for worker in cluster.workers.values()]
    return [name for place in places for name in os.listdir(place) if name.startswith("gapboost")]


def turns(cluster):
    """The scheduler's record of semaphores."""
    return cluster.scheduler.extensions["semaphores"]


def test_a_client_that_is_killed_in_a_fit_leaves_a_free_cluster(cluster, two, tmp_path):
    process = client_process("lightgbm", cluster, tmp_path)
    wait_until(lambda: len(written(tmp_path)) == 2 or process.poll() is not None)
    assert process.poll() is None
    process.kill()
    process.wait()
    check_cluster_is_free(cluster, tmp_path, two)


def test_a_client_that_is_closed_in_a_fit_leaves_a_free_cluster(cluster, two, tmp_path):
    client = Client(cluster.scheduler_address, set_as_default=False)
    thread, errors = in_thread(*endless("xgboost", client, tmp_path))
    wait_until(lambda: len(written(tmp_path)) == 2 or errors)
    client.close()
    thread.join(180)
    assert [str(error) for error in errors] == [
        "client was closed during fit: nothing was trained. Call fit once more"
    ]
    check_cluster_is_free(cluster, tmp_path, two)


def test_a_client_that_restarts_the_cluster_in_a_fit_can_fit_again(tmp_path):
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        thread, errors = in_thread(*endless("lightgbm", client, tmp_path))
        wait_until(lambda: written(tmp_path) or errors)
        client.restart(timeout=120)
        thread.join(180)
        assert len(errors) == 1
        assert isinstance(errors[0], RuntimeError)
        assert "during fit: nothing was trained" in str(errors[0])
        wait_until(lambda: not any(map(alive, written(tmp_path))))
        assert small("lightgbm", client)[0].fit(**small("lightgbm", client)[1]).n_queries_in_ == 40


def test_a_client_that_is_closed_before_training_leaves_a_free_cluster(cluster, two, tmp_path):
    client = Client(cluster.scheduler_address, set_as_default=False)
    session = Session(client)
    session.__enter__()
    session.results(
        [
            session.submit(files_of_rows, session.fit, rank, 1, worker=w)
            for rank, w in enumerate(client.nthreads())
        ]
    )
    session.results([session.submit(open_coordinator, session.fit, 2)])
    assert len(files_of_fits(cluster)) == 2
    client.close()
    check_cluster_is_free(cluster, tmp_path, two)
    wait_until(lambda: session.fit not in training._coordinators)
    session._turn.refresh_callback.stop()


def test_a_client_that_is_killed_before_its_turn_takes_no_turn(cluster, two, tmp_path):
    turn = Semaphore(1, TURN, scheduler_rpc=two.scheduler, loop=two.loop)
    assert turn.acquire()
    process = client_process("lightgbm", cluster, tmp_path)
    pending = turns(cluster).metrics["pending"]
    wait_until(lambda: pending[TURN] or process.poll() is not None)
    assert process.poll() is None
    process.kill()
    process.wait()
    wait_until(lambda: not pending[TURN])
    turn.release()
    turn.refresh_callback.stop()
    check_cluster_is_free(cluster, tmp_path, two)


def test_ctrl_c_before_the_turn_of_a_fit_leaves_nothing_running(two, monkeypatch):
    def interrupted(self, timeout=None):
        raise KeyboardInterrupt

    session = Session(two)
    with monkeypatch.context() as patched:
        patched.setattr(Semaphore, "acquire", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.__enter__()
    wait_until(lambda: not session._turn.refresh_callback.is_running())
