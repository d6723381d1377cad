"""A fit on a cluster that has trained is not lost to what happens afterwards, and Ctrl-C is the client's."""

import gc
import logging
import os
import signal
import sys
from functools import partial

import pytest
from clusters import RINGS, broken, cut, ranking, stuck, unjoinable, watched, without_a_tracker, written
from distributed import Client, LocalCluster, Semaphore
from numpy.testing import assert_array_equal

from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

RANKERS = {"lightgbm": partial(DaskLGBMGAPRanker, verbose=-1), "xgboost": DaskXGBGAPRanker}
booster = pytest.mark.parametrize("booster", RANKERS)


@pytest.fixture(scope="module")
def two():
    """A client of two workers in this process."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
    gc.collect()


def small(booster, client, **parameters):
    """A ranker, and what it is to be fitted on."""
    X, y, qid = ranking(40, 0)
    ranker = RANKERS[booster](client=client, **{"n_estimators": 5, **parameters})
    return ranker, {"X": cut(X, 200), "y": cut(y, 200), "qid": cut(qid, 200)}


LEAVING = [("lightgbm", broken, "Broken pipe"), ("xgboost", broken, "Broken pipe"), ("lightgbm", stuck, "0.5 s")]
if sys.platform != "win32":  # where sockets are no file descriptors
    LEAVING.append(("xgboost", without_a_tracker, "0.5 s"))


@pytest.mark.parametrize(
    ("booster", "how", "said"), LEAVING, ids=[f"{name}, {how.__name__}" for name, how, _ in LEAVING]
)
def test_a_fit_that_has_trained_outlives_its_network(booster, how, said, two, monkeypatch, tmp_path):
    def scores():
        ranker, given = small(booster, two)
        return ranker.fit(**given).to_local().predict(ranking(40, 0)[0])

    expected = scores()
    with monkeypatch.context() as patched:
        ring = partial(how, str(tmp_path / "log"), RINGS[booster])
        patched.setattr(type(small(booster, two)[0]), "_ring", staticmethod(ring))
        assert_array_equal(scores(), expected)
    # The processes are gone, or go now; other ones train.
    assert_array_equal(scores(), expected)
    assert said in (tmp_path / "log").read_text()


@booster
def test_an_error_in_joining_the_network_is_raised_by_fit(booster, two, monkeypatch):
    ranker, given = small(booster, two)
    with monkeypatch.context() as patched:
        patched.setattr(type(ranker), "_ring", staticmethod(partial(unjoinable, RINGS[booster])))
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
def test_a_fit_that_has_trained_outlives_its_cleanup(booster, of, name, error, two, monkeypatch, caplog):
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
